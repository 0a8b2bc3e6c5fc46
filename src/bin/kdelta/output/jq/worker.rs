//! The thread that evaluates a jq expression, and the limits of an evaluation.
//!
//! An expression may compute for ever without a result, and the interpreter can't be interrupted. It therefore runs in a
//! thread of its own: the caller writes the results as they arrive, and gives up when they take too much time or memory.
//! The process must end then, because the thread can't be stopped.

use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use kdelta::object::JsonValue;
use kdelta::query::JqFilter;

use super::failure::Problem;
use crate::view::{escape, escape_json};

/// The stack of the thread: expressions may nest deeply.
const STACK: usize = 64 << 20;
/// The size from which results are passed on, in bytes, and the number of such pieces that may wait for the writer.
const PIECE: usize = 1 << 15;
const WAITING_PIECES: usize = 8;
/// The interval at which memory and time are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The limits of one evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The time without a result.
    pub(super) time: Duration,
    /// The growth of the process's memory in bytes, plus a multiple of the input.
    pub(super) memory: u64,
    /// The number and the total size of results.
    pub(super) results: u64,
    pub(super) bytes: u64,
}

impl Limits {
    /// The limits of a list, whose results may be as many as the user reads: writing them can be interrupted.
    pub(super) const LIST: Self =
        Self { time: Duration::from_mins(1), memory: 1 << 30, results: u64::MAX, bytes: u64::MAX };
    /// The limits of one change of a watch, which must not hold up the others for long.
    pub(super) const CHANGE: Self =
        Self { time: Duration::from_secs(10), memory: 1 << 30, results: 1_000_000, bytes: 64 << 20 };
}

/// A multiple of the input's size that its values may take in memory.
const VALUES_PER_INPUT: u64 = 16;

/// The thread of an expression. Its end is not waited for: it ends after the present evaluation.
pub(super) struct Worker {
    inputs: Sender<Vec<u8>>,
    events: Receiver<Event>,
    limits: Limits,
}

enum Event {
    /// Lines of results.
    Results(Vec<u8>),
    Ended(Result<(), Problem>),
}

impl Worker {
    /// Starts the thread. `raw` prints strings without quotes, `for_terminal` is whether a terminal displays the results.
    ///
    /// # Errors
    /// The thread can't be created.
    pub(super) fn start(
        filter: &'static JqFilter,
        raw: bool,
        for_terminal: bool,
        limits: Limits,
    ) -> io::Result<Self> {
        // Has one input at most, because `evaluate` waits for the end of the evaluation.
        let (inputs, received) = mpsc::channel::<Vec<u8>>();
        // Bounded: an unread result must stop the evaluation.
        let (sender, events) = mpsc::sync_channel(WAITING_PIECES);
        thread::Builder::new().name("jq".into()).stack_size(STACK).spawn(move || {
            for json in received {
                let mut evaluation = Evaluation {
                    raw,
                    for_terminal,
                    limits,
                    lines: Vec::new(),
                    results: 0,
                    bytes: 0,
                    sender: &sender,
                };
                let ended = evaluation.run(filter, &json);
                if sender.send(Event::Ended(ended)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { inputs, events, limits })
    }

    /// Evaluates the expression on JSON and writes its results.
    ///
    /// # Errors
    /// The expression failed or reached a limit, or `out` failed.
    pub(super) fn evaluate(&self, json: Vec<u8>, out: &mut impl Write) -> Result<(), Problem> {
        let memory = resident_memory();
        let allowed = self.limits.memory.saturating_add((json.len() as u64).saturating_mul(VALUES_PER_INPUT));
        let mut last = Instant::now();
        // Fails only if the thread has panicked, which the next receive reports.
        let _ = self.inputs.send(json);
        loop {
            match self.events.recv_timeout(CHECK_INTERVAL) {
                Ok(Event::Results(lines)) => {
                    out.write_all(&lines)?;
                    last = Instant::now();
                }
                Ok(Event::Ended(ended)) => return ended,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Problem::Failed("the interpreter failed".into()));
                }
                Err(RecvTimeoutError::Timeout) if last.elapsed() >= self.limits.time => {
                    return Err(Problem::Time(self.limits.time));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let (Some(before), Some(now)) = (memory, resident_memory())
                        && now.saturating_sub(before) > allowed
                    {
                        return Err(Problem::Memory);
                    }
                }
            }
        }
    }
}

/// One evaluation in the thread.
struct Evaluation<'a> {
    raw: bool,
    for_terminal: bool,
    limits: Limits,
    /// Results that are not passed on yet.
    lines: Vec<u8>,
    results: u64,
    bytes: u64,
    sender: &'a SyncSender<Event>,
}

