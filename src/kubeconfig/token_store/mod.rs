//! Where a user of a kubeconfig stands, for what is to be kept there.

mod closable_mutex;
mod lock;
mod replace;
mod tokens;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use self::closable_mutex::Door;
use self::lock::{Lock, Refused};
use self::replace::{recover, replace};
use self::tokens::Settings;
use crate::kubeconfig::local_file::{self, KUBECONFIG_LIMIT};
use crate::listwatch::system_words;

/// How often a file is tried that another program writes, and the wait before the next time: about a second in all.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Whoever writes a kubeconfig in this process: several users of one file may be renewed at the same time.
static WRITING: Door = Door::open();

/// Lets whoever writes a kubeconfig finish, for a second at most, and nobody begin: a program that ended in the middle of
/// it would leave a lock behind that nobody removes.
pub(crate) fn end_of_writing() {
    WRITING.close(Duration::from_secs(1));
}

/// A user of one kubeconfig file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) file: PathBuf,
    pub(crate) user: String,
}

impl Origin {
    /// The settings of the user's provider as they stand there at present.
    pub(crate) fn settings(&self) -> Option<Settings> {
        tokens::read(&self.text().ok()?, &self.user)
    }

    /// Puts these settings of the user's provider into the file, where `still` says that the provider is still the same.
    /// Everything else in it stays as it is, and whoever reads it meanwhile finds the old content or the new one, unless
    /// the file has another name or is mounted there, so that it has to be written into. Blocks for about a second where
    /// another program writes it, and for as long as the disk takes.
    ///
    /// # Errors
    /// Why it could not be done, in a few words and without what was to be written.
    pub(crate) fn keep(
        &self,
        settings: &[(&str, &str)],
        still: impl Fn(&Settings) -> bool,
    ) -> Result<(), String> {
        self.keep_with(settings, still, || WRITING.pause(PAUSE))
    }

    fn keep_with(
        &self,
        settings: &[(&str, &str)],
        still: impl Fn(&Settings) -> bool,
        mut pause: impl FnMut(),
    ) -> Result<(), String> {
        for _ in 1..TRIES {
            match self.put(settings, &still) {
                Err(Failure::Busy(_)) => pause(),
                other => return other.map_err(Failure::words),
            }
        }
        self.put(settings, &still).map_err(Failure::words)
    }

    fn put(&self, settings: &[(&str, &str)], still: impl Fn(&Settings) -> bool) -> Result<(), Failure> {
        let Some(_writes) = WRITING.enter() else { return Err("the program ends".to_owned().into()) };
        // A link stays one.
        let real = fs::canonicalize(&self.file).map_err(|error| system_words(&error))?;
        let lock = Lock::take(&self.file)?;
        recover(&real, lock.left_by)?;
        lock.claim()?;
        let text = self.text()?;
        if !tokens::read(&text, &self.user).is_some_and(|found| still(&found)) {
            return Err("it names another provider by now".to_owned().into());
        }
        let changed = tokens::set(&text, &self.user, settings).map_err(str::to_owned)?;
        Ok(replace(&real, &changed)?)
    }

    fn text(&self) -> Result<String, String> {
        let words = |error: io::Error| system_words(&error);
        // Of a pipe nothing is left to read.
        local_file::read_text(&self.file, KUBECONFIG_LIMIT).map_err(words)
    }
}

/// Why tokens were not put into a file.
enum Failure {
    /// Another program writes it, by this lock.
    Busy(PathBuf),
    Other(String),
}

