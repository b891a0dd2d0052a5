//! Atomic instructions and fences: replaced by calls of the runtime.

use super::Instrumenter;
use crate::llvm::{Function, Instruction, Opcode, TypeKind, Value};
use crate::recognise::{Await, Kind, Recognised};
use crate::waits::{Condition, Operand, Step};
use lockred_protocol::hooks::{Class, How, Order, RmwOp, Test};

/// Operations that commute with themselves.
const COMMUTATIVE: &[RmwOp] = &[
    RmwOp::Add,
    RmwOp::Sub,
    RmwOp::And,
    RmwOp::Or,
    RmwOp::Xor,
    RmwOp::Max,
    RmwOp::Min,
    RmwOp::UMax,
    RmwOp::UMin,
];

/// Whether a weak compare-exchange with this inlining chain, innermost first, is one of std's own
/// loops (which try again until it succeeds), not one that the program asked for.
fn is_of_std(chain: &[&str]) -> bool {
    let asked = |path: &str| {
        path.starts_with("core::sync::atomic::") && path.ends_with("compare_exchange_weak")
    };
    let asks = chain.iter().find(|path| !asked(path));
    asks.is_some_and(|path| ["core::", "alloc::", "std::"].iter().any(|c| path.starts_with(c)))
}

/// What an atomic access does; `None` for an update that has no name, and for fences.
pub(super) fn kind_of(at: Instruction) -> Option<Kind> {
    match at.opcode() {
        Opcode::Load => Some(Kind::Load),
        Opcode::Store => Some(Kind::Store),
        Opcode::AtomicRmw => at.rmw_op().map(Kind::Rmw),
        Opcode::CompareExchange => Some(Kind::CompareExchange),
        _ => None,
    }
}

