//! Every way to connect and to authenticate: valid credentials are accepted, wrong ones rejected with a message.

mod certificates;
mod impersonation;
mod in_cluster;
mod merge;
mod oidc;
mod plugin;
mod prompts;
mod proxy;
mod request_log;
mod tokens;
mod trust;
