//! `kdelta completions`: the completion script of a shell, which calls `kdelta __complete` for all candidates.

use std::io::Write;

use crate::exit::ExitCode;
use crate::settings::Shell;

/// Embeds a file of `completions/`.
macro_rules! script {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/completions/", $file))
    };
}

/// Prints the script.
pub(crate) fn run(shell: Shell, mut out: impl Write) -> anyhow::Result<ExitCode> {
    let script = match shell {
        Shell::Bash => script!("kdelta.bash"),
        Shell::Zsh => script!("_kdelta"),
        Shell::Fish => script!("kdelta.fish"),
        Shell::Powershell => script!("kdelta.ps1"),
        Shell::Nushell => script!("kdelta.nu"),
    };
    out.write_all(script.as_bytes())?;
    out.flush()?;
    Ok(ExitCode::Ok)
}
