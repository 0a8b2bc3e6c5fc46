//! Suggestions for a misspelled word: the most similar of many names. Pure.
//!
//! The program includes this file too (`#[path]`), because it is not part of the library's API.

/// The maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Returns the labels of up to three choices with the name most similar to the word, in their order. Each choice is a label
/// and its names. The longer the word, the more edits are allowed; a word of one or two letters must match.
#[must_use]
pub(crate) fn nearest(word: &str, choices: impl Iterator<Item = (String, Vec<String>)>) -> Vec<String> {
    let allowed = match word.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    let mut found: Vec<(usize, String)> = Vec::new();
    for (label, names) in choices {
        let near = names.iter().map(|name| distance(word, name)).min();
        if let Some(near) = near.filter(|near| *near <= allowed) {
            found.push((near, label));
        }
    }
    found.sort_by_key(|(near, _)| *near);
    let best = found.first().map(|(near, _)| *near);
    found
        .into_iter()
        .filter(|(near, _)| Some(*near) == best)
        .take(MAX_SUGGESTIONS)
        .map(|(_, label)| label)
        .collect()
}

/// Returns the edit distance: the number of letters to change, add, remove or swap with a neighbor.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, to) in b.iter().enumerate() {
            let change = last[j] + usize::from(from != to);
            let mut best = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *from == b[j - 1] && a[i - 1] == *to {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits_and_swaps() {
        for (a, b, expected) in [
            ("pods", "pods", 0),
            ("pdos", "pods", 1),
            ("pod", "pods", 1),
            ("", "ab", 2),
            ("sevrice", "services", 2),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn only_the_nearest_are_suggested_and_short_words_get_none() {
        let choices = || {
            [
                ("pods", vec!["pods", "po"]),
                ("podtemplates", vec!["podtemplates"]),
                ("nodes", vec!["nodes", "no"]),
            ]
            .into_iter()
            .map(|(label, names)| (label.to_owned(), names.into_iter().map(str::to_owned).collect()))
        };
        assert_eq!(nearest("podss", choices()), ["pods"]);
        assert_eq!(nearest("podtemplate", choices()), ["podtemplates"]);
        assert_eq!(nearest("xx", choices()), Vec::<String>::new());
        assert_eq!(nearest("nothing", choices()), Vec::<String>::new());
    }
}
