//! `kdelta serve` on encrypted recordings.

use kdelta::lines::ChangeKind;
use kdelta::recording::{Encryption, Identities, Keyring, Recipients, Writer, WriterOptions};

use super::{Recordings, at, pod, resource};
use crate::support::{Finished, Reader, Recorder, ServedRecording, TestEnv, eventually, forget_keys, synced};

/// Runs a command on a served recording.
fn run(env: &TestEnv, served: &ServedRecording, words: &[&str]) -> Finished {
    let words = [words, &["--kubeconfig", served.kubeconfig()]].concat();
    env.kdelta(&words).env("TZ", "UTC").finish()
}

/// Returns recordings of a context, with an encrypted copy in `encrypted` that only the reader can read, and a copy of that in
/// clear in `plain`.
fn copies(context: &str) -> (Recordings, Reader) {
    let recordings = Recordings::of(&[context]);
    let reader = Reader::new(&recordings.env, "identity.txt");
    recordings.report(&format!("cut @rec --to @encrypted --encrypt-to {}", reader.recipient));
    recordings.report("cut @encrypted --to @plain --plain");
    forget_keys(&recordings.env);
    (recordings, reader)
}

#[test]
fn served_encrypted_recording_returns_what_its_plain_copy_returns() {
    let (recordings, reader) = copies("prod");
    let env = &recordings.env;
    for moment in ["rv:20", "2026-11-24T03:35:00Z", "-0s"] {
        let encrypted = ["--from", "encrypted", "--identity", &reader.file, "--at", moment];
        let encrypted = ServedRecording::start(env, &encrypted);
        let plain = ServedRecording::start(env, &["--from", "plain", "--at", moment]);
        for line in [
            "get --raw /apis",
            "get --raw /version",
            "get --raw /api/v1/pods",
            "get --raw /api/v1/pods?limit=1",
            "get --raw /api/v1/namespaces/default/pods?labelSelector=app",
            "get --raw /api/v1/namespaces/default/pods/web",
            "get --raw /api/v1/namespaces/default/pods/absent",
            "get --raw /api/v1/events",
            "get --raw /kdelta/moment",
            "get po",
            "get po,ev -A -o wide",
            "get pod web -o yaml",
            "get secrets",
            "api-resources",
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [of_encrypted, of_plain] = [&encrypted, &plain].map(|served| run(env, served, &words));
            assert_eq!(of_encrypted.stdout, of_plain.stdout, "{line} at {moment}");
            assert_eq!(of_encrypted.stderr, of_plain.stderr, "{line} at {moment}");
            assert_eq!(of_encrypted.code, of_plain.code, "{line} at {moment}");
            assert_eq!(of_plain.code == 0, !line.contains("secrets") && !line.contains("absent"), "{line}");
        }
    }
}

#[test]
fn encrypted_recording_is_replayed_and_moved() {
    let (recordings, reader) = copies("prod");
    let env = &recordings.env;
    let arguments = ["--from", "encrypted", "--identity", &reader.file, "--speed", "max"];
    let served =
        ServedRecording::start(env, &[&arguments[..], &["--since", "2026-11-24T03:05:00Z"]].concat());
    let names = || run(env, &served, &["get", "pods", "-o", "name"]).quiet_success();
    eventually("the end of the replay", || (names() == "pod/new\npod/web\n").then_some(()));
    run(env, &served, &["serve", "--move-to", "rv:20"]).quiet_success();
    eventually("the end of the replay again", || (names() == "pod/new\npod/web\n").then_some(()));
}

#[test]
fn encrypted_recording_is_not_served_without_an_identity() {
    let (recordings, _) = copies("prod");
    let env = &recordings.env;
    let error = env.kdelta(&["serve", "--from", "encrypted"]).finish().failure(1);
    assert!(error.contains("the recording is encrypted, and there is no key for it"), "{error}");
    let other = Reader::new(env, "other.txt");
    let words = ["serve", "--from", "encrypted", "--identity", &other.file];
    let error = env.kdelta(&words).finish().failure(1);
    assert!(error.contains("none of the given identities belongs to a recipient"), "{error}");
}

#[test]
fn encrypted_recording_is_served_while_it_grows() {
    let env = TestEnv::new();
    let dir = env.home().join("rec");
    let reader = Reader::new(&env, "identity.txt");
    let mut recipients = Recipients::default();
    recipients.add(&reader.recipient).expect("a recipient");
    let keyring = Keyring::new(Some(env.home().join("keys")), Identities::default());
    let encryption = Encryption::new(recipients, keyring);
    let path = Writer::directory(&dir, "prod");
    let options = WriterOptions::default().sync(false);
    let writer = Writer::open_with(&path, "prod", options, Some(&encryption), at(0)).expect("a writer");
    let mut recorder = Recorder::of(writer, "prod");
    let pods = resource("pods", "Pod");
    recorder.json(ChangeKind::Added, &pods, &pod("web", 10, "Running"), at(0));
    recorder.mark(synced(10), &pods, at(0));
    recorder.flush(at(1));
    let served = ServedRecording::start(&env, &["--from", "rec", "--identity", &reader.file]);
    recorder.json(ChangeKind::Added, &pods, &pod("late", 20, "Running"), at(2));
    recorder.flush(at(2));
    let names = || run(&env, &served, &["get", "pods", "-o", "name"]).quiet_success();
    assert_eq!(names(), "pod/web\n");
    run(&env, &served, &["serve", "--move-to", "-0s"]).quiet_success();
    assert_eq!(names(), "pod/late\npod/web\n");
    recorder.finish(at(3));
}
