//! The validated arguments of `kdelta recording`.

use std::path::PathBuf;

use jiff::Zoned;

use super::environment::Environment;
use super::kubectl::no_arguments;
use super::print::Format;
use super::record::Redacted;
use super::recording::RequestedMoment;
use super::{Namespaces, Pattern, UsageError};
use crate::args::RecordingToolArgs;

/// The tools, which are the words after `kdelta recording`.
pub(crate) const RECORDING_TOOLS: [&str; 6] = ["cut", "export", "import", "info", "merge", "verify"];

/// The `-o` values of the tools that print text.
pub(crate) const RECORDING_FORMATS: &str = "json,kyaml,yaml";

/// `kdelta recording`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordingTool {
    Info { dir: PathBuf, format: Format },
    Verify { dir: PathBuf, format: Format },
    Cut { excerpt: RecordingExcerpt, redacted: Redacted, to: PathBuf, encryption: CopyEncryption },
    Merge { dirs: Vec<PathBuf>, to: PathBuf, encryption: CopyEncryption },
    Export { excerpt: RecordingExcerpt },
    Import { input: ImportInput, redacted: Redacted, to: PathBuf, encryption: CopyEncryption },
}

/// The encryption of new recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CopyEncryption {
    /// The recipients, or files of them.
    pub(crate) encrypt_to: Vec<String>,
    /// Whether encrypted recordings may become plain ones.
    pub(crate) plain: bool,
}

/// An excerpt of the recordings in a directory: some types and namespaces, in a range of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordingExcerpt {
    pub(crate) dir: PathBuf,
    pub(crate) since: Option<RequestedMoment>,
    pub(crate) until: Option<RequestedMoment>,
    /// The words for types; empty for all types.
    pub(crate) types: Vec<Pattern>,
    /// `None` for all namespaces and cluster-scoped types.
    pub(crate) namespaces: Option<Vec<String>>,
}

/// The source of JSON lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ImportInput {
    StandardInput,
    File(PathBuf),
}

impl RecordingTool {
    /// Reads the arguments. `now` is the local time.
    pub(super) fn read(
        args: &RecordingToolArgs,
        namespace: Option<&str>,
        environment: &Environment,
        now: fn() -> Zoned,
    ) -> Result<Self, UsageError> {
        let action = args.action.as_deref().ok_or(UsageError::NoRecordingTool)?;
        let tool = RECORDING_TOOLS.into_iter().find(|tool| *tool == action);
        let tool = tool.ok_or_else(|| UsageError::UnknownRecordingTool(action.to_owned()))?;
        check_flags(args, tool)?;
        let (first, more) = args.words.split_first().ok_or(UsageError::NoDirectory(tool))?;
        let dir = PathBuf::from(first);
        let to = || args.to.clone().ok_or(UsageError::NoTarget(tool));
        let encryption = CopyEncryption { encrypt_to: args.encrypt_to.clone(), plain: args.plain };
        if encryption.plain && !encryption.encrypt_to.is_empty() {
            return Err(UsageError::PlainAndEncrypted);
        }
        let format = || read_format(args.output.as_deref());
        if !matches!(tool, "cut" | "export" | "merge") {
            no_arguments(more)?;
        }
        Ok(match tool {
            "info" => Self::Info { dir, format: format()? },
            "verify" => Self::Verify { dir, format: format()? },
            "cut" => Self::Cut {
                excerpt: RecordingExcerpt::read(args, dir, more, namespace, now)?,
                redacted: Redacted::read(args.secrets, &args.redact, environment)?,
                to: to()?,
                encryption,
            },
            "export" => Self::Export { excerpt: RecordingExcerpt::read(args, dir, more, namespace, now)? },
            "merge" => {
                Self::Merge { dirs: args.words.iter().map(PathBuf::from).collect(), to: to()?, encryption }
            }
            _ => Self::Import {
                input: if first == "-" { ImportInput::StandardInput } else { ImportInput::File(dir) },
                redacted: Redacted::read(args.secrets, &args.redact, environment)?,
                to: to()?,
                encryption,
            },
        })
    }
}

fn read_format(text: Option<&str>) -> Result<Format, UsageError> {
    match Format::read(text, RECORDING_FORMATS)? {
        Format::Name => {
            let format = text.unwrap_or_default().to_owned();
            Err(UsageError::OutputFormat { format, allowed: RECORDING_FORMATS })
        }
        format => Ok(format),
    }
}

/// The flags that only some tools have, with these tools.
const FLAGS: [(&str, &[&str], &str); 8] = [
    ("to", &["cut", "merge", "import"], "cut, merge and import"),
    ("since", &["cut", "export"], "cut and export"),
    ("until", &["cut", "export"], "cut and export"),
    ("redact", &["cut", "import"], "cut and import"),
    ("secrets", &["cut", "import"], "cut and import"),
    ("encrypt-to", &["cut", "merge", "import"], "cut, merge and import"),
    ("plain", &["cut", "merge"], "cut and merge"),
    ("output", &["info", "verify"], "info and verify"),
];

/// Rejects flags of other tools.
fn check_flags(args: &RecordingToolArgs, tool: &'static str) -> Result<(), UsageError> {
    let is_given = [
        args.to.is_some(),
        args.since.is_some(),
        args.until.is_some(),
        !args.redact.is_empty(),
        args.secrets.is_some(),
        !args.encrypt_to.is_empty(),
        args.plain,
        args.output.is_some(),
    ];
    let mut given_flags =
        FLAGS.into_iter().zip(is_given).filter(|(_, is_given)| *is_given).map(|(flag, _)| flag);
    match given_flags.find(|(_, tools, _)| !tools.contains(&tool)) {
        Some((flag, _, users)) => Err(UsageError::FlagOfOtherTool { flag, tool, users }),
        None => Ok(()),
    }
}

