//! `kdelta run` on the demo: the input and the variables of calls, failures, limits, signals and checkpoints.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::support::{DemoServer, Finished, Kdelta, Scraper, TestEnv, eventually};

/// The types of the demo whose objects do not change.
const STILL: &str = "namespaces,storageclasses";

/// An environment and a demo that does not change.
fn still() -> (TestEnv, DemoServer) {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.001"]);
    (env, demo)
}

/// Returns a call of `kdelta run` on a demo.
fn run(env: &TestEnv, demo: &DemoServer, flags: &[&str], script: &str) -> Kdelta {
    let words = [&["run", "-s", &demo.url], flags, &["--", "sh", "-c", script]].concat();
    env.kdelta(&words).env("PATH", "/usr/local/bin:/usr/bin:/bin").env("D", env.home())
}

/// Returns the JSON lines of a file.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Returns the line without what differs from one program to the next.
fn timeless(mut line: Value) -> Value {
    for field in ["ts", "seq"] {
        line.as_object_mut().expect("an object").remove(field);
    }
    line
}

fn summary(finished: &Finished) -> &str {
    finished.stderr.lines().last().unwrap_or_default()
}

#[test]
fn input_is_the_line_of_watch() {
    let (env, demo) = still();
    let done = run(&env, &demo, &[STILL, "--until-synced"], "cat >> $D/lines").finish();
    assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{}", done.stderr);
    let mut run = lines(&env.home().join("lines"));
    let seqs: Vec<_> = run.iter().map(|line| line["seq"].as_u64().expect("a number")).collect();
    assert!(seqs.iter().copied().eq(1..=run.len() as u64), "{seqs:?}");
    let watched = env
        .kdelta(&["watch", STILL, "-s", &demo.url, "-o", "json", "--until-synced"])
        .finish()
        .quiet_success();
    let mut watched: Vec<Value> = watched
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .filter(|line: &Value| line["type"] == "ADDED")
        .collect();
    for lines in [&mut run, &mut watched] {
        for line in lines.iter_mut() {
            *line = timeless(line.take());
        }
        lines.sort_by_key(ToString::to_string);
    }
    assert_eq!(run, watched);
    assert!(summary(&done).starts_with(&format!("{} handled, 0 retried", run.len())), "{}", done.stderr);
}

#[test]
fn variables_describe_the_change() {
    let (env, demo) = still();
    let script = "echo $KDELTA_EVENT_TYPE $KDELTA_EVENT_RESOURCE $KDELTA_EVENT_NAME \
                  $KDELTA_EVENT_ORIGIN $KDELTA_EVENT_ATTEMPT $KDELTA_EVENT_COUNT";
    let done = run(&env, &demo, &["namespace/shop", "--until-synced"], script).finish();
    assert_eq!(done.stdout, "ADDED namespaces shop list 1 1\n", "{}", done.stderr);
    let done = run(&env, &demo, &["ns/shop", "--until-synced", "--on", "modified,deleted"], script).finish();
    assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{}", done.stderr);
}

#[test]
fn output_of_simultaneous_calls_has_names() {
    let (env, demo) = still();
    let script = "echo out; echo err >&2; printf end";
    let done = run(&env, &demo, &["ns/shop", "ns/default", "--until-synced", "--jobs", "4"], script).finish();
    let mut stdout: Vec<_> = done.stdout.lines().collect();
    stdout.sort_unstable();
    assert_eq!(stdout, ["default: end", "default: out", "shop: end", "shop: out"]);
    let errors = ["default: err\n", "shop: err\n"];
    assert!(errors.iter().all(|line| done.stderr.contains(line)), "{}", done.stderr);
}

