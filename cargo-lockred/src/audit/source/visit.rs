//! One walk over a file, which notes everything that an audit wants of it.

use super::modules::Module;
use super::types::{self, Static, Type};
use super::{File, Function, Position, Span, atomics, bounds, given_back, guards};
use proc_macro2::LineColumn;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Meta, Token, Visibility};

/// Columns count from 1.
pub fn position(at: LineColumn) -> Position {
    Position { line: at.line as u32, column: at.column as u32 + 1 }
}

fn span(of: proc_macro2::Span) -> Span {
    (position(of.start()), position(of.end()))
}

/// What a file has, and the modules that are in others. `module`: the modules that it is in.
/// `test`: it is compiled for tests only.
pub fn file(text: &str, syntax: &syn::File, module: &[String], test: bool) -> (File, Vec<Module>) {
    let lines = text.lines().map(str::to_owned).collect();
    let file = File { lines, module: module.to_owned(), ..File::default() };
    let mut walk = Walk { file, module: module.to_owned(), ..Walk::default() };
    if test {
        let end = Position { line: u32::MAX, column: 0 };
        walk.file.tests.push((Position::default(), end));
        walk.test = 1;
    }
    walk.visit_file(syntax);
    (walk.file, walk.modules)
}

#[derive(Default)]
struct Walk {
    file: File,
    modules: Vec<Module>,
    /// The modules that the file is in.
    module: Vec<String>,
    /// Those in the file.
    around: Vec<String>,
    /// How many items around are of tests.
    test: usize,
    /// The type of the implementation around.
    of: Option<String>,
    /// The implementation is one of a trait.
    of_trait: bool,
    generic: bool,
}

/// Whether something is compiled for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.segments.last().is_some_and(|last| last.ident == "test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            condition == "test" || condition.starts_with("all (test")
        }
        _ => false,
    })
}

fn attributes(item: &syn::Item) -> &[Attribute] {
    use syn::Item::*;
    match item {
        Const(it) => &it.attrs,
        Enum(it) => &it.attrs,
        Fn(it) => &it.attrs,
        Impl(it) => &it.attrs,
        Macro(it) => &it.attrs,
        Mod(it) => &it.attrs,
        Static(it) => &it.attrs,
        Struct(it) => &it.attrs,
        Trait(it) => &it.attrs,
        Union(it) => &it.attrs,
        Use(it) => &it.attrs,
        _ => &[],
    }
}

fn has_types(generics: &syn::Generics) -> bool {
    let is_type =
        |parameter: &syn::GenericParam| !matches!(parameter, syn::GenericParam::Lifetime(_));
    generics.params.iter().any(is_type)
}

fn borrows(generics: &syn::Generics) -> bool {
    generics.lifetimes().next().is_some()
}

const fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

impl Walk {
    /// The path of an item in its crate.
    fn path(&self, name: &impl ToString) -> String {
        let modules = self.module.iter().chain(&self.around).cloned();
        modules.chain([name.to_string()]).collect::<Vec<_>>().join("::")
    }

    fn function(
        &mut self,
        signature: &syn::Signature,
        visibility: Option<&Visibility>,
        whole: proc_macro2::Span,
        body: Option<&syn::Block>,
    ) {
        let name = match &self.of {
            Some(of) => format!("{of}::{}", signature.ident),
            None => signature.ident.to_string(),
        };
        let start = position(signature.span().start());
        let head = match visibility {
            Some(it) if !matches!(it, Visibility::Inherited) => position(it.span().start()),
            _ => start,
        };
        let in_types = signature.inputs.iter().any(|input| {
            matches!(input, syn::FnArg::Typed(it) if matches!(&*it.ty, syn::Type::ImplTrait(_)))
        });
        let exclusive = match signature.inputs.first() {
            Some(syn::FnArg::Receiver(it)) => it.reference.is_none() || it.mutability.is_some(),
            _ => false,
        };
        if let Some(body) = body {
            if signature.unsafety.is_some() {
                self.file.unsafe_code.push(span(body.span()));
            }
            if self.test == 0 {
                if signature.asyncness.is_some() {
                    self.file.awaited.extend(guards::awaited(body, &name));
                }
                self.file.functions.push(Function {
                    name,
                    of: self.of.clone(),
                    lines: (head.line, start.line),
                    span: span(whole),
                    generic: self.generic || has_types(&signature.generics) || in_types,
                    public: self.of_trait || visibility.is_some_and(is_public),
                    exclusive,
                    is_unsafe: signature.unsafety.is_some(),
                });
            }
        }
    }

    fn declared(&mut self, name: &syn::Ident, generics: &syn::Generics, fields: Vec<types::Field>) {
        if self.test == 0 {
            self.file.types.push(Type {
                name: name.to_string(),
                path: self.path(name),
                at: position(name.span().start()),
                parameters: types::parameters(generics),
                fields,
                borrows: borrows(generics),
            });
        }
    }
}

