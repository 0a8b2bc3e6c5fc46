//! The program without a real cluster: on the demo, and without any server.

mod complete;
mod demo;
mod errors;
mod explain;
mod formats;
mod hints;
mod kubectl_commands;
mod lines;
mod many;
mod plugin;
mod shells;
mod stats;
