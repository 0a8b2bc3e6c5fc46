//! The console samples of README.md and docs/tour.md: each command runs on the demo and prints the lines below it, apart
//! from names and numbers that change from run to run.
//!
//! `KDELTA_UPDATE_SNAPSHOTS=1` regenerates the samples.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{DemoServer, Kdelta, PATIENCE, Running, TestEnv, eventually};

/// The port in the samples.
const PORT: &str = "8001";

/// The commands between the fences of one sample, each with its output.
type Sample = Vec<SampleCommand>;

/// A line that starts with `$ `, and its output.
struct SampleCommand {
    command: String,
    printed: Vec<String>,
}

/// Returns the path of a file of the repository.
fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the console samples of a text, and the text around them, one piece more than samples.
fn samples(text: &str) -> (Vec<String>, Vec<Sample>) {
    let (mut around, mut samples) = (vec![String::new()], Vec::new());
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let fence = line.starts_with("```");
        if inside && !fence {
            let sample: &mut Sample = samples.last_mut().expect("a sample");
            match line.strip_prefix("$ ") {
                Some(command) => {
                    sample
                        .push(SampleCommand { command: command.trim_end().to_owned(), printed: Vec::new() });
                }
                None => sample.last_mut().expect("a command").printed.push(line.trim_end().to_owned()),
            }
            continue;
        }
        if inside {
            around.push(String::new());
        }
        around.last_mut().expect("a piece").push_str(line);
        inside = line == "```console\n";
        if inside {
            samples.push(Vec::new());
        }
    }
    (around, samples)
}

fn join(around: &[String], samples: &[Sample]) -> String {
    let mut text = String::new();
    for (place, piece) in around.iter().enumerate() {
        text.push_str(piece);
        for typed in samples.get(place).into_iter().flatten() {
            text.extend(["$ ", &typed.command, "\n"]);
            text.extend(typed.printed.iter().flat_map(|line| [line, "\n"]));
        }
    }
    text
}

/// The time after which a command is started again. A simulation that begins shortly before a full minute, when its cron
/// job runs, may take a minute to change the selected objects.
const REPEAT_AFTER: Duration = Duration::from_secs(25);

/// A shell that finds the program, with a kubeconfig that selects a demo.
struct Shell {
    env: TestEnv,
    demo: DemoServer,
    /// A free port, used in place of [`PORT`].
    port: String,
    /// Programs started with `&`, which run until the end of their sample.
    background: Vec<Running>,
}

impl Shell {
    fn new() -> Self {
        let env = TestEnv::new();
        let demo = DemoServer::start(&env, &[]);
        Self { env, demo, port: PORT.to_owned(), background: Vec::new() }
    }

    fn start(&self, command: &str) -> Running {
        let program = Path::new(env!("CARGO_BIN_EXE_kdelta")).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let config = format!(
            "{{apiVersion: v1, kind: Config, current-context: shop, contexts: [{{name: shop, context: {{cluster: shop}}}}], \
             clusters: [{{name: shop, cluster: {{server: '{}'}}}}]}}",
            self.demo.url
        );
        let mut shell = Command::new("sh");
        shell.env_clear().current_dir(self.env.home()).args(["-c", command]);
        Kdelta::other(shell)
            .env("HOME", self.env.home())
            .env("PATH", format!("{}:{path}", program.display()))
            .env("KUBECONFIG", self.env.file("config", &config))
            .env("KDELTA_DEMO_SEED", "1")
            .start()
    }

    /// Returns the lines that a command prints on both streams, or `None` if a program is not installed.
    fn type_in(&mut self, command: &str) -> Option<Vec<String>> {
        if let Some(missing) =
            ["kubectl", "jq"].into_iter().find(|tool| runs(command, tool) && !is_installed(tool))
        {
            eprintln!("SKIPPED {command:?} of the documentation: {missing} is missing");
            return None;
        }
        if let Some(background) = command.strip_suffix('&') {
            return Some(vec![self.start_in_background(background)]);
        }
        let there = |line: &str| line.trim_end().replace(&self.port, PORT);
        let command_line = command.replace(PORT, &self.port);
        let (mut running, mut start) = (self.start(&command_line), Instant::now());
        eventually("the program ends", || {
            if start.elapsed() > REPEAT_AFTER {
                (running, start) = (self.start(&command_line), Instant::now());
            }
            running.has_ended().then_some(())
        });
        let code = running.wait();
        let printed = [running.stdout.drain(), running.stderr.drain()].concat();
        assert_eq!(code, 0, "{command}: {printed}");
        Some(printed.lines().map(there).collect())
    }

