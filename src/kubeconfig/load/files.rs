//! Reads kubeconfig files and merges them: of entries with one name the first file wins. Error messages quote no text
//! of a file, which may be a credential.

use std::collections::{HashMap, HashSet};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use crate::kubeconfig::ConfigOptions;
use crate::kubeconfig::Error;
use crate::kubeconfig::file_format::Kubeconfig;
use crate::kubeconfig::load::format_message::message;
use crate::kubeconfig::local_file;
use crate::listwatch::system_words;

/// The merged files, and the file of each user. Each file is read once, since it may be a pipe.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) merged: Kubeconfig,
    /// The file that the user of this name comes from.
    pub(crate) users: HashMap<String, PathBuf>,
}

impl Files {
    fn add(&mut self, path: &Path, config: Kubeconfig) {
        for user in &config.users {
            if !self.users.contains_key(&user.name) {
                self.users.insert(user.name.clone(), path.to_owned());
            }
        }
        self.merged = mem::take(&mut self.merged).merge(config);
    }
}

/// Reads and merges the files that exist.
///
/// # Errors
/// [`Error::Unreadable`] when the one explicitly named file is missing, [`Error::File`] for an invalid kubeconfig.
pub(crate) fn read(options: &ConfigOptions) -> Result<Files, Error> {
    let mut files = Files::default();
    if let Some(path) = options.kubeconfig.as_ref().filter(|path| !path.as_os_str().is_empty()) {
        let Some(config) = read_file(path)? else {
            let reason = "no such file or directory".to_owned();
            return Err(Error::Unreadable { path: path.clone(), reason });
        };
        files.add(path, config);
        return Ok(files);
    }
    for path in paths(options) {
        if let Some(config) = read_file(&path)? {
            files.add(&path, config);
        }
    }
    Ok(files)
}

/// Returns the files to merge, in order and without duplicates.
fn paths(options: &ConfigOptions) -> Vec<PathBuf> {
    let Some(list) = options.kubeconfig_env.as_ref().filter(|list| !list.is_empty()) else {
        return options.home.iter().map(|home| home.join(".kube").join("config")).collect();
    };
    let mut seen = HashSet::new();
    let named = std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty());
    named.filter(|path| seen.insert(path.clone())).collect()
}

/// Reads one file and resolves its relative paths; `None` when it is missing.
fn read_file(path: &Path) -> Result<Option<Kubeconfig>, Error> {
    let invalid = |reason| Error::File { path: path.to_owned(), reason };
    let bytes = match local_file::read_kubeconfig(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // As in Go, a folder can be opened, but not be read.
        Err(error) => {
            let action = match error.kind() {
                io::ErrorKind::IsADirectory => format!("read {}: ", path.display()),
                _ if error.raw_os_error().is_some() => format!("open {}: ", path.display()),
                _ => String::new(),
            };
            return Err(invalid(format!("{action}{}", system_words(&error))));
        }
    };
    let text = decode(bytes).map_err(|reason| invalid(reason.to_owned()))?;
    let mut config = Kubeconfig::from_yaml(&text).map_err(|error| invalid(message(&error)))?;
    make_absolute(&mut config, path.parent().unwrap_or(Path::new("")));
    check_names("clusters", path, config.clusters.iter().map(|named| &named.name))?;
    check_names("contexts", path, config.contexts.iter().map(|named| &named.name))?;
    check_names("users", path, config.users.iter().map(|named| &named.name))?;
    // As in kubectl, an empty current-context counts as absent.
    config.current_context = config.current_context.filter(|name| !name.is_empty());
    Ok(Some(config))
}

/// Decodes the text of a file: UTF-8, or UTF-16 if it starts with a byte order mark.
fn decode(bytes: Vec<u8>) -> Result<String, &'static str> {
    let units = |unit: fn([u8; 2]) -> u16| {
        let (units, rest) = bytes[2..].as_chunks();
        if !rest.is_empty() {
            return Err("it ends in the middle of a character of UTF-16");
        }
        let units: Vec<u16> = units.iter().copied().map(unit).collect();
        String::from_utf16(&units).map_err(|_| "invalid UTF-16")
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => units(u16::from_le_bytes),
        [0xfe, 0xff, ..] => units(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, text @ ..] => String::from_utf8(text.to_vec()).map_err(|_| "invalid UTF-8"),
        _ => String::from_utf8(bytes).map_err(|_| "invalid UTF-8"),
    }
}

/// Resolves the relative paths of a kubeconfig against its folder. A plugin's command is a path if it has a
/// separator.
fn make_absolute(config: &mut Kubeconfig, folder: &Path) {
    let resolve = |path: &mut Option<String>| {
        if let Some(relative) = path.as_mut().filter(|path| !path.is_empty() && Path::new(path).is_relative())
            && let Some(absolute) = folder.join(&*relative).to_str()
        {
            absolute.clone_into(relative);
        }
    };
    for cluster in config.clusters.iter_mut().map(|named| &mut named.cluster) {
        resolve(&mut cluster.certificate_authority);
    }
    for user in config.users.iter_mut().map(|named| &mut named.user) {
        resolve(&mut user.client_certificate);
        resolve(&mut user.client_key);
        resolve(&mut user.token_file);
        if let Some(exec) = &mut user.exec
            && exec.command.as_ref().is_some_and(|command| command.contains(std::path::MAIN_SEPARATOR))
        {
            resolve(&mut exec.command);
        }
    }
}

/// Checks that no name occurs twice in a list.
fn check_names<'a>(list: &str, path: &Path, names: impl Iterator<Item = &'a String>) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            let reason = format!("duplicate name {name:?} in list: {list}");
            return Err(Error::File { path: path.to_owned(), reason });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_character_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        for bytes in [&[0xfe, 0xff, 0xff][..], &[0xff, 0xfe, 0x61]] {
            std::fs::write(&path, bytes).expect("a file");
            let error = read_file(&path).err().expect("an invalid kubeconfig");
            assert!(error.to_string().contains("in the middle of a character of UTF-16"), "{error}");
        }
        std::fs::write(&path, [0xff, 0xfe, 0x61, 0x00]).expect("a file");
        let error = read_file(&path).err().expect("a letter is no kubeconfig");
        assert!(!error.to_string().contains("UTF-16"), "{error}");
    }
}
