//! The table of watches.

use crate::cluster::kubectl::invocations::Invocation;

/// A watch, and the text that ends its output.
pub(super) struct Watch {
    pub(super) invocation: Invocation,
    pub(super) last: String,
    /// The number of times that `last` is printed.
    pub(super) times: usize,
}

/// Parses the table: headings of the form `## N x TEXT`, each followed by lines with arguments; other lines that start
/// with `#` are comments.
pub(super) fn read(table: &str) -> Vec<Watch> {
    let mut last = None;
    let mut watches = Vec::new();
    for line in table.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if let Some(heading) = line.strip_prefix("## ") {
            let (times, text) = heading.split_once(" x ").unwrap_or_else(|| panic!("no number: {line}"));
            last = Some((times.parse().expect("a number"), text.to_owned()));
        } else if !line.starts_with('#') {
            let (times, last) = last.clone().unwrap_or_else(|| panic!("no heading above {line}"));
            watches.push(Watch { invocation: Invocation::parse(line), last, times });
        }
    }
    watches
}
