//! Missing or broken ways to a server: one clear sentence, the right exit code, and no panic.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use crate::support::{Finished, TestEnv, eventually};

#[test]
fn unreachable_server_is_named() {
    let env = TestEnv::new();
    // A privileged port without a listener: the system never assigns it.
    let server = "http://127.0.0.1:1";
    for command in
        [&["get", "pods"][..], &["watch", "pods"], &["index", "pods", "--by", "name"], &["api-resources"]]
    {
        let error = env.kdelta(&[command, &["--server", server]].concat()).finish().failure(1);
        let expected = "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n";
        assert_eq!(error, expected, "{command:?}");
    }
}

/// The system accepts the connection, and no response arrives. Without a limit the first request alone would take 32
/// s.
#[test]
fn request_timeout_bounds_a_silent_server() {
    let env = TestEnv::new();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = format!("http://{}", silent.local_addr().expect("an address"));
    let ended = |arguments: &[&str]| {
        // A slow machine may take longer, but not every time.
        eventually(&format!("the end of {arguments:?} in time"), || {
            let start = Instant::now();
            let ended = env.kdelta(&[arguments, &["--server", &server]].concat()).finish();
            (start.elapsed() < Duration::from_secs(25)).then_some(ended)
        })
    };
    let error = ended(&["get", "pods", "--request-timeout", "1s"]).failure(1);
    assert!(error.contains("did not respond in time"), "{error}");
    assert_eq!(ended(&["watch", "pods", "--duration", "1s"]).quiet_success(), "");
}

#[test]
fn missing_kubeconfig_is_reported() {
    let env = TestEnv::new();
    let error = env.kdelta(&["get", "pods", "--kubeconfig", "no-such-file"]).finish().failure(1);
    assert!(error.starts_with("error: stat no-such-file: no such file or directory"), "{error}");
    let error = env.kdelta(&["get", "pods"]).finish().failure(1);
    assert!(error.contains("no configuration has been provided"), "{error}");
}

