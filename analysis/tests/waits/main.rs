//! Loops that wait, in small hand-written modules: what an operation is found to await, and what is
//! no such loop.
//!
//! Every sample is a function `f` with a loop: `again`, which holds the operation and decides
//! whether to `stay`, goes to `round` and back, or `out`.

use lockred_analysis::instrument::{Program, instrument, prepare_user_code};
use lockred_analysis::llvm::Context;
use lockred_analysis::promotion::promote;
use lockred_analysis::recognise::Models;
use lockred_protocol::hooks::How;

const EQUAL: u32 = 0;
const NOT_EQUAL: u32 = 1;
const BELOW: u32 = 2;
const AT_LEAST: u32 = 3;

const HEAD: &str = r#"
target triple = "x86_64-unknown-linux-gnu"
@constant = internal constant i64 7
declare void @unknown()
declare void @llvm.x86.sse2.pause()
declare void @_RNvNtNtCs1234_3std6thread9functions9yield_now()
define i32 @main(i32 %argc, ptr %argv) {
  ret i32 0
}
declare void @forgets(ptr captures(none))
declare void @_ZN15crossbeam_utils7backoff7Backoff6snooze17h0123456789abcdefE(ptr)
declare i1 @_ZN15crossbeam_utils7backoff7Backoff12is_completed17h0123456789abcdefE(ptr)
define ptr @computes(ptr %p) noinline {
  %q = load ptr, ptr %p
  %r = getelementptr i8, ptr %q, i64 8
  ret ptr %r
}
define ptr @writes(ptr %p) noinline {
  store i64 1, ptr %p
  ret ptr %p
}
define internal ptr @counts(ptr %p) noinline {
  store i64 1, ptr %p
  ret ptr null
}
define ptr @loads(ptr %p) noinline {
  %v = load atomic i64, ptr %p acquire, align 8
  ret ptr %p
}
"#;

fn instrumented(function: &str) -> String {
    let context = Context::new();
    let module = context.parse_text(&format!("{HEAD}{function}")).unwrap();
    promote(context, &module).unwrap();
    prepare_user_code(context, &module, &Models::built_in(), false).unwrap();
    instrument(context, &module, Program::default(), Models::built_in()).unwrap();
    module.verify().unwrap();
    module.print()
}

/// What the operations of a function await, in order: mask, value, test.
fn awaits_of(function: &str) -> Vec<String> {
    let text = instrumented(function);
    let call = "call void @__lr_await(";
    let arguments = |line: &str| {
        let (_, arguments) = line.split_once(call)?;
        let arguments = arguments.split(')').next()?;
        Some(arguments.replace("i64 ", "").replace("i32 ", ""))
    };
    text.lines().filter_map(arguments).collect()
}

/// The `how` of the operations of a function, in order.
fn hows_of(function: &str) -> Vec<u32> {
    let whole = instrumented(function);
    let text = &whole[whole.find(" @f(").expect("the function is still there")..];
    let how = |line: &str| {
        let (_, arguments) = line.split_once("@__lr_atomic_")?;
        let mut arguments = arguments.trim_end_matches(')').rsplit("i32 ");
        arguments.nth(1)?.trim_end_matches(", ").parse().ok()
    };
    let calls = text.lines().filter(|line| line.contains(" call ") && !line.contains("declare"));
    calls.filter_map(|line| how(line.split(", !").next()?.split(" #").next()?)).collect()
}

/// The sample with these parts. `phis` begin the loop.
fn sample(phis: &str, again: &str, round: &str) -> String {
    format!(
        "define i64 @f(ptr %p, ptr %q, i64 %n) {{
        entry:
          %own = alloca i64
          call void @forgets(ptr %own)
          br label %again
        again:
          {phis}
          {again}
          br i1 %stay, label %round, label %out
        round:
          {round}
          br label %again
        out:
          ret i64 0
        }}"
    )
}

fn awaits(again: &str, round: &str) -> Vec<String> {
    awaits_of(&sample("", again, round))
}

/// That the only operation awaits something.
#[track_caller]
fn awaited(found: &[String], mask: i64, value: &str, test: u32) {
    assert_eq!(found, [format!("{mask}, {value}, {test}")]);
}

const WORD: &str = "%w = load atomic i64, ptr %p acquire, align 8\n";
const SET: &str = "%w = load atomic i64, ptr %p acquire, align 8\n %stay = icmp ne i64 %w, 0\n";

