//! The operands of `&&` and `||` as ranges of an expression's text.

use std::ops::Range;

use super::lexer::{Token, tokens};

/// Returns the ranges of the operands that `operator` joins outside of brackets, in a range of a valid expression.
pub(in crate::query::cel) fn operands(text: &str, range: Range<usize>, operator: &str) -> Vec<Range<usize>> {
    let (mut found, mut from, mut depth) = (Vec::new(), range.start, 0_usize);
    for (token, at) in tokens(text).unwrap_or_default().into_iter().filter(|(_, at)| range.contains(at)) {
        match token {
            Token::Symbol("(" | "[" | "{") => depth += 1,
            Token::Symbol(")" | "]" | "}") => depth = depth.saturating_sub(1),
            Token::Symbol(symbol) if symbol == operator && depth == 0 => {
                found.push(trimmed(text, from..at));
                from = at + operator.len();
            }
            _ => {}
        }
    }
    found.push(trimmed(text, from..range.end));
    found
}

/// Returns the range without the parentheses around all of it.
pub(in crate::query::cel) fn without_parentheses(text: &str, range: Range<usize>) -> Range<usize> {
    let mut range = trimmed(text, range);
    while let Some(inner) = inside_parentheses(text, range.clone()) {
        range = inner;
    }
    range
}

/// Returns the range inside the parentheses around a range; `None` if the first one closes before the end.
fn inside_parentheses(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    if !text[range.clone()].starts_with('(') {
        return None;
    }
    let mut depth = 0_usize;
    for (token, at) in tokens(text).unwrap_or_default().into_iter().filter(|(_, at)| range.contains(at)) {
        match token {
            Token::Symbol("(") => depth += 1,
            Token::Symbol(")") => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (at + 1 == range.end).then(|| trimmed(text, range.start + 1..at));
                }
            }
            _ => {}
        }
    }
    None
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let operand = &text[range.clone()];
    let start = range.start + (operand.len() - operand.trim_start().len());
    start..start + operand.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_split_outside_of_brackets_and_strings() {
        let split = |text: &str| {
            let ranges = operands(text, 0..text.len(), "||");
            ranges.into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(split("a || b"), ["a", "b"]);
        assert_eq!(split("a"), ["a"]);
        assert_eq!(
            split("(a || b) || c['||'] || d.exists(x, x || y)"),
            ["(a || b)", "c['||']", "d.exists(x, x || y)"]
        );
    }

    #[test]
    fn only_parentheses_around_everything_are_removed() {
        let inner = |text: &str| text[without_parentheses(text, 0..text.len())].to_owned();
        assert_eq!(inner(" ((a || b)) "), "a || b");
        assert_eq!(inner("(a) || (b)"), "(a) || (b)");
        assert_eq!(inner("a"), "a");
    }
}