impl<'a> Visit<'a> for Walk {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let test = is_test(attributes(item));
        if test {
            self.file.tests.push(span(item.span()));
            self.test += 1;
        }
        visit::visit_item(self, item);
        self.test -= usize::from(test);
    }

    fn visit_item_mod(&mut self, it: &'a syn::ItemMod) {
        self.around.push(it.ident.to_string());
        if it.content.is_none() {
            let file = it.attrs.iter().find_map(|attribute| match &attribute.meta {
                Meta::NameValue(it) if it.path.is_ident("path") => match &it.value {
                    syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                        Some(text.value())
                    }
                    _ => None,
                },
                _ => None,
            });
            self.modules.push(Module { path: self.around.clone(), file, test: self.test > 0 });
        }
        visit::visit_item_mod(self, it);
        self.around.pop();
    }

    fn visit_item_impl(&mut self, it: &'a syn::ItemImpl) {
        if self.test == 0
            && let Some(mut found) = bounds::of(it)
        {
            found.path = self.path(&found.name);
            self.file.impls.push(found);
        }
        let name = match &*it.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let outer = (self.of.take(), self.of_trait, self.generic);
        (self.of, self.of_trait) = (name, it.trait_.is_some());
        self.generic |= has_types(&it.generics);
        visit::visit_item_impl(self, it);
        (self.of, self.of_trait, self.generic) = outer;
    }

    fn visit_item_trait(&mut self, it: &'a syn::ItemTrait) {
        let outer = (self.of.take(), self.of_trait, self.generic);
        (self.of, self.of_trait, self.generic) = (Some(it.ident.to_string()), true, true);
        visit::visit_item_trait(self, it);
        (self.of, self.of_trait, self.generic) = outer;
    }

    fn visit_item_fn(&mut self, it: &'a syn::ItemFn) {
        let outer = (self.of.take(), self.of_trait, self.generic);
        self.of_trait = false;
        self.function(&it.sig, Some(&it.vis), it.span(), Some(&it.block));
        self.generic |= has_types(&it.sig.generics);
        visit::visit_item_fn(self, it);
        (self.of, self.of_trait, self.generic) = outer;
    }

    fn visit_impl_item_fn(&mut self, it: &'a syn::ImplItemFn) {
        let test = is_test(&it.attrs);
        if test {
            self.file.tests.push(span(it.span()));
            self.test += 1;
        }
        self.function(&it.sig, Some(&it.vis), it.span(), Some(&it.block));
        visit::visit_impl_item_fn(self, it);
        self.test -= usize::from(test);
    }

    fn visit_trait_item_fn(&mut self, it: &'a syn::TraitItemFn) {
        self.function(&it.sig, None, it.span(), it.default.as_ref());
        visit::visit_trait_item_fn(self, it);
    }

    fn visit_item_struct(&mut self, it: &'a syn::ItemStruct) {
        self.declared(&it.ident, &it.generics, types::fields(&it.fields));
        visit::visit_item_struct(self, it);
    }

    fn visit_item_union(&mut self, it: &'a syn::ItemUnion) {
        self.declared(&it.ident, &it.generics, types::fields(&it.fields.named));
    }

    fn visit_item_enum(&mut self, it: &'a syn::ItemEnum) {
        let fields = it.variants.iter().flat_map(|variant| types::fields(&variant.fields));
        self.declared(&it.ident, &it.generics, fields.collect());
    }

    fn visit_item_type(&mut self, it: &'a syn::ItemType) {
        let field = types::field(String::new(), &it.ty, &it.vis);
        self.file.aliases.push((it.ident.to_string(), types::parameters(&it.generics), field.uses));
    }

    fn visit_item_static(&mut self, it: &'a syn::ItemStatic) {
        if self.test == 0 {
            let mutable = matches!(it.mutability, syn::StaticMutability::Mut(_));
            let holds = types::holds(&it.ty);
            self.file.statics.push(Static {
                name: it.ident.to_string(),
                path: self.path(&it.ident),
                text: types::text(&it.ty),
                holds,
                mentions: types::mentions(&it.ty),
                mutable,
                public: is_public(&it.vis),
                at: position(it.ident.span().start()),
            });
        }
        visit::visit_item_static(self, it);
    }

    fn visit_expr_unsafe(&mut self, it: &'a syn::ExprUnsafe) {
        self.file.unsafe_code.push(span(it.span()));
        if self.test == 0 {
            self.file.unsafe_blocks += 1;
        }
        visit::visit_expr_unsafe(self, it);
    }

    fn visit_expr_async(&mut self, it: &'a syn::ExprAsync) {
        if self.test == 0 {
            let at = position(it.span().start());
            let name = self.file.function(at).map_or_else(String::new, |f| f.name.clone());
            self.file.awaited.extend(guards::awaited(&it.block, &name));
        }
        visit::visit_expr_async(self, it);
    }

    fn visit_expr_method_call(&mut self, it: &'a syn::ExprMethodCall) {
        if self.test == 0 {
            self.file.atomics.extend(atomics::of(it, self.of.as_deref()));
            self.file.lent.extend(atomics::lent(it, self.of.as_deref()));
            if given_back::by_one_of(&it.args) {
                self.file.given_back.insert(position(it.method.span().start()).line);
            }
        }
        visit::visit_expr_method_call(self, it);
    }

    fn visit_expr_call(&mut self, it: &'a syn::ExprCall) {
        if self.test == 0 {
            self.file.atomics.extend(atomics::fence(it, self.of.as_deref()));
            if given_back::by_one_of(&it.args) {
                self.file.given_back.insert(position(it.span().start()).line);
            }
        }
        visit::visit_expr_call(self, it);
    }

    fn visit_macro(&mut self, it: &'a syn::Macro) {
        // Most macros take expressions; what they make of them is not seen.
        match it.parse_body_with(Punctuated::<syn::Expr, Token![,]>::parse_terminated) {
            Ok(expressions) => {
                expressions.iter().for_each(|expression| Visit::visit_expr(self, expression));
            }
            Err(_) if self.test == 0 => self.file.macros += 1,
            Err(_) => {}
        }
    }
}
