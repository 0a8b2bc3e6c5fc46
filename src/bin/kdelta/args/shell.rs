//! The commands that fit the program into a shell: its completions and its manual.

use clap::{Args, ValueEnum};

use super::HELP;

/// Print the script that makes a shell complete the words of kdelta
///
/// Commands, flags and their values are completed, and what the cluster has: contexts, namespaces, types, names, labels
/// and indices. Each TAB asks `kdelta` itself, so a script need not be renewed with the program. Where the cluster does
/// not answer in time, or not at all, nothing is offered and nothing is said.
///
/// As a plugin of kubectl the program is found by its name: with a link `kubectl-delta` to it on the PATH, `kubectl delta`
/// is `kdelta`; with a second link `kubectl_complete-delta`, the completion of kubectl completes it too.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  source <(kdelta completions bash)      in ~/.bashrc
  source <(kdelta completions zsh)       in ~/.zshrc, after compinit
  kdelta completions fish > ~/.config/fish/completions/kdelta.fish
  kdelta completions powershell | Out-String | Invoke-Expression
                                         in the file that $PROFILE names
  kdelta completions nushell | save -f ~/.config/nushell/kdelta.nu
                                         and `source kdelta.nu` in config.nu
  ln -s \"$(command -v kdelta)\" ~/.local/bin/kubectl-delta
                                         `kubectl delta` is kdelta
  ln -s \"$(command -v kdelta)\" ~/.local/bin/kubectl_complete-delta
                                         and kubectl completes its words
"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

/// A shell that there is a script for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// Bash 3.2 or newer
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
    #[value(help = "PowerShell 5.1 or newer")]
    Powershell,
    /// Nushell
    Nushell,
}

/// Print a page of the manual, in roff
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta man | man -l -                  the manual
  kdelta man watch | man -l -            the page of a command
  kdelta man > ~/.local/share/man/man1/kdelta.1
"
)]
pub(crate) struct ManArgs {
    /// The command whose page is printed [default: the page of kdelta itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}