#[test]
fn invalid_kubeconfig_is_reported_without_its_secrets() {
    let env = TestEnv::new();
    let file = env.file("broken", "users:\n- name: u\n  user: {token: s3cr3t\n");
    let error = env.kdelta(&["get", "pods"]).env("KUBECONFIG", &file).finish().failure(1);
    assert!(error.starts_with("error: error loading config file"), "{error}");
    assert!(error.contains("broken") && !error.contains("s3cr3t"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn unknown_context_is_named() {
    let env = TestEnv::new();
    let file = env.file("empty", "apiVersion: v1\nkind: Config\n");
    let call = env.kdelta(&["get", "pods", "--context", "nope"]).env("KUBECONFIG", &file);
    let expected = "Error in configuration: context was not found for specified context: nope\n";
    assert_eq!(call.finish().failure(1), expected);
    let call = env.kdelta(&["api-versions", "--context", "nope"]).env("KUBECONFIG", &file);
    assert_eq!(call.finish().failure(1), "error: context \"nope\" does not exist\n");
}

#[test]
fn usage_errors_exit_with_2() {
    let env = TestEnv::new();
    for arguments in
        [&["get", "pods", "--no-such-flag"][..], &["nonsense"], &["get", "pods", "-o", "nonsense"]]
    {
        let error = env.kdelta(arguments).finish().failure(2);
        assert!(error.starts_with("error: "), "{error}");
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs /dev/full")]
fn full_disk_is_reported() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
    let env = TestEnv::new();
    let mut command = env.kdelta(&["--help"]).into_command();
    let output = command.stdout(full).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: write standard output: no space left on device\n"
    );
}

#[test]
fn unknown_flags_are_reported_like_kubectl() {
    let error = TestEnv::new().kdelta(&["get", "pods", "--prune", "x"]).finish().failure(2);
    assert_eq!(error, "error: unknown flag: --prune\nSee 'kdelta get --help' for usage.\n");
}

#[test]
fn name_missing_in_all_matched_namespaces_is_one_error() {
    let env = TestEnv::new();
    let on = |words: &[&str]| env.kdelta(&[words, &["--demo"]].concat()).finish();
    let missing = |pattern: &str| {
        format!(
            "Error from server (NotFound): deployments.apps \"web\" not found in any namespace that matches {pattern:?}\n"
        )
    };
    // First no namespace matches; then some do, and none has the name.
    for pattern in ["zz-*", "s*,mon*"] {
        for words in [&["get", "deploy", "web"][..], &["index", "deploy", "web", "--by", "name"]] {
            assert_eq!(on(&[words, &["-n", pattern]].concat()).failure(1), missing(pattern), "{words:?}");
        }
        let quiet = on(&["get", "deploy", "web", "-n", pattern, "--ignore-not-found"]).quiet_success();
        assert_eq!(quiet, "");
        let done = on(&["watch", "deploy", "web", "-n", pattern, "--until-synced"]);
        let message_of =
            missing(pattern).replace("Error from server (NotFound): ", "").replace('\n', " at the moment\n");
        assert_eq!((done.code, done.stderr), (0, message_of));
    }
    // One matched namespace has it, which suffices; an explicitly named one must have it.
    let found = on(&["get", "deploy", "web", "-n", "s*,d*", "-o", "name"]).quiet_success();
    assert_eq!(found, "deployment.apps/web\n");
    let done = on(&["get", "deploy", "web", "-n", "shop,d*", "-o", "name"]);
    assert_eq!((done.code, done.stdout.as_str()), (1, "deployment.apps/web\n"));
    assert_eq!(done.stderr, "Error from server (NotFound): deployments.apps \"web\" not found\n");
}

#[test]
fn secret_data_is_hidden_by_default() {
    let env = TestEnv::new();
    let index = |words: &[&str]| {
        let words = [&["index", "secrets", "--demo", "-n", "shop", "--no-headers", "--by"], words].concat();
        env.kdelta(&words).finish().quiet_success()
    };
    assert_eq!(index(&["field:data.token"]), "***   2\n");
    assert_eq!(index(&["field:data.token=ZGVtbw==,x"]), "***   2\n");
    assert_eq!(index(&["field:type"]), "Opaque   2\n");
    assert_eq!(index(&["field:data.token", "--show-secrets"]), "ZGVtbw==   2\n");
}

#[test]
fn count_that_time_cuts_short_exits_with_5() {
    let env = TestEnv::new();
    let watch = |words: &[&str]| {
        let words = [&["watch", "namespaces", "--demo", "--watch-only", "--count", "1"], words].concat();
        env.kdelta(&words).finish()
    };
    assert_eq!(watch(&["--duration", "1"]).code, 5, "nothing happens to namespaces");
    let initial = ["watch", "namespaces", "--demo", "--count", "1", "--duration", "60"];
    assert_eq!(env.kdelta(&initial).finish().quiet_success().lines().count(), 2, "a header and a row");
}

#[test]
fn index_by_owner_lists_each_owner_once() {
    let env = TestEnv::new();
    let index = |words: &[&str]| {
        let words = [&["index", "pods", "--demo", "--speed", "0.01", "--by"], words].concat();
        env.kdelta(&words).finish().quiet_success()
    };
    let owners = index(&["owner"]);
    assert!(owners.lines().skip(1).all(|line| line.contains('/')), "{owners}");
    assert!(owners.contains("ReplicaSet/web-"), "{owners}");
}

/// Returns the result of a call with these arguments, the last of which may be a timeout. A call whose timeout passed
/// before it printed anything is repeated with twice the time.
fn in_time(words: &[&str], call: impl Fn(&[&str]) -> Finished) -> Finished {
    let (last, before) = words.split_last().expect("words");
    if before.last() != Some(&"--duration") {
        return call(words);
    }
    let mut seconds: u32 = last.trim_end_matches('s').parse().expect("seconds");
    eventually(&format!("the output of {words:?}"), || {
        let done = call(&[before, &[&format!("{seconds}s")]].concat());
        seconds *= 2;
        let said_nothing = done.stdout.is_empty() && done.stderr.is_empty();
        (done.code != 0 || !said_nothing).then_some(done)
    })
}

#[test]
fn missing_name_exits_with_1_in_any_order_of_responses() {
    let env = TestEnv::new();
    for (words, printed) in [
        (&["watch", "deploy", "checkout", "nope", "-n", "shop", "--until-synced"][..], 1),
        (&["watch", "deploy", "nope", "checkout", "-n", "shop", "--duration", "2s"], 1),
        (&["watch", "deploy", "checkout", "payments", "nope", "-n", "shop", "--count", "1"], 1),
        (&["get", "deploy", "checkout", "nope", "-n", "shop"], 1),
    ] {
        let done = in_time(words, |words| {
            env.kdelta(&[words, &["--demo", "--speed", "0.01", "-o", "name"]].concat()).finish()
        });
        let missing = "Error from server (NotFound): deployments.apps \"nope\" not found\n";
        assert_eq!(
            (done.code, &*done.stderr, done.stdout.lines().count()),
            (1, missing, printed),
            "{words:?}"
        );
    }
    let patient = ["watch", "deploy", "checkout", "nope", "-n", "shop", "--demo", "--ignore-not-found"];
    let done = env.kdelta(&[&patient[..], &["--count", "1", "-o", "name"]].concat()).finish();
    assert_eq!(done.quiet_success(), "deployment.apps/checkout\n");
}

#[test]
fn read_only_stdout_is_reported_at_the_start() {
    let env = TestEnv::new();
    for words in [&["watch", "cm", "--demo"][..], &["get", "cm", "--demo"], &["man"]] {
        let command = env.kdelta(words);
        let only_read = std::fs::File::open("/dev/null").expect("it is there");
        let done = command.into_command().stdout(only_read).output().expect("it runs");
        let message_of = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(
            (done.status.code(), message_of.as_str()),
            (Some(1), "error: write standard output: bad file descriptor\n")
        );
    }
}