    /// Starts a server program and returns its first line.
    fn start_in_background(&mut self, command: &str) -> String {
        eventually("a port of its own", || {
            let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
            self.port = free.expect("a port").port().to_string();
            let running = self.start(&format!("exec {}", command.replace(PORT, &self.port)));
            let Some(first) = running.stdout.within(PATIENCE) else {
                let error = running.stderr.drain();
                // Another test may hold the port.
                assert!(error.contains("another program uses it"), "{command}: {error}");
                return None;
            };
            self.background.push(running);
            Some(first.trim_end().replace(&self.port, PORT))
        })
    }

    /// Asserts that a command printed these headers in any order. A command that limits its lines may miss a kind;
    /// then it runs again.
    fn prints_headers(&mut self, command: &str, printed: Vec<String>, expected: &BTreeSet<String>) {
        let mut printed = Some(printed);
        eventually(&format!("the headers {expected:?} of {command:?}"), || {
            let lines = printed.take().or_else(|| self.type_in(command)).expect("its programs are there");
            let found = headers(&lines);
            assert!(found.is_subset(expected), "$ {command}\n{}", lines.join("\n"));
            let is_late = found != *expected && command.contains("--count");
            assert!(is_late || found == *expected, "$ {command}\n{}", lines.join("\n"));
            (!is_late).then_some(())
        });
    }
}

/// Returns whether a command runs the program.
fn runs(command: &str, tool: &str) -> bool {
    command.split(['|', ' ']).any(|word| word == tool)
}

fn is_installed(tool: &str) -> bool {
    Command::new(tool).arg("--help").output().is_ok()
}

/// Returns the words of a header.
fn header(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_one = line.contains(char::is_uppercase) && !line.contains(char::is_lowercase);
    is_one.then(|| words.join(" "))
}

/// Returns the stable part of a line: the words of a header, the fields of JSON, otherwise its beginning.
fn shape(line: &str, first: bool) -> String {
    if let Ok(serde_json::Value::Object(object)) = serde_json::from_str(line) {
        return object.keys().cloned().collect::<Vec<_>>().join(" ");
    }
    header(line).filter(|_| first).unwrap_or_default()
}

/// Returns the stable part of the output. The number of lines is stable only if the command limits it, since the demo
/// changes by itself.
fn shapes(command: &str, lines: &[String]) -> Vec<String> {
    let all = lines.iter().enumerate().map(|(place, line)| shape(line, place == 0));
    let is_counted = command.contains("--count") && !command.contains("--changes");
    if is_counted { all.collect() } else { all.take(1).collect() }
}

/// Returns the headers of several tables. Their order varies: tables are printed in order of arrival if others take
/// long.
fn headers(lines: &[String]) -> BTreeSet<String> {
    lines.iter().filter_map(|line| header(line)).collect()
}

#[test]
fn readme_samples_print_the_shown_output() {
    check_samples("README.md");
}

#[test]
fn tour_samples_print_the_shown_output() {
    check_samples("docs/tour.md");
}

/// Runs each command of a page and compares its output, or rewrites the page.
fn check_samples(name: &str) {
    let text = fs::read_to_string(page(name)).expect(name);
    let (around, mut samples) = samples(&text);
    assert_eq!(join(&around, &samples), text, "the samples are read whole");
    let update = std::env::var("KDELTA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1");
    let mut shell = Shell::new();
    for typed in samples.iter_mut().flatten() {
        let Some(printed) = shell.type_in(&typed.command) else { continue };
        if update {
            typed.printed = printed;
        } else {
            let SampleCommand { command, printed: sample } = typed;
            let expected = headers(sample);
            if expected.len() > 1 {
                shell.prints_headers(command, printed, &expected);
                continue;
            }
            assert_eq!(
                shapes(command, &printed),
                shapes(command, sample),
                "$ {command}\n{}",
                printed.join("\n")
            );
        }
    }
    if update {
        fs::write(page(name), join(&around, &samples)).expect(name);
    }
}

#[test]
fn readme_has_samples_and_the_two_first_commands() {
    let text = fs::read_to_string(page("README.md")).expect("README.md");
    for (name, least) in [("README.md", 8), ("docs/tour.md", 12)] {
        let (_, samples) = samples(&fs::read_to_string(page(name)).expect(name));
        assert!(samples.iter().flatten().count() >= least, "{name} has become short");
    }
    assert!(text.lines().count() <= 200, "README.md is a front page");
    assert!(
        text.contains("```sh\ncargo run --release -- watch pods --demo\ncargo test\n```\n"),
        "two commands"
    );
}
