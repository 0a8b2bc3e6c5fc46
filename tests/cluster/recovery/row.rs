//! The table of `docs/recovery.md`, parsed into the tests' expectations.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::summary;

/// Matches any text in the table.
const WILDCARD: char = '…';

/// One row of the table.
pub(in crate::cluster) struct Row {
    /// The expected lines of stderr, in order.
    pub(super) stderr: Vec<String>,
    pub(super) data: Data,
    test: String,
}

/// The expected stdout of three changes around the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    /// Each change as it happened.
    Changes,
    /// A GAP line followed by the net difference.
    Difference,
    /// Lines that the test checks itself.
    Other,
}

impl Row {
    /// Returns the row of the running test, which the harness uses as thread name.
    pub(in crate::cluster) fn of_this_test() -> Self {
        let thread = std::thread::current();
        let test = thread.name().and_then(|path| path.rsplit("::").next()).expect("a name").to_owned();
        rows().into_iter().find(|row| row.test == test).unwrap_or_else(|| panic!("no row for {test}"))
    }

    /// Fails the test unless stderr equals the row, line by line.
    #[track_caller]
    pub(in crate::cluster) fn check_stderr(&self, who: &str, output: &[String]) {
        let fits = output.len() == self.stderr.len()
            && output.iter().zip(&self.stderr).all(|(line, pattern)| matches(line.trim_end(), pattern));
        assert!(fits, "{who} printed {output:#?} where the table has {:#?}", self.stderr);
    }
}

impl Data {
    fn read(cell: &str) -> Self {
        match cell {
            "the changes" => Self::Changes,
            "`GAP`, the difference" => Self::Difference,
            "–" | "each change, once" | "`GAP`, the difference to the backup" => Self::Other,
            other => panic!("no test knows what {other:?} means"),
        }
    }

    /// Fails the test unless the lines on stdout match.
    #[track_caller]
    pub(super) fn check(self, who: &str, lines: &[Value]) {
        let mut found: Vec<String> = lines.iter().map(summary).collect();
        let expected = match self {
            Self::Other => panic!("{who}: the table does not say what comes"),
            Self::Changes => &["MODIFIED changed watch", "DELETED gone watch", "ADDED made watch"][..],
            Self::Difference => {
                // The order of different objects is unspecified.
                if let Some(differences) = found.get_mut(1..) {
                    differences.sort();
                }
                &["GAP", "ADDED made relist", "DELETED gone* relist", "MODIFIED changed relist"]
            }
        };
        assert_eq!(found, expected, "{who}");
    }
}

/// Returns whether the line matches the pattern, in which each `…` matches any text.
fn matches(line: &str, pattern: &str) -> bool {
    let mut parts = pattern.split(WILDCARD);
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recovery.md");
    let table = fs::read_to_string(path).expect("docs/recovery.md");
    let cells = table.lines().filter(|line| line.starts_with("| ")).map(|line| {
        line.trim_matches('|').split(" | ").map(str::trim).map(str::to_owned).collect::<Vec<_>>()
    });
    let cells = cells.filter(|cells| cells.last().is_some_and(|test| test.starts_with('`')));
    let rows = cells.map(|cells| {
        let [_, stderr, data, test] = &cells[..] else { panic!("four cells: {cells:?}") };
        let lines = stderr.split("<br>").map(|line| line.trim().trim_matches('`').to_owned());
        let lines = lines.filter(|line| line != "–").collect();
        let test = test.trim_matches('`').to_owned();
        Row { stderr: lines, data: Data::read(data), test }
    });
    rows.collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of tests") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("testbed") {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Returns the names of the tests in a source file.
fn tests_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a source file");
    let marked = text.split("#[test]").skip(1).chain(text.split("#[tokio::test").skip(1));
    let named = marked.filter_map(|rest| rest.split_once("fn ")?.1.split_once('('));
    named.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn recovery_rows_and_tests_match() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let all: BTreeSet<String> = files.iter().flat_map(|path| tests_of(path)).collect();
    let named: BTreeSet<String> = rows().into_iter().map(|row| row.test).collect();
    let missing: Vec<_> = named.difference(&all).collect();
    assert!(missing.is_empty(), "rows of docs/recovery.md whose test is not there: {missing:?}");
    let here = files
        .iter()
        .filter(|path| path.starts_with(root.join("cluster/recovery")) && !path.ends_with("row.rs"));
    let without: Vec<_> = here.flat_map(|path| tests_of(path)).filter(|test| !named.contains(test)).collect();
    assert!(without.is_empty(), "tests of recovery without a row in docs/recovery.md: {without:?}");
}

#[test]
fn ellipsis_matches_any_text() {
    assert!(matches("pods: lost: EOF", "pods: lost: EOF"));
    assert!(matches("resumed at 7 after 1.2s, nothing", "resumed at … after …s, nothing"));
    assert!(!matches("resumed at 7 after 1.2s, and more", "resumed at … after …s, nothing"));
    assert!(!matches("pods: lost: EOF", "pods: lost: EO"));
}
