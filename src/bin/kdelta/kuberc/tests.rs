//! Tests of preferences as they are applied to command lines. The errors are kubectl's.

use clap::CommandFactory;

use super::*;
use crate::args::Cli;

const FILE: &str = "\
apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
defaults:
- command: get
  options: [{name: output, default: name}, {name: show_labels, default: 'f'}]
- command: apply
  options: [{name: server-side, default: 'true'}]
- command: explain
  options: [{name: nope, default: x}]
- command: events
  options: [{name: no-headers, default: x}]
- command: missing
  options: [{name: no-headers, default: x}]
aliases:
- name: getn
  command: get
  prependArgs: [nodes]
  appendArgs: [--, a]
  options: [{name: output, default: wide}, {name: no-headers, default: T}]
- {name: lost, command: missing more}
- {name: bad, command: get, options: [{name: nope, default: x}]}
- {name: runs, command: run}
- {name: index, command: get}
";

/// Returns the words after the program, and the notices.
fn applied(text: &str, line: &str) -> (Result<String, String>, Vec<Notice>) {
    applied_to(Extent::Whole, text, line)
}

fn applied_to(extent: Extent, text: &str, line: &str) -> (Result<String, String>, Vec<Notice>) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kuberc");
    std::fs::write(&file, text).expect("a file");
    let places = Places { variable: Some(file.clone().into()), home: None };
    let words = std::iter::once("kdelta").chain(line.split(' ')).map(Into::into).collect();
    let mut notices = Vec::new();
    let is_kubectls = |word: &str| matches!(word, "apply" | "run");
    let applied =
        apply(words, extent, Cli::command, &places, &is_kubectls, &mut |notice| notices.push(notice));
    let line = applied.map(|applied| {
        let words = applied.words.iter().skip(1).map(|word| word.to_string_lossy());
        words.collect::<Vec<_>>().join(" ")
    });
    let path = file.display().to_string();
    (line.map_err(|error| error.to_string().replace(&path, "FILE")), notices)
}

#[test]
fn defaults_and_aliases_are_applied() {
    for (line, expected) in [
        ("get pods", "get --output=name --show-labels=false pods"),
        ("-n shop get pods -o json", "-n shop get --show-labels=false pods -o json"),
        ("get pods -nshop", "get --show-labels=false pods -nshop"),
        ("get pods --show-labels", "get --output=name pods --show-labels"),
        ("api-versions", "api-versions"),
        ("--help", "--help"),
        ("getn", "get --output=wide --no-headers=true nodes -- a"),
        ("--namespace=shop getn b -oyaml", "--namespace=shop get --no-headers=true nodes b -oyaml -- a"),
        ("-n shop getn", "-n shop getn"),
        ("runs x", "runs x"),
        ("run pods", "run pods"),
        ("nope", "nope"),
        ("index pods", "index pods"),
        ("apply -f x", "apply -f x"),
    ] {
        assert_eq!(applied(FILE, line).0.as_deref(), Ok(expected), "{line}");
    }
    let begun = applied_to(Extent::Begun, FILE, "getn b");
    assert_eq!(begun.0.as_deref(), Ok("get --output=wide --no-headers=true nodes b"));
    let missing = Notice::Warning("command \"missing\" not found to set kuberc override".into());
    assert_eq!(applied(FILE, "get pods").1, [missing]);
    assert_eq!(applied(FILE, "nope").1, []);
}

#[test]
fn entries_name_the_action_of_rollout() {
    let file = "\
apiVersion: kubectl.config.k8s.io/v1beta1
kind: Preference
defaults:
- command: rollout restart
  options: [{name: dry-run, default: server}]
- command: rollout status
  options: [{name: timeout, default: 5m}]
aliases:
- {name: rolled, command: rollout status, options: [{name: watch, default: 'false'}]}
- {name: undo, command: rollout undo}
";
    for (line, expected) in [
        ("rollout status deploy/x", "rollout --timeout=5m status deploy/x"),
        ("rollout restart deploy/x", "rollout restart deploy/x"),
        ("rolled deploy/x", "rollout status --watch=false deploy/x"),
        ("undo deploy/x", "undo deploy/x"),
    ] {
        assert_eq!(applied(file, line).0.as_deref(), Ok(expected), "{line}");
    }
}

#[test]
fn entries_of_the_command_must_fit_it() {
    for (line, error) in [
        ("explain pods", "invalid flag nope for command explain"),
        (
            "events",
            "could not apply override value x to flag no-headers in command events err: invalid argument \"x\" for \"--no-headers\" flag: strconv.ParseBool: parsing \"x\": invalid syntax",
        ),
        ("lost", "command \"missing more\" not found to set alias \"lost\": [missing more]"),
        ("bad", "invalid alias flag nope in alias kdelta"),
    ] {
        assert_eq!(applied(FILE, line).0, Err(error.to_owned()), "{line}");
    }
}

#[test]
fn all_entries_must_be_valid() {
    let start = "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n";
    for (rest, error) in [
        (
            "aliases: [{name: a1, command: get}]",
            "invalid alias name, can only include alphabetical characters",
        ),
        ("aliases: [{name: a, command: x}, {name: a, command: z}]", "duplicate alias name a"),
        (
            "defaults: [{command: x, options: [{name: -o, default: z}]}]",
            "flag name -o should be in long form without dashes",
        ),
        ("credentialPluginPolicy: None", "unknown plugin policy: \"None\""),
        ("defaults: 1", "kuberc error kuberc: no valid preferences found in FILE, use --v=5 to see details"),
    ] {
        assert_eq!(applied(&format!("{start}{rest}"), "get pods").0, Err(error.to_owned()), "{rest}");
    }
    let overridden = "aliases: [{name: g, command: get}]\ndefaults: [{command: g}]";
    let error = applied(&format!("{start}{overridden}"), "g pods").0;
    assert_eq!(error, Err("alias g can not be overridden".to_owned()));
}
