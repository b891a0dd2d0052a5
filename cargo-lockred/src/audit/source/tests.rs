//! Sources as text, and what is read of them.

use super::*;
use lockred_protocol::audit::{Kind, Order};

fn file(text: &str) -> File {
    visit::file(text, &syn::parse_file(text).unwrap(), &[], false).0
}

#[test]
fn implementations_that_ask_nothing_of_a_parameter_are_seen() {
    let unbounded = |text: &str| {
        let file = file(text);
        let [it] = &file.impls[..] else { panic!("{:?}", file.impls) };
        it.unbounded.clone()
    };
    assert_eq!(unbounded("unsafe impl<T> Send for X<T> {}"), ["T"]);
    assert_eq!(unbounded("unsafe impl<'a, T: ?Sized + 'a> Sync for X<'a, T> {}"), ["T"]);
    assert!(unbounded("unsafe impl<T: Send> Sync for X<T> {}").is_empty());
    assert!(unbounded("unsafe impl<T> Sync for X<T> where T: ?Sized + Send {}").is_empty());
    assert!(unbounded("unsafe impl Sync for X {}").is_empty());
    assert!(file("impl<T> !Send for X<T> {}\nunsafe impl<T> Other for X<T> {}").impls.is_empty());
    let reported = &file("unsafe impl<T: ?Sized> Send for X<T> where T: Send, {}").impls[0];
    assert_eq!(reported.text, "unsafe impl<T: ?Sized> Send for X<T> where T: Send");
}

#[test]
fn guards_are_alive_until_they_are_dropped() {
    let count = |body: &str| file(&format!("async fn f() {{ {body} }}")).awaited.len();
    assert_eq!(count("let g = m.lock().unwrap(); g().await; "), 1);
    assert_eq!(count("let g = m.read(); if x { h.await; }"), 1);
    assert_eq!(count("{ let g = m.lock().unwrap(); } h.await;"), 0);
    assert_eq!(count("let g = m.lock().unwrap(); drop(g); h.await;"), 0);
    assert_eq!(count("let g = m.lock().await; h.await;"), 0);
    assert_eq!(count("let n = *m.lock().unwrap(); h.await;"), 0);
    assert_eq!(count("let n = m.lock().unwrap().len(); h.await;"), 0);
    assert_eq!(count("let g = m.lock().unwrap(); let later = async { h.await };"), 0);
    assert_eq!(count("match m.lock().unwrap().pop() { Some(x) => x.await, None => {} }"), 1);
    assert_eq!(count("if let Some(x) = m.lock().unwrap().pop() { x.await }"), 1);
    assert_eq!(count("if m.lock().unwrap().is_empty() { h.await }"), 0);
    assert_eq!(file("fn f() { let g = m.lock(); g.x() }").awaited.len(), 0);
}

#[test]
fn closures_that_drop_what_is_not_theirs_give_it_back() {
    let is_given = |code: &str| {
        let lines = file(&format!("fn f() {{\n{code}\n}}")).given_back;
        assert!(lines.is_empty() || lines.iter().eq([&2]), "{lines:?}");
        !lines.is_empty()
    };
    assert!(is_given("with(|cx| { drop(guard); cx.wait() });"));
    assert!(is_given("self.cx.with(1, move || std::mem::drop(guard));"));
    assert!(!is_given("with(|guard| drop(guard));"));
    assert!(!is_given("with(|| { let guard = m.lock(); drop(guard); });"));
    assert!(!is_given("with(|| { drop(self.guard()); guard.len() });"));
    assert!(!is_given("with(guard, other); drop(guard);"));
}

#[test]
fn atomic_operations_are_known_by_their_orders() {
    use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let file = file(
        "impl Q { fn f(&self) {
            self.head.store(1, Ordering::Release);
            self.a.head.compare_exchange(1, 2, AcqRel, Relaxed);
            self.map.store(1);
            assert_eq!(1, self.head.swap(2, Release));
            fence(Acquire);
            self.head.load(if cfg!(weak) { Relaxed } else { Acquire });
            self.head.load(match way { 0 => Relaxed, _ => { let _ = 1; SeqCst } });
            self.head.compare_exchange(1, 2, order, Relaxed);
            self.map.load(path);
        } }",
    );
    let said =
        |orders: &Option<Orders>| -> Vec<Order> { orders.iter().flatten().copied().collect() };
    let reported: Vec<_> = file
        .atomics
        .iter()
        .map(|o| (&*o.on, o.of_self, o.kind, said(&o.orders), said(&o.failures), o.doubtful))
        .collect();
    assert_eq!(
        reported,
        [
            ("head", true, Kind::Store, vec![Release], vec![], false),
            ("head", false, Kind::Exchange, vec![AcqRel], vec![Relaxed], false),
            ("head", true, Kind::Update, vec![Release], vec![], false),
            ("", false, Kind::Fence, vec![Acquire], vec![], false),
            ("head", true, Kind::Load, vec![Relaxed, Acquire], vec![], false),
            ("head", true, Kind::Load, vec![Relaxed, SeqCst], vec![], false),
            ("head", true, Kind::Exchange, vec![], vec![Relaxed], false),
            // Perhaps: what is compiled tells.
            ("map", true, Kind::Load, vec![], vec![], true),
        ]
    );
    assert!(file.atomics.iter().all(|operation| operation.within.as_deref() == Some("Q")));
}

#[test]
fn places_are_in_unsafe_code_and_in_tests() {
    let text = "fn f() {\n    unsafe { g() };\n    h();\n}\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\nunsafe fn u() {\n    g()\n}\n";
    let file = file(text);
    let at = |line, column| Position { line, column };
    assert!(file.is_unsafe(at(2, 14)) && !file.is_unsafe(at(3, 5)) && file.is_unsafe(at(10, 5)));
    assert!(file.is_test(at(7, 5)) && !file.is_test(at(3, 5)));
    let names: Vec<&str> = file.functions.iter().map(|f| &*f.name).collect();
    assert_eq!((names, file.unsafe_blocks), (vec!["f", "u"], 1));
}

#[test]
fn fields_hold_what_is_inside_of_wrappers() {
    let file = file(
        "struct X<T> { a: CachePadded<AtomicUsize>, l: Arc<Mutex<T>>, p: *mut T, c: UnsafeCell<T>,
         f: PhantomData<fn() -> T>, n: Option<NonNull<T>>, v: Vec<u8> }",
    );
    let holds: Vec<Holds> = file.types[0].fields.iter().map(|field| field.holds).collect();
    use Holds::*;
    assert_eq!(holds, [Atomic, Lock, Pointer, Cell, Phantom, Pointer, Plain]);
    let uses = |field: usize| file.types[0].fields[field].uses.clone();
    assert_eq!(uses(2), [("T".to_owned(), None)]);
    assert_eq!(uses(3), [("T".to_owned(), Some(("UnsafeCell".to_owned(), 0)))]);
    assert!(uses(4).is_empty());
}
