//! The integration tests: the program and the machine, from outside.

mod architecture;