#[test]
fn a_load_awaits_what_ends_the_loop() {
    let load = |condition: &str| awaits(&format!("{WORD}%stay = {condition}"), "");
    awaited(&load("icmp ne i64 %w, %n"), -1, "%n", EQUAL);
    awaited(&load("icmp eq i64 %w, 0"), -1, "0", NOT_EQUAL);
    awaited(&load("icmp ult i64 %w, %n"), -1, "%n", AT_LEAST);
    awaited(&load("icmp ugt i64 %n, %w"), -1, "%n", AT_LEAST);
    awaited(&load("icmp uge i64 %w, 3"), -1, "3", BELOW);
    awaited(&load("icmp ugt i64 %w, 3"), -1, "4", BELOW);
    awaited(&load("icmp ule i64 %w, 3"), -1, "4", AT_LEAST);
    awaited(&load("icmp ult i64 3, %w"), -1, "4", BELOW);
    assert!(load("icmp slt i64 %w, 3").is_empty());
    assert!(load("icmp ugt i64 %w, %n").is_empty());
    // Not known before.
    let after = format!("{WORD}%later = add i64 %n, 1\n %stay = icmp ne i64 %w, %later");
    assert!(awaits(&after, "").is_empty());
}

#[test]
fn bits_of_the_word_are_awaited() {
    let masked = format!("{WORD}%bit = and i64 %w, 4\n %stay = icmp ne i64 %bit, 0");
    awaited(&awaits(&masked, ""), 4, "0", EQUAL);
    let cut = format!("{WORD}%low = trunc i64 %w to i8\n %stay = icmp eq i8 %low, 3");
    awaited(&awaits(&cut, ""), 255, "3", NOT_EQUAL);
    let turned = format!("{WORD}%no = icmp eq i64 %w, 0\n %stay = xor i1 %no, true");
    awaited(&awaits(&turned, ""), -1, "0", EQUAL);
}

#[test]
fn an_update_awaits_that_it_changes_something() {
    let update = |operation: &str, condition: &str| {
        let again = format!("%w = atomicrmw {operation} acquire\n {condition}");
        awaits(&again, "call void @llvm.x86.sse2.pause()")
    };
    let set = "%stay = icmp ne i64 %w, 0";
    awaited(&update("xchg ptr %p, i64 1", set), -1, "1", NOT_EQUAL);
    awaited(&update("xchg ptr %p, i64 2", "%stay = icmp ne i64 %w, 1"), -1, "2", NOT_EQUAL);
    awaited(&update("xchg ptr %p, i64 %n", "%stay = icmp eq i64 %w, %n"), -1, "%n", NOT_EQUAL);
    let bit = "%bit = and i64 %w, 4\n %stay = icmp ne i64 %bit, 0";
    awaited(&update("or ptr %p, i64 4", bit), 4, "4", NOT_EQUAL);
    let other_bit = "%bit = and i64 %w, 2\n %stay = icmp ne i64 %bit, 0";
    assert!(update("or ptr %p, i64 4", other_bit).is_empty());
    let clear = "%bit = and i64 %w, 4\n %stay = icmp eq i64 %bit, 0";
    awaited(&update("and ptr %p, i64 -5", clear), 4, "0", NOT_EQUAL);
    // When the word stays as it is, the loop ends.
    assert!(update("xchg ptr %p, i64 0", set).is_empty());
    assert!(update("add ptr %p, i64 1", set).is_empty());
}

#[test]
fn a_compare_exchange_awaits_that_it_succeeds() {
    let exchange = |expected: &str, condition: &str| {
        let exchange = format!("%x = cmpxchg ptr %p, i64 {expected}, i64 1 acquire monotonic");
        let fields = "%w = extractvalue { i64, i1 } %x, 0\n %done = extractvalue { i64, i1 } %x, 1";
        awaits(&format!("{exchange}\n {fields}\n {condition}"), "")
    };
    let failed = "%stay = xor i1 %done, true";
    awaited(&exchange("0", failed), -1, "0", EQUAL);
    awaited(&exchange("%n", failed), -1, "%n", EQUAL);
    // It goes round only for one value.
    awaited(&exchange("0", "%stay = icmp eq i64 %w, 1"), -1, "1", NOT_EQUAL);
    // Round when it succeeds: that is something done.
    assert!(exchange("0", "%stay = icmp eq i1 %done, true").is_empty());
    assert!(exchange("0", "%stay = icmp eq i64 %w, 0").is_empty());
}

