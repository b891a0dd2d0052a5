//! The command line: usage, selection, verdicts, JSON, replay, targets, and surroundings that differ.

mod advice;
mod allocators;
mod annotations;
mod audit;
mod choices;
mod claims;
mod demo;
mod discipline;
mod findings;
mod fixtures;
mod formats;
mod interruption;
mod json;
mod killed;
mod lock_order;
mod models;
mod preemptions;
mod replay;
mod scaled;
mod selection;
mod storage;
mod surroundings;
mod targets;
mod uncontrolled;
mod usage;
mod verdicts;
