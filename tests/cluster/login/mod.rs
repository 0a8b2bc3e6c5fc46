//! Every way to a server and every way to log in there: the right one is let in, a wrong one is refused and said.

mod asking;
mod certificates;
mod impersonation;
mod in_cluster;
mod merge;
mod oidc;
mod plugin;
mod proxy;
mod tokens;
mod trust;
