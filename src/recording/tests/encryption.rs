//! Encrypted recordings.

use std::fs;
use std::path::{Path, PathBuf};

use age::secrecy::ExposeSecret;

use super::damage::{entries, files, record_with, state};
use super::fixtures::{Keys, at, options, pods};
use crate::recording::{
    CutOptions, Encryption, Identities, Keyring, Moment, Recipients, Recording, RecordingError, Writer,
    WriterOptions, cut, merge,
};

/// An encrypted recording of pods, and an identity that can read it.
struct Encrypted {
    dir: tempfile::TempDir,
    keys: Keys,
    identity: age::x25519::Identity,
}

impl Encrypted {
    /// Records a number of versions, in segments of four entries with keyframes between them.
    fn record(count: u64) -> Self {
        Self::record_to("", count, options().seal_entries(4))
    }

    fn record_to(context: &str, count: u64, options: WriterOptions) -> Self {
        let (dir, keys) = (tempfile::tempdir().expect("a directory"), Keys::new());
        let encrypted = Self { dir, keys, identity: age::x25519::Identity::generate() };
        let path = encrypted.path().join(context);
        let encryption = encrypted.encryption();
        let writer = Writer::open_with(&path, "secret-context", options, Some(&encryption), at(0));
        record_with(writer.expect("a writer"), count);
        encrypted
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn encryption(&self) -> Encryption {
        let mut recipients = Recipients::default();
        recipients.add(&self.identity.to_public().to_string()).expect("a recipient");
        Encryption::new(recipients, self.keys.keyring())
    }

    fn open(&self) -> Result<Recording, RecordingError> {
        Recording::open_with(self.path(), &self.keys.keyring())
    }

    fn continued(&self, now: i64) -> Result<Writer, RecordingError> {
        let encryption = self.encryption();
        Writer::open_with(self.path(), "secret-context", options(), Some(&encryption), at(now))
    }
}

/// Returns a keyring of this identity only.
fn keyring_of(identity: &age::x25519::Identity) -> Keyring {
    let mut identities = Identities::default();
    let text = format!("# created: today\n\n{}\n", identity.to_string().expose_secret());
    identities.add_lines(&text).expect("an identity");
    Keyring::new(None, identities)
}

fn texts(recording: &Recording) -> Vec<String> {
    entries(recording).into_iter().map(|entry| entry.expect("an entry")).collect()
}

#[test]
fn an_encrypted_recording_is_read_by_its_user_and_its_recipients_only() {
    let encrypted = Encrypted::record(12);
    let own = texts(&encrypted.open().expect("a recording"));
    assert_eq!(own.len(), 14);
    let of_recipient = Recording::open_with(encrypted.path(), &keyring_of(&encrypted.identity));
    assert_eq!(texts(&of_recipient.expect("a recording")), own);
    let without = Recording::open(encrypted.path()).map(drop);
    assert!(matches!(without, Err(RecordingError::Encrypted { .. })), "{without:?}");
    let other = keyring_of(&age::x25519::Identity::generate());
    let other = Recording::open_with(encrypted.path(), &other).map(drop);
    assert!(matches!(other, Err(RecordingError::Key { .. })), "{other:?}");
    // The key is not given to a writer without encryption, nor does it replace the recording.
    let plain = Writer::open(encrypted.path(), "secret-context", options(), at(90_000)).map(drop);
    assert!(matches!(plain, Err(RecordingError::Encrypted { .. })), "{plain:?}");
    let user = Keys::new();
    let mut recipients = Recipients::default();
    recipients.add(&encrypted.identity.to_public().to_string()).expect("a recipient");
    let encryption = Encryption::new(recipients, user.keyring());
    let other =
        Writer::open_with(encrypted.path(), "secret-context", options(), Some(&encryption), at(90_000));
    assert!(matches!(other, Err(RecordingError::Encrypted { .. })), "{other:?}");
    assert_eq!(texts(&encrypted.open().expect("a recording")), own);
}

#[test]
fn files_show_no_names_and_values() {
    let encrypted = Encrypted::record(12);
    let all = fs::read_dir(encrypted.path()).expect("files").map(|file| file.expect("a file").path());
    let all: Vec<PathBuf> = all.collect();
    assert!(all.len() > 4, "{all:?}");
    for path in &all {
        let bytes = fs::read(path).expect("read");
        for confidential in ["pod", "Pod", "text", "secret-context", "u-pod", "metadata", "app"] {
            let found = memchr::memmem::find(&bytes, confidential.as_bytes());
            assert_eq!(found, None, "{confidential} in {}", path.display());
        }
    }
    for path in files(encrypted.path(), "segment").iter().chain(&files(encrypted.path(), "journal")) {
        let bytes = fs::read(path).expect("read");
        assert_eq!(bytes[8..12], [4, 0, 0, 0], "{}", path.display());
    }
}

#[cfg(unix)]
#[test]
fn keys_are_private_files_of_the_user() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let encrypted = Encrypted::record(3);
    let mode = |path: &Path| fs::metadata(path).expect("a file").mode() & 0o777;
    assert_eq!(mode(&encrypted.path().join("key.age")), 0o600);
    let keys: Vec<PathBuf> = files(&encrypted.keys.directory(), "key");
    assert_eq!(keys.iter().map(|key| mode(key)).collect::<Vec<_>>(), [0o600]);
    fs::set_permissions(&keys[0], fs::Permissions::from_mode(0o640)).expect("permissions");
    let refused = encrypted.open().map(drop);
    assert!(matches!(&refused, Err(RecordingError::Key { path, .. }) if *path == keys[0]), "{refused:?}");
}

