//! `-f`, `-k` and `-R`: the files with the objects.

use std::ffi::OsString;

use crate::args::{FileArgs, PlanArgs, PlanForm};
use crate::settings::UsageError;
use crate::settings::environment::Environment;

/// The files that name the objects.
///
/// As in kubectl, mistakes in the words of the command line are reported together with files that do not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Files {
    /// The values of `-f`: files, folders, patterns, URLs and `-`.
    pub(crate) names: Vec<String>,
    /// The value of `-k`.
    pub(crate) kustomization: Option<String>,
    /// `PATH`, in which the builder of a kustomization is searched.
    pub(crate) search_path: OsString,
    /// Whether folders in folders are read.
    pub(crate) recursive: bool,
    /// Mistakes in the words.
    pub(crate) malformed_words: Option<UsageError>,
    /// The error of words without a mistake: files exclude them.
    pub(crate) surplus_words: Option<UsageError>,
}

impl Files {
    /// Reads the flags; `None` without files.
    pub(in crate::settings) fn read(
        args: &FileArgs,
        words: &[String],
        environment: &Environment,
    ) -> Result<Option<Self>, UsageError> {
        let mut names = Vec::new();
        for value in &args.filename {
            let words = csv_words(value);
            names.extend(words.map_err(|reason| UsageError::FileNames { value: value.clone(), reason })?);
        }
        let kustomization = args.kustomize.clone().filter(|folder| !folder.is_empty());
        if names.is_empty() && kustomization.is_none() {
            return Ok(None);
        }
        let (malformed_words, surplus_words) = match check_words(words) {
            Ok(surplus) => (None, surplus),
            Err(malformed) => (Some(malformed), None),
        };
        Ok(Some(Self {
            names,
            kustomization,
            search_path: environment.search_path.clone(),
            recursive: args.recursive,
            malformed_words,
            surplus_words,
        }))
    }

    /// Returns the form of the requested plan, which objects of files do not have.
    pub(in crate::settings) fn plan_form(
        files: Option<&Self>,
        plan: &PlanArgs,
    ) -> Result<Option<PlanForm>, UsageError> {
        match plan.explain {
            Some(_) if files.is_some() => Err(UsageError::PlanOfFiles),
            form => Ok(form),
        }
    }

    /// Whether one of them is standard input.
    pub(crate) fn has_standard_input(&self) -> bool {
        self.names.iter().any(|name| name == "-")
    }

    /// Returns the errors of flags that exclude each other. The messages are kubectl's.
    pub(crate) fn conflicts(&self) -> Vec<String> {
        let has_folder = self.kustomization.is_some();
        let conflicts = [
            (has_folder && !self.names.is_empty(), "only one of -f or -k can be specified"),
            (has_folder && self.recursive, "the -k flag can't be used with -f or -R"),
        ];
        conflicts.into_iter().filter(|(is_one, _)| *is_one).map(|(_, text)| text.to_owned()).collect()
    }
}

/// Checks the words that are given along with files. Returns the error of words without a mistake, which are refused too.
fn check_words(words: &[String]) -> Result<Option<UsageError>, UsageError> {
    let Some((types, names)) = words.split_first() else { return Ok(None) };
    let slashes = words.iter().filter(|word| word.contains('/')).count();
    // kubectl joins each type with each name.
    let is_product = types.contains(',') && !names.is_empty();
    match slashes {
        0 if is_product => return Ok(Some(UsageError::NamesWithFiles)),
        0 => return Ok(Some(UsageError::TypesWithFiles)),
        _ if is_product => return Err(UsageError::SlashesInName),
        _ if slashes < words.len() => return Err(UsageError::MixedForms),
        _ => {}
    }
    for word in words {
        match word.split_once('/') {
            Some((_, name)) if name.contains('/') => return Err(UsageError::SlashesInName),
            Some((kind, name)) if kind.is_empty() || name.is_empty() || kind.contains(',') => {
                return Err(UsageError::EmptyTypeOrName);
            }
            _ => {}
        }
    }
    Ok(Some(UsageError::NamesWithFiles))
}

