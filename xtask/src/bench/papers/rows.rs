//! The rows of the table: a program, how it is searched, what its paper says of it, and why we
//! differ.

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which program in which size, for people.
    pub program: String,
    /// The test in `tests/paper`.
    pub test: String,
    /// Options of the check.
    pub options: &'static [&'static str],
    /// What the paper says.
    pub claim: String,
    /// What is to be known to compare, and why ours is another number.
    pub remark: &'static str,
}

const TRANSACTIONS: &[&str] = &[];
const NAIVE: &[&str] = &["--search=naive"];
const DPOR: &[&str] = &["--search=dpor"];
const STATEFUL: &[&str] = &["--search=states"];
const RANDOM: &[&str] = &["--search=sample"];
const KEEP_GOING: &[&str] = &["--keep-going"];
/// No access is let go because of what is known of it before.
const CHECKS_ALL: &[&str] = &[
    "--search=states",
    "--without-rule=stack",
    "--without-rule=thread-local",
    "--without-rule=parameter",
    "--without-rule=heap",
    "--without-rule=repeated",
];

/// A row.
fn row(
    program: &str,
    test: &str,
    options: &'static [&'static str],
    claim: &str,
    remark: &'static str,
) -> Row {
    let [program, test, claim] = [program, test, claim].map(str::to_owned);
    Row { program, test, options, claim, remark }
}

/// All of them.
pub fn rows() -> Vec<Row> {
    [stoller(), flanagan_and_qadeer(), suwimonteerabuth(), kidd()].concat()
}

/// Stoller, journal version, section 10.
fn stoller() -> Vec<Row> {
    let one = "Stoller: 1 philosopher, 5,000 rounds";
    let two = "Stoller: HaltException, 3 items, 2 places";
    let ten = "Stoller: HaltException, 10 items, 6 places";
    let clean = "Stoller: Clean, for ever";
    let [test_one, test_two] =
        ["philosophers::one_5000_rounds", "halt_exception::three_items_through_two_places"];
    let [test_ten, test_clean] = ["heavy::ten_items_through_six_places", "endless::clean_for_ever"];
    let reduced = "reduced, lockset off / on: 788 states, 0.78 / 0.83 MB, 19.7 / 92.8 s";
    let reduced_clean = "reduced, lockset off / on: 209 states, 0.55 / 0.56 MB, 10.3 / 11.6 s";
    let always = "accesses are always checked, here all that the analysis does not excuse; states are counted as transactions to \
                  them, thrown away passes included, and with creation, joining and bookkeeping of std";
    let stateless = "a search without states takes each order of critical sections for itself, and there are millions";
    let no_locks_alone = "no count in the paper: its search is reported in states alone";
    let mut rows = vec![
        row(
            one,
            test_one,
            TRANSACTIONS,
            "5.79 s without states, 563 s with",
            "another machine: compare orders of magnitude",
        ),
        row(
            one,
            test_one,
            STATEFUL,
            "563 s with states",
            "each state is kept, as the paper's model checker does",
        ),
        row(two, test_two, NAIVE, "-", "nothing reduced: it does not end"),
        row(two, test_two, DPOR, "-", "each lock operation is a transition"),
        row(two, test_two, TRANSACTIONS, "-", no_locks_alone),
        row(two, test_two, STATEFUL, "-", "orders of critical sections meet in states"),
        row(
            ten,
            test_ten,
            NAIVE,
            "bytecode, lockset off: 201,688 states, 56.1 MB, 245.3 s",
            "the paper's keeps states, ours none",
        ),
        row(ten, test_ten, TRANSACTIONS, reduced, stateless),
        row(ten, test_ten, STATEFUL, reduced, always),
        row(
            ten,
            test_ten,
            CHECKS_ALL,
            "reduced, lockset on: 92.8 s",
            "every access is checked: the reduction is the same",
        ),
        row(clean, test_clean, STATEFUL, reduced_clean, always),
        row(
            clean,
            test_clean,
            CHECKS_ALL,
            "reduced, lockset on: 11.6 s",
            "every access is checked: the reduction is the same",
        ),
        row(
            "Stoller: Clean as it was in space, 3 rounds",
            "clean::remote_agent_3_rounds",
            TRANSACTIONS,
            "deadlock (its source, Brat et al.)",
            "",
        ),
    ];
    let numbers = ["three", "four", "five", "six", "seven", "eight"];
    for (number, count) in numbers.into_iter().zip(3_u32..) {
        let orders = 1_u64 << count;
        let all = format!("{} orders, 1 of them a deadlock (no figure of the paper)", orders - 1);
        let good = format!("{} orders (no figure of the paper)", orders - 2);
        let [bad, ordered] =
            ["deadlock", "in_order"].map(|kind| format!("philosophers::{number}_{kind}"));
        let minimal = if count < 6 {
            ""
        } else {
            "one preemption is enough; the search for the least schedule gives up before it knows"
        };
        rows.push(row(&format!("Stoller: {count} philosophers"), &bad, KEEP_GOING, &all, minimal));
        let right = format!("Stoller: {count} philosophers, lower fork first");
        rows.push(row(&right, &ordered, TRANSACTIONS, &good, ""));
    }
    rows
}

