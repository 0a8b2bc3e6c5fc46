//! The program without a real cluster: on the demo, and without any server.

mod changes;
mod complete;
mod defaults;
mod demo;
mod errors;
mod explain;
mod files;
mod filters;
mod formats;
mod hints;
mod history;
mod kubectl_commands;
mod many;
mod output;
mod plugin;
mod raw;
mod record;
mod recordings;
mod replay;
mod run;
mod shells;
mod stats;
mod stream;
mod tree;
mod wait;
