//! The grammar of a field filter, among the terms of a field selector.

use super::term::{Comparison, Operand, Term, Test};
use crate::object::{FieldPath, PathError};
use crate::query::quantity::Quantity;

/// A syntax error in a term that only a [`FieldFilter`](super::FieldFilter) has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldFilterError {
    /// The field is not a valid path.
    #[error("invalid field selector: {0}")]
    Path(#[from] PathError),
    /// A set has no closing parenthesis.
    #[error("invalid field selector: the set in '{0}' has no closing parenthesis")]
    Unclosed(String),
    /// Text follows a set.
    #[error("invalid field selector: after the set in '{0}' a comma must follow")]
    AfterSet(String),
    /// A comparison has no value.
    #[error("invalid field selector: '{0}' compares with no value")]
    NoValue(String),
}

/// Splits a selector; see [`FieldFilter::split`](super::FieldFilter::split).
pub(super) fn split(text: &str) -> Result<(String, Vec<Term>), FieldFilterError> {
    let (mut others, mut terms) = (Vec::new(), Vec::new());
    let mut rest = text;
    loop {
        let length = if let Some((length, term)) = own_term(rest)? {
            terms.push(Term { text: rest[..length].trim().to_owned(), ..term });
            length
        } else {
            let length = end_of_term(rest);
            others.push(&rest[..length]);
            length
        };
        match rest[length..].strip_prefix(',') {
            Some(after) => rest = after,
            None => break,
        }
    }
    // A selector without such terms stays as it is.
    let others = if terms.is_empty() { text.to_owned() } else { others.join(",") };
    Ok((others, terms))
}

/// Parses the term at the start of the text, and returns it with its length; `None` for a term of kubectl's grammar. In
/// that, the first `=` or `!=` of a term is its operator.
fn own_term(text: &str) -> Result<Option<(usize, Term)>, FieldFilterError> {
    let Some(at) = end_of_path(text) else { return Ok(None) };
    let (path, operator) = (&text[..at], text[at..].trim_start());
    let comparisons = [
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    for (sign, comparison) in comparisons {
        if let Some(value) = operator.strip_prefix(sign) {
            return comparison_term(text, path, comparison, text.len() - value.len());
        }
    }
    for (word, is_member) in [("notin", false), ("in", true)] {
        if let Some(values) = operator.strip_prefix(word).and_then(|rest| rest.trim_start().strip_prefix('('))
        {
            return set_term(text, path, is_member, text.len() - values.len()).map(Some);
        }
    }
    Ok(None)
}

/// Parses a comparison whose value starts there; `None` for a term of kubectl's grammar.
fn comparison_term(
    text: &str,
    path: &str,
    comparison: Comparison,
    start: usize,
) -> Result<Option<(usize, Term)>, FieldFilterError> {
    let length = start + end_of_term(&text[start..]);
    let value = text[start..length].trim();
    // kubectl reads the whole term as `FIELD=VALUE`.
    if value.contains('=') {
        return Ok(None);
    }
    if value.is_empty() {
        return Err(FieldFilterError::NoValue(text[..length].to_owned()));
    }
    let operand = Quantity::parse(value).map_or_else(|_| Operand::Text(value.to_owned()), Operand::Quantity);
    Ok(Some((length, term(path, Test::Compare(comparison, operand))?)))
}

/// Parses a set whose values start there.
fn set_term(
    text: &str,
    path: &str,
    is_member: bool,
    start: usize,
) -> Result<(usize, Term), FieldFilterError> {
    let Some((values, _)) = text[start..].split_once(')') else {
        return Err(FieldFilterError::Unclosed(text.to_owned()));
    };
    let end = start + values.len() + 1;
    let length = text.len() - text[end..].trim_start().len();
    if !text[length..].is_empty() && !text[length..].starts_with(',') {
        return Err(FieldFilterError::AfterSet(text[..end].to_owned()));
    }
    let values = values.split(',').map(|value| value.trim().to_owned()).collect();
    let set = if is_member { Test::In(values) } else { Test::NotIn(values) };
    Ok((length, term(path, set)?))
}

fn term(path: &str, test: Test) -> Result<Term, FieldFilterError> {
    Ok(Term { text: String::new(), path: FieldPath::parse(path.trim())?, test })
}

/// Returns the position of the first space or angle bracket outside of square brackets and quotes; `None` if the term ends or has
/// a character of kubectl's grammar before. Brackets and quotes end with the term, so that the meaning of a term does not
/// depend on those around it.
fn end_of_path(text: &str) -> Option<usize> {
    let text = &text[..end_of_term(text)];
    let (mut depth, mut quote) = (0_u32, None);
    let start = text.len() - text.trim_start().len();
    for (at, c) in text[start..].char_indices() {
        if let Some(open) = quote {
            quote = quote.filter(|_| c != open);
            continue;
        }
        match c {
            '\'' | '"' if depth > 0 => quote = Some(c),
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '<' | '>' => return Some(start + at),
            '=' | '!' => return None,
            c if c.is_whitespace() => return Some(start + at),
            _ => {}
        }
    }
    None
}

/// Returns the length of a term: the position of the first comma without a backslash before it.
fn end_of_term(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if c == ',' && !is_escaped {
            return at;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    text.len()
}
