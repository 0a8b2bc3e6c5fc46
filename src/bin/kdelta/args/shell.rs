//! The commands for shell integration: completions and manual.

use clap::{Args, ValueEnum};

use super::help_template::HELP;

/// Print the completion script of a shell
///
/// It completes commands, flags and their values, and names from the cluster: contexts, namespaces, types, names,
/// labels, indices and fields. Each TAB runs `kdelta`, so the script does not depend on its version. If the cluster does not
/// respond in time, nothing is offered and no error is printed.
///
/// kubectl finds its plugins by file name: with a link `kubectl-delta` to the program on the PATH, `kubectl delta` runs
/// `kdelta`; with a second link `kubectl_complete-delta`, the completion of kubectl covers it too.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  source <(kdelta completions bash)      in ~/.bashrc
  source <(kdelta completions zsh)       in ~/.zshrc, after compinit
  kdelta completions fish > ~/.config/fish/completions/kdelta.fish
  kdelta completions powershell | Out-String | Invoke-Expression
                                         in the file named by $PROFILE
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

/// A shell with a completion script.
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

/// Print the flags that every command takes
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta options                         connection, demo and terminal
"
)]
pub(crate) struct OptionsArgs {}

/// Print a page of the manual in roff
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
    /// The command to document [default: kdelta itself]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
}
