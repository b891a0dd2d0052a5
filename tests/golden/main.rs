//! Golden files: every output form on thirty programs of the corpus, and the reports in the manual.
//!
//! `BLESS=1 cargo test -p lockred-tests --test golden` writes what is printed today; look at the difference before you commit it.

mod audit;
mod forms;
mod golden;
mod normal;
mod pages;
mod programs;
