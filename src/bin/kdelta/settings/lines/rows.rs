//! The settings of the rows of a stream.

use crate::args::{RowArgs, TsArg};
use crate::settings::UsageError;
use crate::settings::print::{Format, TableStyle};

/// The form of the rows of `watch`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Rows {
    /// Print rows in full on a terminal too.
    pub(crate) no_trunc: bool,
    /// The time at the front of rows.
    pub(crate) time: Option<TsArg>,
}

impl Rows {
    pub(in crate::settings) fn read(args: &RowArgs, format: Format) -> Result<Self, UsageError> {
        if args.ts.is_some() && !matches!(format, Format::Table { style: TableStyle::Aligned, .. }) {
            return Err(UsageError::TimeFormat);
        }
        Ok(Self { no_trunc: args.no_trunc, time: args.ts })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;
    use crate::settings::{Environment, Task};

    fn read(line: &str) -> Result<Task, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        Task::read(&cli.command, None, &Environment::default())
    }

    #[test]
    fn times_are_for_rows() {
        let Ok(Task::Watch(watch)) = read("watch po -o wide --ts delta --no-trunc") else {
            panic!("a watch")
        };
        assert_eq!(watch.rows, Rows { no_trunc: true, time: Some(TsArg::Delta) });
        for format in ["json", "yaml", "name", "jsonpath={.kind}"] {
            let read = read(&format!("watch po -o {format} --ts time"));
            assert_eq!(read, Err(UsageError::TimeFormat), "{format}");
        }
    }

    #[test]
    fn get_has_no_flags_for_rows() {
        for flag in ["--ts=time", "--no-trunc"] {
            assert!(Cli::try_parse_from(["kdelta", "get", "po", "-w", flag]).is_err(), "{flag}");
        }
    }
}