/// Flanagan and Qadeer, section 2.
fn flanagan_and_qadeer() -> Vec<Row> {
    let mut rows = Vec::new();
    for (method, others) in [("incr", 2), ("decr", 2), ("read", 3)] {
        for calls in [10, 20] {
            let name = format!("Flanagan, Qadeer: counter, {method}, {calls} calls");
            let claim = format!("1 transaction a call (Stoller and Cohen: {others})");
            let test = format!("counter::{method}_{calls}_calls");
            rows.push(row(
                &name,
                &test,
                TRANSACTIONS,
                &claim,
                "10 calls more are 10 transactions more",
            ));
        }
    }
    let chosen = "Flanagan, Qadeer: counter, 2 threads, 2 chosen calls each";
    rows.push(row(chosen, "counter::two_chosen_calls_each", DPOR, "-", "without transactions"));
    rows.push(row(chosen, "counter::two_chosen_calls_each", TRANSACTIONS, "-", ""));
    let ever = "Flanagan, Qadeer: counter, 2 threads, chosen calls for ever";
    rows.push(row(
        ever,
        "endless::counter_for_ever",
        STATEFUL,
        "no violation",
        "integers modulo 4",
    ));
    let wrong = "Flanagan, Qadeer: counter, a read that is two transactions";
    rows.push(row(wrong, "counter::a_read_in_two_transactions", TRANSACTIONS, "-", ""));
    rows
}

