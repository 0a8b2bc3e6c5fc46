//! The sources that the values of `-f` and `-k` name, in kubectl's order.

use std::ffi::OsString;
use std::fs;
use std::io;

use kdelta::object::go_quote;

use super::glob::{join, matching_paths};
use crate::settings::Files;
use crate::system_words::system_words;

/// The extensions of the files that are read in folders.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// One text of manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    StandardInput,
    Url {
        url: String,
        /// The URL without its password, for messages.
        shown: String,
    },
    File(String),
    /// A folder with a kustomization.
    Kustomization(String),
}

/// The sources of a command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    pub(super) found: Vec<Source>,
    /// Whether standard input is one of them, or several files are in one folder.
    has_several: bool,
    /// `PATH`, to find the builder of a kustomization.
    pub(super) search_path: OsString,
    /// kubectl's messages about values that name no source.
    pub(crate) errors: Vec<String>,
}

impl Sources {
    /// Finds the sources.
    pub(crate) fn find(files: &Files) -> Self {
        let mut sources = Self { search_path: files.search_path.clone(), ..Self::default() };
        for name in &files.names {
            match name.as_str() {
                "-" => sources.add_standard_input(),
                url if url.starts_with("http://") || url.starts_with("https://") => sources.add_url(url),
                path => sources.add_paths(path, files.recursive),
            }
        }
        let folder = files.kustomization.iter().cloned();
        sources.found.extend(folder.map(Source::Kustomization));
        sources
    }

    /// Whether a single object is printed without a list around it.
    pub(super) fn is_single(&self) -> bool {
        !self.has_several && self.found.len() == 1
    }

    fn add_standard_input(&mut self) {
        if self.found.contains(&Source::StandardInput) {
            self.errors.push("standard input cannot be used for multiple arguments".to_owned());
        }
        self.has_several = true;
        self.found.push(Source::StandardInput);
    }

    fn add_url(&mut self, text: &str) {
        match reqwest::Url::parse(text) {
            Ok(mut url) => {
                let full = url.to_string();
                if url.password().is_some() {
                    // Fails only for URLs without a host.
                    let _ = url.set_password(Some("xxxxx"));
                }
                self.found.push(Source::Url { url: full, shown: url.to_string() });
            }
            Err(error) => {
                self.errors
                    .push(format!("the URL passed to filename {} is not valid: {error}", go_quote(text)));
            }
        }
    }

    fn add_paths(&mut self, path: &str, recursive: bool) {
        let paths = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match matching_paths(path) {
                Ok(paths) => paths,
                Err(error) => {
                    return self.errors.push(format!("pattern {} is not valid: {error}", go_quote(path)));
                }
            },
            _ => vec![path.to_owned()],
        };
        if paths.is_empty() {
            return self.errors.push(format!("the path {} does not exist", go_quote(path)));
        }
        for path in &paths {
            self.add_path(path, recursive);
        }
        if self.found.is_empty() && self.errors.is_empty() {
            let extensions = EXTENSIONS.map(|extension| format!(".{extension}")).join(" ");
            let paths = paths.join(" ");
            self.errors
                .push(format!("error reading [{paths}]: recognized file extensions are [{extensions}]"));
        }
    }

    fn add_path(&mut self, path: &str, recursive: bool) {
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.errors.push(format!("the path {} does not exist", go_quote(path)));
                return;
            }
            Err(error) => {
                let words = system_words(&error);
                self.errors
                    .push(format!("the path {} cannot be accessed: stat {path}: {words}", go_quote(path)));
                return;
            }
            Ok(_) => {}
        }
        let mut files = Vec::new();
        match walk(path, recursive, &mut files) {
            Ok(()) => {
                self.has_several |= files.len() > 1;
                self.found.extend(files.into_iter().map(Source::File));
            }
            Err(error) => self.errors.push(format!("error reading {}: {error}", go_quote(path))),
        }
    }
}

