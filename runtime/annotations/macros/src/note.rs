//! Notes: texts that an executable carries for `cargo lockred`, a line each, in words that tabs
//! separate.
//!
//! A note is a static that its name distinguishes from all others. It needs no unsafe attribute,
//! which crates may forbid: the shim of `cargo lockred` puts it into the section `lockred_notes`
//! (`runtime/protocol/src/notes.rs` reads it).

use proc_macro2::{Span, TokenStream};
use quote::quote;

/// A text made when the user's crate is compiled, of words that are known here.
pub struct Note {
    /// What kind it is.
    kind: &'static str,
    /// What it is about, within its module.
    subject: String,
    /// Where it stands in its file.
    line: usize,
    words: Vec<String>,
}

impl Note {
    /// A note without further words.
    pub fn new(kind: &'static str, subject: String, at: Span) -> Self {
        Self { kind, subject, line: at.start().line, words: Vec::new() }
    }

    /// Adds a word.
    pub fn word(mut self, word: impl ToString) -> Self {
        self.words.push(word.to_string().replace(['\t', '\n'], " "));
        self
    }

    /// Its text, as an expression that is constant.
    pub fn text(&self) -> TokenStream {
        let Self { kind, subject, line, words } = self;
        let begin = format!("{kind}\t");
        let subject = format!("::{subject}\t");
        let end = words.iter().fold(format!("\t{line}"), |text, word| format!("{text}\t{word}"));
        let end = end + "\n";
        quote! {
            ::core::concat!(#begin, ::core::module_path!(), #subject, ::core::file!(), #end)
        }
    }

    /// Items that put it into the executable, in a block of their own.
    pub fn items(&self) -> TokenStream {
        let text = self.text();
        quote! {
            const __LOCKRED_TEXT: &::core::primitive::str = #text;
            #[used]
            static __LOCKRED_NOTE: [::core::primitive::u8; __LOCKRED_TEXT.len()] =
                ::lockred::__note(__LOCKRED_TEXT);
        }
    }

    /// An item that puts it there.
    pub fn item(&self) -> TokenStream {
        let items = self.items();
        quote! { const _: () = { #items }; }
    }
}
