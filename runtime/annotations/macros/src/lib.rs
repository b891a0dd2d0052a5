//! The attributes of the crate `lockred`, each in two forms: one for builds that are checked, and
//! one for all others.
//!
//! The crate `lockred` chooses by `--cfg lockred`, so that nothing of this is seen in the user's
//! crate. Both forms read what the user has written, and say what is wrong with it; the plain one
//! gives back the item as it was. What the other one adds are notes ([`note`]): texts in the
//! executable, which `cargo lockred` reads there.

mod atomic;
mod discipline;
mod note;
mod options;
mod search;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;

/// What the build is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Build {
    /// Whatever the user does with it.
    Plain,
    /// To be checked.
    Checked,
}

/// The two forms of an attribute.
macro_rules! attribute {
    ($expand:path: $plain:ident, $checked:ident) => {
        #[doc(hidden)]
        #[proc_macro_attribute]
        pub fn $plain(words: TokenStream, item: TokenStream) -> TokenStream {
            expanded($expand, words, item, Build::Plain)
        }

        #[doc(hidden)]
        #[proc_macro_attribute]
        pub fn $checked(words: TokenStream, item: TokenStream) -> TokenStream {
            expanded($expand, words, item, Build::Checked)
        }
    };
}

attribute!(atomic::expand: atomic_plain, atomic_checked);
attribute!(discipline::of_struct: discipline_plain, discipline_checked);
attribute!(discipline::guarded_by: guarded_by_plain, guarded_by_checked);
attribute!(discipline::unshared: unshared_plain, unshared_checked);
attribute!(options::expand: check_plain, check_checked);

/// Runs an expansion. Where it fails, the item stays, so that nothing else is said to be missing.
fn expanded(
    expand: fn(Tokens, Tokens, Build) -> syn::Result<Tokens>,
    words: TokenStream,
    item: TokenStream,
    build: Build,
) -> TokenStream {
    let item = Tokens::from(item);
    let expanded = expand(words.into(), item.clone(), build);
    expanded
        .unwrap_or_else(|error| {
            let error = error.to_compile_error();
            quote!(#error #item)
        })
        .into()
}
