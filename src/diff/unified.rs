//! A unified diff of two texts, line by line.

use std::collections::HashMap;
use std::fmt::Write;

use super::list::in_order;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// The number of pairs of lines up to which the shortest difference is searched for. Each pair takes four bytes.
const MAX_COMPARED: usize = 1 << 20;

/// Returns the hunks that turn the old text into the new one, without the two lines that name the files; empty if the
/// texts have the same lines. A line that differs only in a missing line break at the end of its text counts as equal.
///
/// The difference is the shortest one, unless there are more than about a thousand lines between the first and the last
/// change.
///
/// ```
/// let hunks = kdelta::diff::unified("a\nb\nc\n", "a\nx\nc\n");
/// assert_eq!(hunks, "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
/// ```
#[must_use]
pub fn unified(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut hunks = String::new();
    let mut changes = changed_runs(&old, &new).into_iter().peekable();
    while let Some(first) = changes.next() {
        let mut runs = vec![first];
        // Changes whose context would touch share a hunk.
        while let Some(run) = changes.next_if(|next| next.old.0 - runs[runs.len() - 1].old.1 <= 2 * CONTEXT) {
            runs.push(run);
        }
        write_hunk(&old, &new, &runs, &mut hunks);
    }
    hunks
}

/// Lines that are replaced by others: from the first one to before the second one, in each text.
struct Run {
    old: (usize, usize),
    new: (usize, usize),
}

fn write_hunk(old: &[&str], new: &[&str], runs: &[Run], out: &mut String) {
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return };
    let before = first.old.0.min(CONTEXT);
    let after = (old.len() - last.old.1).min(CONTEXT);
    let range = |from: usize, to: usize| {
        let (start, count) = (from - before, to + after - (from - before));
        // An empty range is named by the line before it.
        let line = start + usize::from(count > 0);
        if count == 1 { line.to_string() } else { format!("{line},{count}") }
    };
    // Writing to a String can't fail.
    let _ = writeln!(out, "@@ -{} +{} @@", range(first.old.0, last.old.1), range(first.new.0, last.new.1));
    let mut lines = |mark: char, lines: &[&str]| {
        for line in lines {
            let _ = writeln!(out, "{mark}{line}");
        }
    };
    let mut at = first.old.0 - before;
    for run in runs {
        lines(' ', &old[at..run.old.0]);
        lines('-', &old[run.old.0..run.old.1]);
        lines('+', &new[run.new.0..run.new.1]);
        at = run.old.1;
    }
    lines(' ', &old[at..at + after]);
}

/// Returns the runs of lines that differ.
fn changed_runs(old: &[&str], new: &[&str]) -> Vec<Run> {
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let rest = (&old[start..], &new[start..]);
    let end = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(one, other)| one == other).count();
    let middle = (&rest.0[..rest.0.len() - end], &rest.1[..rest.1.len() - end]);
    let mut runs = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    let pairs = equal_lines(middle.0, middle.1);
    for (to_old, to_new) in pairs.into_iter().chain([(middle.0.len(), middle.1.len())]) {
        if (from_old, from_new) != (to_old, to_new) {
            runs.push(Run {
                old: (start + from_old, start + to_old),
                new: (start + from_new, start + to_new),
            });
        }
        (from_old, from_new) = (to_old + 1, to_new + 1);
    }
    runs
}

/// Returns pairs of equal lines in an order common to both texts: as many as possible, or if there are too many lines to
/// compare, those that occur once in each text and as many as possible between two of them.
fn equal_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let is_small = |old: &[&str], new: &[&str]| old.len().saturating_mul(new.len()) <= MAX_COMPARED;
    if is_small(old, new) {
        return most_lines(old, new);
    }
    let mut pairs = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    for (to_old, to_new) in unique_lines(old, new).into_iter().chain([(old.len(), new.len())]) {
        let (old_gap, new_gap) = (&old[from_old..to_old], &new[from_new..to_new]);
        if is_small(old_gap, new_gap) {
            let within = most_lines(old_gap, new_gap);
            pairs.extend(within.into_iter().map(|(one, other)| (from_old + one, from_new + other)));
        }
        if to_old < old.len() && to_new < new.len() {
            pairs.push((to_old, to_new));
        }
        (from_old, from_new) = (to_old + 1, to_new + 1);
    }
    pairs
}

/// Returns as many pairs as possible: a longest common subsequence.
fn most_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    // The number of pairs from each old and new line to the ends of the texts.
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for at in (0..old.len()).rev() {
        for other in (0..new.len()).rev() {
            lengths[at * width + other] = if old[at] == new[other] {
                lengths[(at + 1) * width + other + 1] + 1
            } else {
                lengths[(at + 1) * width + other].max(lengths[at * width + other + 1])
            };
        }
    }
    let (mut at, mut other) = (0, 0);
    let mut pairs = Vec::new();
    while at < old.len() && other < new.len() {
        if old[at] == new[other] {
            pairs.push((at, other));
            (at, other) = (at + 1, other + 1);
        } else if lengths[(at + 1) * width + other] >= lengths[at * width + other + 1] {
            at += 1;
        } else {
            other += 1;
        }
    }
    pairs
}