#[test]
fn every_flipped_byte_of_an_encrypted_recording_is_detected() {
    let encrypted = Encrypted::record(12);
    let all = texts(&encrypted.open().expect("a recording"));
    let end = state(&encrypted.open().expect("a recording"), Moment::End).expect("a state");
    let mut paths = files(encrypted.path(), "segment");
    paths.extend(files(encrypted.path(), "keyframe"));
    paths.extend(files(encrypted.path(), "journal"));
    paths.push(encrypted.path().join("key.age"));
    assert!(paths.len() >= 5, "{paths:?}");
    for path in paths {
        let whole = fs::read(&path).expect("read");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).expect("written");
            let recording =
                encrypted.open().unwrap_or_else(|error| panic!("{} {at}: {error}", path.display()));
            let damages = recording.verify().expect("verified");
            assert!(damages.iter().any(|damage| damage.file == path), "{} {at}: {damages:?}", path.display());
            assert!(entries(&recording).into_iter().flatten().all(|entry| all.contains(&entry)));
            if let Ok(read) = state(&recording, Moment::End) {
                assert!(read == end || path.extension().is_some_and(|of| of == "journal"), "{at}: {read:?}");
            }
        }
        fs::write(&path, &whole).expect("written");
    }
}

/// Checksums are valid in a part that was moved, so that only the encryption can detect it.
#[test]
fn parts_that_were_moved_are_refused() {
    let encrypted = Encrypted::record(12);
    let segments = files(encrypted.path(), "segment");
    let [one, two] = [0, 1].map(|at| fs::read(&segments[at]).expect("read"));
    let damages = |path: &Path| {
        let damages = encrypted.open().and_then(|recording| recording.verify()).expect("verified");
        damages.iter().filter(|damage| damage.file == path).count()
    };
    fs::write(&segments[0], &two).expect("written");
    assert!(damages(&segments[0]) > 0, "a segment under the name of another");
    // The first block after the header of both, which have the same length.
    let header = 32 + 8 + u32::from_le_bytes(one[32..36].try_into().expect("a length")) as usize;
    let length = 8 + u32::from_le_bytes(two[header..header + 4].try_into().expect("a length")) as usize;
    let mut mixed = one.clone();
    mixed[header..header + length].copy_from_slice(&two[header..header + length]);
    assert_ne!(mixed, one);
    fs::write(&segments[0], &mixed).expect("written");
    assert!(damages(&segments[0]) > 0, "a block of another segment");
    fs::write(&segments[0], &one).expect("written");
    assert_eq!(damages(&segments[0]), 0);
    // A file of another recording of the same recipient.
    let other = Encrypted::record(12);
    fs::copy(&files(other.path(), "segment")[0], &segments[0]).expect("copied");
    assert!(damages(&segments[0]) > 0, "a segment of another recording");
    // A file that is not encrypted.
    let plain = tempfile::tempdir().expect("a directory");
    record_with(
        Writer::open(plain.path(), "secret-context", options().seal_entries(4), at(0)).expect("a writer"),
        12,
    );
    let newest = files(encrypted.path(), "journal").pop().expect("a journal");
    let copied = files(plain.path(), "journal").pop().expect("a journal");
    assert_eq!(newest.file_name(), copied.file_name());
    fs::write(&segments[0], &one).expect("written");
    fs::copy(copied, &newest).expect("copied");
    assert!(encrypted.open().expect("a recording").is_encrypted());
    assert!(damages(&newest) > 0, "a journal that is not encrypted");
    drop(encrypted.continued(60_000).expect("a writer"));
    assert!(newest.exists() && damages(&newest) > 0, "it is not removed");
}

