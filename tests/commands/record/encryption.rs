//! Encrypted recordings.

use std::fs;
use std::path::{Path, PathBuf};

use super::{demo, record};
use crate::support::{DemoServer, Reader, TestEnv, forget_keys};

/// Records the namespaces and pods of a demo for a recipient.
fn recorded() -> (TestEnv, DemoServer, PathBuf, Reader) {
    let (env, demo, dir) = demo("0.001");
    let reader = Reader::new(&env, "identity.txt");
    let flags = ["ns,pods", "-A", "--until-synced", "--encrypt-to", &reader.recipient];
    let done = record(&env, &demo, &dir, &flags).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    (env, demo, dir, reader)
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for file in fs::read_dir(dir).expect("files").map(|file| file.expect("a file").path()) {
        if file.is_dir() { all.extend(files(&file)) } else { all.push(file) }
    }
    all
}

#[test]
fn encrypted_recordings_are_read_with_the_key_of_the_user_or_an_identity() {
    let (env, _demo, dir, reader) = recorded();
    let from = dir.to_str().expect("text");
    for path in files(&dir) {
        let bytes = fs::read(&path).expect("a file");
        for name in ["kube-system", "default", "Namespace", "namespaces"] {
            assert!(memchr::memmem::find(&bytes, name.as_bytes()).is_none(), "{name} in {}", path.display());
        }
    }
    let get = ["get", "ns", "--from", from, "-o", "name"];
    let own = env.kdelta(&get).finish().quiet_success();
    assert!(own.contains("namespace/default"), "{own}");
    forget_keys(&env);
    let error = env.kdelta(&get).finish().failure(1);
    assert!(error.contains("the recording is encrypted, and there is no key for it"), "{error}");
    let other = Reader::new(&env, "other.txt");
    let error = env.kdelta(&[&get[..], &["--identity", &other.file]].concat()).finish().failure(1);
    assert!(error.contains("none of the given identities belongs to a recipient"), "{error}");
    let with = |words: &[&str]| {
        let flags = ["--identity", &other.file, "--identity", &reader.file];
        env.kdelta(&[words, &flags].concat()).finish()
    };
    let read = with(&get);
    assert_eq!((read.code, read.stdout), (0, own), "{}", read.stderr);
    for words in [
        &["watch", "pods", "-A", "--from", from][..],
        &["tree", "ns/default", "--from", from],
        &["index", "pods", "-A", "--by", "node", "--from", from],
        &["history", "ns/default", "--from", from],
        &["changes", "-A", "--from", from],
        &["recording", "info", from],
        &["recording", "verify", from],
        &["recording", "export", from],
    ] {
        let done = with(words);
        assert_eq!(done.code, 0, "{words:?}: {}", done.stderr);
        assert!(!done.stdout.is_empty(), "{words:?}");
    }
}