/// Suwimonteerabuth, Esparza and Schwoon, section 5. Times are those of lazy splitting.
fn suwimonteerabuth() -> Vec<Row> {
    let mut rows = Vec::new();
    let [times_5, times_6] = [
        ["19.7", "17.7", "19.6", "17.5", "17.2", "18.9", "16.7", "18.8"],
        ["20.9", "20.8", "19.4", "22.3", "20.8", "18.8", "23.4", "23.2"],
    ];
    for (java, times) in [(5, times_5), (6, times_6)] {
        for (bits, time) in (1..).zip(times) {
            let unit = if bits == 1 { "bit" } else { "bits" };
            let name = format!("jMoped: Vector, Java {java}, {bits} {unit}");
            let found = if java == 5 { "bug" } else { "none" };
            let remark = if java == 5 {
                "the first value shows it"
            } else {
                "two executions a value: they grow as the time of eager splitting (15.1 to 1732.0 s)"
            };
            let claim = format!("{found} within 3 contexts, {time} s");
            rows.push(row(
                &name,
                &format!("vector::java{java}_{bits}_{unit}"),
                TRANSACTIONS,
                &claim,
                remark,
            ));
        }
    }
    let one = "bug within 3 contexts, 1.3 s";
    for (version, test, claim, remark) in [
        ("1, 1 adder, 1 stopper", "one_1_adder_1_stopper", one, ""),
        ("2, 1 adder, 1 stopper", "two_1_adder_1_stopper", "no bug (it needs two adders)", ""),
        (
            "2, 2 adders, 1 stopper",
            "two_2_adders_1_stopper",
            "bug within 5 contexts, 36.0 s",
            "four switches, of which one is a preemption: the others are at ends and waits",
        ),
        (
            "2, 1 adder, 2 stoppers",
            "two_1_adder_2_stoppers",
            "-",
            "the paper says that version 2 needs two adders: two stoppers show it, too",
        ),
        ("3, 1 adder, 1 stopper", "three_1_adder_1_stopper", "-", ""),
        ("3, 2 adders, 1 stopper", "three_2_adders_1_stopper", "no bug", ""),
        ("3, 1 adder, 2 stoppers", "three_1_adder_2_stoppers", "bug within 4 contexts, 6.0 s", ""),
    ] {
        let (name, test) = (format!("jMoped: Bluetooth {version}"), format!("bluetooth::{test}"));
        rows.push(row(&name, &test, TRANSACTIONS, claim, remark));
    }
    for (size, test, claim) in [
        ("1 + 1", "one_inserter_one_searcher", "3.8 s (3 contexts), 8.3 s (4)"),
        ("2 + 1", "two_inserters_one_searcher", "127.1 s (4 contexts), 5528.2 s (6)"),
        ("2 + 2", "two_inserters_two_searchers", "6488.0 s (5 contexts), over 3 hours (6)"),
    ] {
        let (name, test) =
            (format!("jMoped: Kung-Lehman tree, {size}"), format!("kung_lehman::{test}"));
        rows.push(row(
            &name,
            &test,
            TRANSACTIONS,
            claim,
            "all interleavings, without a bound; three values, not a whole integer",
        ));
    }
    let wrong = "kung_lehman::a_father_that_is_not_looked_at_again";
    rows.push(row(
        "jMoped: Kung-Lehman tree, father not looked at again",
        wrong,
        TRANSACTIONS,
        "-",
        "a mistake of ours",
    ));
    rows
}

/// Kidd, Lammich, Touili and Reps, section 8. It gives no figures for single programs: 43 of 2,147
/// queries found a violation.
fn kidd() -> Vec<Row> {
    let claim = "violates atomicity";
    let found = |name: &str, test: &str, options, claim, remark| {
        row(&format!("Kidd: {name}"), &format!("contest::{test}"), options, claim, remark)
    };
    let bubbles = "software_verification_hw";
    let eight = "heavy::software_verification_hw_of_eight";
    let name = "Kidd: SoftwareVerificationHW, 8 values, 8 threads";
    vec![
        found(
            "SoftwareVerificationHW, 3 values, 2 threads",
            &format!("{bubbles}_without_locks"),
            TRANSACTIONS,
            claim,
            "a value is lost",
        ),
        found(
            "the same, swaps atomic",
            &format!("{bubbles}_with_atomic_swaps"),
            TRANSACTIONS,
            claim,
            "not sorted: a pass has to be atomic",
        ),
        found(
            "the same, passes atomic",
            &format!("{bubbles}_with_atomic_passes"),
            TRANSACTIONS,
            "-",
            "",
        ),
        row(
            name,
            eight,
            TRANSACTIONS,
            claim,
            "found late: the last threads' last steps vary first, when others have sorted already",
        ),
        row(name, eight, RANDOM, claim, "most random interleavings show it"),
        found(
            "BugTester, 2 builders, 6 elements",
            "bug_tester_of_six",
            TRANSACTIONS,
            claim,
            "an element is lost",
        ),
        found("the same, with a lock", "bug_tester_of_six_with_a_lock", TRANSACTIONS, "-", ""),
        found(
            "BuggyProgram, 3 users",
            "buggy_program_3_users",
            TRANSACTIONS,
            claim,
            "3 users are the benchmark's least",
        ),
        found(
            "the same, with one lock",
            "buggy_program_3_users_with_one_lock",
            TRANSACTIONS,
            "-",
            "",
        ),
        found(
            "shop, 3 customers",
            "shop_3_customers",
            TRANSACTIONS,
            claim,
            "its source is not public: this one is ours",
        ),
        found(
            "the same, 2 customers, with a lock",
            "shop_2_customers_with_a_lock",
            TRANSACTIONS,
            "-",
            "",
        ),
    ]
}