#[test]
fn a_switch_awaits_all_but_the_case_that_goes_round() {
    let function = |cases: &str| {
        format!(
            "define void @f(ptr %p) {{
            entry:
              br label %again
            again:
              {WORD}
              switch i64 %w, {cases}
            round:
              call void @llvm.x86.sse2.pause()
              br label %again
            out:
              ret void
            }}"
        )
    };
    let one = function("label %out [ i64 1, label %round\n i64 2, label %out ]");
    awaited(&awaits_of(&one), -1, "1", NOT_EQUAL);
    let but_one = function("label %round [ i64 1, label %out ]");
    awaited(&awaits_of(&but_one), -1, "1", EQUAL);
}

#[test]
fn a_round_may_pause_compute_and_look() {
    let round = |round: &str| awaited(&awaits(SET, round), -1, "0", EQUAL);
    round("call void @_RNvNtNtCs1234_3std6thread9functions9yield_now()");
    round("%y = add i64 %n, 1\n %z = icmp eq i64 %y, 2");
    round("%c = load i64, ptr @constant");
    round("%c = load i64, ptr %own");
    round("%other = load atomic i64, ptr %q acquire, align 8");
    let found = "%r = call ptr @computes(ptr %q)\n";
    let by_way =
        format!("{found}%w = load atomic i64, ptr %r acquire, align 8\n %stay = icmp ne i64 %w, 0");
    awaited(&awaits(&by_way, "%anew = call ptr @computes(ptr %q)"), -1, "0", EQUAL);
}

#[test]
fn a_round_that_does_something_is_none() {
    for does in [
        "store i64 1, ptr %q",
        "store atomic i64 1, ptr %q release, align 8",
        "%y = atomicrmw add ptr %q, i64 1 release",
        "%y = cmpxchg ptr %q, i64 0, i64 1 acquire monotonic",
        "fence release",
        "call void @unknown()",
        "%y = call ptr @writes(ptr %q)",
        // Private memory, but the caller's.
        "%y = call ptr @counts(ptr %own)",
        "%y = call ptr @loads(ptr %q)",
        "%y = load volatile i64, ptr @constant",
    ] {
        assert!(awaits(SET, does).is_empty(), "{does}");
        assert!(awaits(&format!("{does}\n{SET}"), "").is_empty(), "{does}");
    }
}

#[test]
fn memory_is_read_in_vain_rounds_only_if_it_was_read_before() {
    let read = "%v = load i64, ptr %q\n";
    assert!(awaits(SET, read).is_empty());
    assert!(awaits(SET, "%r = call ptr @computes(ptr %q)").is_empty());
    awaited(&awaits(&format!("{read}{SET}"), ""), -1, "0", EQUAL);
    let twice = awaits(&format!("{read}{SET}"), "%anew = load i64, ptr %q");
    awaited(&twice, -1, "0", EQUAL);
    assert!(awaits(SET, "%a = load i64, ptr %q\n %b = load i64, ptr %q").is_empty());
    let elsewhere = "%r = getelementptr i8, ptr %q, i64 8\n %anew = load i64, ptr %r";
    assert!(awaits(&format!("{read}{SET}"), elsewhere).is_empty());
    // Read after the operation, it is not read before that is first reached.
    let behind = format!("{WORD}{read}%stay = icmp ne i64 %w, 0");
    assert!(awaits(&behind, "").is_empty());
}

#[test]
fn the_operation_must_stay_the_same() {
    let moving = "%at = phi ptr [ %p, %entry ], [ %q, %round ]";
    let load = "%w = load atomic i64, ptr %at acquire, align 8\n %stay = icmp ne i64 %w, 0";
    assert!(awaits_of(&sample(moving, load, "")).is_empty());
    let counting = "%i = phi i64 [ 0, %entry ], [ %next, %round ]\n %next = add i64 %i, 1";
    let exchange = "%x = cmpxchg ptr %p, i64 %i, i64 9 acquire monotonic
        %done = extractvalue { i64, i1 } %x, 1
        %stay = xor i1 %done, true";
    assert!(awaits_of(&sample(counting, exchange, "")).is_empty());
    let same =
        "%i = phi i64 [ 3, %entry ], [ 3, %round ]\n %j = phi i64 [ %n, %entry ], [ %j, %round ]";
    let found = awaits_of(&sample(same, exchange, ""));
    awaited(&found, -1, "3", EQUAL);
    let exchange = exchange.replace("%i", "%j");
    assert_eq!(awaits_of(&sample(same, &exchange, "")).len(), 1);
}