#[test]
fn failed_line_is_retried_then_given_up() {
    let (env, demo) = still();
    let dead = env.home().join("dead.jsonl");
    let flags = [
        "ns/shop",
        "ns/default",
        "--until-synced",
        "--max-retries",
        "2",
        "--retry-delay",
        "10ms",
        "--dead-letters",
        dead.to_str().expect("text"),
    ];
    let script = "echo $KDELTA_EVENT_NAME $KDELTA_EVENT_ATTEMPT; [ $KDELTA_EVENT_NAME = default ]";
    let done = run(&env, &demo, &flags, script).finish();
    assert_eq!(done.code, 1, "{}", done.stderr);
    let mut stdout: Vec<_> = done.stdout.lines().collect();
    stdout.sort_unstable();
    assert_eq!(stdout, ["default 1", "shop 1", "shop 2", "shop 3"]);
    let report = "namespaces shop: ADDED given up after 3 calls: exit status: 1\n";
    assert!(done.stderr.contains(report), "{}", done.stderr);
    assert!(
        summary(&done).starts_with("1 handled, 2 retried, 1 failed, 0 merged, 0 not run"),
        "{}",
        done.stderr
    );
    let [letter] = &lines(&dead)[..] else { panic!("one line") };
    assert_eq!(
        (&letter["attempts"], &letter["error"], &letter["line"]["name"]),
        (&3.into(), &"exit status: 1".into(), &"shop".into())
    );
}

#[test]
fn metrics_count_calls_and_lines_by_result() {
    let (env, demo) = still();
    let flags = ["namespaces", "--metrics", "0", "--max-retries", "1", "--retry-delay", "10ms"];
    let mut running = run(&env, &demo, &flags, r#"test "$KDELTA_EVENT_NAME" != default"#).start();
    let scraper = Scraper::of(&running);
    scraper.await_value("kdelta_run_lines_total", &[("result", "given_up")], 1.0);
    scraper.await_value("kdelta_run_queue_lines", &[], 0.0);
    let others = env.kdelta(&["get", "namespaces", "-s", &demo.url, "-o", "name"]).finish().quiet_success();
    let others = f64::from(u32::try_from(others.lines().count() - 1).expect("a small number"));
    for (name, result, expected) in [
        ("kdelta_run_calls_total", "succeeded", others),
        ("kdelta_run_calls_total", "failed", 2.0),
        ("kdelta_run_calls_total", "timed_out", 0.0),
        ("kdelta_run_lines_total", "handled", others),
    ] {
        assert_eq!(scraper.value(name, &[("result", result)]), Some(expected), "{name} {result}");
    }
    assert_eq!(scraper.value("kdelta_run_retries_total", &[]), Some(1.0));
    assert_eq!(scraper.value("kdelta_run_queue_bytes", &[]), Some(0.0));
    scraper.await_status("/readyz", 200);
    running.signal("TERM");
    assert_eq!(running.wait(), 143);
}

#[test]
fn batch_has_lines_of_different_objects() {
    let (env, demo) = still();
    let script = "wc -l >> $D/counts; [ $KDELTA_EVENT_COUNT -le 5 ] && [ -z \"$KDELTA_EVENT_NAME\" ]";
    let done = run(&env, &demo, &["ns", "--until-synced", "--batch", "5"], script).finish();
    let counts = fs::read_to_string(env.home().join("counts")).expect("a file");
    let counts: Vec<u32> = counts.lines().map(|line| line.trim().parse().expect("a number")).collect();
    assert!(counts.iter().any(|count| *count > 1), "{counts:?} {}", done.stderr);
}

#[test]
fn missing_command_ends_the_run() {
    let (env, demo) = still();
    let words = ["run", "ns", "-s", &demo.url, "--", "/does/not/exist"];
    let done = env.kdelta(&words).finish();
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("run \"/does/not/exist\": "), "{}", done.stderr);
}

