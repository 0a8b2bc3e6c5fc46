//! The place in a kubeconfig file where a user's refreshed tokens are saved.

mod closable_mutex;
mod lock;
mod provider_settings;
mod replace;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use self::closable_mutex::ClosableMutex;
use self::lock::{Lock, LockError};
use self::provider_settings::Settings;
use self::replace::{recover, replace};
use crate::kubeconfig::local_file::{self, KUBECONFIG_LIMIT};
use crate::listwatch::system_words;

/// The attempts to lock a file that another program is writing, and the pause between them: about a second in total.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Held by the thread that writes a kubeconfig: several users of one file may be refreshed at the same time.
static WRITES: ClosableMutex = ClosableMutex::new();

/// Waits up to a second for a running write and prevents further ones. A program that exits in the middle of a write
/// would leave its lock behind.
pub(crate) fn finish_writes() {
    WRITES.close(Duration::from_secs(1));
}

/// A user of one kubeconfig file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenStore {
    pub(crate) file: PathBuf,
    pub(crate) user: String,
}

impl TokenStore {
    /// Returns the present settings of the user's provider.
    pub(crate) fn settings(&self) -> Option<Settings> {
        provider_settings::read(&self.text().ok()?, &self.user)
    }

    /// Writes these settings of the user's provider into the file if `is_unchanged` accepts the present ones. The
    /// rest of the file stays as it is. A concurrent reader sees the old content or the new one, unless the file has
    /// a second name or is a mount point, so that it must be overwritten in place. Blocks for about a second while
    /// another program writes, and for as long as the disk takes.
    ///
    /// # Errors
    /// A short reason, without the settings.
    pub(crate) fn save(
        &self,
        settings: &[(&str, &str)],
        is_unchanged: impl Fn(&Settings) -> bool,
    ) -> Result<(), String> {
        self.save_with(settings, is_unchanged, || WRITES.wait(PAUSE))
    }

    fn save_with(
        &self,
        settings: &[(&str, &str)],
        is_unchanged: impl Fn(&Settings) -> bool,
        mut wait: impl FnMut(),
    ) -> Result<(), String> {
        for _ in 1..TRIES {
            match self.try_save(settings, &is_unchanged) {
                Err(Failure::Busy(_)) => wait(),
                other => return other.map_err(Failure::words),
            }
        }
        self.try_save(settings, &is_unchanged).map_err(Failure::words)
    }

    fn try_save(
        &self,
        settings: &[(&str, &str)],
        is_unchanged: impl Fn(&Settings) -> bool,
    ) -> Result<(), Failure> {
        let Some(_writes) = WRITES.lock() else { return Err("the program ends".to_owned().into()) };
        // A symbolic link is kept.
        let real = fs::canonicalize(&self.file).map_err(|error| system_words(&error))?;
        let lock = Lock::acquire(&self.file)?;
        recover(&real, lock.abandoned_by)?;
        lock.claim()?;
        let text = self.text()?;
        if !provider_settings::read(&text, &self.user).is_some_and(|found| is_unchanged(&found)) {
            return Err("it names another provider now".to_owned().into());
        }
        let changed = provider_settings::set(&text, &self.user, settings).map_err(str::to_owned)?;
        Ok(replace(&real, &changed)?)
    }

    fn text(&self) -> Result<String, String> {
        let words = |error: io::Error| system_words(&error);
        // A pipe has been read to its end by now.
        local_file::read_text(&self.file, KUBECONFIG_LIMIT).map_err(words)
    }
}

/// Why tokens were not saved.
enum Failure {
    /// Another program is writing the file and holds this lock.
    Busy(PathBuf),
    Other(String),
}

impl Failure {
    fn words(self) -> String {
        match self {
            Self::Busy(lock) => {
                format!("{} shows that another program writes it (remove that if none does)", lock.display())
            }
            Self::Other(words) => words,
        }
    }
}

impl From<String> for Failure {
    fn from(words: String) -> Self {
        Self::Other(words)
    }
}

