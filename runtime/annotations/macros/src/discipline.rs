//! `#[lockred::discipline]` with `guarded_by` and `unshared` on fields, and these two on statics:
//! how memory is meant to be accessed.
//!
//! Attributes of fields are no macros, so that the struct has one that reads them and takes them
//! away.

use crate::Build;
use crate::note::Note;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use syn::{
    Attribute, Error, Expr, Fields, Generics, Ident, Index, ItemStatic, ItemStruct, Member, Meta,
    Path, Result,
};

/// What may be said of a field or a static.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Claim {
    GuardedBy,
    Unshared,
    ExclusiveWhen,
}

impl Claim {
    const fn name(self) -> &'static str {
        match self {
            Self::GuardedBy => "guarded_by",
            Self::Unshared => "unshared",
            Self::ExclusiveWhen => "exclusive_when",
        }
    }

    /// Which one an attribute of a field is.
    fn of(attribute: &Attribute) -> Option<Self> {
        let segments = &attribute.path().segments;
        let (first, last) = (segments.first()?, segments.last()?);
        if segments.len() > 2 || segments.len() == 2 && first.ident != "lockred" {
            return None;
        }
        let all = [Self::GuardedBy, Self::Unshared, Self::ExclusiveWhen];
        all.into_iter().find(|claim| last.ident == claim.name())
    }
}

/// A lock, as a note has it.
enum Lock {
    /// Fields of the struct, from the outermost on.
    Field(Vec<String>),
    /// A static.
    Static(Path),
}

/// Which lock is meant by `lock`, `self.inner.lock` or `crate::LOCK`. What is no field is a static.
fn lock(words: TokenStream, fields: &[Member]) -> Result<Lock> {
    if words.is_empty() {
        let message = "`guarded_by` takes the lock: a field of the struct, `self.a.b`, or a static";
        return Err(Error::new(Span::call_site(), message));
    }
    let wrong = |at: &dyn quote::ToTokens| {
        Error::new_spanned(
            at.to_token_stream(),
            "this is no lock: it has to be a field of the struct, `self.a.b`, or a static",
        )
    };
    let mut path = Vec::new();
    let mut rest: Expr = syn::parse2(words)?;
    loop {
        match rest {
            Expr::Field(field) => {
                path.push(field.member);
                rest = *field.base;
            }
            Expr::Path(ref named) => {
                let name = named.path.get_ident();
                if name.is_none_or(|name| name != "self") {
                    match name.cloned().map(Member::Named) {
                        Some(name) if fields.contains(&name) => path.push(name),
                        _ if path.is_empty() => return Ok(Lock::Static(named.path.clone())),
                        _ => return Err(wrong(&rest)),
                    }
                }
                break;
            }
            Expr::Lit(ref number) if path.is_empty() => {
                let index: Index =
                    syn::parse2(number.to_token_stream()).map_err(|_| wrong(&rest))?;
                path.push(Member::Unnamed(index));
                break;
            }
            _ => return Err(wrong(&rest)),
        }
    }
    match path.last() {
        Some(outermost) if fields.contains(outermost) => {
            let names = path.iter().rev().map(|member| member.to_token_stream().to_string());
            Ok(Lock::Field(names.collect()))
        }
        Some(outermost) => {
            let message = format!("the struct has no field `{}`", outermost.to_token_stream());
            Err(Error::new_spanned(outermost, message))
        }
        None => Err(wrong(&rest)),
    }
}

