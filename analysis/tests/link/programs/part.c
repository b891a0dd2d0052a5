// The C part of `caller_of_c`.
unsigned rust_increment(unsigned);
unsigned c_twice(unsigned number) { return 2 * rust_increment(number); }
