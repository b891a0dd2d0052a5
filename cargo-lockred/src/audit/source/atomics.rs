//! Atomic operations as the source has them: method calls with memory orders among their arguments.

use super::Position;
use lockred_protocol::audit::{Kind, Order};
use std::collections::BTreeSet;
use syn::{Expr, Member};

/// An atomic operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The field, static or variable that it is called on; empty for fences, and where that is
    /// something else.
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
    /// The orders that it may have; of an exchange that succeeds. `None`: it does not say.
    pub orders: Option<Orders>,
    /// Of an exchange that fails; none, if there is no such order.
    pub failures: Option<Orders>,
    /// It may be something else of the same name: an order is an argument, and does not say that it
    /// is one.
    pub doubtful: bool,
    /// What is stored is no pointer but null.
    pub stores_null: bool,
    /// Where: the method's name.
    pub at: Position,
}

/// Orders that an operation may have.
pub type Orders = BTreeSet<Order>;

/// The orders that an expression may be, if it says so.
fn orders(expression: &Expr) -> Option<Orders> {
    let of_block = |block: &syn::Block| match block.stmts.last()? {
        syn::Stmt::Expr(last, None) => orders(last),
        _ => None,
    };
    match expression {
        Expr::Path(_) => order(expression).map(|order| BTreeSet::from([order])),
        Expr::Paren(inner) => orders(&inner.expr),
        Expr::Group(inner) => orders(&inner.expr),
        Expr::Block(inner) => of_block(&inner.block),
        Expr::If(it) => {
            let mut both = of_block(&it.then_branch)?;
            both.extend(orders(&it.else_branch.as_ref()?.1)?);
            Some(both)
        }
        Expr::Match(it) => {
            let arms: Option<Vec<Orders>> = it.arms.iter().map(|arm| orders(&arm.body)).collect();
            arms.map(|arms| arms.into_iter().flatten().collect())
        }
        _ => None,
    }
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

/// Where the orders are among a method's arguments, by how many these are; nothing where they are
/// not those of std's method.
fn places(method: &str, arguments: usize) -> Option<(usize, Option<usize>)> {
    Some(match (method, arguments) {
        ("load", 1) => (0, None),
        ("store" | "swap", 2) => (1, None),
        ("compare_exchange" | "compare_exchange_weak", 4) => (2, Some(3)),
        ("fetch_update" | "try_update" | "update", 3) => (0, Some(1)),
        (method, 2) if method.starts_with("fetch_") => (1, None),
        _ => return None,
    })
}

/// The orders of a call, and whether it is doubtful that it has some.
fn of_arguments(
    method: &str,
    kind: Kind,
    call: &syn::ExprMethodCall,
) -> Option<(Option<Orders>, Option<Orders>, bool)> {
    let of: Vec<Option<Orders>> = call.args.iter().map(orders).collect();
    let doubtful = of.iter().all(Option::is_none);
    if let Some((first, second)) = places(method, of.len()) {
        let failures = second.and_then(|second| of[second].clone());
        return Some((of[first].clone(), failures, doubtful));
    }
    let mut said = of.into_iter().flatten();
    let first = said.next()?;
    let failures = if kind == Kind::Exchange { said.next() } else { None };
    Some((Some(first), failures, doubtful))
}

/// What an expression is: the last field, or a variable; whether that is a field, and one of
/// `self`.
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
    let (orders, failures, doubtful) = of_arguments(&method, kind, call)?;
    let (on, is_field, of_self) = named(&call.receiver);
    let stores_null = call.args.first().is_some_and(|value| {
        super::bounds::names(value, "null_mut") || super::bounds::names(value, "null")
    });
    Some(Operation {
        on,
        is_field,
        of_self,
        within: within.map(str::to_owned),
        orders,
        failures,
        doubtful,
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
    let orders = orders(call.args.first()?);
    Some(Operation {
        on: String::new(),
        is_field: false,
        of_self: false,
        within: within.map(str::to_owned),
        method: "fence".into(),
        kind: Kind::Fence,
        doubtful: orders.is_none(),
        orders,
        failures: None,
        stores_null: false,
        at: super::visit::position(last.ident.span().start()),
    })
}