/// The note of a claim, and what makes the compiler look whether what it names is there.
fn noted(
    claim: Claim,
    words: TokenStream,
    (subject, owner): (String, &str),
    fields: &[Member],
    at: Span,
) -> Result<TokenStream> {
    let note = Note::new(claim.name(), subject, at);
    match claim {
        Claim::Unshared if words.is_empty() => Ok(note.item()),
        Claim::Unshared => Err(Error::new_spanned(words, "`unshared` takes nothing")),
        Claim::ExclusiveWhen => Err(Error::new(at, "`exclusive_when` is for fields")),
        Claim::GuardedBy => match lock(words, fields)? {
            Lock::Field(path) => Ok(note.word(format!("{owner}.{}", path.join("."))).item()),
            Lock::Static(path) => {
                let name = path.segments.last().map(|last| last.ident.to_string());
                let note = note.word(format!("static {}", name.unwrap_or_default())).item();
                Ok(quote! { #note const _: fn() = || { let _ = &#path; }; })
            }
        },
    }
}

/// The note of a predicate, and the predicate as the runtime finds it.
fn predicate(
    owner: &Ident,
    generics: &Generics,
    member: &Member,
    words: TokenStream,
    at: Span,
) -> Result<TokenStream> {
    if words.is_empty() {
        let message = "`exclusive_when` takes a condition of `self` and `lockred::me()`";
        return Err(Error::new(at, message));
    }
    if !generics.params.is_empty() {
        return Err(Error::new_spanned(generics, "`exclusive_when` is not for generic types"));
    }
    let condition: Expr = syn::parse2(words)?;
    let field = member.to_token_stream().to_string();
    let note = Note::new("exclusive_when", format!("{owner}.{field}"), at)
        .word(condition.to_token_stream().to_string().replace(" :: ", "::"));
    let note = note.item();
    let name = format_ident!("__LOCKRED_PREDICATE_{}_{owner}_{field}_E", at.start().line);
    let method = format_ident!("__lockred_exclusive_{field}");
    Ok(quote! {
        #note
        const _: () = {
            impl #owner {
                fn #method(&self) -> bool {
                    #condition
                }
            }
            #[used]
            #[allow(non_upper_case_globals)]
            static #name: ::lockred::__Predicate = ::lockred::__Predicate::new(#owner::#method);
        };
    })
}

/// What is in the parentheses of an attribute.
fn words(attribute: &Attribute) -> Result<TokenStream> {
    match &attribute.meta {
        Meta::Path(_) => Ok(TokenStream::new()),
        Meta::List(list) => Ok(list.tokens.clone()),
        Meta::NameValue(pair) => Err(Error::new_spanned(pair, "this takes parentheses")),
    }
}

