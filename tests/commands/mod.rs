//! The program without a cluster: on the one that it brings along, and what it says when there is none.

mod complete;
mod demo;
mod errors;
mod hints;
mod lines;
mod many;
mod plugin;
mod shells;
mod stats;
