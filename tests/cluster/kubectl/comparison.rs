//! Runs both programs with equal arguments and compares stdout, stderr, and success.
//!
//! The comparison removes lines that start with `hint: `, which kubectl does not have, and the lines that kubectl's
//! client library logs before kubectl reports an error (klog's `E1224 13:05:09.000001 …`). It maps the program's name,
//! and ages, which grow between the two runs.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::differences::Known;
use super::fixtures::Cluster;
use super::invocations::Invocation;

/// The number of invocations that run at a time. Each runs one program, then the other.
const WORKERS: usize = 4;
/// The time limit of one program. A watch that does not end is killed then.
const LIMIT: Duration = Duration::from_secs(20);

/// The result of one program.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Outcome {
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Whether its exit code was 0; `None` if it did not end in time.
    pub(super) success: Option<bool>,
}

/// The results of both programs.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) line: String,
    pub(super) kubectl: Outcome,
    pub(super) kdelta: Outcome,
}

impl Pair {
    pub(super) fn is_equal(&self) -> bool {
        self.kubectl == self.kdelta
    }
}

/// Runs all invocations, several at a time. An unexpected difference is tried once more, since an age may have become
/// longer between the two runs.
pub(super) fn compare_all(cluster: &Cluster, invocations: &[Invocation], known: &Known) -> Vec<Pair> {
    // Fills both caches of discovery, so that no invocation depends on an earlier one.
    compare(cluster, &Invocation::parse("api-versions"));
    compare(cluster, &Invocation::parse("get pods"));
    let next = AtomicUsize::new(0);
    let pairs = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(invocation) = invocations.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut pair = compare(cluster, invocation);
                    if !pair.is_equal() && !known.contains(&pair.line) {
                        pair = compare(cluster, invocation);
                    }
                    pairs.lock().expect("no worker failed").push(pair);
                }
            });
        }
    });
    let mut pairs = pairs.into_inner().expect("no worker failed");
    let position = |line: &str| invocations.iter().position(|invocation| invocation.line == line);
    pairs.sort_by_key(|pair| position(&pair.line));
    pairs
}

fn compare(cluster: &Cluster, invocation: &Invocation) -> Pair {
    let run = |mut command: Command| {
        command.envs(invocation.variables.iter().map(|(name, value)| (name, value)));
        let stdin = invocation.stdin.as_ref().map_or_else(Stdio::null, |name| {
            File::open(cluster.folder().join(name)).expect("the file of standard input").into()
        });
        outcome(command, stdin)
    };
    let kubectl = run(cluster.kubectl(&invocation.arguments));
    let kdelta = run(cluster.kdelta(&invocation.arguments));
    Pair { line: invocation.line.clone(), kubectl, kdelta }
}

fn outcome(mut command: Command, stdin: Stdio) -> Outcome {
    let mut child = command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stdout = read(child.stdout.take().expect("a pipe"));
    let stderr = read(child.stderr.take().expect("a pipe"));
    let start = Instant::now();
    let status = loop {
        let status = child.try_wait().expect("a child");
        if status.is_some() || start.elapsed() > LIMIT {
            break status;
        }
        // The interval of polling; no result depends on it.
        thread::sleep(Duration::from_millis(5));
    };
    if status.is_none() {
        let _killed = (child.kill(), child.wait());
    }
    Outcome {
        stdout: ageless(&stdout.join().expect("a reader").replace("kubectl", "kdelta")),
        stderr: ageless(&without_logs(&stderr.join().expect("a reader").replace("kubectl", "kdelta"))),
        success: status.map(|status| status.success()),
    }
}

fn read(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _read = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Removes kdelta's hints and klog's lines.
pub(super) fn without_logs(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("hint: ") && !is_log(line)).collect()
}

/// Returns whether klog wrote the line: a severity, month and day, a space, and a time.
fn is_log(line: &str) -> bool {
    let bytes = line.as_bytes();
    matches!(bytes, [b'E' | b'W' | b'I', rest @ ..]
        if rest.len() > 7 && rest[..4].iter().all(u8::is_ascii_digit) && rest[4] == b' ' && rest[7] == b':')
}

/// Returns the text with every age replaced by the same number of characters: two programs never run in the same
/// second.
pub(super) fn ageless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find([' ', '\n', '(', ')']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let gap = after.len() - after.trim_start_matches(' ').len();
        if is_age(word) {
            // Columns are at least three spaces apart; fewer spaces do not align anything.
            let width = if gap < 3 { 3 + gap } else { word.len() + gap };
            out.push_str("AGE");
            out.extend(std::iter::repeat_n(' ', width.saturating_sub(3)));
        } else {
            out.push_str(word);
            out.push_str(&after[..gap]);
        }
        rest = &after[gap..];
        if let Some(next) = rest.strip_prefix(['\n', '(', ')']) {
            out.push_str(&rest[..1]);
            rest = next;
        }
    }
    out
}

/// Returns whether a word is an age as kubectl prints it, such as `9s`, `5m7s` or `6y329d`.
pub(super) fn is_age(word: &str) -> bool {
    let is_unit = |c: char| matches!(c, 's' | 'm' | 'h' | 'd' | 'y');
    word.len() <= 7
        && word.starts_with(|c: char| c.is_ascii_digit())
        && word.ends_with(is_unit)
        && word.split_inclusive(is_unit).all(|part| {
            let digits = part.trim_end_matches(is_unit);
            digits.len() + 1 == part.len() && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        })
}

#[test]
fn ages_are_replaced_with_the_same_width() {
    let text = "NAME   AGE   NOTE\na      9s    x\nb      10m   3 x\nc      5m7s\nd      6y329d (3d ago)\n";
    let expected = "NAME   AGE   NOTE\na      AGE   x\nb      AGE   3 x\nc      AGE\nd      AGE (AGE ago)\n";
    assert_eq!(ageless(text), expected);
    assert!(!is_age("10") && !is_age("s") && !is_age("1.5s") && !is_age("100m0"));
}

#[test]
fn logged_lines_are_recognized() {
    assert!(is_log("E1224 13:05:09.000001   77 memcache.go:265] \"Unhandled Error\"\n"));
    assert!(!is_log("Error from server (NotFound): pods \"x\" not found\n") && !is_log("E12\n"));
}