/// The struct without the attributes of its fields, and notes of these.
pub fn of_struct(options: TokenStream, item: TokenStream, build: Build) -> Result<TokenStream> {
    if !options.is_empty() {
        return Err(Error::new_spanned(options, "`#[lockred::discipline]` takes no options"));
    }
    let mut item: ItemStruct = syn::parse2(item)
        .map_err(|error| Error::new(error.span(), "`#[lockred::discipline]` is for a struct"))?;
    let members: Vec<Member> = item.fields.members().collect();
    let owner = item.ident.to_string();
    let mut notes = TokenStream::new();
    let fields = match &mut item.fields {
        Fields::Named(fields) => Some(&mut fields.named),
        Fields::Unnamed(fields) => Some(&mut fields.unnamed),
        Fields::Unit => None,
    };
    for (field, member) in fields.into_iter().flatten().zip(&members) {
        for attribute in &field.attrs {
            let Some(claim) = Claim::of(attribute) else { continue };
            let subject = format!("{owner}.{}", member.to_token_stream());
            let at = attribute.path().segments[0].ident.span();
            if claim == Claim::ExclusiveWhen {
                notes.extend(predicate(
                    &item.ident,
                    &item.generics,
                    member,
                    words(attribute)?,
                    at,
                )?);
                continue;
            }
            notes.extend(noted(claim, words(attribute)?, (subject, &owner), &members, at)?);
        }
        field.attrs.retain(|attribute| Claim::of(attribute).is_none());
    }
    Ok(match build {
        Build::Plain => item.to_token_stream(),
        Build::Checked => quote!(#item #notes),
    })
}

fn of_static(
    claim: Claim,
    words: TokenStream,
    item: TokenStream,
    build: Build,
) -> Result<TokenStream> {
    let of: ItemStatic = syn::parse2(item.clone()).map_err(|error| {
        let name = claim.name();
        let message = format!(
            "`#[lockred::{name}]` is for a static, or for a field of a struct with `#[lockred::discipline]`"
        );
        Error::new(error.span(), message)
    })?;
    // The attribute itself is not seen here, but what stands in it is.
    let first = words.clone().into_iter().next();
    let at = first.map_or_else(|| of.ident.span(), |word| word.span());
    let note = noted(claim, words, (of.ident.to_string(), ""), &[], at)?;
    Ok(if build == Build::Plain { item } else { quote!(#item #note) })
}

/// `guarded_by` of a static.
pub fn guarded_by(words: TokenStream, item: TokenStream, build: Build) -> Result<TokenStream> {
    of_static(Claim::GuardedBy, words, item, build)
}

/// `unshared` of a static.
pub fn unshared(words: TokenStream, item: TokenStream, build: Build) -> Result<TokenStream> {
    of_static(Claim::Unshared, words, item, build)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Reported = std::result::Result<String, String>;

    fn tokens(text: &str) -> TokenStream {
        text.parse().unwrap()
    }

    fn reported(expanded: Result<TokenStream>) -> Reported {
        expanded.map(|tokens| tokens.to_string()).map_err(|error| error.to_string())
    }

    fn of(fields: &str, build: Build) -> Reported {
        reported(of_struct(TokenStream::new(), tokens(&format!("struct P {{ {fields} }}")), build))
    }

    #[test]
    fn an_ordinary_build_has_the_struct_without_what_is_said_of_its_fields() {
        let own = "#[doc = \"x\"] #[lockred::guarded_by(lock)] #[serde(skip)] a: u8, #[unshared] b: u8, lock: M";
        let without = tokens("struct P { #[doc = \"x\"] #[serde(skip)] a: u8, b: u8, lock: M }");
        assert_eq!(of(own, Build::Plain), Ok(without.to_string()));
        let item = "pub static mut A: u8 = 1;";
        let expanded = guarded_by(tokens("crate::L"), tokens(item), Build::Plain);
        assert_eq!(reported(expanded), Ok(tokens(item).to_string()));
    }

    #[test]
    fn locks_are_fields_or_statics() {
        for (words, noted) in [
            ("lock", "P.lock"),
            ("self.lock", "P.lock"),
            ("lock.b.0", "P.lock.b.0"),
            ("self.lock.c", "P.lock.c"),
            ("LOCK", "static LOCK"),
            ("super::m::LOCK", "static LOCK"),
        ] {
            let checked = of(&format!("#[guarded_by({words})] a: u8, lock: M"), Build::Checked);
            let checked = checked.unwrap();
            assert!(checked.contains(&format!("\\t1\\t{noted}\\n")), "{words}: {checked}");
            assert!(checked.contains("\"guarded_by\\t\"") && checked.contains("\"::P.a\\t\""));
        }
    }

    #[test]
    fn predicates_are_methods_that_a_static_leads_to() {
        let field = "#[lockred::exclusive_when(self.owner.get() == lockred::me())] a: u8";
        let checked = of(field, Build::Checked).unwrap();
        for part in [
            "\"exclusive_when\\t\"",
            "fn __lockred_exclusive_a (& self) -> bool { self . owner . get () == lockred :: me () }",
            "static __LOCKRED_PREDICATE_1_P_a_E : :: lockred :: __Predicate",
        ] {
            assert!(checked.contains(part), "{part}: {checked}");
        }
        let plain = of(field, Build::Plain);
        assert_eq!(plain, Ok(tokens("struct P { a: u8 }").to_string()));
        let generic = tokens("struct P<T> { #[exclusive_when(true)] a: T }");
        let error = reported(of_struct(TokenStream::new(), generic, Build::Plain)).unwrap_err();
        assert!(error.contains("not for generic types"), "{error}");
    }

    #[test]
    fn tuples_have_fields_too() {
        let item = tokens("struct P(#[lockred::guarded_by(1)] u8, M);");
        let checked = reported(of_struct(TokenStream::new(), item, Build::Checked)).unwrap();
        assert!(checked.contains("\\tP.1\\n") && checked.contains("\"::P.0\\t\""), "{checked}");
    }

    #[test]
    fn what_is_wrong_is_said_in_both_builds() {
        for build in [Build::Plain, Build::Checked] {
            for (field, said) in [
                ("#[guarded_by] a: u8", "`guarded_by` takes the lock"),
                ("#[guarded_by(self.other)] a: u8", "the struct has no field `other`"),
                ("#[guarded_by(f())] a: u8", "this is no lock"),
                ("#[guarded_by(self)] a: u8", "this is no lock"),
                ("#[unshared(x)] a: u8", "`unshared` takes nothing"),
                ("#[exclusive_when] a: u8", "`exclusive_when` takes a condition"),
            ] {
                let error = of(field, build).unwrap_err();
                assert!(error.starts_with(said), "{field}: {error}");
            }
            let error =
                reported(unshared(TokenStream::new(), tokens("fn f() {}"), build)).unwrap_err();
            assert!(error.starts_with("`#[lockred::unshared]` is for a static"), "{error}");
            let error = reported(of_struct(TokenStream::new(), tokens("enum E {}"), build));
            assert_eq!(error, Err("`#[lockred::discipline]` is for a struct".into()));
        }
    }
}
