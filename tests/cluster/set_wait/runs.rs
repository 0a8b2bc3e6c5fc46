//! Runs of one scenario: `kubectl wait` and `kdelta wait` on objects of their own.

use std::time::{Duration, Instant};

use super::scenarios::{Kdelta, Kubectl, Scenario};
use super::stage::Stage;
use crate::cluster::kubectl;
use crate::support::{FaultProxy, Finished, TestEnv, eventually};

/// The time limit of waits that are met.
const LONG: &str = "--timeout=45s";
/// That of waits that are not.
const SHORT: &str = "--timeout=3s";
/// A program that has no watch by then waits by other means.
const WITHOUT_WATCH: Duration = Duration::from_secs(2);

/// Returns how the programs end otherwise than the scenario says.
pub(super) fn problems(scenario: &Scenario) -> Vec<String> {
    let mut problems = Vec::new();
    if scenario.kubectl_ends != Kubectl::Inexpressible {
        let time = if scenario.kubectl_ends == Kubectl::Met { LONG } else { SHORT };
        let is_expected = |ended: &Finished| match scenario.kubectl_ends {
            Kubectl::Inexpressible => true,
            Kubectl::Met => ended.code == 0,
            Kubectl::TimedOut => ended.code == 1 && ended.stderr.contains("timed out waiting"),
            Kubectl::Error(text) => ended.code == 1 && ended.stderr.contains(text),
        };
        // On a busy machine, kubectl may start late or not run while a short state lasts: later attempts are slower.
        let mut ended = run(scenario, scenario.kubectl, time, Program::Kubectl { slowness: 1 });
        for slowness in [3, 5] {
            if !is_expected(&ended) {
                ended = run(scenario, scenario.kubectl, time, Program::Kubectl { slowness });
            }
        }
        if !is_expected(&ended) {
            problems.push(problem(scenario, "kubectl", &scenario.kubectl_ends, &ended));
        }
    }
    let time = if matches!(scenario.kdelta_ends, Kdelta::TimedOut(_)) { SHORT } else { LONG };
    let ended = run(scenario, scenario.kdelta, time, Program::Kdelta);
    let is_expected = match scenario.kdelta_ends {
        Kdelta::Met => ended.code == 0 && ended.stdout.starts_with("condition met: "),
        Kdelta::TimedOut(reason) => ended.code == 5 && ended.stderr.contains(reason),
        Kdelta::Failed(reason) => ended.code == 6 && ended.stderr.contains(reason),
    };
    if !is_expected {
        problems.push(problem(scenario, "kdelta", &scenario.kdelta_ends, &ended));
    }
    problems
}

fn problem(scenario: &Scenario, program: &str, expected: &dyn std::fmt::Debug, ended: &Finished) -> String {
    format!("{} {}: {program}: expected {expected:?}, found {ended:?}", scenario.complaint, scenario.text)
}

/// A program that waits.
#[derive(Clone, Copy)]
enum Program {
    Kdelta,
    /// The times that it is given are multiplied by `slowness`.
    Kubectl {
        slowness: u32,
    },
}

/// Runs one of the programs while the scenario changes the server.
fn run(scenario: &Scenario, arguments: &str, time: &str, program: Program) -> Finished {
    let on = TestEnv::on_server();
    let slowness = match program {
        Program::Kdelta => 1,
        Program::Kubectl { slowness } => slowness,
    };
    let stage = Stage::with_slowness(&on, slowness);
    (scenario.before)(&stage);
    let proxy = FaultProxy::before(on.testbed);
    let config = proxy.kubeconfig(&on.env, &stage.namespace);
    let config = config.to_string_lossy();
    let mut words: Vec<String> = vec!["wait".to_owned()];
    words.extend(split(arguments).iter().map(|word| stage.word(word)));
    if !arguments.contains("--timeout") {
        words.push(time.to_owned());
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let call = match program {
        Program::Kubectl { .. } => {
            crate::support::Kdelta::other(kubectl(&config, &words)).env("HOME", on.env.home())
        }
        Program::Kdelta => on.env.kdelta(&words).env("KUBECONFIG", &*config),
    };
    let mut running = call.start();
    let start = Instant::now();
    eventually("the program watches, waits otherwise, or has ended", || {
        let watches = proxy.open_watches() > 0 || start.elapsed() > WITHOUT_WATCH * slowness;
        (watches || running.has_ended()).then_some(())
    });
    (scenario.during)(&stage);
    let code = running.wait();
    Finished { code, stdout: running.stdout.drain(), stderr: running.stderr.drain() }
}

/// Splits a line at spaces outside of single quotes.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}
