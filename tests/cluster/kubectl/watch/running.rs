//! Two programs that watch at the same time, and their output so far.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::table::Watch;
use crate::cluster::kubectl::comparison::{Outcome, Pair, ageless, is_age, without_logs};
use crate::cluster::kubectl::fixtures::Cluster;

/// A watch in both programs.
pub(super) struct RunningPair {
    watch: Watch,
    kubectl: Program,
    kdelta: Program,
}

/// A program whose output goes to files.
struct Program {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Program {
    fn start(mut command: Command, folder: &Path, name: &str) -> Self {
        let [stdout, stderr] = ["out", "err"].map(|stream| folder.join(format!("{name}.{stream}")));
        let file = |path: &Path| File::create(path).expect("a file of the test");
        command.stdin(Stdio::null()).stdout(file(&stdout)).stderr(file(&stderr));
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self { child, stdout, stderr }
    }

    fn stdout(&self) -> String {
        text(&self.stdout)
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ended = (self.child.kill(), self.child.wait());
    }
}

fn text(path: &Path) -> String {
    let bytes = fs::read(path).expect("the output");
    String::from_utf8_lossy(&bytes).replace("kubectl", "kdelta")
}

impl RunningPair {
    /// Starts both programs.
    pub(super) fn start(cluster: &Cluster, number: usize, watch: Watch) -> Self {
        let folder = cluster.folder();
        let arguments = &watch.invocation.arguments;
        let kubectl = Program::start(cluster.kubectl(arguments), &folder, &format!("kubectl-{number}"));
        let kdelta = Program::start(cluster.kdelta(arguments), &folder, &format!("kdelta-{number}"));
        Self { watch, kubectl, kdelta }
    }

    /// Returns the line of the table.
    pub(super) fn line(&self) -> &str {
        &self.watch.invocation.line
    }

    /// Returns the number of the programs that have not ended.
    pub(super) fn running(&mut self) -> usize {
        usize::from(self.kubectl.is_running()) + usize::from(self.kdelta.is_running())
    }

    /// Returns whether both programs have printed the last text, and the same unless they differ deliberately. The output
    /// after the last text may still be missing.
    pub(super) fn is_complete(&mut self, differs: bool) -> bool {
        let [theirs, ours] = [self.kubectl.stdout(), self.kdelta.stdout()];
        let is_last = |text: &str| text.matches(&self.watch.last).count() >= self.watch.times;
        if differs {
            return is_last(&ours);
        }
        is_last(&theirs) && is_last(&ours) && alike([&theirs, &ours])
    }

    /// Asks kdelta to end, as Ctrl-C does.
    pub(super) fn interrupt(pairs: &[Self]) {
        let pids = pairs.iter().map(|pair| pair.kdelta.child.id().to_string());
        let sent = Command::new("kill").args(["-s", "INT"]).args(pids).stderr(Stdio::null()).status();
        sent.expect("kill");
    }

    /// Ends both programs and returns their output. The exit status of a program that was ended says nothing.
    pub(super) fn end(mut self) -> Pair {
        let is_running = self.kubectl.is_running();
        let _killed = self.kubectl.child.kill();
        let [theirs, ours] = [&mut self.kubectl, &mut self.kdelta].map(|program| {
            let status = program.child.wait().expect("a child");
            let success = Some(status.success()).filter(|_| !is_running);
            (program.stdout(), without_logs(&text(&program.stderr)), success)
        });
        let is_aligned = alike_ages([&theirs.0, &ours.0]);
        let outcome = |(stdout, stderr, success): (String, String, Option<bool>)| {
            let stdout = ageless(&stdout);
            let stdout = if is_aligned { stdout } else { squeezed(&stdout) };
            Outcome { stdout, stderr: ageless(&stderr), success }
        };
        Pair { line: self.watch.invocation.line.clone(), kubectl: outcome(theirs), kdelta: outcome(ours) }
    }
}

fn alike(texts: [&str; 2]) -> bool {
    let [theirs, ours] = texts.map(ageless);
    theirs == ours || (!alike_ages(texts) && squeezed(&theirs) == squeezed(&ours))
}

/// Whether the ages in both texts need columns of the same width. A column is at least three characters wide, so that
/// the difference between `9s` and `10s` is invisible; on a slow machine, one program may print `99s` and the other
/// `100s`.
fn alike_ages(texts: [&str; 2]) -> bool {
    let [theirs, ours] = texts.map(|text| {
        text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')')).filter(|word| is_age(word))
    });
    theirs.zip(ours).all(|(a, b)| a.len() == b.len() || a.len().max(b.len()) <= 3)
}

/// Returns the text with one space for each run of spaces.
fn squeezed(text: &str) -> String {
    let words = |line: &str| line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    text.lines().map(words).collect::<Vec<_>>().join("\n")
}

#[test]
fn alignment_counts_unless_ages_differ() {
    assert!(alike(["a   9s    b\n", "a   10s   b\n"]), "within the least width");
    assert!(alike(["a   99s   b\n", "a   100s   b\n"]) && alike(["a   119s   b\n", "a   2m     b\n"]));
    assert!(!alike(["a   99s   b\n", "a  99s   b\n"]) && !alike(["a   99s   b\n", "a   100s   c\n"]));
}
