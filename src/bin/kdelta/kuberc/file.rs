//! The place and the contents of the file.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::document::{self, NothingUsable, Preferences};
use super::notice::Notice;
use crate::system_words::system_words;

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;

/// The places of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// `$KUBERC`: a file, or `off`.
    pub(crate) variable: Option<OsString>,
    /// The user's home, with `.kube/kuberc`.
    pub(crate) home: Option<PathBuf>,
}

/// A file that can't be used. The messages are kubectl's where it has one.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FileError {
    #[error("kuberc file is not found")]
    NoValue,
    #[error("kuberc error disabling kuberc via KUBERC=off and passing kuberc flag are mutually exclusive")]
    OffAndFlag,
    #[error("kuberc error kuberc: {0}")]
    Unusable(String),
}

/// A file to read.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    /// Whether the user named it.
    is_explicit: bool,
}

/// Reads the preferences that the words and the environment select; `None` without any.
///
/// # Errors
/// The user named a file that can't be used, or none.
pub(super) fn read(
    words: &[String],
    places: &Places,
    notify: &mut dyn FnMut(Notice),
) -> Result<Option<Preferences>, FileError> {
    let Some(Place { path, is_explicit }) = place(flag(words)?, places)? else { return Ok(None) };
    match read_file(&path) {
        Ok(None) => Ok(None),
        Ok(Some(document::Found { preferences, ignored })) => {
            if let Some(why) = ignored {
                let path = path.display();
                notify(Notice::Plain(format!("kuberc: ignoring strict decoding error in {path}: {why}")));
            }
            Ok(Some(preferences))
        }
        Err(failure) if is_explicit => Err(FileError::Unusable(failure.reason)),
        Err(failure) => {
            if !failure.is_missing {
                let reason = failure.reason;
                notify(Notice::Plain(format!(
                    "kuberc: no preferences loaded from {}: {reason}",
                    path.display()
                )));
            }
            Ok(None)
        }
    }
}

/// Returns the value of `--kuberc`, by kubectl's rule: it ends at a second `=`.
fn flag(words: &[String]) -> Result<Option<&str>, FileError> {
    let words = words.iter().position(|word| word == "--").map_or(words, |end| &words[..end]);
    for (at, word) in words.iter().enumerate() {
        if word == "--kuberc" {
            return words.get(at + 1).map(|value| Some(value.as_str())).ok_or(FileError::NoValue);
        }
        if word.contains("--kuberc=") {
            let value = word.split('=').nth(1).filter(|value| !value.is_empty());
            return value.map(Some).ok_or(FileError::NoValue);
        }
    }
    Ok(None)
}

/// Returns the file: the flag precedes the variable, which precedes the one in the home.
fn place(flag: Option<&str>, places: &Places) -> Result<Option<Place>, FileError> {
    let flag = flag.filter(|flag| !flag.is_empty());
    let variable = places.variable.as_ref().filter(|variable| !variable.is_empty());
    if variable.is_some_and(|variable| variable == "off") {
        return if flag.is_some() { Err(FileError::OffAndFlag) } else { Ok(None) };
    }
    let default = places.home.as_ref().map(|home| home.join(".kube").join("kuberc"));
    let explicit = |path: PathBuf| Some(Place { path, is_explicit: true });
    Ok(match (flag.map(PathBuf::from), variable) {
        // As in kubectl, the default place named by the flag does not precede the variable.
        (Some(flag), Some(variable)) if Some(&flag) == default.as_ref() => explicit(variable.into()),
        (Some(flag), _) => explicit(flag),
        (None, Some(variable)) => explicit(variable.into()),
        (None, None) => default.map(|path| Place { path, is_explicit: false }),
    })
}

/// Why a file can't be used.
struct Failure {
    is_missing: bool,
    reason: String,
}

fn read_file(path: &Path) -> Result<Option<document::Found>, Failure> {
    let shown = path.display();
    let failure = |doing: &str, error: &io::Error| Failure {
        is_missing: error.kind() == io::ErrorKind::NotFound,
        reason: format!("{doing} {shown}: {}", system_words(error)),
    };
    let file = File::open(path).map_err(|error| failure("open", &error))?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| failure("read", &error))?;
    if bytes.len() as u64 > LARGEST {
        let reason = format!("{shown} is larger than {} MiB", LARGEST >> 20);
        return Err(Failure { is_missing: false, reason });
    }
    let found = String::from_utf8(bytes).map_err(|_| NothingUsable).and_then(|text| document::read(&text));
    found.map_err(|NothingUsable| Failure {
        is_missing: false,
        reason: format!("no valid preferences found in {shown}, use --v=5 to see details"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn flag_is_found_before_two_dashes() {
        for (line, expected) in [
            ("kdelta get", Ok(None)),
            ("kdelta --kuberc a get", Ok(Some("a"))),
            ("kdelta get --kuberc=a=b --kuberc c", Ok(Some("a"))),
            ("kdelta get -- --kuberc", Ok(None)),
            ("kdelta get --kuberc", Err(FileError::NoValue)),
            ("kdelta get --kuberc=", Err(FileError::NoValue)),
        ] {
            assert_eq!(flag(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn flag_precedes_variable_and_home() {
        let places = |variable: &str| Places { variable: Some(variable.into()), home: Some("/h".into()) };
        let found = |flag: Option<&str>, variable: &str| {
            let place = place(flag, &places(variable))?;
            Ok(place.map(|place| (place.path.display().to_string(), place.is_explicit)))
        };
        assert_eq!(found(None, ""), Ok(Some(("/h/.kube/kuberc".into(), false))));
        assert_eq!(found(None, "v"), Ok(Some(("v".into(), true))));
        assert_eq!(found(Some("f"), "v"), Ok(Some(("f".into(), true))));
        assert_eq!(found(Some("/h/.kube/kuberc"), "v"), Ok(Some(("v".into(), true))));
        assert_eq!(found(None, "off"), Ok(None));
        assert_eq!(found(Some("f"), "off"), Err(FileError::OffAndFlag));
        assert_eq!(place(None, &Places::default()), Ok(None));
    }
}
