//! Reads kubeconfig files and merges them: per name the first file wins, and nothing of a file's text is ever shown.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::path::{Path, PathBuf};

use kube_client::config::{Kubeconfig, KubeconfigError};

use super::ConfigOptions;
use crate::api::error::Error;
use crate::api::failure::system_words;

/// What the files hold, and where its users stand. Each file is read once: it may be a pipe.
#[derive(Default)]
pub(super) struct Files {
    pub(super) merged: Kubeconfig,
    /// The file whose user of that name counts.
    pub(super) users: HashMap<String, PathBuf>,
}

impl Files {
    fn add(&mut self, path: &Path, config: Kubeconfig) -> Result<(), Error> {
        for user in &config.auth_infos {
            if !self.users.contains_key(&user.name) {
                self.users.insert(user.name.clone(), path.to_owned());
            }
        }
        self.merged = mem::take(&mut self.merged).merge(config).map_err(|error| broken(path, &error))?;
        Ok(())
    }
}

/// The files that are there, merged.
///
/// # Errors
/// [`Error::Unreadable`] when the one file that was named is missing, [`Error::File`] for one that is no kubeconfig.
pub(super) fn read(options: &ConfigOptions) -> Result<Files, Error> {
    let mut files = Files::default();
    if let Some(path) = options.kubeconfig.as_ref().filter(|path| !path.as_os_str().is_empty()) {
        let Some(config) = read_file(path)? else {
            let reason = "no such file or directory".to_owned();
            return Err(Error::Unreadable { path: path.clone(), reason });
        };
        files.add(path, config)?;
        return Ok(files);
    }
    for path in paths(options) {
        if let Some(config) = read_file(&path)? {
            files.add(&path, config)?;
        }
    }
    Ok(files)
}

/// The files to merge, in order, each once.
fn paths(options: &ConfigOptions) -> Vec<PathBuf> {
    let Some(list) = options.kubeconfig_env.as_ref().filter(|list| !list.is_empty()) else {
        return options.home.iter().map(|home| home.join(".kube").join("config")).collect();
    };
    let mut seen = HashSet::new();
    let named = std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty());
    named.filter(|path| seen.insert(path.clone())).collect()
}

/// One file with its relative paths made relative to it; `None` when it is missing.
fn read_file(path: &Path) -> Result<Option<Kubeconfig>, Error> {
    if is_half_a_character(path) {
        let reason = "it ends in the middle of a character of UTF-16".to_owned();
        return Err(Error::File { path: path.to_owned(), reason });
    }
    let mut config = match Kubeconfig::read_from(path) {
        Ok(config) => config,
        Err(KubeconfigError::ReadConfig(error, _)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(broken(path, &error)),
    };
    one_of_each("clusters", path, config.clusters.iter().map(|named| &named.name))?;
    one_of_each("contexts", path, config.contexts.iter().map(|named| &named.name))?;
    one_of_each("users", path, config.auth_infos.iter().map(|named| &named.name))?;
    // kubectl merges files whatever they call themselves, and an empty current-context is none.
    config.kind = None;
    config.api_version = None;
    config.current_context = config.current_context.filter(|name| !name.is_empty());
    Ok(Some(config))
}

/// Whether a file says that it is UTF-16 and has an odd number of bytes, which kube-client panics at. What is no file, as a
/// pipe, can be read only once and is not looked at.
fn is_half_a_character(path: &Path) -> bool {
    if !std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() % 2 == 1) {
        return false;
    }
    let mut mark = [0; 2];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut mark));
    read.is_ok() && matches!(mark, [0xff, 0xfe] | [0xfe, 0xff])
}

fn one_of_each<'a>(what: &str, path: &Path, names: impl Iterator<Item = &'a String>) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            let reason = format!("duplicate name {name:?} in list: {what}");
            return Err(Error::File { path: path.to_owned(), reason });
        }
    }
    Ok(())
}

fn broken(path: &Path, error: &KubeconfigError) -> Error {
    let reason = match error {
        KubeconfigError::ReadConfig(error, _) => system_words(error),
        KubeconfigError::Parse(error) => {
            // A snippet of the file, or a value of a wrong type, may be a token.
            let told = redact(&error.without_snippet().to_string());
            match error.location() {
                Some(place) if !told.contains("line") => format!("yaml: line {}: {told}", place.line()),
                _ => format!("yaml: {told}"),
            }
        }
        other => other.to_string(),
    };
    Error::File { path: path.to_owned(), reason }
}

/// The first line of a parser's message with every quoted text taken out, since it may be a value of the file.
fn redact(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    if message.contains("missing field") {
        return message.to_owned();
    }
    let mut out = String::with_capacity(message.len());
    let mut chars = message.chars();
    while let Some(char) = chars.next() {
        out.push(char);
        if char == '"' || char == '`' {
            while let Some(inner) = chars.next() {
                match inner {
                    '\\' => drop(chars.next()),
                    end if end == char => break,
                    _ => {}
                }
            }
            out.push('…');
            out.push(char);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_ends_in_half_a_character_is_said_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        for bytes in [&[0xfe, 0xff, 0xff][..], &[0xff, 0xfe, 0x61]] {
            std::fs::write(&path, bytes).expect("a file");
            let error = read_file(&path).expect_err("it is broken");
            assert!(error.to_string().contains("in the middle of a character of UTF-16"), "{error}");
        }
        std::fs::write(&path, [0xff, 0xfe, 0x61, 0x00]).expect("a file");
        let error = read_file(&path).expect_err("a letter is no kubeconfig");
        assert!(!error.to_string().contains("UTF-16"), "{error}");
    }

    #[test]
    fn a_parsers_message_loses_what_it_quotes() {
        assert_eq!(
            redact(r#"invalid type: string "s3\"cret", expected a sequence at line 3"#),
            r#"invalid type: string "…", expected a sequence at line 3"#
        );
        assert_eq!(
            redact("invalid type: integer `123456`, expected a map"),
            "invalid type: integer `…`, expected a map"
        );
        assert_eq!(redact("missing field `name` at line 2\nsnippet"), "missing field `name` at line 2");
        assert_eq!(redact("open \"end"), "open \"…\"");
    }
}
