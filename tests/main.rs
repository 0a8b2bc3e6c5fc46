//! The integration tests: the program and the machine, from outside.

mod architecture;
mod cluster;
mod commands;
mod generated;
mod help;
mod hostile;
mod newest;
mod notices;
mod pipeline;
mod readme;
mod support;
