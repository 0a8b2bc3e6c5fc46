//! The validated arguments of `kdelta changes`.

use jiff::Zoned;

use super::Range;
use crate::args::ChangesArgs;
use crate::settings::environment::Environment;
use crate::settings::namespaces::Namespaces;
use crate::settings::selection::{ObjectWords, Selection};
use crate::settings::{Pattern, UsageError};

/// The `-o` values of `kdelta changes`.
pub(crate) const CHANGES_FORMATS: &str = "json";

/// `kdelta changes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The types; `None` for all that were recorded.
    pub(crate) types: Option<Selection>,
    /// The namespaces, one of which must match; empty for all, and for cluster-scoped objects too.
    pub(crate) namespaces: Vec<Pattern>,
    pub(crate) range: Range,
    pub(crate) format: ChangesFormat,
    pub(crate) headers: bool,
    /// Whether all groups are printed in full on a terminal too.
    pub(crate) no_trunc: bool,
}

/// The form of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangesFormat {
    Table,
    Json,
    /// A text of at most 2 KB.
    Brief,
}

impl Changes {
    pub(in crate::settings) fn read(
        args: &ChangesArgs,
        namespace: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, UsageError> {
        let format = match (args.output.as_deref().unwrap_or_default().to_lowercase().as_str(), args.brief) {
            ("", false) => ChangesFormat::Table,
            ("", true) => ChangesFormat::Brief,
            ("json", false) => ChangesFormat::Json,
            ("json", true) => return Err(UsageError::BriefFormat),
            (format, _) => {
                return Err(UsageError::OutputFormat { format: format.to_owned(), allowed: CHANGES_FORMATS });
            }
        };
        let namespaces = match namespace.filter(|_| !args.all_namespaces) {
            None => Vec::new(),
            Some(names) => {
                // The list is checked as those of other commands are.
                Namespaces::read(false, Some(names), None)?;
                let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
                names.map(Pattern::new).collect()
            }
        };
        Ok(Self {
            types: types(args, environment)?,
            namespaces,
            range: Range::read(&args.range, Zoned::now)?,
            format,
            headers: !args.no_headers,
            no_trunc: args.no_trunc,
        })
    }
}

/// Returns the selection of the types, which have no names.
fn types(args: &ChangesArgs, environment: &Environment) -> Result<Option<Selection>, UsageError> {
    if args.resources.is_empty() {
        return Ok(None);
    }
    // Several words are types too: there are no names.
    let words = [args.resources.join(",")];
    if words[0].contains('/') {
        return Err(UsageError::ChangesOfNames);
    }
    let words = ObjectWords { words: &words, all: true, all_namespaces: true, labels: None, fields: None };
    let selection = Selection::of_words(&words, None, environment)?;
    Ok(Some(Selection { keeps_repeated_names: false, ..selection }))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn read(line: &str) -> Result<Changes, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        let Command::Changes(args) = &cli.command else { panic!("{line}") };
        Changes::read(args, cli.connection.namespace.as_deref(), &Environment::default())
    }

    #[test]
    fn types_are_words_without_names() {
        assert_eq!(read("changes").expect("all").types, None);
        for line in ["changes po,deploy", "changes po deploy"] {
            let types = read(line).expect(line).types.expect("types");
            assert_eq!(types.targets.len(), 2, "{line}");
        }
        assert_eq!(read("changes po/web"), Err(UsageError::ChangesOfNames));
    }

    #[test]
    fn all_namespaces_are_the_default() {
        let namespaces = |line: &str| {
            let changes = read(line).expect(line);
            changes.namespaces.iter().map(|pattern| pattern.text().to_owned()).collect::<Vec<_>>().join(",")
        };
        assert_eq!(namespaces("changes"), "");
        assert_eq!(namespaces("changes -A -n shop"), "");
        assert_eq!(namespaces("changes -n shop,team-*"), "shop,team-*");
        assert!(read("changes -n ,").is_err());
    }

    #[test]
    fn formats_exclude_each_other() {
        assert_eq!(read("changes --brief").expect("brief").format, ChangesFormat::Brief);
        assert_eq!(read("changes -o json").expect("JSON").format, ChangesFormat::Json);
        assert_eq!(read("changes -o json --brief"), Err(UsageError::BriefFormat));
        assert!(read("changes -o yaml").is_err());
    }
}
