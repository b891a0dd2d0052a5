//! `unsafe impl Send` and `Sync`, and what they ask of type parameters.

use super::types::{mentions, text};
use super::{Impl, Trait};
use quote::ToTokens;
use std::collections::BTreeMap;
use syn::spanned::Spanned;
use syn::{GenericParam, TypeParamBound, WherePredicate};

/// The implementation, if it is an unsafe one of `Send` or `Sync`.
pub fn of(item: &syn::ItemImpl) -> Option<Impl> {
    let token = item.unsafety.as_ref()?;
    let (not, path, _) = item.trait_.as_ref()?;
    if not.is_some() {
        return None;
    }
    let of = match path.segments.last()?.ident.to_string().as_str() {
        "Send" => Trait::Send,
        "Sync" => Trait::Sync,
        _ => return None,
    };
    let name = match &*item.self_ty {
        syn::Type::Path(path) => path.path.segments.last()?.ident.to_string(),
        other => text(other),
    };
    let mut bounds: BTreeMap<String, bool> = BTreeMap::new();
    let asks = |bound: &TypeParamBound| match bound {
        // `?Sized` allows, and lifetimes are no traits.
        TypeParamBound::Trait(bound) => matches!(bound.modifier, syn::TraitBoundModifier::None),
        _ => false,
    };
    for parameter in &item.generics.params {
        if let GenericParam::Type(parameter) = parameter {
            let asked = parameter.bounds.iter().any(asks);
            bounds.insert(parameter.ident.to_string(), asked);
        }
    }
    let clauses = item.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    for clause in clauses {
        if let WherePredicate::Type(clause) = clause
            && clause.bounds.iter().any(asks)
        {
            for name in mentions(&clause.bounded_ty) {
                if let Some(asked) = bounds.get_mut(&name) {
                    *asked = true;
                }
            }
        }
    }
    let used = mentions(&item.self_ty);
    let unbounded = bounds
        .into_iter()
        .filter(|(name, asked)| !asked && used.contains(name))
        .map(|(name, _)| name)
        .collect();
    let (generics, _, clause) = item.generics.split_for_impl();
    let generics = text(&generics);
    let clause = clause.map(|clause| text(clause).trim_end_matches(',').to_owned());
    let mut written = format!("unsafe impl{generics} {} for {}", of.name(), text(&item.self_ty));
    if let Some(clause) = clause {
        written = format!("{written} {clause}");
    }
    let start = token.span();
    let path = name.clone();
    Some(Impl {
        of,
        name,
        path,
        text: written,
        unbounded,
        at: super::visit::position(start.start()),
    })
}

/// Whether a text of code has a name in it.
pub fn names(code: &impl ToTokens, name: &str) -> bool {
    mentions(code).iter().any(|found| found == name)
}
