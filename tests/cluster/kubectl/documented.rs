//! The numbers of compared invocations in docs/kubectl.md. `KDELTA_UPDATE_SNAPSHOTS=1` rewrites them.

use std::fs;
use std::path::Path;

/// Returns the problem if the page gives another number of these invocations.
pub(super) fn count_problem(noun: &str, count: usize) -> Option<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/kubectl.md");
    let text = fs::read_to_string(&page).expect("docs/kubectl.md");
    let current = with_count(&text, noun, count);
    if text == current {
        return None;
    }
    if std::env::var("KDELTA_UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1") {
        fs::write(&page, current).expect("docs/kubectl.md");
        return None;
    }
    Some(format!("docs/kubectl.md: there are {count} {noun}; KDELTA_UPDATE_SNAPSHOTS=1 writes the number"))
}

/// Returns the text with this number in `runs N NOUN`.
fn with_count(text: &str, noun: &str, count: usize) -> String {
    let numbers = text.match_indices("runs ").map(|(at, verb)| {
        let start = at + verb.len();
        let digits = text[start..].bytes().take_while(u8::is_ascii_digit).count();
        (start, start + digits)
    });
    let mut numbers = numbers.filter(|(start, end)| start < end);
    let found = numbers.find(|(_, end)| text[*end..].trim_start().starts_with(noun));
    let (start, end) = found.unwrap_or_else(|| panic!("no number of {noun}"));
    format!("{}{count}{}", &text[..start], &text[end..])
}

#[test]
fn count_is_replaced_before_its_noun() {
    let text = "A test runs it. It runs 12 x,\nand runs 3\ny of both.";
    assert_eq!(with_count(text, "y", 40), "A test runs it. It runs 12 x,\nand runs 40\ny of both.");
    assert_eq!(with_count(text, "x", 12), text);
}
