//! The program without a cluster: what it says when there is none.

mod errors;
