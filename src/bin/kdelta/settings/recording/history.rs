//! The validated arguments of `kdelta history`.

use std::time::Duration;

use jiff::Zoned;

use super::Range;
use crate::args::HistoryArgs;
use crate::settings::environment::Environment;
use crate::settings::selection::{ObjectWords, Selection};
use crate::settings::{UsageError, duration};

/// The `-o` values of `kdelta history`.
pub(crate) const HISTORY_FORMATS: &str = "json";

/// `kdelta history`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct History {
    /// The named objects.
    pub(crate) selection: Selection,
    pub(crate) range: Range,
    /// Whether the versions are JSON lines.
    pub(crate) json: bool,
    pub(crate) headers: bool,
    /// Whether rows are printed in full on a terminal too.
    pub(crate) no_trunc: bool,
    /// Whether fields are printed that change with most updates.
    pub(crate) noise: bool,
    /// Whether the data of Secrets is printed.
    pub(crate) secrets: bool,
    /// Whether a live object is watched.
    pub(crate) watch: bool,
    /// The time after which a watch ends.
    pub(crate) duration: Option<Duration>,
}

impl History {
    pub(in crate::settings) fn read(
        args: &HistoryArgs,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let words = ObjectWords {
            words: &args.resources,
            all: false,
            all_namespaces: false,
            labels: None,
            fields: None,
        };
        if args.resources.is_empty() {
            return Err(UsageError::HistoryOfMany);
        }
        let selection = Selection::of_words(&words, namespace, environment)?;
        let selection = Selection { keeps_repeated_names: false, ..selection };
        if let Some(pattern) = selection.targets.iter().find_map(|target| target.patterns.first()) {
            return Err(UsageError::HistoryOfPattern(pattern.text().to_owned()));
        }
        if selection.targets.iter().any(|target| target.names.is_empty()) {
            return Err(UsageError::HistoryOfMany);
        }
        let json = match args.output.as_deref().unwrap_or_default().to_lowercase().as_str() {
            "" => false,
            "json" => true,
            format => {
                return Err(UsageError::OutputFormat { format: format.to_owned(), allowed: HISTORY_FORMATS });
            }
        };
        if !args.watch && args.duration.is_some() {
            return Err(UsageError::NeedsWatch("duration"));
        }
        Ok(Self {
            selection,
            range: Range::read(&args.range, Zoned::now)?,
            json,
            headers: !args.no_headers,
            no_trunc: args.no_trunc,
            noise: args.show_all,
            secrets: args.show_secrets,
            watch: args.watch,
            duration: args.duration.as_deref().map(duration::parse_seconds).transpose()?,
        })
    }

    /// Checks the flags of a history without a recording.
    pub(in crate::settings) fn check_live(&self) -> Result<(), UsageError> {
        match (self.watch, self.range.first_flag()) {
            (_, Some(flag)) => Err(UsageError::NeedsRecording(flag)),
            (false, None) => Err(UsageError::NoLiveHistory),
            (true, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn read(line: &str) -> Result<History, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        let Command::History(args) = &cli.command else { panic!("{line}") };
        History::read(args, None, &Environment::default())
    }

    #[test]
    fn history_is_of_named_objects() {
        for line in ["history pod/web", "history pod web db", "history pod/web deploy/web"] {
            assert!(read(line).is_ok(), "{line}");
        }
        for line in ["history", "history pods"] {
            assert_eq!(read(line), Err(UsageError::HistoryOfMany), "{line}");
        }
        let error = Err(UsageError::HistoryOfPattern("web-*".to_owned()));
        assert_eq!(read("history pod/web-*"), error);
    }

    #[test]
    fn live_history_needs_a_watch() {
        let check = |line: &str| read(line).expect(line).check_live();
        assert_eq!(check("history pod/web -w"), Ok(()));
        assert_eq!(check("history pod/web"), Err(UsageError::NoLiveHistory));
        assert_eq!(check("history pod/web -w --since 03:00"), Err(UsageError::NeedsRecording("since")));
        assert_eq!(read("history pod/web --duration 3"), Err(UsageError::NeedsWatch("duration")));
    }

    #[test]
    fn only_json_is_another_format() {
        assert!(read("history pod/web -o JSON").expect("a history").json);
        let error = read("history pod/web -o yaml").expect_err("no such format");
        assert!(error.to_string().ends_with("allowed formats are: json"), "{error}");
    }
}