#[test]
fn the_awaited_value_must_stay_the_same() {
    let counting = "%i = phi i64 [ 0, %entry ], [ %next, %round ]\n %next = add i64 %i, 1\n";
    let compares = format!("{WORD}%stay = icmp ne i64 %w, %i");
    assert!(awaits_of(&sample(counting, &compares, "")).is_empty());
    let other = "%wanted = load atomic i64, ptr %q acquire, align 8\n";
    assert!(awaits(&format!("{other}{WORD}%stay = icmp ne i64 %w, %wanted"), "").is_empty());
    let plain = "%wanted = load i64, ptr %q\n";
    let found = awaits(&format!("{plain}{WORD}%stay = icmp ne i64 %w, %wanted"), "");
    assert_eq!(found.len(), 1);
}

#[test]
fn a_count_of_rounds_may_only_decide_how_to_wait() {
    let counts = "%i = phi i64 [ 0, %entry ], [ %next, %back ]";
    let function = |seen: &str, end: &str| {
        format!(
            "define i64 @f(ptr %p, ptr %q, i64 %n) {{
            entry:
              br label %again
            again:
              {counts}
              {SET}
              br i1 %stay, label %round, label %out
            round:
              %next = add i64 %i, 1
              %soon = icmp ult i64 %next, 100
              br i1 %soon, label %hint, label %{end}
            hint:
              call void @llvm.x86.sse2.pause()
              br label %back
            yield:
              call void @_RNvNtNtCs1234_3std6thread9functions9yield_now()
              br label %back
            back:
              br label %again
            out:
              {seen}
            }}"
        )
    };
    awaited(&awaits_of(&function("ret i64 0", "yield")), -1, "0", EQUAL);
    assert!(awaits_of(&function("ret i64 %i", "yield")).is_empty(), "it is seen outside");
    let decides = "%more = icmp ugt i64 %i, 5\n br i1 %more, label %many, label %few
        many:\n ret i64 1\n few:\n ret i64 0";
    assert!(awaits_of(&function(decides, "yield")).is_empty(), "it decides outside");
    assert!(awaits_of(&function("ret i64 0", "out")).is_empty(), "the loop gives up");
    let address = function("ret i64 0", "yield").replace(
        "%soon =",
        "%at = getelementptr i8, ptr %q, i64 %next
        %other = load atomic i64, ptr %at acquire, align 8\n %soon =",
    );
    assert!(awaits_of(&address).is_empty(), "it is an address");
}

#[test]
fn what_a_round_saw_must_not_be_seen_after_the_loop() {
    let last = "%seen = phi i64 [ 0, %entry ], [ %w, %round ]";
    let keeps = sample(last, SET, "").replace("ret i64 0", "ret i64 %seen");
    assert!(awaits_of(&keeps).is_empty());
    let found = sample("", SET, "").replace("ret i64 0", "ret i64 %w");
    awaited(&awaits_of(&found), -1, "0", EQUAL);
}

#[test]
fn a_way_out_is_none_if_it_was_not_taken_before() {
    let function = |before: &str, behind: &str| {
        format!(
            "define void @f(ptr %p, ptr %q, i64 %n) {{
            entry:
              br label %begin
            begin:
              {before}
            again:
              {SET}
              br i1 %stay, label %round, label %out
            round:
              {behind}
            back:
              br label %begin
            out:
              ret void
            fails:
              call void @unknown()
              unreachable
            }}"
        )
    };
    let in_bounds = "%good = icmp ult i64 %n, 8\n br i1 %good, label %again, label %fails";
    let (on, back) = ("br label %again", "br label %back");
    awaited(&awaits_of(&function(in_bounds, back)), -1, "0", EQUAL);
    let late = "%good = icmp ult i64 %n, 8\n br i1 %good, label %back, label %fails";
    assert!(awaits_of(&function(on, late)).is_empty());
    let changes = "%v = load atomic i64, ptr %q acquire, align 8
        %good = icmp ult i64 %v, 8\n br i1 %good, label %again, label %fails";
    assert!(awaits_of(&function(changes, back)).is_empty());
    let closed = "%v = load atomic i64, ptr %q acquire, align 8
        %good = icmp ult i64 %v, 8\n br i1 %good, label %back, label %out";
    assert!(awaits_of(&function(on, closed)).is_empty());
}

