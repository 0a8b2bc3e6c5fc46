//! A file with a bearer token, reread about every minute.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::header::HeaderValue;

use super::bearer;
use crate::kubeconfig::Error;
use crate::kubeconfig::local_file::{self, CREDENTIAL_LIMIT};
use crate::listwatch::system_words;

/// The time for which the content of a file is used: the kubelet renews a token well before it expires.
pub(super) const FILE_LIFE: Duration = Duration::from_secs(50);

/// The file, and the header with its token.
pub(super) struct TokenFile {
    path: PathBuf,
    /// The last content and the time of reading. A std lock: held for one small read of a local file, never across an
    /// await.
    last: Mutex<(HeaderValue, Instant)>,
}

impl TokenFile {
    /// Reads the file. `fallback` is sent until the file can be read.
    ///
    /// # Errors
    /// [`Error::Credentials`] when the file is unreadable or empty, and there is no fallback.
    pub(super) fn open(path: PathBuf, fallback: Option<HeaderValue>, now: Instant) -> Result<Self, Error> {
        let header = read(&path).or_else(|error| fallback.ok_or(error))?;
        Ok(Self { path, last: Mutex::new((header, now)) })
    }

    /// Returns the file's token. A file that is no longer readable keeps its last token: some users remove the file
    /// on purpose.
    pub(super) fn header(&self, now: Instant) -> HeaderValue {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(last.1) >= FILE_LIFE {
            self.read_again(&mut last, now);
        }
        last.0.clone()
    }

    /// Returns the file's token if it differs from the one that the server refused.
    pub(super) fn replacement_for(&self, refused: Option<&HeaderValue>, now: Instant) -> Option<HeaderValue> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if Some(&last.0) == refused {
            self.read_again(&mut last, now);
        }
        (Some(&last.0) != refused).then(|| last.0.clone())
    }

    fn read_again(&self, last: &mut (HeaderValue, Instant), now: Instant) {
        if let Ok(header) = read(&self.path) {
            last.0 = header;
        }
        last.1 = now;
    }
}

fn read(path: &Path) -> Result<HeaderValue, Error> {
    let text = local_file::read_text(path, CREDENTIAL_LIMIT).map_err(|error| {
        let shown = path.display().to_string();
        let why = system_words(&error);
        Error::Credentials(format!("failed to read token file {shown:?}: open {shown}: {why}"))
    })?;
    match text.trim() {
        "" => Err(Error::Credentials(format!("read empty token from file {:?}", path.display()))),
        token => bearer::header(token),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn in_folder(text: &str) -> (TempDir, PathBuf) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn token_file_is_trimmed_and_reread() {
        let (_folder, path) = in_folder("one\n");
        let start = Instant::now();
        let file = TokenFile::open(path.clone(), None, start).unwrap();
        assert!(file.header(start).is_sensitive());
        fs::write(&path, " two\r\n").unwrap();
        assert_eq!(file.header(start + FILE_LIFE / 2), "Bearer one");
        assert_eq!(file.header(start + FILE_LIFE * 2), "Bearer two");
        fs::write(&path, "").unwrap();
        assert_eq!(file.header(start + FILE_LIFE * 4), "Bearer two", "an empty one is none");
        fs::remove_file(&path).unwrap();
        assert_eq!(file.header(start + FILE_LIFE * 6), "Bearer two", "nor is a missing one");
        assert!(TokenFile::open(path, None, start).is_err());
    }

    #[test]
    fn refused_token_causes_a_reread() {
        let (_folder, path) = in_folder("one");
        let now = Instant::now();
        let file = TokenFile::open(path.clone(), None, now).unwrap();
        let one = file.header(now);
        assert_eq!(file.replacement_for(Some(&one), now), None, "the same token is no other one");
        fs::write(&path, "two").unwrap();
        assert_eq!(file.replacement_for(Some(&one), now).unwrap(), "Bearer two");
        fs::remove_file(&path).unwrap();
        assert_eq!(
            file.replacement_for(Some(&one), now).unwrap(),
            "Bearer two",
            "what another one has read counts"
        );
    }

    #[test]
    fn fallback_token_is_used_while_the_file_is_unreadable() {
        let (_folder, path) = in_folder("file");
        let now = Instant::now();
        let fallback = || Some(bearer::header("fallback").unwrap());
        assert_eq!(TokenFile::open(path.clone(), fallback(), now).unwrap().header(now), "Bearer file");
        fs::remove_file(&path).unwrap();
        let file = TokenFile::open(path.clone(), fallback(), now).unwrap();
        assert_eq!(file.header(now), "Bearer fallback");
        fs::write(&path, "late").unwrap();
        assert_eq!(file.header(now + FILE_LIFE), "Bearer late");
    }
}