/// Returns the pairs of lines that occur once in each text and are in one order.
fn unique_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let (old, new) = (places_of_unique(old), places_of_unique(new));
    let (shared_old, shared_new) = (shared(&old, &new), shared(&new, &old));
    let [old_lines, new_lines]: [Vec<&str>; 2] =
        [&shared_old, &shared_new].map(|shared| shared.iter().map(|(_, line)| *line).collect());
    let pairs = in_order(&old_lines, &new_lines);
    pairs.into_iter().map(|(one, other)| (shared_old[one].0, shared_new[other].0)).collect()
}

/// Returns the lines that are among the others, in order, with their places.
fn shared<'t>(lines: &HashMap<&'t str, usize>, others: &HashMap<&str, usize>) -> Vec<(usize, &'t str)> {
    let known = lines.iter().filter(|(line, _)| others.contains_key(**line));
    let mut shared: Vec<(usize, &str)> = known.map(|(line, at)| (*at, *line)).collect();
    shared.sort_unstable();
    shared
}

/// Returns the places of the lines that occur once.
fn places_of_unique<'t>(lines: &[&'t str]) -> HashMap<&'t str, usize> {
    let mut places: HashMap<&str, Option<usize>> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        places.entry(line).and_modify(|place| *place = None).or_insert(Some(at));
    }
    places.into_iter().filter_map(|(line, place)| Some((line, place?))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Applies hunks to the lines of a text.
    fn patched(old: &str, hunks: &str) -> String {
        let old: Vec<&str> = old.lines().collect();
        let (mut new, mut at) = (Vec::new(), 0);
        for line in hunks.lines() {
            if let Some(head) = line.strip_prefix("@@ -") {
                let range = head.split(' ').next().expect("a range");
                let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                let start: usize = start.parse().expect("a line number");
                let start = if count == "0" { start } else { start - 1 };
                new.extend(&old[at..start]);
                at = start;
                continue;
            }
            let (mark, text) = line.split_at(1);
            if mark != "+" {
                assert_eq!(old[at], text, "{hunks}");
                at += 1;
            }
            if mark != "-" {
                new.push(text);
            }
        }
        new.extend(&old[at..]);
        new.join("\n")
    }

    #[test]
    fn hunks_have_three_lines_around_changes() {
        let old: Vec<String> = (1..=20).map(|line| line.to_string()).collect();
        let mut new = old.clone();
        new[4] = "five".into();
        new.remove(10);
        new.insert(19, "end".into());
        let (old, new) = (old.join("\n"), new.join("\n"));
        let hunks = unified(&old, &new);
        assert_eq!(
            hunks,
            "@@ -2,13 +2,12 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n 10\n-11\n 12\n 13\n 14\n\
             @@ -18,3 +17,4 @@\n 18\n 19\n 20\n+end\n"
        );
        assert_eq!(patched(&old, &hunks), new);
    }

    #[test]
    fn ranges_of_one_and_of_no_lines() {
        assert_eq!(unified("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
        assert_eq!(unified("a\nb\n", ""), "@@ -1,2 +0,0 @@\n-a\n-b\n");
        assert_eq!(unified("a", "b"), "@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(unified("a\n", "a"), "");
    }

    #[test]
    fn large_texts_are_compared_by_their_unique_lines() {
        let line = |at: usize| if at.is_multiple_of(3) { "same".to_owned() } else { format!("line {at}") };
        let old: Vec<String> = (0..5000).map(line).collect();
        let mut new = old.clone();
        new[1] = "changed".into();
        new[4999] = "changed too".into();
        let (old, new) = (old.join("\n"), new.join("\n"));
        let hunks = unified(&old, &new);
        assert_eq!(patched(&old, &hunks), new);
        let changed = hunks.lines().filter(|line| line.starts_with(['-', '+'])).count();
        assert!(hunks.contains("\n-line 4999\n+changed too\n"), "{hunks}");
        assert_eq!(changed, 4, "{hunks}");
    }

    proptest! {
        #[test]
        fn hunks_turn_the_old_text_into_the_new_one(old in "([a-d]?\n){0,30}", new in "([a-d]?\n){0,30}") {
            let hunks = unified(&old, &new);
            prop_assert_eq!(hunks.is_empty(), old == new);
            prop_assert_eq!(patched(&old, &hunks), new.lines().collect::<Vec<_>>().join("\n"), "{}", hunks);
            let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
            for pairs in [most_lines(&old, &new), unique_lines(&old, &new)] {
                prop_assert!(pairs.iter().all(|(one, other)| old[*one] == new[*other]));
                prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
            }
        }
    }
}