#[test]
fn command_without_its_interpreter_ends_the_run() {
    use std::os::unix::fs::PermissionsExt;

    let (env, demo) = still();
    let script = env.home().join("script");
    fs::write(&script, "#!/does/not/exist\n").expect("a file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("permissions");
    let words = ["run", "ns", "-s", &demo.url, "--until-synced", "--", script.to_str().expect("text")];
    let done = env.kdelta(&words).finish();
    assert_eq!(done.code, 1);
    assert!(
        done.stderr.contains("No such file") && done.stderr.contains("it can't be executed"),
        "{}",
        done.stderr
    );
    assert!(!done.stderr.contains("given up"), "{}", done.stderr);
}

#[test]
fn secrets_are_masked_on_request() {
    let (env, demo) = still();
    let flags = ["secrets", "-A", "--until-synced"];
    let done = run(&env, &demo, &flags, "cat >> $D/plain").finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let done = run(&env, &demo, &[&flags[..], &["--mask-secrets"]].concat(), "cat >> $D/masked").finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let [plain, masked] = ["plain", "masked"].map(|name| lines(&env.home().join(name)));
    assert!(!plain.is_empty() && plain.len() == masked.len());
    let values = |lines: &[Value]| -> Vec<Value> {
        let data = lines.iter().filter_map(|line| line["object"]["data"].as_object());
        data.flat_map(|data| data.values().cloned()).collect()
    };
    assert!(values(&plain).iter().all(|value| value != "***") && !values(&plain).is_empty());
    assert!(values(&masked).iter().all(|value| value == "***"), "{masked:?}");
}

/// Returns whether a process runs, by its id in a file.
fn is_running(pid_file: &Path) -> bool {
    let pid = fs::read_to_string(pid_file).expect("a process id");
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // A zombie has ended.
    !stat.is_empty() && !stat.contains(") Z ")
}

/// A script that starts a process in the background, then waits for a file.
const WITH_CHILD: &str = "sleep 1000 & echo $! > $D/pid.tmp; mv $D/pid.tmp $D/pid; while [ ! -e $D/go ]; do sleep 0.05; done; echo ended";

fn pid_file(env: &TestEnv) -> PathBuf {
    let path = env.home().join("pid");
    eventually("the command runs", || path.exists().then_some(()));
    path
}

fn assert_ended(pid_file: &Path) {
    eventually("no process of the command is left", || (!is_running(pid_file)).then_some(()));
}

#[test]
fn call_is_killed_with_its_children_after_its_time() {
    let (env, demo) = still();
    let flags = ["ns/shop", "--until-synced", "--timeout", "300ms", "--max-retries", "0"];
    let done = run(&env, &demo, &flags, WITH_CHILD).finish();
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("given up after 1 call: it took longer than 0.3s"), "{}", done.stderr);
    assert_ended(&pid_file(&env));
}

#[test]
fn terminated_run_finishes_what_runs() {
    let (env, demo) = still();
    let mut running = run(&env, &demo, &["ns"], WITH_CHILD).start();
    let pid = pid_file(&env);
    running.signal("TERM");
    let notice = running.stderr.within(Duration::from_mins(1)).expect("a notice");
    assert!(notice.starts_with("ending: waiting for the commands"), "{notice}");
    fs::write(env.home().join("go"), "").expect("a file");
    assert_eq!(running.wait(), 143);
    assert_eq!(running.stdout.drain(), "ended\n");
    let stderr = running.stderr.drain();
    assert!(stderr.contains("1 handled, ") && !stderr.contains(", 0 not run"), "{stderr}");
    assert_ended(&pid);
}

#[test]
fn second_signal_kills_what_runs() {
    let (env, demo) = still();
    let mut running = run(&env, &demo, &["ns"], WITH_CHILD).start();
    let pid = pid_file(&env);
    running.signal("INT");
    running.stderr.within(Duration::from_mins(1)).expect("a notice");
    running.signal("TERM");
    assert_eq!(running.wait(), 143);
    assert_ended(&pid);
}

#[test]
fn killed_program_leaves_no_process() {
    let (env, demo) = still();
    // A shell may have started this test with SIGQUIT ignored.
    for signal in ["KILL", "ABRT"] {
        let _old = fs::remove_file(env.home().join("pid"));
        let mut running = run(&env, &demo, &["ns", "--jobs", "2"], WITH_CHILD).start();
        let pid = pid_file(&env);
        running.signal(signal);
        assert_eq!(running.wait(), -1);
        assert_ended(&pid);
    }
}

#[test]
fn command_starts_only_when_its_group_is_known() {
    let env = TestEnv::new();
    let started = |input: &str| {
        let file = env.home().join("input");
        fs::write(&file, input).expect("a file");
        let words = ["__start", "sh", "-c", "touch started; cat"];
        let done = env.kdelta(&words).stdin(fs::File::open(&file).expect("a file")).finish();
        (done.code, done.stdout, env.home().join("started").exists())
    };
    // The program that would have sent the byte is gone.
    assert_eq!(started(""), (1, String::new(), false));
    assert_eq!(started("\ninput\n"), (0, "input\n".to_owned(), true));
}