#[test]
fn an_inner_loop_must_look_at_the_same_word() {
    let function = |address: &str, good: &str| {
        format!(
            "define void @f(ptr %p, ptr %q) {{
            entry:
              br label %again
            again:
              %at = getelementptr i8, ptr %p, i64 8
              %x = cmpxchg ptr %at, i64 0, i64 1 acquire monotonic
              %done = extractvalue {{ i64, i1 }} %x, 1
              br i1 %done, label %out, label %inner
            inner:
              %there = getelementptr i8, ptr {address}
              %w = load atomic i64, ptr %there monotonic, align 8
              %go = icmp eq i64 %w, {good}
              call void @llvm.x86.sse2.pause()
              br i1 %go, label %again, label %inner
            out:
              ret void
            }}"
        )
    };
    // The inner loop waits as well, in any case.
    let both = awaits_of(&function("%p, i64 8", "0"));
    assert_eq!(both, ["-1, 0, 0", "-1, 0, 0"]);
    assert_eq!(awaits_of(&function("%q, i64 8", "0")).len(), 1);
    assert_eq!(awaits_of(&function("%p, i64 0", "0")).len(), 1);
    assert_eq!(awaits_of(&function("%p, i64 8", "2")).len(), 1);
    // It may wait for ever after a look that was bad.
    let looks_twice = function("%p, i64 8", "2").replace(
        "label %out, label %inner",
        "label %out, label %first
            first:
              %before = load atomic i64, ptr %at monotonic, align 8
              %free = icmp eq i64 %before, 0
              br i1 %free, label %again, label %inner",
    );
    assert_eq!(awaits_of(&looks_twice).len(), 1);
}

#[test]
fn nobody_asks_how_often_a_loop_has_backed_off() {
    let function = |asks: &str| {
        format!(
            "define void @f(ptr %p) {{
            entry:
              %backoff = alloca i32
              store i32 0, ptr %backoff
              br label %again
            again:
              {SET}
              br i1 %stay, label %round, label %out
            round:
              call void @_ZN15crossbeam_utils7backoff7Backoff6snooze17h0123456789abcdefE(ptr %backoff)
              br label %again
            out:
              {asks}
              ret void
            }}"
        )
    };
    awaited(&awaits_of(&function("")), -1, "0", EQUAL);
    let asks = "%c = call i1 @_ZN15crossbeam_utils7backoff7Backoff12is_completed17h0123456789abcdefE(ptr %backoff)";
    assert!(awaits_of(&function(asks)).is_empty());
    let read = "%c = load i32, ptr %backoff";
    assert!(awaits_of(&function(read)).is_empty());
}

const BEGINS: u32 = How::OPENS_REGION;
const ENDS: u32 = How::IN_REGION | How::CLOSES_REGION;

/// A loop that looks at a word, and then exchanges it.
fn looks_and_exchanges(look: &str, between: &str, exchange: &str, behind: &str) -> String {
    format!(
        "define i64 @f(ptr %p, ptr %q, i64 %n) {{
        entry:
          br label %again
        again:
          %w = load atomic i64, ptr %p {look}, align 8
          %bit = and i64 %w, 1
          %taken = icmp ne i64 %bit, 0
          br i1 %taken, label %again, label %free
        free:
          {between}
          %new = or i64 %w, 1
          %x = cmpxchg ptr %p, {exchange}
          %done = extractvalue {{ i64, i1 }} %x, 1
          br i1 %done, label %out, label %failed
        failed:
          {behind}
          br label %again
        out:
          ret i64 0
        }}"
    )
}

