//! Closures that give back a lock which they have not acquired: `run(|| { drop(guard); wait() })`.

use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprClosure, PatIdent};

/// Whether one of some arguments is such a closure.
pub fn by_one_of<'a>(arguments: impl IntoIterator<Item = &'a Expr>) -> bool {
    arguments.into_iter().any(|argument| match argument {
        Expr::Closure(closure) => gives_back(closure),
        _ => false,
    })
}

/// Whether a closure drops by name what is no variable of its own. That this is a guard is taken
/// for granted.
fn gives_back(closure: &ExprClosure) -> bool {
    let mut finder = Finder::default();
    finder.visit_expr_closure(closure);
    finder.dropped.iter().any(|name| !finder.own.contains(name))
}

#[derive(Default)]
struct Finder {
    own: Vec<String>,
    dropped: Vec<String>,
}

impl<'a> Visit<'a> for Finder {
    fn visit_pat_ident(&mut self, it: &'a PatIdent) {
        self.own.push(it.ident.to_string());
        visit::visit_pat_ident(self, it);
    }

    fn visit_expr_call(&mut self, it: &'a ExprCall) {
        let is_drop = matches!(&*it.func, Expr::Path(path)
            if path.path.segments.last().is_some_and(|last| last.ident == "drop"));
        if is_drop
            && let Some(Expr::Path(name)) = it.args.first()
            && let Some(name) = name.path.get_ident()
        {
            self.dropped.push(name.to_string());
        }
        visit::visit_expr_call(self, it);
    }
}