#[test]
fn an_encrypted_journal_cut_at_any_byte_opens_with_a_prefix_and_continues() {
    let encrypted = Encrypted::record_to("", 5, options());
    let journal = files(encrypted.path(), "journal").pop().expect("a journal");
    let whole = fs::read(&journal).expect("read");
    let all = texts(&encrypted.open().expect("a recording"));
    assert_eq!(all.len(), 7);
    for length in 0..=whole.len() {
        fs::write(&journal, &whole[..length]).expect("written");
        match encrypted.open() {
            Ok(recording) => {
                let read = texts(&recording);
                assert_eq!(read, all[..read.len()], "{length}");
            }
            Err(error) => assert!(matches!(error, RecordingError::NotARecording { .. }), "{length}: {error}"),
        }
    }
    let key_file = fs::read(encrypted.path().join("key.age")).expect("read");
    for length in (0..=whole.len()).step_by(13) {
        for path in files(encrypted.path(), "journal") {
            fs::remove_file(path).expect("removed");
        }
        fs::write(encrypted.path().join("key.age"), &key_file).expect("written");
        fs::write(&journal, &whole[..length]).expect("written");
        let read = encrypted.open().map_or(0, |recording| texts(&recording).len());
        encrypted.continued(60_000).expect("a writer").finish(at(60_001)).expect("finished");
        let continued = texts(&encrypted.open().expect("a recording"));
        assert_eq!(continued[..continued.len() - 1], all[..read], "{length}");
        assert!(continued.last().is_some_and(|last| last.ends_with("Started")));
    }
}

#[test]
fn a_recording_is_either_encrypted_or_not() {
    let dir = tempfile::tempdir().expect("a directory");
    record_with(Writer::open(dir.path(), "test", options(), at(0)).expect("a writer"), 3);
    let encryption = Keys::new().encryption();
    let refused = Writer::open_with(dir.path(), "test", options(), Some(&encryption), at(9000));
    assert!(matches!(refused, Err(RecordingError::NotEncrypted { .. })), "{refused:?}");
    assert!(!dir.path().join("key.age").exists());
    assert!(!Recording::open(dir.path()).expect("a recording").is_encrypted());
}