impl From<LockError> for Failure {
    fn from(load_error: LockError) -> Self {
        match load_error {
            LockError::Busy(lock) => Self::Busy(lock),
            LockError::Other(words) => Self::Other(words),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::thread;

    use super::*;
    use crate::kubeconfig::token_store::replace::write_sibling;

    const TEXT: &str =
        "users: [{name: me, user: {auth-provider: {name: oidc, config: {id-token: old, client-id: c}}}}]\n";

    fn token_store(folder: &Path, mode: u32) -> TokenStore {
        let file = folder.join("config");
        fs::write(&file, TEXT).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        TokenStore { file, user: "me".into() }
    }

    fn names(folder: &Path) -> Vec<String> {
        let names =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn save_keeps_mode_and_link_and_leaves_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let token_store = token_store(folder.path(), 0o640);
        let linked = tempfile::tempdir().unwrap();
        symlink(&token_store.file, linked.path().join("link")).unwrap();
        let through = TokenStore { file: linked.path().join("link"), ..token_store.clone() };
        through.save(&[("id-token", "new")], |found| found["client-id"] == "c").unwrap();
        assert_eq!(fs::read_to_string(&token_store.file).unwrap(), TEXT.replace("old", "\"new\""));
        assert_eq!(token_store.settings().unwrap()["id-token"], "new");
        assert_eq!(fs::metadata(&token_store.file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&through.file).unwrap().is_symlink());
        assert_eq!((names(folder.path()).len(), names(linked.path()).len()), (1, 1));
    }

    #[test]
    fn failed_save_is_reported_and_keeps_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let read_only = token_store(folder.path(), 0o440);
        let try_save = |token_store: &TokenStore, is_unchanged| {
            token_store.save(&[("id-token", "s3cret")], |_| is_unchanged).unwrap_err()
        };
        assert_eq!(try_save(&read_only, true), "permission denied");
        let token_store = token_store(folder.path(), 0o600);
        assert_eq!(try_save(&token_store, false), "it names another provider now");
        fs::write(folder.path().join("config.lock"), "").unwrap();
        let mut pauses = 0;
        let busy = token_store.save_with(&[("id-token", "s3cret")], |_| true, || pauses += 1).unwrap_err();
        assert!(busy.contains("config.lock shows that another program writes it"), "{busy}");
        assert_eq!(pauses, TRIES - 1);
        fs::remove_file(folder.path().join("config.lock")).unwrap();
        assert_eq!(
            try_save(&TokenStore { file: folder.path().into(), ..token_store.clone() }, true),
            "is a directory"
        );
        let _ = fs::remove_file(folder.path().with_extension("lock"));
        assert_eq!(fs::read_to_string(&token_store.file).unwrap(), TEXT);
        assert_eq!(names(folder.path()), ["config"]);
    }

    #[test]
    fn save_waits_for_another_programs_lock() {
        let folder = tempfile::tempdir().unwrap();
        let (token_store, lock) = (token_store(folder.path(), 0o600), folder.path().join("config.lock"));
        fs::write(&lock, "").unwrap();
        let mut pauses = 0;
        let kept = token_store.save_with(
            &[("id-token", "new")],
            |_| true,
            || {
                pauses += 1;
                if pauses == 3 {
                    fs::remove_file(&lock).unwrap();
                }
            },
        );
        assert_eq!((kept, pauses), (Ok(()), 3));
        assert_eq!(token_store.settings().unwrap()["id-token"], "new");
    }

    #[test]
    fn concurrent_saves_to_one_file_all_succeed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        let users: Vec<String> = (0..8).map(|number| TEXT.replace("me,", &format!("u{number},"))).collect();
        let items = users.iter().map(|user| user.replace("users: [", "").replace("]\n", ""));
        fs::write(&file, format!("users: [{}]\n", items.collect::<Vec<_>>().join(",\n  "))).unwrap();
        thread::scope(|scope| {
            for number in 0..8 {
                let token_store = TokenStore { file: file.clone(), user: format!("u{number}") };
                scope.spawn(move || {
                    let token = format!("new-{number}");
                    let kept = token_store.save_with(
                        &[("id-token", &token)],
                        |_| true,
                        || panic!("no other program writes the file"),
                    );
                    assert_eq!((kept, &token_store.settings().unwrap()["id-token"]), (Ok(()), &token));
                });
            }
        });
    }

