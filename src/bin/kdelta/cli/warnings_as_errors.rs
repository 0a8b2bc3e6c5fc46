//! `--warnings-as-errors`: a command that succeeded fails if a server sent warnings.

use crate::exit::ExitCode;
use crate::session::ServerWarnings;

/// The servers sent warnings. The text is kubectl's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} {noun} received", noun = if *.0 == 1 { "warning" } else { "warnings" })]
pub(super) struct WarningsReceived(usize);

/// Returns the result of a command that ended with this code. Warnings change only a success.
pub(super) fn outcome(code: ExitCode, warnings: &ServerWarnings) -> Result<ExitCode, WarningsReceived> {
    match (code, warnings.count()) {
        (ExitCode::Ok, count @ 1..) => Err(WarningsReceived(count)),
        (code, _) => Ok(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_has_kubectls_text() {
        assert_eq!(WarningsReceived(1).to_string(), "1 warning received");
        assert_eq!(WarningsReceived(2).to_string(), "2 warnings received");
        assert_eq!(outcome(ExitCode::Ok, &ServerWarnings::default()), Ok(ExitCode::Ok));
    }
}
