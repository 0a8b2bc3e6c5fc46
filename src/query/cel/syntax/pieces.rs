//! The text of the terms that an expression joins.

use std::ops::Range;

use super::lexer::{Token, tokens};

/// Returns the places of the terms that an operator joins outside of brackets, in a part of a valid expression.
pub(in crate::query::cel) fn pieces(text: &str, part: Range<usize>, operator: &str) -> Vec<Range<usize>> {
    let (mut found, mut from, mut depth) = (Vec::new(), part.start, 0_usize);
    for (token, at) in tokens(text).unwrap_or_default().into_iter().filter(|(_, at)| part.contains(at)) {
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
    found.push(trimmed(text, from..part.end));
    found
}

/// Returns a part without the parentheses around all of it.
pub(in crate::query::cel) fn without_parentheses(text: &str, part: Range<usize>) -> Range<usize> {
    let mut part = trimmed(text, part);
    while let Some(inner) = inside_parentheses(text, part.clone()) {
        part = inner;
    }
    part
}

/// Returns what the parentheses around a part contain; `None` if the first one closes before the end.
fn inside_parentheses(text: &str, part: Range<usize>) -> Option<Range<usize>> {
    if !text[part.clone()].starts_with('(') {
        return None;
    }
    let mut depth = 0_usize;
    for (token, at) in tokens(text).unwrap_or_default().into_iter().filter(|(_, at)| part.contains(at)) {
        match token {
            Token::Symbol("(") => depth += 1,
            Token::Symbol(")") => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return (at + 1 == part.end).then(|| trimmed(text, part.start + 1..at));
                }
            }
            _ => {}
        }
    }
    None
}

fn trimmed(text: &str, part: Range<usize>) -> Range<usize> {
    let piece = &text[part.clone()];
    let start = part.start + (piece.len() - piece.trim_start().len());
    start..start + piece.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_split_outside_of_brackets_and_strings() {
        let split = |text: &str| {
            let parts = pieces(text, 0..text.len(), "||");
            parts.into_iter().map(|part| text[part].to_owned()).collect::<Vec<_>>()
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
