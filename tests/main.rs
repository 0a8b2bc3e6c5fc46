//! The integration tests of the program and the library.

mod architecture;
mod cluster;
mod commands;
mod generated;
mod help;
mod hostile;
mod in_memory;
mod newest;
mod notices;
mod package;
mod pipeline;
mod readme;
mod rollout_status;
mod support;
mod templates;
mod typed;
