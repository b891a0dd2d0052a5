//! Guards of locks that are alive across `.await`.
//!
//! A guard is what `.lock()`, `.read()` or `.write()` gives without `.await`, kept in a variable
//! (until it is dropped by name, moved, or its block ends) or as a temporary of what a `match`, `if
//! let`, `while let` or `for` looks at. Guards that the package's own functions return, and those
//! in code of macros, are not seen.

use super::{Awaited, visit};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Block, Expr, Pat, Stmt};

/// Methods that give guards, when they take nothing.
const ACQUIRE: &[&str] =
    &["lock", "read", "write", "upgradable_read", "lock_arc", "write_arc", "read_arc"];
/// What comes after them without giving anything but the guard.
const THROUGH: &[&str] = &["unwrap", "expect", "unwrap_or_else", "unwrap_or_default"];

/// Where an expression acquires a lock whose guard is its value.
fn guard(expression: &Expr) -> Option<Span> {
    match expression {
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            if ACQUIRE.contains(&name.as_str()) && call.args.is_empty() {
                return Some(call.method.span());
            }
            THROUGH.contains(&name.as_str()).then(|| guard(&call.receiver)).flatten()
        }
        Expr::Try(inner) => guard(&inner.expr),
        Expr::Paren(inner) => guard(&inner.expr),
        _ => None,
    }
}

/// Looks for `.await` and guards, not in other functions, closures, and blocks that wait by
/// themselves.
#[derive(Default)]
struct Finder {
    awaits: Vec<Span>,
    temporary: Option<Span>,
    dropped: Option<String>,
    name: String,
}

impl<'a> Visit<'a> for Finder {
    fn visit_expr_await(&mut self, it: &'a syn::ExprAwait) {
        self.awaits.push(it.await_token.span());
        syn::visit::visit_expr_await(self, it);
    }

    fn visit_expr(&mut self, it: &'a Expr) {
        match it {
            // `.lock().await` is another kind of lock, made to be held so.
            Expr::Await(inner) if guard(&inner.base).is_some() => {
                self.awaits.push(inner.await_token.span())
            }
            Expr::Closure(_) | Expr::Async(_) => {}
            _ => {
                if let Some(span) = guard(it) {
                    self.temporary.get_or_insert(span);
                }
                syn::visit::visit_expr(self, it);
            }
        }
    }

    fn visit_item(&mut self, _: &'a syn::Item) {}

    fn visit_expr_call(&mut self, it: &'a syn::ExprCall) {
        let is_it =
            |argument: &Expr| matches!(argument, Expr::Path(p) if p.path.is_ident(&self.name));
        if it.args.iter().any(is_it) {
            self.dropped = Some(self.name.clone());
        }
        syn::visit::visit_expr_call(self, it);
    }
}

fn look(name: &str, within: impl FnOnce(&mut Finder)) -> Finder {
    let mut finder = Finder { name: name.to_owned(), ..Finder::default() };
    within(&mut finder);
    finder
}

/// What a block of code that may wait holds while it does.
pub fn awaited(block: &Block, function: &str) -> Vec<Awaited> {
    let mut found = Vec::new();
    Walk { function, found: &mut found }.visit_block(block);
    found
}

struct Walk<'a> {
    function: &'a str,
    found: &'a mut Vec<Awaited>,
}

impl Walk<'_> {
    fn report(&mut self, guard: &str, acquired: Span, at: Span) {
        self.found.push(Awaited {
            guard: guard.to_owned(),
            acquired: visit::position(acquired.start()),
            at: visit::position(at.start()),
            function: self.function.to_owned(),
        });
    }

    /// A value that lives as long as what follows is looked at.
    fn around(&mut self, of: &Expr, body: impl FnOnce(&mut Finder)) {
        let looked_at = look("", |finder| finder.visit_expr(of));
        let Some(acquired) = looked_at.temporary else { return };
        if let Some(&at) = look("", body).awaits.first() {
            self.report("a temporary value", acquired, at);
        }
    }
}

/// The only name that a pattern gives.
fn name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(name) => Some(name.ident.to_string()),
        Pat::Type(inner) => name(&inner.pat),
        _ => None,
    }
}

impl<'a> Visit<'a> for Walk<'_> {
    fn visit_block(&mut self, block: &'a Block) {
        for (at, statement) in block.stmts.iter().enumerate() {
            if let Stmt::Local(local) = statement
                && let Some(value) = &local.init
                && let Some(acquired) = guard(&value.expr)
                && let Some(name) = name(&local.pat)
                && name != "_"
            {
                for later in &block.stmts[at + 1..] {
                    let seen = look(&name, |finder| finder.visit_stmt(later));
                    if let Some(&wait) = seen.awaits.first()
                        && seen.dropped.is_none()
                    {
                        self.report(&name, acquired, wait);
                        break;
                    }
                    if seen.dropped.is_some() {
                        break;
                    }
                }
            }
        }
        syn::visit::visit_block(self, block);
    }

    fn visit_expr_match(&mut self, it: &'a syn::ExprMatch) {
        self.around(&it.expr, |finder| it.arms.iter().for_each(|arm| finder.visit_arm(arm)));
        syn::visit::visit_expr_match(self, it);
    }

    fn visit_expr_if(&mut self, it: &'a syn::ExprIf) {
        if let Expr::Let(condition) = &*it.cond {
            self.around(&condition.expr, |finder| finder.visit_block(&it.then_branch));
        }
        syn::visit::visit_expr_if(self, it);
    }

    fn visit_expr_while(&mut self, it: &'a syn::ExprWhile) {
        if let Expr::Let(condition) = &*it.cond {
            self.around(&condition.expr, |finder| finder.visit_block(&it.body));
        }
        syn::visit::visit_expr_while(self, it);
    }

    fn visit_expr_for_loop(&mut self, it: &'a syn::ExprForLoop) {
        self.around(&it.expr, |finder| finder.visit_block(&it.body));
        syn::visit::visit_expr_for_loop(self, it);
    }

    fn visit_item(&mut self, _: &'a syn::Item) {}

    fn visit_expr_async(&mut self, _: &'a syn::ExprAsync) {}

    fn visit_expr_closure(&mut self, _: &'a syn::ExprClosure) {}
}
