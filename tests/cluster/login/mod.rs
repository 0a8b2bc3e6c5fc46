//! The ways to a server and the ways to be known by it, each right and each wrong.

mod impersonation;
mod in_cluster;
mod merge;
mod proxy;
mod trust;
