//! The known differences, and the check that the lists are complete and current.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::comparison::{Outcome, Pair};

/// The cause of each listed invocation.
pub(super) struct Known {
    causes: BTreeMap<String, Cause>,
    /// Lines that are listed twice.
    repeated: Vec<String>,
}

#[derive(Clone, Debug)]
struct Cause {
    is_deliberate: bool,
    text: String,
}

/// The result of the check.
pub(super) struct Report {
    pub(super) summary: String,
    pub(super) problems: Vec<String>,
    /// Every difference with its cause and both outputs.
    pub(super) differences: String,
}

impl Known {
    /// Reads the two lists. A list has paragraphs: lines of the form `# CAUSE`, then the invocations.
    pub(super) fn read(deliberate: &str, open: &str) -> Self {
        let mut known = Self { causes: BTreeMap::new(), repeated: Vec::new() };
        for (is_deliberate, list) in [(true, deliberate), (false, open)] {
            for paragraph in list.split("\n\n") {
                let mut text = String::new();
                for line in paragraph.lines().filter(|line| !line.is_empty()) {
                    if let Some(words) = line.strip_prefix("# ") {
                        text.push_str(if text.is_empty() { "" } else { " " });
                        text.push_str(words);
                        continue;
                    }
                    assert!(!text.is_empty(), "no cause above {line}");
                    let cause = Cause { is_deliberate, text: text.clone() };
                    if known.causes.insert(line.to_owned(), cause).is_some() {
                        known.repeated.push(line.to_owned());
                    }
                }
            }
        }
        known
    }

    pub(super) fn contains(&self, line: &str) -> bool {
        self.causes.contains_key(line)
    }
}

/// Returns the cause of a difference in drawn invocations, of those that `deliberate.txt` lists for single ones.
pub(super) fn deliberate_cause(pair: &Pair) -> Option<&'static str> {
    let Pair { line, kubectl, kdelta } = pair;
    let not_found_field = |outcome: &Outcome| outcome.stderr.contains("couldn't find any field with path");
    let failed = kubectl.success == Some(false) && kdelta.success == Some(false);
    if line.contains("--sort-by") && not_found_field(kubectl) != not_found_field(kdelta) {
        return Some("--sort-by of several tables, or by a field that no object has");
    }
    let starts_alike = kubectl.stderr.starts_with(kdelta.stderr.trim_end_matches('\n'));
    if failed && kdelta.stdout.is_empty() && starts_alike && kdelta.stderr.contains("Error from server") {
        return Some("an empty List of what is forbidden or missing");
    }
    if failed && line.contains("wait ") && kdelta.stderr.contains("can't meet the condition any more") {
        return Some("a state from which a condition is not met any more");
    }
    if failed && line.contains("--allow-missing-template-keys=false") && kdelta.stdout == kubectl.stdout {
        let message =
            |outcome: &Outcome| outcome.stderr.split("Printing more information").next().map(str::to_owned);
        return (message(kubectl) == message(kdelta)).then_some("the item that a template fails on");
    }
    None
}

/// Compares the results with the lists.
pub(super) fn verify(pairs: &[Pair], known: &Known) -> Report {
    let mut problems: Vec<String> =
        known.repeated.iter().map(|line| format!("listed twice: {line}")).collect();
    for line in known.causes.keys().filter(|line| !pairs.iter().any(|pair| pair.line == **line)) {
        problems.push(format!("listed, but no longer run: {line}"));
    }
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut differences = String::new();
    let [mut equal, mut deliberate, mut open] = [0; 3];
    for pair in pairs {
        let cause = known.causes.get(&pair.line);
        if pair.is_equal() {
            equal += 1;
            if cause.is_some() {
                problems.push(format!("equal by now, remove it from the list: {}", pair.line));
            }
            continue;
        }
        let shown = show(pair);
        let text = cause.map_or("NOT LISTED", |cause| &cause.text);
        let _infallible = write!(differences, "## {}\n# {text}\n{shown}\n", pair.line);
        match cause {
            None => problems.push(format!("differs: {}\n{shown}", pair.line)),
            Some(cause) if cause.is_deliberate => deliberate += 1,
            Some(_) => {
                open += 1;
                *causes.entry(text).or_default() += 1;
            }
        }
    }
    let mut summary = format!(
        "{} invocations: {equal} equal, {deliberate} deliberately different, {open} open",
        pairs.len()
    );
    for (cause, count) in causes {
        let _infallible = write!(summary, "\n{count:5}  {cause}");
    }
    Report { summary, problems, differences }
}

/// Returns the parts that differ, first kubectl's, then kdelta's, shortened.
fn show(pair: &Pair) -> String {
    let mut shown = String::new();
    let mut part = |name: &str, of: fn(&Outcome) -> String| {
        let [theirs, ours] = [of(&pair.kubectl), of(&pair.kdelta)];
        if theirs != ours {
            let _infallible = write!(
                shown,
                "  {name} of kubectl: {}\n  {name} of kdelta:  {}\n",
                brief(&theirs),
                brief(&ours)
            );
        }
    };
    part("stdout", |outcome| outcome.stdout.clone());
    part("stderr", |outcome| outcome.stderr.clone());
    part("success", |outcome| match outcome.success {
        Some(success) => success.to_string(),
        None => "it did not end".to_owned(),
    });
    shown
}

/// Returns a text on one line, at most as long as a reader compares by eye.
fn brief(text: &str) -> String {
    const MOST: usize = 600;
    let line = text.replace('\n', "⏎");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[test]
fn lists_are_checked_both_ways() {
    let outcome =
        |stdout: &str| Outcome { stdout: stdout.to_owned(), stderr: String::new(), success: Some(true) };
    let pair =
        |line: &str, ours: &str| Pair { line: line.to_owned(), kubectl: outcome("x"), kdelta: outcome(ours) };
    let pairs = [pair("a", "x"), pair("b", "y"), pair("c", "y"), pair("d", "x")];
    let known = Known::read("# By intent,\n# for a reason.\nb\n", "# Not built.\nd\nd\ngone\n");
    let problems = verify(&pairs, &known).problems;
    let expected =
        ["listed twice: d", "listed, but no longer run: gone", "differs: c", "equal by now, remove it"];
    assert_eq!(problems.len(), expected.len(), "{problems:?}");
    for (problem, start) in problems.iter().zip(expected) {
        assert!(problem.starts_with(start), "{problem}");
    }
}
