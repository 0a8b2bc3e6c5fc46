//! kdelta, the program: parse, run, exit.

mod args;
mod cli;
mod commands;
mod exit;
mod heap;
mod kuberc;
mod manifest;
mod metrics;
mod output;
#[path = "../../object/raw_members.rs"]
mod raw_members;
mod session;
mod settings;
#[path = "../../api/suggest.rs"]
mod suggest;
#[path = "../../listwatch/system_words.rs"]
mod system_words;
mod view;

fn main() -> std::process::ExitCode {
    cli::run(&std::env::args_os().collect::<Vec<_>>()).into()
}
