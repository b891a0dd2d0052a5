//! The command line: usage, verdicts and exit codes, JSON, replay, targets, surroundings that differ.
