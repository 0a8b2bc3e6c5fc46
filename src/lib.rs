//! kdelta: a Kubernetes informer that holds objects as bytes.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod listwatch;
pub mod object;
pub mod reflector;
pub mod store;
