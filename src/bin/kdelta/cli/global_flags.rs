//! The flags that every command takes: `kdelta options` lists them, and the help of a command refers to it.

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

use crate::args::Cli;

/// Hides the global flags in the help of the program and of its commands, which name `kdelta options` at their ends
/// instead. `program` is the name as called.
pub(super) fn hidden(app: Command, program: &str) -> Command {
    let advice = format!(
        "Use \"{program} options\" for a list of global command-line options (applies to all commands)."
    );
    let end = |command: Command| {
        let text = match command.get_after_help() {
            Some(text) => format!("{text}\n{advice}"),
            None => advice.clone(),
        };
        command.after_help(text)
    };
    let app = app.mut_args(|arg| {
        let is_global = arg.is_global_set();
        arg.hide(is_global)
    });
    end(app).mut_subcommands(end)
}

/// Returns the list of the global flags, wrapped to that width or to the terminal's.
pub(super) fn list(width: Option<usize>) -> StyledStr {
    let app = Cli::command();
    let global = app.get_arguments().filter(|arg| arg.is_global_set());
    let global: Vec<_> = global.map(|arg| arg.clone().hide_short_help(false)).collect();
    let mut page = Command::new("options")
        .about("The following options can be passed to any command:")
        .disable_help_flag(true)
        .help_template("{about-with-newline}\n{all-args}\n")
        .args(global);
    if let Some(width) = width {
        page = page.term_width(width);
    }
    page.render_help()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn global_flags_are_listed_once() {
        let list = list(Some(100)).to_string();
        assert!(list.starts_with("The following options can be passed to any command:\n\n"), "{list}");
        for flag in
            ["--kubeconfig <FILE>", "--as-user-extra", "--demo", "--speed", "--color", "-n, --namespace"]
        {
            assert_eq!(list.matches(flag).count(), 1, "{flag}: {list}");
        }
        let mut app = hidden(Cli::command(), "kubectl delta");
        app.build();
        for command in std::iter::once(&app).chain(app.get_subcommands()).filter(|c| c.get_name() != "help") {
            let help = command.clone().render_long_help().to_string();
            assert!(!help.contains("--kubeconfig <FILE>"), "{help}");
            let end = "\n\nUse \"kubectl delta options\" for a list of global command-line options (applies to all commands).";
            assert!(help.trim_end().ends_with(end.trim_start()), "{help}");
        }
    }
}