impl Instrumenter<'_> {
    /// Replaces an atomic load, store, read-modify-write or compare-exchange.
    pub(super) fn atomic(&mut self, function: Function, at: Instruction) {
        if at.is_single_thread() {
            return;
        }
        let size = at.access_size(self.module);
        let kind = kind_of(at);
        let scalar = !matches!(at.accessed_type().kind(), TypeKind::Other);
        let (Some(kind), true) = (kind, scalar && matches!(size, 1 | 2 | 4 | 8)) else {
            self.unsupported_instruction(function, at);
            return;
        };
        let mut recognised = self.recognise(function, at, kind, size);
        if !recognised.how.has(How::PRIMITIVE) {
            recognised.how.0 |= self.step(at);
        }
        self.announce_await(function, at, &recognised);
        self.replace(function, at, kind, size, recognised);
    }

    /// The flags of an operation that belongs together with others because of its loop.
    fn step(&self, at: Instruction) -> u32 {
        match self.waits.get(&at).map(|wait| wait.step) {
            None | Some(Step::Own) => 0,
            Some(Step::Begins) => How::OPENS_REGION,
            Some(Step::Ends) => How::IN_REGION | How::CLOSES_REGION,
        }
    }

    /// Reports to the runtime what an operation waits for: by its sync model, or, if it has none,
    /// by the loop that it is in.
    fn announce_await(&mut self, function: Function, at: Instruction, recognised: &Recognised) {
        let context = self.context;
        let location = self.location(function, at);
        let builder = &self.hooks.builder;
        builder.before(at, location);
        let number = |value: u64| context.integer(64).constant(value);
        let (mask, value, test): (u64, Value, Test) = match recognised.awaits {
            Some(Await { mask, value, test }) => (mask, number(value), test),
            None if recognised.how.has(How::PRIMITIVE) => return,
            None => {
                let awaits = self.waits.remove(&at).and_then(|wait| wait.awaits);
                let Some(Condition { mask, value, test }) = awaits else { return };
                let value = match value {
                    Operand::Number(value) => number(value),
                    Operand::Of(user, index) => builder
                        .widen(context, user.operand(index))
                        .expect("words are compared with scalars"),
                };
                (mask, value, test)
            }
        };
        let test = context.integer(32).constant(test as u64);
        builder.call(self.hooks.await_value, &[number(mask), value, test]);
    }

    /// What the sync models, or the instruction itself, say that it is.
    fn recognise(
        &mut self,
        function: Function,
        at: Instruction,
        kind: Kind,
        size: u64,
    ) -> Recognised {
        let (chain, types) = self.sites.chain_and_types(self.context, function, at);
        if let Some(recognised) = self.models.recognise(kind, size, &chain, &types) {
            return recognised;
        }
        let unused =
            matches!(kind, Kind::Rmw(op) if COMMUTATIVE.contains(&op)) && at.value().is_unused();
        let class = if unused { Class::Unused } else { Class::Plain };
        let weak = kind == Kind::CompareExchange && at.is_weak() && !is_of_std(&chain);
        let how = How(How::of(class).0 | if weak { How::WEAK } else { 0 });
        Recognised { how, awaits: None, relaxed: false, innermost: false }
    }

    /// Puts the call in the place of the instruction.
    fn replace(
        &mut self,
        function: Function,
        at: Instruction,
        kind: Kind,
        size: u64,
        recognised: Recognised,
    ) {
        let context = self.context;
        let site = self.sites.of(context, function, at);
        let location = self.location(function, at);
        let hooks = &self.hooks;
        let builder = &hooks.builder;
        let narrow = |value: u32| context.integer(32).constant(value.into());
        let how = narrow(recognised.how.0);
        let size = narrow(size as u32);
        let site = narrow(site.0);
        builder.before(at, location);
        let address = builder.address(context, at.address());
        let wide = |value: Value| builder.widen(context, value).expect("only scalars come here");
        let counts = |order: Order| if recognised.relaxed { Order::Relaxed } else { order } as u32;
        let order = || narrow(counts(at.order()));
        let result = match kind {
            Kind::Load => {
                let call = builder.call(hooks.atomic_load, &[address, size, order(), how, site]);
                Some(builder.narrow(context, call.value(), at.accessed_type()))
            }
            Kind::Store => {
                let value = wide(at.operand(0));
                builder.call(hooks.atomic_store, &[address, value, size, order(), how, site]);
                None
            }
            Kind::Rmw(op) => {
                let operand = wide(at.operand(1));
                let op = narrow(op as u32);
                let arguments = [address, operand, op, size, order(), how, site];
                let call = builder.call(hooks.atomic_rmw, &arguments);
                Some(builder.narrow(context, call.value(), at.accessed_type()))
            }
            Kind::CompareExchange => {
                let (success, failure) = at.compare_exchange_orders();
                let orders = narrow(counts(success) | counts(failure) << 8);
                let [expected, new] = [at.operand(1), at.operand(2)].map(wide);
                let arguments = [address, expected, new, size, orders, how, site];
                let old = builder.call(hooks.atomic_cmpxchg, &arguments).value();
                let narrowed = builder.narrow(context, old, at.accessed_type());
                // A weak one may fail although the word had the value: only the runtime knows.
                let success = if recognised.how.has(How::WEAK) {
                    let exchanged = hooks.exchanged.value();
                    builder.equal(builder.load(context.integer(32), exchanged), narrow(1))
                } else {
                    builder.equal(old, expected)
                };
                let pair = at.value().value_type().poison();
                let pair = builder.insert_field(pair, narrowed, 0);
                Some(builder.insert_field(pair, success, 1))
            }
        };
        if let Some(result) = result {
            at.value().replace_all_uses(result);
        }
        at.erase();
    }

    /// Replaces a fence, unless it only orders against signal handlers of the same thread.
    pub(super) fn fence(&mut self, function: Function, at: Instruction) {
        if at.is_single_thread() {
            return;
        }
        self.announce_fence(function, at, at.order());
        at.erase();
    }

    /// Reports a fence to the runtime, before the instruction that is one.
    pub(super) fn announce_fence(&mut self, function: Function, at: Instruction, order: Order) {
        let site = self.sites.of(self.context, function, at);
        let location = self.location(function, at);
        let narrow = self.context.integer(32);
        self.hooks.builder.before(at, location);
        let arguments = [narrow.constant(order as u64), narrow.constant(site.0.into())];
        self.hooks.builder.call(self.hooks.fence, &arguments);
    }

    /// Lets the runtime end the test before an instruction that cannot be modelled.
    pub(super) fn unsupported_instruction(&mut self, function: Function, at: Instruction) {
        let site = self.sites.of(self.context, function, at);
        let location = self.location(function, at);
        self.hooks.builder.before(at, location);
        let site = self.context.integer(32).constant(site.0.into());
        self.hooks.builder.call(self.hooks.unsupported_instruction, &[site]);
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_std;

    #[test]
    fn a_weak_exchange_belongs_to_who_asks_for_it() {
        let asked = "core::sync::atomic::Atomic::compare_exchange_weak";
        assert!(!is_of_std(&[asked]));
        assert!(!is_of_std(&[
            "core::sync::atomic::atomic_compare_exchange_weak",
            asked,
            "mine::f"
        ]));
        assert!(is_of_std(&[asked, "std::sync::mpmc::array::Channel::start_send", "mine::f"]));
        assert!(is_of_std(&[asked, "core::sync::atomic::Atomic::fetch_update", "mine::f"]));
    }
}
