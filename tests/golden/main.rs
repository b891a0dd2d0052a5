//! Golden files: every output form on thirty programs of the corpus, reports of annotations and
//! audits, and those in the manual.
//!
//! `BLESS=1 cargo test -p lockred-tests --test golden` writes what is printed today; look at the
//! difference before you commit it.

mod annotations;
mod audit;
mod forms;
mod golden;
mod normal;
mod pages;
mod programs;