#[test]
fn a_look_and_its_exchange_are_one_step() {
    let found = "i64 %w, i64 %new acquire monotonic";
    let hows = |look: &str, exchange: &str| hows_of(&looks_and_exchanges(look, "", exchange, ""));
    assert_eq!(hows("monotonic", found), [BEGINS, ENDS]);
    assert_eq!(hows("acquire", found), [BEGINS, ENDS]);
    assert_eq!(hows("acquire", "i64 %w, i64 %new monotonic monotonic"), [0, 0]);
    // A word without its lowest bit need not be 0; what the exchange does not await may fail.
    assert_eq!(hows("monotonic", "i64 0, i64 1 acquire monotonic"), [0, 0]);
    let known = looks_and_exchanges("monotonic", "", "i64 0, i64 1 acquire monotonic", "")
        .replace("and i64 %w, 1", "and i64 %w, -1");
    assert_eq!(hows_of(&known), [BEGINS, ENDS]);
    // What was found is used otherwise, too.
    assert_eq!(hows_of(&known.replace("ret i64 0", "ret i64 %w")), [0, 0]);
    let counts = looks_and_exchanges("monotonic", "", found, "").replace("ret i64 0", "ret i64 %w");
    assert_eq!(hows_of(&counts), [BEGINS, ENDS]);
}

#[test]
fn a_look_and_an_exchange_with_something_between_them_are_two_steps() {
    let found = "i64 %w, i64 %new acquire monotonic";
    let hows = |between: &str, behind: &str| {
        hows_of(&looks_and_exchanges("monotonic", between, found, behind))
    };
    assert_eq!(hows("", "call void @llvm.x86.sse2.pause()"), [BEGINS, ENDS]);
    for does in [
        "store i64 1, ptr %q",
        "%v = load i64, ptr %q",
        "%v = load atomic i64, ptr %q acquire, align 8",
        "call void @unknown()",
    ] {
        let alone: Vec<u32> = hows(does, "").into_iter().filter(|how| *how != 0).collect();
        assert!(alone.is_empty(), "{does}");
    }
    for does in ["store i64 1, ptr %q", "%v = load i64, ptr %q", "call void @unknown()"] {
        assert_eq!(hows("", does), [0, 0], "{does}");
    }
    // It need not come to the exchange.
    let gives_up = looks_and_exchanges("monotonic", "", found, "").replace(
        "free:",
        "free:\n %big = icmp ugt i64 %w, 8\n br i1 %big, label %out, label %free2\n free2:",
    );
    assert_eq!(hows_of(&gives_up), [0, 0]);
    let elsewhere =
        looks_and_exchanges("monotonic", "", found, "").replace("cmpxchg ptr %p", "cmpxchg ptr %q");
    assert_eq!(hows_of(&elsewhere), [0, 0]);
}

#[test]
fn an_endless_inner_loop_is_not_left_out() {
    let endless = sample("", SET, "call void @llvm.x86.sse2.pause()").replace(
        "call void @llvm.x86.sse2.pause()\n          br label %again",
        "call void @llvm.x86.sse2.pause()\n br i1 true, label %round, label %again",
    );
    assert!(endless.contains("br i1 true"));
    assert!(awaits_of(&endless).is_empty());
    // Nobody knows when it ends.
    let open = endless.replace("br i1 true", "%e = icmp eq i64 %n, 3\n br i1 %e");
    assert!(awaits_of(&open).is_empty());
}

#[test]
fn small_functions_are_seen_through() {
    let text = "define i1 @tries(ptr %p) {
          %old = atomicrmw xchg ptr %p, i64 1 acquire
          %got = icmp eq i64 %old, 0
          ret i1 %got
        }
        define void @f(ptr %p) {
        entry:
          br label %again
        again:
          %got = call i1 @tries(ptr %p)
          br i1 %got, label %out, label %again
        out:
          ret void
        }";
    awaited(&awaits_of(text), -1, "1", NOT_EQUAL);
}

#[test]
fn what_a_sync_model_knows_is_left_to_it() {
    let tries = "_ZN3std3sys4sync5mutex5futex5Mutex8try_lock17h0123456789abcdefE";
    let function = |name: &str| {
        format!(
            "define void @{name}(ptr %p) {{
            entry:
              br label %again
            again:
              %x = cmpxchg ptr %p, i32 0, i32 1 acquire monotonic
              %done = extractvalue {{ i32, i1 }} %x, 1
              br i1 %done, label %out, label %again
            out:
              ret void
            }}"
        )
    };
    assert_eq!(awaits_of(&function("mine")).len(), 1);
    assert!(awaits_of(&function(tries)).is_empty());
}