/// Splits a value at its commas, except for those in quotes, as Go's reader of CSV does.
fn csv_words(value: &str) -> Result<Vec<String>, String> {
    // A value of several lines has one record in each.
    let Some(line) = value.lines().find(|line| !line.is_empty()) else { return Ok(Vec::new()) };
    let at = |rest: &str, what: &str| {
        format!("parse error on line 1, column {}: {what}", line.len() - rest.len() + 1)
    };
    let (mut words, mut rest) = (Vec::new(), line);
    loop {
        let after = if let Some(quoted) = rest.strip_prefix('"') {
            let (word, after) =
                unquoted(quoted).map_err(|wrong| at(wrong, "extraneous or missing \" in quoted-field"))?;
            words.push(word);
            after
        } else {
            let (word, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
            if let Some(quote) = word.find('"') {
                return Err(at(&rest[quote..], "bare \" in non-quoted-field"));
            }
            words.push(word.to_owned());
            after
        };
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return Ok(words),
        }
    }
}

/// Returns a word up to its closing quote, and the text after that. Two quotes stand for one.
///
/// # Errors
/// Returns the text from the mistake to the end.
fn unquoted(text: &str) -> Result<(String, &str), &str> {
    let (mut word, mut rest) = (String::new(), text);
    loop {
        let quote = rest.find('"').ok_or("")?;
        word.push_str(&rest[..quote]);
        let after = &rest[quote + 1..];
        match after.as_bytes().first() {
            Some(b'"') => {
                word.push('"');
                rest = &after[1..];
            }
            None | Some(b',') => return Ok((word, after)),
            Some(_) => return Err(&rest[quote..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn read(line: &str) -> Result<Option<Files>, UsageError> {
        let cli = Cli::try_parse_from(std::iter::once("kdelta").chain(line.split_whitespace())).expect(line);
        let Command::Get(args) = &cli.command else { panic!("{line}") };
        Files::read(&args.objects.files, &args.objects.select.resources, &Environment::default())
    }

    #[test]
    fn values_are_lists() {
        let files = read("get -f a,b -f - --filename=c -R").expect("valid").expect("files");
        assert_eq!(files.names, ["a", "b", "-", "c"]);
        assert!(files.recursive && files.has_standard_input() && files.conflicts().is_empty());
        let folder = read("get -k x").expect("valid").expect("files");
        assert_eq!((folder.kustomization.as_deref(), folder.names.len()), (Some("x"), 0));
        for line in ["get pods", "get -f= -k= pods", "get -R pods"] {
            assert_eq!(read(line), Ok(None), "{line}");
        }
    }

    // Taken from Go's encoding/csv.
    #[test]
    fn quotes_protect_commas() {
        let words = |words: &[&str]| Ok(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(csv_words("a,,b,"), words(&["a", "", "b", ""]));
        assert_eq!(csv_words(r#""a,b",c,"d""e""#), words(&["a,b", "c", "d\"e"]));
        assert_eq!(
            csv_words(r#"a"b"#),
            Err("parse error on line 1, column 2: bare \" in non-quoted-field".into())
        );
        for text in [r#""a"#, r#""a"b"#] {
            let error = csv_words(text).expect_err(text);
            assert_eq!(
                error, "parse error on line 1, column 3: extraneous or missing \" in quoted-field",
                "{text}"
            );
        }
    }

    #[test]
    fn flags_and_words_can_conflict() {
        let files = |line: &str| read(line).expect(line).expect("files");
        assert_eq!(files("get -f a -k b").conflicts(), ["only one of -f or -k can be specified"]);
        assert_eq!(files("get -k b -R").conflicts(), ["the -k flag can't be used with -f or -R"]);
        assert_eq!(files("get -f a -k b -R").conflicts().len(), 2);
        assert_eq!(files("get -f a").surplus_words, None);
        for line in ["get -f a pods", "get -f a pods web", "get -f a pods,svc"] {
            assert_eq!(files(line).surplus_words, Some(UsageError::TypesWithFiles), "{line}");
        }
        for line in ["get -f a po/x", "get -f a pods,svc web"] {
            assert_eq!(files(line).surplus_words, Some(UsageError::NamesWithFiles), "{line}");
        }
        for (line, error) in [
            ("get -f a pods po/x", UsageError::MixedForms),
            ("get -f a po/x/y", UsageError::SlashesInName),
            ("get -f a po/", UsageError::EmptyTypeOrName),
        ] {
            assert_eq!(files(line).malformed_words, Some(error), "{line}");
        }
    }
}
