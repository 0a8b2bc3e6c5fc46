//! Every way to log in, on the real server: the right credential is let in, a wrong one is refused and said.

mod certificates;
mod oidc;
mod plugin;
mod tokens;
