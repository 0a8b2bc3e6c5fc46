//! The exit codes and their meanings.

/// The exit codes, which are part of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Success, even if nothing matched.
    Ok = 0,
    /// Runtime error: server, credentials, configuration, connection, missing NAME, output, or a failed command of `run`.
    Error = 1,
    /// Usage error.
    Usage = 2,
    /// Nothing matched, with `--fail-if-empty`.
    Empty = 3,
    /// Some of the requested parts failed, the rest completed.
    Partial = 4,
    /// The time, or the range of a recording, ended before the requested event.
    TimedOut = 5,
    /// The requested state can't be reached any more, or a failure ends the wait for it.
    Failed = 6,
    /// The terminal was closed: the default action of SIGHUP.
    HungUp = 129,
    /// Stopped by SIGINT.
    Interrupted = 130,
    /// The reader of stdout closed; no message is printed.
    BrokenPipe = 141,
    /// Stopped by SIGTERM.
    Terminated = 143,
}

/// The meanings of the exit codes, by number. The help and the manual print them; docs/exit-codes.md has the same table.
const MEANINGS: [(&[ExitCode], &str); 8] = [
    (&[ExitCode::Ok], "done, also when nothing matched"),
    (
        &[ExitCode::Error],
        "runtime error: server, credentials, configuration, connection, missing NAME, output, or a failed command of `run`",
    ),
    (&[ExitCode::Usage], "usage error, in the arguments or in their defaults"),
    (&[ExitCode::Empty], "nothing matched, with `--fail-if-empty`"),
    (&[ExitCode::Partial], "some of the requested parts failed, the rest completed"),
    (
        &[ExitCode::TimedOut],
        "the time, or the range of a recording, ended first: `--count` was not reached within `--duration`, or `wait` did not see its conditions met within `--timeout`",
    ),
    (&[ExitCode::Failed], "`wait` gave up: its conditions can't be met any more, or an object failed"),
    (
        &[ExitCode::HungUp, ExitCode::Interrupted, ExitCode::BrokenPipe, ExitCode::Terminated],
        "ended by SIGHUP, SIGINT, a closed pipe, or SIGTERM",
    ),
];

/// Returns [`MEANINGS`] as text: `130, 141, 143` with the meaning.
pub(crate) fn meanings() -> impl Iterator<Item = (String, &'static str)> {
    MEANINGS.iter().map(|(codes, meaning)| {
        let codes: Vec<String> = codes.iter().map(|code| (*code as u8).to_string()).collect();
        (codes.join(", "), *meaning)
    })
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_has_a_meaning() {
        let source = include_str!("code.rs");
        let declared = source.split("enum ExitCode {").nth(1).and_then(|rest| rest.split('}').next());
        let declared: Vec<u8> = declared
            .expect("the enum")
            .lines()
            .filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = ")?.1.parse().ok())
            .collect();
        let listed: Vec<u8> =
            MEANINGS.iter().flat_map(|(codes, _)| codes.iter()).map(|code| *code as u8).collect();
        assert_eq!(listed, declared);
        assert!(declared.contains(&(ExitCode::Terminated as u8)));
    }
}
