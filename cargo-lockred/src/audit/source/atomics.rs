//! Atomic operations as the source has them: method calls with memory orders among their arguments.

use super::Position;
use lockred_trace::audit::{Kind, Order};
use syn::{Expr, Member};

/// An atomic operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The field, static or variable that it is called on; empty for fences, and where that is something else.
    pub on: String,
    /// It is a field.
    pub is_field: bool,
    /// It is a field of `self`.
    pub of_self: bool,
    /// The type whose function it is in.
    pub within: Option<String>,
    /// The method.
    pub method: String,
    /// What it does.
    pub kind: Kind,
    /// Its order; of an exchange that succeeds.
    pub order: Order,
    /// Of an exchange that fails.
    pub failure: Option<Order>,
    /// What is stored is no pointer but null.
    pub stores_null: bool,
    /// Where: the method's name.
    pub at: Position,
}

fn order(expression: &Expr) -> Option<Order> {
    let Expr::Path(path) = expression else { return None };
    Some(match path.path.segments.last()?.ident.to_string().as_str() {
        "Relaxed" => Order::Relaxed,
        "Acquire" => Order::Acquire,
        "Release" => Order::Release,
        "AcqRel" => Order::AcqRel,
        "SeqCst" => Order::SeqCst,
        _ => return None,
    })
}

fn kind(method: &str) -> Option<Kind> {
    Some(match method {
        "load" | "load_consume" => Kind::Load,
        "store" => Kind::Store,
        "compare_exchange"
        | "compare_exchange_weak"
        | "compare_and_set"
        | "fetch_update"
        | "try_update"
        | "update" => Kind::Exchange,
        "swap" => Kind::Update,
        _ if method.starts_with("fetch_") => Kind::Update,
        _ => return None,
    })
}

/// What an expression is: the last field, or a variable; whether that is a field, and one of `self`.
fn named(expression: &Expr) -> (String, bool, bool) {
    match expression {
        Expr::Field(field) => {
            let name = match &field.member {
                Member::Named(name) => name.to_string(),
                Member::Unnamed(index) => index.index.to_string(),
            };
            let of_self = matches!(&*field.base, Expr::Path(path) if path.path.is_ident("self"));
            (name, true, of_self)
        }
        Expr::Path(path) => {
            let last = path.path.segments.last();
            (last.map(|last| last.ident.to_string()).unwrap_or_default(), false, false)
        }
        Expr::Paren(inner) => named(&inner.expr),
        Expr::Reference(inner) => named(&inner.expr),
        Expr::Index(inner) => named(&inner.expr),
        Expr::Unary(inner) => named(&inner.expr),
        Expr::Try(inner) => named(&inner.expr),
        _ => (String::new(), false, false),
    }
}

/// A field that a method gives to a closure: `cell.with_mut(|value| …)`.
#[derive(Clone, Debug)]
pub struct Lent {
    /// The field.
    pub field: String,
    /// The type whose function it is in, if it is a field of `self`.
    pub within: Option<String>,
    /// The method.
    pub method: String,
}

fn is_closure(expression: &Expr) -> bool {
    match expression {
        Expr::Closure(_) => true,
        Expr::Reference(inner) => is_closure(&inner.expr),
        Expr::Paren(inner) => is_closure(&inner.expr),
        _ => false,
    }
}

/// The field that a method call gives to a closure, if it is such a call.
pub fn lent(call: &syn::ExprMethodCall, within: Option<&str>) -> Option<Lent> {
    let has_closure = call.args.iter().any(is_closure);
    let (field, is_field, of_self) = named(&call.receiver);
    (has_closure && is_field).then(|| Lent {
        field,
        within: within.filter(|_| of_self).map(str::to_owned),
        method: call.method.to_string(),
    })
}

/// The operation that a method call is, if it is one.
pub fn of(call: &syn::ExprMethodCall, within: Option<&str>) -> Option<Operation> {
    let method = call.method.to_string();
    let kind = kind(&method)?;
    let orders: Vec<Order> = call.args.iter().filter_map(order).collect();
    let &first = orders.first()?;
    let (on, is_field, of_self) = named(&call.receiver);
    let stores_null = call.args.first().is_some_and(|value| {
        super::bounds::names(value, "null_mut") || super::bounds::names(value, "null")
    });
    Some(Operation {
        on,
        is_field,
        of_self,
        within: within.map(str::to_owned),
        failure: if kind == Kind::Exchange { orders.get(1).copied() } else { None },
        order: first,
        method,
        kind,
        stores_null,
        at: super::visit::position(call.method.span().start()),
    })
}

/// The fence that a call is, if it is one.
pub fn fence(call: &syn::ExprCall, within: Option<&str>) -> Option<Operation> {
    let Expr::Path(path) = &*call.func else { return None };
    let last = path.path.segments.last()?;
    if last.ident != "fence" {
        return None;
    }
    let order = call.args.first().and_then(order)?;
    Some(Operation {
        on: String::new(),
        is_field: false,
        of_self: false,
        within: within.map(str::to_owned),
        method: "fence".into(),
        kind: Kind::Fence,
        order,
        failure: None,
        stores_null: false,
        at: super::visit::position(last.ident.span().start()),
    })
}