    #[test]
    fn hard_links_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (token_store, other) = (token_store(folder.path(), 0o600), folder.path().join("dotfiles"));
        fs::write(&token_store.file, TEXT.replace("old", "a-much-longer-token-than-the-new-one")).unwrap();
        fs::hard_link(&token_store.file, &other).unwrap();
        token_store.save(&[("id-token", "new")], |_| true).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), TEXT.replace("old", "\"new\""));
        assert_eq!(names(folder.path()).len(), 2, "{:?}", names(folder.path()));
    }

    #[test]
    fn unfinished_write_is_recovered_before_reading() {
        let whole = TEXT.replace("old", "whole");
        // Parts that parse as a kubeconfig, and parts that don't.
        for part in
            [format!("{whole}# the end of what is longer\n"), format!("{whole}}}}}]\n"), "users: [".into()]
        {
            let folder = tempfile::tempdir().unwrap();
            let (token_store, other) = (token_store(folder.path(), 0o600), folder.path().join("dotfiles"));
            fs::hard_link(&token_store.file, &other).unwrap();
            fs::write(&token_store.file, &part).unwrap();
            fs::write(folder.path().join("config.4194305.whole"), &whole).unwrap();
            fs::write(folder.path().join("config.lock"), "kdelta 4194305\n").unwrap();
            token_store.save(&[("client-id", "new")], |found| found["id-token"] == "whole").unwrap();
            let kept = whole.replace("client-id: c", "client-id: \"new\"");
            assert_eq!(fs::read_to_string(&other).unwrap(), kept, "{part}");
            assert_eq!(names(folder.path()).len(), 2, "{:?}", names(folder.path()));
        }
    }

    #[test]
    fn leftover_files_are_removed_even_if_the_save_fails() {
        let folder = tempfile::tempdir().unwrap();
        let token_store = token_store(folder.path(), 0o600);
        fs::hard_link(&token_store.file, folder.path().join("dotfiles")).unwrap();
        fs::write(folder.path().join("config.4194305.new"), "s3cret").unwrap();
        fs::write(folder.path().join("config.lock"), "kdelta 4194305\n").unwrap();
        assert!(token_store.save(&[("id-token", "new")], |_| false).is_err());
        assert_eq!(names(folder.path()).len(), 2, "{:?}", names(folder.path()));
        assert_eq!(fs::read_to_string(&token_store.file).unwrap(), TEXT);
    }

    /// Set for the process to be killed: the folder of its kubeconfig.
    const KILLED: &str = "KDELTA_TEST_KILLED_IN";

    #[test]
    fn killed_writer_leaves_the_old_file_and_a_lock_that_is_taken_over() {
        if let Some(folder) = std::env::var_os(KILLED) {
            let file = Path::new(&folder).join("config");
            let _lock = Lock::acquire(&file).unwrap();
            write_sibling(&file, "half of a fi").unwrap();
            let mut output = io::stdout();
            output.write_all(READY.as_bytes()).and_then(|()| output.flush()).unwrap();
            loop {
                thread::park();
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let token_store = token_store(folder.path(), 0o640);
        let before = fs::metadata(&token_store.file).unwrap();
        let test = thread::current().name().unwrap().to_owned();
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &test, "--nocapture"])
            .env(KILLED, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains(READY.trim_end())), "it came that far");
        let busy = token_store.save_with(&[("id-token", "new")], |_| true, || {}).unwrap_err();
        assert!(busy.contains("another program writes it"), "{busy}");
        writer.kill().unwrap();
        writer.wait().unwrap();
        assert_eq!(fs::read_to_string(&token_store.file).unwrap(), TEXT);
        assert_eq!(names(folder.path()).len(), 3, "{:?}", names(folder.path()));
        let at_once = || panic!("no program writes the file");
        token_store.save_with(&[("id-token", "new")], |_| true, at_once).unwrap();
        assert_eq!(token_store.settings().unwrap()["id-token"], "new");
        assert_eq!(names(folder.path()), ["config"]);
        let after = fs::metadata(&token_store.file).unwrap();
        let kept = |of: &fs::Metadata| (of.mode(), of.uid(), of.gid());
        assert_eq!(kept(&after), kept(&before));
    }

    /// The line that the process prints before the rename, when it is to be killed.
    const READY: &str = "new file written\n";
}
