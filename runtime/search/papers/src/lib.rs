//! Searches as papers have them, on the machines of lockred-search, to compare ours with.
//!
//! | module | what |
//! |---|---|
//! | [`flanagan_qadeer`] | search by transactions that exclusive access predicates delimit |
//! | [`stoller`] | a framework of stateful and stateless searches over composed transitions |
//! | [`persistent`] | our search over states, by persistent sets |
//! | [`foreseeing`] | what machines give beyond operations, for persistent sets |
//!
//! Machines are those of lockred-model: nothing here runs natively, and no back end is built of it.
#![forbid(unsafe_code)]

pub mod flanagan_qadeer;
pub mod foreseeing;
pub mod persistent;
pub mod stoller;