#[test]
fn checkpoint_covers_what_was_handled() {
    let (env, demo) = still();
    let checkpoint = env.home().join("checkpoint");
    let flags = ["--until-synced", "--checkpoint", checkpoint.to_str().expect("text")];
    let names = |stdout: &str| {
        let mut names: Vec<_> = stdout.lines().map(str::to_owned).collect();
        names.sort_unstable();
        names
    };
    // The first run gives one object up, which counts as handled, and leaves none.
    let script = "echo $KDELTA_EVENT_NAME";
    let first = run(&env, &demo, &[&["ns"], &flags[..]].concat(), script).finish();
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(names(&first.stdout).len() > 2, "{}", first.stdout);
    let second = run(&env, &demo, &[&["ns"], &flags[..]].concat(), script).finish();
    assert_eq!((second.code, second.stdout.as_str()), (0, ""), "{}", second.stderr);
    // An object that was handled and no longer exists is deleted; one in another state is updated; one that is new is added.
    let text = fs::read_to_string(&checkpoint).expect("a file");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let objects = document["parts"][0]["objects"].as_object_mut().expect("objects");
    objects["shop"][1] = "1".into();
    objects.remove("default").expect("an object");
    objects.insert("gone".into(), serde_json::json!(["u-1", "7"]));
    fs::write(&checkpoint, document.to_string()).expect("a file");
    let script = "echo $KDELTA_EVENT_TYPE $KDELTA_EVENT_NAME $KDELTA_EVENT_ORIGIN";
    let third = run(&env, &demo, &[&["ns"], &flags[..]].concat(), script).finish();
    assert_eq!(
        names(&third.stdout),
        ["ADDED default relist", "DELETED gone relist", "MODIFIED shop relist"],
        "{}",
        third.stderr
    );
    let other = run(&env, &demo, &[&["ns", "-l", "a=b"], &flags[..]].concat(), script).finish();
    assert!(other.failure(1).contains("covers other objects: its selector are "));
}

#[test]
fn checkpoint_has_one_writer() {
    let (env, demo) = still();
    let checkpoint = env.home().join("checkpoint");
    let flags = ["ns", "--checkpoint", checkpoint.to_str().expect("text")];
    let mut first = run(&env, &demo, &flags, WITH_CHILD).start();
    let pid = pid_file(&env);
    let refused = run(&env, &demo, &flags, "true").finish().failure(1);
    assert!(refused.contains("another run uses it: give another file"), "{refused}");
    first.signal("KILL");
    assert_eq!(first.wait(), -1);
    assert_ended(&pid);
    let flags = [&flags[..], &["--until-synced"]].concat();
    let done = run(&env, &demo, &flags, "true").finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn objects_of_files_are_run() {
    let (env, demo) = still();
    let shop = env.file("shop.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}");
    let missing = env.file("none.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: none}}");
    let files = [shop.to_str().expect("text"), missing.to_str().expect("text")];
    let script = "echo $KDELTA_EVENT_TYPE $KDELTA_EVENT_NAME";
    let flags = ["-f", files[0], "-f", files[1], "--ignore-not-found", "--until-synced"];
    let done = run(&env, &demo, &flags, script).finish();
    assert_eq!((done.code, done.stdout.as_str()), (0, "ADDED shop\n"), "{}", done.stderr);
    let checkpoint = env.home().join("checkpoint");
    let flags = ["--until-synced", "--checkpoint", checkpoint.to_str().expect("text")];
    let of = |words: &[&str]| run(&env, &demo, &[words, &flags[..]].concat(), script).finish();
    assert_eq!(of(&["-f", files[0]]).stdout, "ADDED shop\n");
    assert_eq!(of(&["-f", files[0]]).stdout, "");
    assert!(of(&["ns/shop"]).failure(1).contains("covers other objects: its files are "));
}

#[test]
fn plan_runs_nothing() {
    let (env, demo) = still();
    let plan = run(&env, &demo, &["ns", "--explain"], "echo ran").finish().quiet_success();
    assert!(plan.contains("/api/v1/namespaces") && !plan.contains("ran\n"), "{plan}");
}
