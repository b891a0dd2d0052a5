//! The numbers of executions that other checkers have published and that mean the same thing: all orders of conflicting operations under
//! sequential consistency. Names, sizes and numbers are GenMC's (0.11.0, `tests/correct`).

/// Hands the list to a macro: test, program, size, number of executions, where it is published; and how many lockred
/// takes where these are more.
macro_rules! each_count {
    ($macro:ident) => {
        $macro! {
            store_buffering_2: store_buffering 2 = 3 "litmus/SB",
            load_buffering_2: load_buffering 2 = 3 "litmus/LB",
            two_plus_two_writes_2: two_plus_two_writes 2 = 3 "litmus/2+2W",
            independent_reads_4: independent_reads 4 = 15 "litmus/IRIW-acq-sc",
            ainc_2: ainc 2 = 2 "synthetic/ainc",
            ainc_3: ainc 3 = 6 "synthetic/ainc",
            ainc_4: ainc 4 = 24 "synthetic/ainc",
            inc_3: inc 3 = 36 "synthetic/inc",
            binc_2: binc 2 = 4 "synthetic/binc",
            binc_3: binc 3 = 36 "synthetic/binc",
            cinc_2: cinc 2 = 8 "synthetic/cinc",
            cinc_3: cinc 3 = 216 "synthetic/cinc",
            cas_3: cas 3 = 3 "synthetic/cas",
            cas_5: cas 5 = 5 "synthetic/cas",
            casrot_3: casrot 3 = 5 "synthetic/casrot",
            casrot_4: casrot 4 = 14 "synthetic/casrot",
            casw_2: casw 2 = 6 "synthetic/casw",
            casw_3: casw 3 = 66 "synthetic/casw",
            readers_8: readers 8 = 256 "synthetic/readers",
            lastzero_5: lastzero 5 = 64 "synthetic/lastzero",
            lockinc_3: lockinc 3 = 6 "synthetic/lockinc",
            lockinc_4: lockinc 4 = 24 "synthetic/lockinc",
            reads_under_lock_6: reads_under_lock 6 = 1 "lapor/N-reads-lock",
            writes_under_lock_3: writes_under_lock 3 = 6 "lapor/N-writes-lock",
            binc_locks_3: binc_locks 3 = 36 "lapor/binc-locks",
            casrot_locks_4: casrot_locks 4 = 14 "lapor/casrot-locks",
            casw_locks_3: casw_locks 3 = 66 "lapor/casw-locks" takes 82,
        }
    };
}
pub(crate) use each_count;
