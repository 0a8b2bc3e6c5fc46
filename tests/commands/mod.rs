//! The program without a cluster: on the one that it brings along, and what it says when there is none.

mod demo;
mod errors;
mod lines;