#[test]
fn a_recording_without_its_key_file_is_continued_by_its_user() {
    let encrypted = Encrypted::record(12);
    let all = texts(&encrypted.open().expect("a recording"));
    fs::remove_file(encrypted.path().join("key.age")).expect("removed");
    encrypted.continued(60_000).expect("a writer").finish(at(60_001)).expect("finished");
    let recording = encrypted.open().expect("a recording");
    assert_eq!(texts(&recording)[..all.len()], all);
    let damages = recording.verify().expect("verified");
    assert!(matches!(damages.as_slice(), [damage] if damage.file.ends_with("key.age")), "{damages:?}");
    let of_recipient = Recording::open_with(encrypted.path(), &keyring_of(&encrypted.identity)).map(drop);
    assert!(matches!(of_recipient, Err(RecordingError::Key { .. })), "{of_recipient:?}");
}

#[test]
fn copies_have_keys_of_their_own() {
    let encrypted = Encrypted::record(12);
    let recording = encrypted.open().expect("a recording");
    let all = state(&recording, Moment::End).expect("a state");
    let target = tempfile::tempdir().expect("a directory");
    let dir = |name: &str| target.path().join(name);
    let options = CutOptions::default().encryption(Some(encrypted.encryption()));
    cut(&recording, &dir("cut"), &options).expect("cut");
    merge(&[recording], &dir("merged"), Some(&encrypted.encryption())).expect("merged");
    cut(&encrypted.open().expect("a recording"), &dir("plain"), &CutOptions::default()).expect("cut");
    assert_eq!(state(&Recording::open(&dir("plain")).expect("plain"), Moment::End).expect("a state"), all);
    for name in ["cut", "merged"] {
        let copy = Recording::open_with(&dir(name), &keyring_of(&encrypted.identity)).expect("a recording");
        assert_eq!(state(&copy, Moment::End).expect("a state"), all, "{name}");
        let key = |dir: &Path| fs::read(dir.join("key.age")).expect("read");
        assert_ne!(key(&dir(name)), key(encrypted.path()));
    }
}

#[test]
fn contexts_without_a_key_are_named_after_their_directories() {
    let encrypted = Encrypted::record_to("a%2Fb", 3, options());
    let names = |keyring: &Keyring| {
        let contexts = Recording::contexts_with(encrypted.path(), keyring).expect("contexts");
        contexts.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(names(&Keyring::default()), ["a/b"]);
    assert_eq!(names(&encrypted.keys.keyring()), ["secret-context"]);
    let recording = Recording::open_with(&encrypted.path().join("a%2Fb"), &encrypted.keys.keyring());
    assert_eq!(recording.expect("a recording").resources().expect("types"), [pods()]);
}

#[test]
fn malformed_recipients_and_identities_are_explained() {
    let identity = age::x25519::Identity::generate();
    let secret = identity.to_string().expose_secret().to_owned();
    let mut recipients = Recipients::default();
    for (text, reason) in
        [("age1xyz", "no public key"), ("ssh-ed25519 AAAA", "SSH keys"), (&secret, "must stay secret")]
    {
        let error = recipients.add(text).expect_err("refused").to_string();
        assert!(error.contains(reason) && !error.contains(&secret), "{error}");
    }
    let public = identity.to_public().to_string();
    recipients.add_lines(&format!("# one\n{public}\n\n {public}\n")).expect("recipients");
    assert_eq!(recipients.names(), [public.as_str()]);
    for (text, reason) in [
        ("", "no identity in it"),
        ("AGE-SECRET-KEY-1QQQ", "no identity that age-keygen writes"),
        ("# comment\nAGE-PLUGIN-YUBIKEY-1QQQ", "plugins"),
        ("age-encryption.org/v1\n-> scrypt", "passphrase"),
        ("-----BEGIN AGE ENCRYPTED FILE-----", "passphrase"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----", "SSH keys"),
        (&public, "this is a recipient"),
    ] {
        let error = Identities::default().add_lines(text).expect_err("refused").to_string();
        assert!(error.contains(reason) && !error.contains("QQQ"), "{error}");
    }
    let mut identities = Identities::default();
    identities.add_lines(&secret).expect("an identity");
    let printed = format!("{:?} {:?}", Keyring::new(None, identities), recipients);
    assert!(!printed.contains("SECRET") && printed.contains(&public), "{printed}");
}
