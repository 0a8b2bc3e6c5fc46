//! Where a user of a kubeconfig stands, for what is to be kept there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::tokens::{self, Settings};
use crate::api::failure::system_words;

/// A user of one kubeconfig file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::api) struct Origin {
    pub(in crate::api) file: PathBuf,
    pub(in crate::api) user: String,
}

impl Origin {
    /// The settings of the user's provider as they stand there at present.
    pub(in crate::api) fn settings(&self) -> Option<Settings> {
        tokens::read(&self.text().ok()?, &self.user)
    }

    /// Puts these settings of the user's provider into the file, where `still` says that the provider is still the same.
    /// Everything else in it stays as it is, and whoever reads it meanwhile finds the old content or the new one.
    ///
    /// # Errors
    /// Why it could not be done, in a few words and without what was to be written.
    pub(in crate::api) fn keep(
        &self,
        settings: &[(&str, &str)],
        still: impl FnOnce(&Settings) -> bool,
    ) -> Result<(), String> {
        let _lock = Lock::take(&self.file)?;
        let text = self.text()?;
        if !tokens::read(&text, &self.user).is_some_and(|found| still(&found)) {
            return Err("it names another provider by now".to_owned());
        }
        let changed = tokens::set(&text, &self.user, settings)?;
        // A link stays one.
        let real = fs::canonicalize(&self.file).map_err(|error| system_words(&error))?;
        replace(&real, &changed).map_err(|error| system_words(&error))
    }

    fn text(&self) -> Result<String, String> {
        let words = |error: io::Error| system_words(&error);
        if !fs::metadata(&self.file).map_err(words)?.is_file() {
            // Of a pipe nothing is left to read.
            return Err("it is no regular file".to_owned());
        }
        fs::read_to_string(&self.file).map_err(words)
    }
}

/// A new content in place of the old one, with its owner and its mode.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    let written = fill(&new, path, text).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // What can't be removed could not be made.
        let _ = fs::remove_file(&new);
    }
    written
}

fn fill(new: &Path, like: &Path, text: &str) -> io::Result<()> {
    let like = fs::metadata(like)?;
    if like.permissions().readonly() {
        // Its folder would allow it, but nobody has made it so by chance.
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(new)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            fchown(&file, Some(like.uid()), Some(like.gid()))?;
        }
    }
    file.set_permissions(like.permissions())?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// kubectl's lock on a kubeconfig: a file beside it, for as long as somebody writes. It is not waited for.
struct Lock(PathBuf);

impl Lock {
    fn take(file: &Path) -> Result<Self, String> {
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        match File::create_new(&path) {
            Ok(_) => Ok(Self(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(format!("{} says that another program writes it", path.display()))
            }
            Err(error) => Err(system_words(&error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // One that stays tells the next program so.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    const TEXT: &str =
        "users: [{name: me, user: {auth-provider: {name: oidc, config: {id-token: old, client-id: c}}}}]\n";

    fn origin(folder: &Path, mode: u32) -> Origin {
        let file = folder.join("config");
        fs::write(&file, TEXT).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        Origin { file, user: "me".into() }
    }

    fn names(folder: &Path) -> Vec<String> {
        let names =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_kept_token_leaves_the_mode_and_the_link_and_nothing_beside_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let origin = origin(folder.path(), 0o640);
        let linked = tempfile::tempdir().unwrap();
        symlink(&origin.file, linked.path().join("link")).unwrap();
        let through = Origin { file: linked.path().join("link"), ..origin.clone() };
        through.keep(&[("id-token", "new")], |found| found["client-id"] == "c").unwrap();
        assert_eq!(fs::read_to_string(&origin.file).unwrap(), TEXT.replace("old", "\"new\""));
        assert_eq!(origin.settings().unwrap()["id-token"], "new");
        assert_eq!(fs::metadata(&origin.file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&through.file).unwrap().is_symlink());
        assert_eq!((names(folder.path()).len(), names(linked.path()).len()), (1, 1));
    }

    #[test]
    fn what_can_not_be_kept_is_said_and_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let read_only = origin(folder.path(), 0o440);
        let keep = |origin: &Origin, still| origin.keep(&[("id-token", "s3cret")], |_| still).unwrap_err();
        assert_eq!(keep(&read_only, true), "permission denied");
        let origin = origin(folder.path(), 0o600);
        assert_eq!(keep(&origin, false), "it names another provider by now");
        fs::write(folder.path().join("config.lock"), "").unwrap();
        assert!(keep(&origin, true).ends_with("config.lock says that another program writes it"));
        fs::remove_file(folder.path().join("config.lock")).unwrap();
        assert_eq!(
            keep(&Origin { file: folder.path().into(), ..origin.clone() }, true),
            "it is no regular file"
        );
        let _ = fs::remove_file(folder.path().with_extension("lock"));
        assert_eq!(fs::read_to_string(&origin.file).unwrap(), TEXT);
        assert_eq!(names(folder.path()), ["config"]);
    }
}