impl RecordingExcerpt {
    fn read(
        args: &RecordingToolArgs,
        dir: PathBuf,
        types: &[String],
        namespace: Option<&str>,
        now: fn() -> Zoned,
    ) -> Result<Self, UsageError> {
        let moment = |flag, text: &Option<String>| {
            text.as_deref().map(|text| RequestedMoment::parse(flag, text, now)).transpose()
        };
        let types = types.iter().flat_map(|words| words.split(','));
        Ok(Self {
            dir,
            since: moment("since", &args.since)?,
            until: moment("until", &args.until)?,
            types: types.filter(|word| !word.is_empty()).map(Pattern::new).collect(),
            namespaces: match Namespaces::read(false, namespace, None)? {
                Namespaces::Named(names) => Some(names),
                Namespaces::Matching { .. } => return Err(UsageError::NamespacePatterns),
                Namespaces::Current | Namespaces::All => None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use kdelta::recording::SecretValues;

    use super::*;
    use crate::args::{Cli, Command};

    fn read(line: &str) -> Result<RecordingTool, UsageError> {
        let words = ["kdelta", "recording"].into_iter().chain(line.split_whitespace());
        let cli = Cli::try_parse_from(words).expect(line);
        let Command::Recording(args) = &cli.command else { panic!("{line}") };
        let now = || "2026-11-24T12:00:00+02:00[+02:00]".parse().expect("a time");
        RecordingTool::read(args, cli.connection.namespace.as_deref(), &Environment::default(), now)
    }

    #[test]
    fn each_tool_has_its_words_and_flags() {
        let table = Format::default();
        assert_eq!(read("info d"), Ok(RecordingTool::Info { dir: "d".into(), format: table }));
        let yaml = RecordingTool::Verify { dir: "d".into(), format: Format::Yaml };
        assert_eq!(read("verify d -o yaml"), Ok(yaml));
        let merge = RecordingTool::Merge {
            dirs: vec!["a".into(), "b".into()],
            to: "n".into(),
            encryption: CopyEncryption::default(),
        };
        assert_eq!(read("merge a b --to n"), Ok(merge));
        let redacted =
            |secrets| Redacted { secrets, paths: Vec::new(), path_texts: Vec::new(), key_file: None };
        let import = |input, secrets| {
            let (redacted, encryption) = (redacted(secrets), CopyEncryption::default());
            Ok(RecordingTool::Import { input, redacted, to: "n".into(), encryption })
        };
        assert_eq!(read("import - --to n"), import(ImportInput::StandardInput, SecretValues::Hash));
        let file = ImportInput::File("x.json".into());
        assert_eq!(read("import x.json --to n --secrets keep"), import(file, SecretValues::Keep));
        let excerpt = RecordingExcerpt {
            dir: "d".into(),
            since: Some(RequestedMoment::Version(7)),
            until: None,
            types: ["pods", "svc", "*.apps"].map(Pattern::new).to_vec(),
            namespaces: Some(vec!["a".to_owned(), "b".to_owned()]),
        };
        assert_eq!(
            read("export d pods,svc *.apps --since rv:7 -n a,b"),
            Ok(RecordingTool::Export { excerpt: excerpt.clone() })
        );
        let (redacted, encryption) = (redacted(SecretValues::Drop), CopyEncryption::default());
        let cut = RecordingTool::Cut { excerpt, redacted, to: "n".into(), encryption };
        assert_eq!(read("cut d pods,svc *.apps --since rv:7 -n a,b --secrets drop --to n"), Ok(cut));
    }

    #[test]
    fn incomplete_and_foreign_arguments_are_refused() {
        let other = |flag, tool, users| UsageError::FlagOfOtherTool { flag, tool, users };
        for (line, error) in [
            ("", UsageError::NoRecordingTool),
            ("show d", UsageError::UnknownRecordingTool("show".to_owned())),
            ("info", UsageError::NoDirectory("info")),
            ("info d e", UsageError::UnexpectedArguments("e".to_owned())),
            ("import - x --to n", UsageError::UnexpectedArguments("x".to_owned())),
            ("cut d", UsageError::NoTarget("cut")),
            ("merge a b", UsageError::NoTarget("merge")),
            ("info d --to n", other("to", "info", "cut, merge and import")),
            ("merge d --since -1m --to n", other("since", "merge", "cut and export")),
            ("export d -o json", other("output", "export", "info and verify")),
            ("merge d --redact x --to n", other("redact", "merge", "cut and import")),
            ("info d --encrypt-to age1x", other("encrypt-to", "info", "cut, merge and import")),
            ("export d --plain", other("plain", "export", "cut and merge")),
            ("merge d --to n --plain --encrypt-to age1x", UsageError::PlainAndEncrypted),
            ("export d -n team-*", UsageError::NamespacePatterns),
            (
                "info d -o name",
                UsageError::OutputFormat { format: "name".to_owned(), allowed: RECORDING_FORMATS },
            ),
        ] {
            assert_eq!(read(line), Err(error), "{line}");
        }
        assert!(matches!(read("cut d --since 25:00 --to n"), Err(UsageError::Moment { flag: "since", .. })));
    }
}