#[test]
fn restarted_recorders_need_the_key_and_the_same_recipients() {
    let (env, demo, dir, reader) = recorded();
    let flags = ["ns,pods", "-A", "--until-synced"];
    let start = |more: &[&str]| record(&env, &demo, &dir, &[&flags[..], more].concat()).finish();
    let encrypt = ["--encrypt-to", &reader.recipient];
    let done = start(&encrypt);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let error = start(&[]).failure(1);
    assert!(error.contains("the recording was made with other flags: its encrypt-to is"), "{error}");
    let other = Reader::new(&env, "other.txt");
    let error = start(&["--encrypt-to", &other.recipient]).failure(1);
    assert!(error.contains(&reader.recipient) && error.contains(&other.recipient), "{error}");
    forget_keys(&env);
    let error = start(&encrypt).failure(1);
    assert!(error.contains("there is no key for it"), "{error}");
    let done = start(&[&encrypt[..], &["--identity", &reader.file]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let plain = env.home().join("plain");
    let done = record(&env, &demo, &plain, &flags).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let error = record(&env, &demo, &plain, &[&flags[..], &encrypt].concat()).finish().failure(1);
    assert!(error.contains("the recording was made with other flags: its encrypt-to is \"\""), "{error}");
}

#[test]
fn malformed_recipients_and_identities_are_errors() {
    let (env, demo, dir) = demo("0.001");
    let reader = Reader::new(&env, "identity.txt");
    let file = env.file("recipients.txt", &format!("# team\n{}\nage1wrong\n", reader.recipient));
    let file = format!("@{}", file.display());
    let secret = fs::read_to_string(&reader.file).expect("a file");
    let secret = secret.lines().last().expect("a key");
    for (value, expected) in [
        ("age1wrong", "\"age1wrong\""),
        (&file, "\"age1wrong\""),
        ("nobody", "\"nobody\""),
        (secret, "secret"),
    ] {
        let error = record(&env, &demo, &dir, &["ns", "--encrypt-to", value]).finish().failure(2);
        assert!(error.contains("--encrypt-to") && error.contains(expected), "{error}");
        assert!(!error.contains(secret), "{error}");
    }
    assert!(!dir.exists());
    let error = env.kdelta(&["get", "ns", "--identity", &reader.file]).finish().failure(2);
    assert!(error.contains("--identity needs --from"), "{error}");
    let locked = env.file("locked.age", "age-encryption.org/v1\n-> scrypt abc 18\n");
    let words = ["recording", "info", "none", "--identity", locked.to_str().expect("text")];
    let error = env.kdelta(&words).finish().failure(1);
    assert!(error.contains("locked.age") && error.contains("passphrase"), "{error}");
}

#[test]
fn copies_of_encrypted_recordings_are_encrypted_unless_plain_ones_are_requested() {
    let (env, _demo, dir, reader) = recorded();
    let from = dir.to_str().expect("text");
    let path = |name: &str| env.home().join(name).to_str().expect("text").to_owned();
    for tool in ["cut", "merge"] {
        let words = ["recording", tool, from, "--to", &path(tool)];
        let error = env.kdelta(&words).finish().failure(1);
        assert!(error.contains("the recording is encrypted, and the new one would not be"), "{error}");
        assert!(!Path::new(&path(tool)).exists());
        let plain = path(&format!("{tool}-plain"));
        let done = env.kdelta(&["recording", tool, from, "--to", &plain, "--plain"]).finish();
        assert_eq!(done.code, 0, "{}", done.stderr);
        let done = env.kdelta(&[&words[..], &["--encrypt-to", &reader.recipient]].concat()).finish();
        assert_eq!(done.code, 0, "{}", done.stderr);
        let key_files =
            |dir: &str| files(Path::new(dir)).iter().filter(|file| file.ends_with("key.age")).count();
        assert_eq!((key_files(&path(tool)), key_files(&plain)), (1, 0));
    }
    let lines = env.kdelta(&["recording", "export", from]).finish().quiet_success();
    let lines = env.file("lines.json", &lines);
    let imported = path("imported");
    let words = ["recording", "import", lines.to_str().expect("text"), "--to", &imported];
    let done = env.kdelta(&[&words[..], &["--encrypt-to", &reader.recipient]].concat()).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    forget_keys(&env);
    for name in ["cut", "merge", "imported"] {
        let words = ["get", "namespaces", "-o", "name", "--from", &path(name)];
        env.kdelta(&words).finish().failure(1);
        let read = env.kdelta(&[&words[..], &["--identity", &reader.file]].concat()).finish().quiet_success();
        assert!(read.contains("namespace/default"), "{name}: {read}");
    }
}

#[test]
fn copies_are_continued_with_their_own_recipients() {
    let (env, demo, dir, reader) = recorded();
    let from = dir.to_str().expect("text");
    let other = Reader::new(&env, "other.txt");
    let to_other = ["--encrypt-to", &other.recipient];
    for tool in ["cut", "merge"] {
        let copy = env.home().join(tool);
        let to = ["recording", tool, from, "--to", copy.to_str().expect("text")];
        let done = env.kdelta(&[&to[..], &to_other].concat()).finish();
        assert_eq!(done.code, 0, "{}", done.stderr);
        let flags = ["ns,pods", "-A", "--until-synced"];
        let start = |more: &[&str]| record(&env, &demo, &copy, &[&flags[..], more].concat()).finish();
        let error = start(&["--encrypt-to", &reader.recipient]).failure(1);
        assert!(error.contains(&reader.recipient) && error.contains(&other.recipient), "{error}");
        let done = start(&to_other);
        assert_eq!(done.code, 0, "{tool}: {}", done.stderr);
    }
    // Selectors stay, and a copy in clear has no recipients.
    let selected = env.home().join("selected");
    let flags = ["ns,pods", "-A", "--until-synced", "-l", "app=web"];
    let done = record(&env, &demo, &selected, &[&flags[..], &to_other].concat()).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let plain = env.home().join("plain");
    let [from, to] = [&selected, &plain].map(|path| path.to_str().expect("text"));
    let done = env.kdelta(&["recording", "cut", from, "--to", to, "--plain"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let error = record(&env, &demo, &plain, &flags[..3]).finish().failure(1);
    assert!(error.contains("its selector is \"app=web\""), "{error}");
    let done = record(&env, &demo, &plain, &flags).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
}