impl Evaluation<'_> {
    fn run(&mut self, filter: &JqFilter, json: &[u8]) -> Result<(), Problem> {
        let mut problem = None;
        let ended =
            filter.run(&JsonValue::parse(json), self.raw, STACK / 2, |result| match self.result(result) {
                Ok(flow) => flow,
                Err(limit) => {
                    problem = Some(limit);
                    ControlFlow::Break(())
                }
            });
        // Fails only without a receiver, which needs no results.
        let _ = self.pass_on();
        match problem {
            Some(problem) => Err(problem),
            None => ended.map_err(|error| Problem::Failed(error.to_string())),
        }
    }

    fn result(&mut self, result: &[u8]) -> Result<ControlFlow<()>, Problem> {
        let start = self.lines.len();
        if self.for_terminal {
            let text = String::from_utf8_lossy(result);
            let escaped = if self.raw { escape(&text) } else { escape_json(&text) };
            self.lines.extend_from_slice(escaped.as_bytes());
        } else {
            self.lines.extend_from_slice(result);
        }
        self.lines.push(b'\n');
        self.results += 1;
        self.bytes += (self.lines.len() - start) as u64;
        if self.results > self.limits.results || self.bytes > self.limits.bytes {
            self.lines.truncate(start);
            return Err(Problem::Results);
        }
        if self.lines.len() >= PIECE && self.pass_on().is_err() {
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Passes the lines on; fails without a receiver.
    fn pass_on(&mut self) -> Result<(), mpsc::SendError<Event>> {
        if self.lines.is_empty() {
            Ok(())
        } else {
            self.sender.send(Event::Results(std::mem::take(&mut self.lines)))
        }
    }
}

/// Returns the memory of this process in bytes; `None` where the system does not report it.
fn resident_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Limits =
        Limits { time: Duration::from_millis(200), memory: 64 << 20, results: 1000, bytes: 1 << 20 };

    fn evaluated(text: &str, raw: bool, limits: Limits, json: &str) -> (String, Result<(), Problem>) {
        let filter: &'static JqFilter = Box::leak(Box::new(JqFilter::parse(text).expect(text)));
        let worker = Worker::start(filter, raw, false, limits).expect("a thread");
        let mut out = Vec::new();
        let ended = worker.evaluate(json.as_bytes().to_vec(), &mut out);
        (String::from_utf8(out).expect("text"), ended)
    }

    #[test]
    fn results_are_lines() {
        let json = r#"{"a":["x","y\u009b"]}"#;
        let (lines, ended) = evaluated(".a[]", false, Limits::LIST, json);
        assert!(ended.is_ok());
        assert_eq!(lines, "\"x\"\n\"y\u{9b}\"\n");
        assert_eq!(evaluated(".a[]", true, Limits::LIST, json).0, "x\ny\u{9b}\n");
        let many = evaluated("range(100000)", false, Limits::LIST, "{}").0;
        assert_eq!(many.lines().count(), 100_000);
    }

    #[test]
    fn endless_expressions_reach_a_limit() {
        let (lines, ended) = evaluated("repeat(1)", false, SMALL, "{}");
        assert!(matches!(ended, Err(Problem::Results)), "{ended:?}");
        assert_eq!(lines.lines().count(), 1000);
        for text in ["def f: f; f", "[range(1e18)]", "last(range(1e18))", "until(false; .)"] {
            let (_, ended) = evaluated(text, false, SMALL, "{}");
            assert!(matches!(ended, Err(Problem::Time(_) | Problem::Memory)), "{text}: {ended:?}");
        }
    }

    #[test]
    fn worker_continues_after_a_failure() {
        let filter: &'static JqFilter = Box::leak(Box::new(JqFilter::parse(".a + 1").expect("fine")));
        let worker = Worker::start(filter, false, false, Limits::CHANGE).expect("a thread");
        let mut out = Vec::new();
        assert!(matches!(worker.evaluate(br#"{"a":{}}"#.to_vec(), &mut out), Err(Problem::Failed(_))));
        assert!(worker.evaluate(br#"{"a":1}"#.to_vec(), &mut out).is_ok());
        assert_eq!(out, b"2\n");
    }
}
