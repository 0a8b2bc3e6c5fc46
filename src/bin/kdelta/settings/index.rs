//! The validated arguments of `kdelta index`.

use super::UsageError;
use super::by::{By, IndexName};
use super::selection::Selection;
use crate::args::{CountOrder, IndexArgs, OneShotArgs};

/// The `-o` values of `kdelta index`.
pub(crate) const INDEX_FORMATS: &str = "csv,json,kyaml,markdown,name,yaml";

/// `kdelta index`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Index {
    pub(crate) selection: Selection,
    pub(crate) by: IndexName,
    /// The values to print; `None` selects all.
    pub(crate) values: Option<Vec<String>>,
    pub(crate) format: IndexFormat,
    /// Whether the values are ordered by count, largest first.
    pub(crate) largest_first: bool,
    /// The number of values with the largest counts to print; `None` prints all.
    pub(crate) top: Option<usize>,
    /// Whether values from the data of Secrets are shown.
    pub(crate) show_secrets: bool,
    pub(crate) headers: bool,
    /// Whether an empty result is a failure.
    pub(crate) fail_if_empty: bool,
    /// Whether statistics are printed.
    pub(crate) stats: bool,
}

/// The `-o` value of `kdelta index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexFormat {
    Table,
    Json,
    Yaml,
    Kyaml,
    Name,
    Csv,
    Markdown,
}

impl IndexFormat {
    fn read(text: &str) -> Result<Self, UsageError> {
        Ok(match text.to_lowercase().as_str() {
            "" => Self::Table,
            "json" => Self::Json,
            "yaml" => Self::Yaml,
            "kyaml" => Self::Kyaml,
            "name" => Self::Name,
            "csv" => Self::Csv,
            "markdown" => Self::Markdown,
            _ => {
                return Err(UsageError::OutputFormat { format: text.to_owned(), allowed: INDEX_FORMATS });
            }
        })
    }
}

impl Index {
    pub(super) fn read(args: &IndexArgs, selection: Selection) -> Result<Self, UsageError> {
        let [by] = args.by.as_slice() else { return Err(UsageError::SeveralIndices) };
        let (by, values) = By::parse_optional(by)?;
        let OneShotArgs { fail_if_empty, stats } = args.one_shot;
        Ok(Self {
            selection,
            by,
            values,
            format: IndexFormat::read(args.output.as_deref().unwrap_or_default())?,
            largest_first: match args.sort_by {
                Some(order) => order == CountOrder::Count,
                None => args.top.is_some(),
            },
            top: args.top.map(|top| usize::try_from(top).unwrap_or(usize::MAX)),
            show_secrets: args.show_secrets,
            headers: !args.no_headers,
            fail_if_empty,
            stats,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::settings::Environment;

    fn read(line: &str) -> Result<Index, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        let Command::Index(args) = &cli.command else { panic!("{line}") };
        Index::read(
            args,
            Selection::read(
                &args.select,
                crate::settings::selection::TargetForm::Own,
                None,
                &Environment::default(),
            )?,
        )
    }

    #[test]
    fn index_value_is_optional() {
        let index = read("index po --by label:app=a,b").expect("an index");
        assert_eq!(index.by, IndexName::Label("app".into()));
        assert_eq!(index.values, Some(vec!["a".into(), "b".into()]));
        assert_eq!(read("index po --by node --by name"), Err(UsageError::SeveralIndices));
        assert!(matches!(read("index po --by node"), Ok(Index { values: None, .. })));
    }

    #[test]
    fn every_offered_format_is_read() {
        for format in INDEX_FORMATS.split(',') {
            assert!(read(&format!("index po --by node -o {format}")).is_ok(), "{format}");
        }
        let error = read("index po --by node -o wide").expect_err("no such format").to_string();
        assert!(error.ends_with("allowed formats are: csv,json,kyaml,markdown,name,yaml"), "{error}");
    }

    #[test]
    fn largest_counts_come_first_with_top_unless_sorted() {
        for (flags, largest_first, top) in [
            ("", false, None),
            ("--top 3", true, Some(3)),
            ("--top 3 --sort-by value", false, Some(3)),
            ("--sort-by count", true, None),
        ] {
            let index = read(&format!("index po --by node {flags}")).expect(flags);
            assert_eq!((index.largest_first, index.top), (largest_first, top), "{flags}");
        }
    }
}
