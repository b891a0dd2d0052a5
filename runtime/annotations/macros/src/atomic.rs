//! `#[lockred::atomic]`: the body of a function as a block that is meant to be atomic.

use crate::Build;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Error, ImplItemFn, Result};

/// The function, whose body begins and ends a block.
pub fn expand(words: TokenStream, item: TokenStream, build: Build) -> Result<TokenStream> {
    if !words.is_empty() {
        return Err(Error::new_spanned(words, "`#[lockred::atomic]` takes no options"));
    }
    // Methods may have more than functions: `default`.
    let function: ImplItemFn = syn::parse2(item.clone()).map_err(|error| {
        Error::new(error.span(), "`#[lockred::atomic]` is for a function with a body")
    })?;
    let is = |what: &str, at: Span| {
        Error::new(at, format!("`#[lockred::atomic]` is not for {what} functions"))
    };
    if let Some(word) = &function.sig.asyncness {
        return Err(is("async", word.span));
    }
    if let Some(word) = &function.sig.constness {
        return Err(is("const", word.span));
    }
    if build == Build::Plain {
        return Ok(item);
    }
    let ImplItemFn { attrs, vis, defaultness, sig, block } = &function;
    // The compiler names what is in a function by it, with its type: attributes do not see in what
    // `impl` they are.
    Ok(quote! {
        #(#attrs)* #vis #defaultness #sig {
            fn __lockred_here() {}
            let __lockred_block = ::lockred::__atomic(__lockred_here);
            #block
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHOD: &str =
        "#[inline] pub(crate) fn add<T>(&self, of: T) -> u32 where T: Copy { self.x.set(of) }";

    fn expanded(words: &str, item: &str, build: Build) -> std::result::Result<String, String> {
        let expanded = expand(words.parse().unwrap(), item.parse().unwrap(), build);
        expanded.map(|tokens| tokens.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_ordinary_build_has_the_function_as_it_is() {
        let item: TokenStream = METHOD.parse().unwrap();
        assert_eq!(expanded("", METHOD, Build::Plain), Ok(item.to_string()));
    }

    #[test]
    fn a_checked_one_has_a_guard_before_the_body() {
        let checked = expanded("", METHOD, Build::Checked).unwrap();
        let (head, body) = METHOD.rsplit_once('{').unwrap();
        let [head, body] = [head, body.trim_end_matches('}')]
            .map(|part| part.parse::<TokenStream>().unwrap().to_string());
        assert!(checked.starts_with(&head), "{checked}");
        let guard = "fn __lockred_here () { } let __lockred_block = :: lockred :: __atomic";
        assert!(checked.contains(guard), "{checked}");
        assert!(checked.ends_with(&format!("; {{ {body} }} }}")), "{checked}");
    }

    #[test]
    fn what_cannot_be_is_said_in_both_builds() {
        for (words, item, said) in [
            ("x", "fn f() {}", "`#[lockred::atomic]` takes no options"),
            ("", "async fn f() {}", "`#[lockred::atomic]` is not for async functions"),
            ("", "const fn f() {}", "`#[lockred::atomic]` is not for const functions"),
            ("", "struct S;", "`#[lockred::atomic]` is for a function with a body"),
            ("", "fn f();", "`#[lockred::atomic]` is for a function with a body"),
        ] {
            for build in [Build::Plain, Build::Checked] {
                assert_eq!(expanded(words, item, build), Err(said.to_owned()), "{item}");
            }
        }
    }
}