/// Adds the files of a path: itself, or those in a folder whose extension is known, sorted by name. Symbolic links are
/// not followed to folders.
fn walk(root: &str, recursive: bool, files: &mut Vec<String>) -> Result<(), String> {
    let is_folder = |path: &str| fs::symlink_metadata(path).map(|found| found.is_dir());
    if !is_folder(root).map_err(|error| format!("lstat {root}: {}", system_words(&error)))? {
        files.push(root.to_owned());
        return Ok(());
    }
    // The folders still to be read, the next one last, each with the names that are left.
    let mut folders = vec![(root.to_owned(), names(root)?)];
    while let Some((folder, left)) = folders.last_mut() {
        let Some(name) = left.pop() else {
            folders.pop();
            continue;
        };
        let path = join(folder, &name);
        if is_folder(&path).map_err(|error| format!("lstat {path}: {}", system_words(&error)))? {
            if recursive {
                let names = names(&path)?;
                folders.push((path, names));
            }
        } else if path
            .rsplit('/')
            .next()
            .and_then(|name| name.rsplit_once('.'))
            .is_some_and(|(_, found)| EXTENSIONS.contains(&found))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the names in a folder, the first one last.
fn names(folder: &str) -> Result<Vec<String>, String> {
    let failed = |error: io::Error| format!("open {folder}: {}", system_words(&error));
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable_by(|one, other| other.cmp(one));
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Creates a folder with these files.
    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, "").expect("a file");
        }
        folder
    }

    /// Returns the sources of these names in a folder, with its path left out.
    fn find(root: &Path, names: &[&str], recursive: bool) -> (Vec<String>, Vec<String>, bool) {
        let root = root.to_str().expect("text");
        let names = names.iter().map(|name| format!("{root}/{name}")).collect();
        let sources = Sources::find(&Files { names, recursive, ..Files::default() });
        let short = |text: &str| text.replace(&format!("{root}/"), "");
        let found = sources.found.iter().map(|source| match source {
            Source::File(path) => short(path),
            other => panic!("{other:?}"),
        });
        let errors = sources.errors.iter().map(|error| short(error)).collect();
        (found.collect(), errors, sources.is_single())
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn folders_have_sorted_files_with_known_extensions() {
        let files = [
            "b.yaml",
            "a.json",
            "c.yml",
            "d.txt",
            ".yaml",
            "b/x.yaml",
            "b.d/y.yaml",
            "e.yaml.bak",
            "x/e.txt",
        ];
        let folder = folder(&files);
        let find = |names: &[&str], recursive| find(folder.path(), names, recursive);
        assert_eq!(find(&["."], false).0, texts(&[".yaml", "a.json", "b.yaml", "c.yml"]));
        let all = [".yaml", "a.json", "b/x.yaml", "b.d/y.yaml", "b.yaml", "c.yml"];
        assert_eq!(find(&["."], true), (texts(&all), Vec::new(), false));
        assert_eq!(find(&["d.txt"], false), (texts(&["d.txt"]), Vec::new(), true), "named");
        assert_eq!(find(&["b"], false), (texts(&["b/x.yaml"]), Vec::new(), true));
        assert_eq!(find(&["*.json", "b.yaml"], false), (texts(&["a.json", "b.yaml"]), Vec::new(), false));
        assert_eq!(find(&["b.yaml", "x"], false), (texts(&["b.yaml"]), Vec::new(), true));
    }

    #[test]
    fn names_without_a_source_have_kubectls_errors() {
        let folder = folder(&["a.yaml", "x/e.txt"]);
        let find = |names: &[&str]| find(folder.path(), names, false).1;
        let missing = |name: &str| {
            format!("the path {:?} does not exist", format!("{}/{name}", folder.path().display()))
        };
        let short = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
        assert_eq!(find(&["b.yaml", "*.json"]), [short(missing("b.yaml")), short(missing("*.json"))]);
        assert_eq!(find(&["x"]), ["error reading [x]: recognized file extensions are [.json .yaml .yml]"]);
        assert_eq!(find(&["[a"]), ["pattern \"[a\" is not valid: syntax error in pattern"]);
        assert_eq!(
            find(&["a.yaml/b"]),
            ["the path \"a.yaml/b\" cannot be accessed: stat a.yaml/b: not a directory"]
        );
    }

    #[test]
    fn standard_input_urls_and_kustomizations_are_sources() {
        let names = texts(&["-", "https://example.com/a.yaml?b=c", "http://me:s3cr3t@example.com/"]);
        let url = |url: &str, shown: &str| Source::Url { url: url.into(), shown: shown.into() };
        let kustomization = Some("k".to_owned());
        let sources = Sources::find(&Files { names, kustomization, ..Files::default() });
        let expected = [
            Source::StandardInput,
            url("https://example.com/a.yaml?b=c", "https://example.com/a.yaml?b=c"),
            url("http://me:s3cr3t@example.com/", "http://me:xxxxx@example.com/"),
            Source::Kustomization("k".into()),
        ];
        assert_eq!((sources.found.as_slice(), sources.errors.len()), (&expected[..], 0));
        let sources = Sources::find(&Files { names: texts(&["-", "-", "http://[x"]), ..Files::default() });
        assert_eq!(sources.errors.len(), 2);
        assert!(sources.errors[1].starts_with("the URL passed to filename \"http://[x\" is not valid: "));
        let sources = Sources::find(&Files { names: texts(&["-"]), ..Files::default() });
        assert!(!sources.is_single(), "a stream");
    }
}