impl Failure {
    fn words(self) -> String {
        match self {
            Self::Busy(lock) => {
                format!("{} says that another program writes it (remove that if none does)", lock.display())
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

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Busy(lock) => Self::Busy(lock),
            Refused::Other(words) => Self::Other(words),
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
    use crate::kubeconfig::token_store::replace::write_beside;

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
        let mut pauses = 0;
        let busy = origin.keep_with(&[("id-token", "s3cret")], |_| true, || pauses += 1).unwrap_err();
        assert!(busy.contains("config.lock says that another program writes it"), "{busy}");
        assert_eq!(pauses, TRIES - 1);
        fs::remove_file(folder.path().join("config.lock")).unwrap();
        assert_eq!(keep(&Origin { file: folder.path().into(), ..origin.clone() }, true), "is a directory");
        let _ = fs::remove_file(folder.path().with_extension("lock"));
        assert_eq!(fs::read_to_string(&origin.file).unwrap(), TEXT);
        assert_eq!(names(folder.path()), ["config"]);
    }

    #[test]
    fn a_file_that_another_program_writes_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (origin, lock) = (origin(folder.path(), 0o600), folder.path().join("config.lock"));
        fs::write(&lock, "").unwrap();
        let mut pauses = 0;
        let kept = origin.keep_with(
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
        assert_eq!(origin.settings().unwrap()["id-token"], "new");
    }

    #[test]
    fn users_of_one_file_who_are_renewed_together_do_not_meet_each_others_lock() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        let users: Vec<String> = (0..8).map(|number| TEXT.replace("me,", &format!("u{number},"))).collect();
        let items = users.iter().map(|user| user.replace("users: [", "").replace("]\n", ""));
        fs::write(&file, format!("users: [{}]\n", items.collect::<Vec<_>>().join(",\n  "))).unwrap();
        thread::scope(|scope| {
            for number in 0..8 {
                let origin = Origin { file: file.clone(), user: format!("u{number}") };
                scope.spawn(move || {
                    let token = format!("new-{number}");
                    let kept = origin.keep_with(
                        &[("id-token", &token)],
                        |_| true,
                        || panic!("nobody else writes it"),
                    );
                    assert_eq!((kept, &origin.settings().unwrap()["id-token"]), (Ok(()), &token));
                });
            }
        });
    }

    #[test]
    fn a_file_of_two_names_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (origin, other) = (origin(folder.path(), 0o600), folder.path().join("dotfiles"));
        fs::write(&origin.file, TEXT.replace("old", "a-much-longer-token-than-the-new-one")).unwrap();
        fs::hard_link(&origin.file, &other).unwrap();
        origin.keep(&[("id-token", "new")], |_| true).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), TEXT.replace("old", "\"new\""));
        assert_eq!(names(folder.path()).len(), 2, "{:?}", names(folder.path()));
    }

    #[test]
    fn what_a_process_was_killed_at_is_ended_before_the_file_is_read() {
        let whole = TEXT.replace("old", "whole");
        // Parts that can be read as a kubeconfig, and such as can't.
        for part in
            [format!("{whole}# the end of what is longer\n"), format!("{whole}}}}}]\n"), "users: [".into()]
        {
            let folder = tempfile::tempdir().unwrap();
            let (origin, other) = (origin(folder.path(), 0o600), folder.path().join("dotfiles"));
            fs::hard_link(&origin.file, &other).unwrap();
            fs::write(&origin.file, &part).unwrap();
            fs::write(folder.path().join("config.4194305.whole"), &whole).unwrap();
            fs::write(folder.path().join("config.lock"), "kdelta 4194305\n").unwrap();
            origin.keep(&[("client-id", "new")], |found| found["id-token"] == "whole").unwrap();
            let kept = whole.replace("client-id: c", "client-id: \"new\"");
            assert_eq!(fs::read_to_string(&other).unwrap(), kept, "{part}");
            assert_eq!(names(folder.path()).len(), 2, "{:?}", names(folder.path()));
        }
    }

    #[test]
    fn what_a_killed_process_wrote_beside_the_file_goes_also_where_nothing_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let origin = origin(folder.path(), 0o600);
        fs::hard_link(&origin.file, folder.path().join("dotfiles")).unwrap();
        fs::write(folder.path().join("config.4194305.new"), "s3cret").unwrap();
        fs::write(folder.path().join("config.lock"), "kdelta 4194305\n").unwrap();
        assert!(origin.keep(&[("id-token", "new")], |_| false).is_err());
        assert_eq!(names(folder.path()).len(), 2, "{:?}", names(folder.path()));
        assert_eq!(fs::read_to_string(&origin.file).unwrap(), TEXT);
    }

    /// Set for the process that is to be killed: the folder of its kubeconfig.
    const KILLED: &str = "KDELTA_TEST_KILLED_IN";

    #[test]
    fn a_process_that_is_killed_while_it_writes_leaves_the_old_file_and_no_lock_for_ever() {
        if let Some(folder) = std::env::var_os(KILLED) {
            let file = Path::new(&folder).join("config");
            let _lock = Lock::take(&file).unwrap();
            write_beside(&file, "half of a fi").unwrap();
            let mut told = io::stdout();
            told.write_all(NOTHING_MORE.as_bytes()).and_then(|()| told.flush()).unwrap();
            loop {
                thread::park();
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let origin = origin(folder.path(), 0o640);
        let before = fs::metadata(&origin.file).unwrap();
        let test = thread::current().name().unwrap().to_owned();
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &test, "--nocapture"])
            .env(KILLED, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        assert!(
            lines.map_while(Result::ok).any(|line| line.contains(NOTHING_MORE.trim_end())),
            "it came that far"
        );
        let busy = origin.keep_with(&[("id-token", "new")], |_| true, || {}).unwrap_err();
        assert!(busy.contains("another program writes it"), "{busy}");
        writer.kill().unwrap();
        writer.wait().unwrap();
        assert_eq!(fs::read_to_string(&origin.file).unwrap(), TEXT);
        assert_eq!(names(folder.path()).len(), 3, "{:?}", names(folder.path()));
        let at_once = || panic!("nobody writes it");
        origin.keep_with(&[("id-token", "new")], |_| true, at_once).unwrap();
        assert_eq!(origin.settings().unwrap()["id-token"], "new");
        assert_eq!(names(folder.path()), ["config"]);
        let after = fs::metadata(&origin.file).unwrap();
        let kept = |of: &fs::Metadata| (of.mode(), of.uid(), of.gid());
        assert_eq!(kept(&after), kept(&before));
    }

    /// What the process says that is to be killed when it stands before the rename.
    const NOTHING_MORE: &str = "written beside\n";
}
