//! Recordings: bytes per version, memory and CPU time of the writer, and the times of queries on past states.
//!
//! `cargo bench --bench recording` simulates a cluster of 20,000 pods for 24 hours, which takes some minutes;
//! `-- --hours N` simulates fewer. `--dir DIR` keeps the recording, and reads one that is already there; `--seed N`
//! simulates another cluster. The generator and the writer run in separate processes, connected by a pipe, so that
//! memory and CPU time are those of the writer. A second writer process only parses, which measures the share of
//! the watch. Each query runs in its own process and is measured from start to end. Finally the benchmark reports
//! which targets are met.

mod generator;
mod process;
mod read;
mod record;
mod report;
mod stream;

use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use generator::{Cluster, START};
use read::Question;
use record::Written;

const USAGE: &str = "options: --hours N, --seed N, --dir DIR";

/// The parsed command line.
struct Options {
    hours: u32,
    seed: u64,
    dir: Option<PathBuf>,
}

impl Options {
    fn parse(arguments: &[String]) -> Self {
        let value = |flag: &str| {
            let at = arguments.iter().position(|argument| argument == flag)?;
            Some(arguments.get(at + 1).expect(USAGE).as_str())
        };
        Self {
            hours: value("--hours").map_or(24, |text| text.parse().expect(USAGE)),
            seed: value("--seed").map_or(1, |text| text.parse().expect(USAGE)),
            dir: value("--dir").map(PathBuf::from),
        }
    }

    fn child(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("a program knows where it is"));
        let (hours, seed) = (self.hours.to_string(), self.seed.to_string());
        command.args(arguments).args(["--hours", &hours, "--seed", &seed]);
        command
    }

    fn cluster(&self) -> Cluster {
        Cluster::new(self.seed, self.hours)
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = Options::parse(&arguments);
    match arguments.first().map(String::as_str) {
        Some("generate") => generate(&options),
        Some("write") => {
            let written = record::record(
                &mut BufReader::with_capacity(1 << 16, std::io::stdin()),
                options.dir.as_deref(),
            );
            println!("{}", written.line());
        }
        Some("ask") => ask(&options, &arguments[1..]),
        _ => measure(&options),
    }
}

/// Writes the changes of the simulated cluster to the standard output.
fn generate(options: &Options) {
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let mut cluster = options.cluster();
    let end = START + i64::from(options.hours) * 3_600_000;
    cluster.list(&mut |message| message.write(&mut out).expect("a pipe"));
    while cluster.now() < end {
        cluster.change(&mut |message| message.write(&mut out).expect("a pipe"));
    }
    out.flush().expect("a pipe");
}

/// Runs the generator and the writer; without a directory, the writer only parses.
fn write(options: &Options, dir: Option<&Path>) -> (Written, f64) {
    let began = Instant::now();
    let mut generator =
        options.child(&["generate"]).stdout(Stdio::piped()).spawn().expect("the generator runs");
    let changes = generator.stdout.take().expect("a pipe");
    let mut writer = options.child(&["write"]);
    if let Some(dir) = dir {
        writer.arg("--dir").arg(dir);
    }
    let output = writer.stdin(changes).stderr(Stdio::inherit()).output().expect("the writer runs");
    assert!(generator.wait().expect("the generator ends").success() && output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    (Written::read(&text).expect("the writer's figures"), began.elapsed().as_secs_f64())
}

/// Runs one query: `ask QUESTION TIME`.
fn ask(options: &Options, words: &[String]) {
    let [question, at, namespace, name, ..] = words else { panic!("{USAGE}") };
    let question = Question::ALL.into_iter().find(|known| known.name() == question).expect(USAGE);
    let dir = options.dir.as_deref().expect(USAGE);
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let at = at.parse().expect(USAGE);
    let count = read::answer(dir, question, at, (namespace, name), &mut out).and_then(|count| {
        out.flush()?;
        Ok(count)
    });
    eprintln!("{}", count.expect("the output takes everything"));
}

fn measure(options: &Options) {
    let scratch = std::env::temp_dir().join(format!("kdelta-recording-{}", std::process::id()));
    let dir = options.dir.clone().unwrap_or_else(|| scratch.join("bench"));
    if !dir.exists() {
        let (parsed, _) = write(options, None);
        let (written, seconds) = write(options, Some(&dir));
        report::written(&written, &parsed, seconds);
    }
    report::sizes(&dir, options.hours);
    let pod = options.cluster().long_history();
    report::times(options.hours, &mut |question, at| {
        let began = Instant::now();
        let mut command = options.child(&["ask", question.name(), &at.to_string(), &pod.0, &pod.1]);
        command.arg("--dir").arg(&dir).stdout(Stdio::null()).stderr(Stdio::piped());
        let output = command.spawn().and_then(Child::wait_with_output).expect("the program runs once more");
        let took = began.elapsed().as_secs_f64() * 1e3;
        let count = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        assert!(output.status.success(), "{count}");
        (took, count)
    });
    let _ = std::fs::remove_dir_all(scratch);
}
