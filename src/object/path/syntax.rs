//! The syntax of paths.

use std::fmt::{self, Write as _};

use super::step::Step;

/// Parses the steps of a path, or returns the reason why it is invalid.
pub(super) fn parse(text: &str) -> Result<Vec<Step>, String> {
    let text = text.trim();
    let text = match text.strip_prefix('{') {
        Some(inner) => inner.strip_suffix('}').ok_or("'{' is not closed")?.trim(),
        None => text,
    };
    let text = text.strip_prefix('$').unwrap_or(text);
    let mut rest = text.strip_prefix('.').unwrap_or(text);
    let mut steps = Vec::new();
    loop {
        let (step, after) = match rest.strip_prefix('[') {
            Some(inner) => bracket(inner)?,
            None => name(rest)?,
        };
        steps.push(step);
        rest = match after.strip_prefix('.') {
            Some(next) => next,
            None if after.is_empty() => return Ok(steps),
            None if after.starts_with('[') => after,
            None => return Err("expected '.' or '[' after ']'".into()),
        };
    }
}

/// Parses a name up to the next `.` or `[`, and returns the remaining text.
fn name(text: &str) -> Result<(Step, &str), String> {
    let (name, end) = unescape(text, &['.', '['])?;
    match &text[..end] {
        "" => Err("a name is empty".into()),
        "*" => Ok((Step::Each, &text[end..])),
        _ => Ok((Step::Name(name.into()), &text[end..])),
    }
}

/// Parses the contents of brackets and returns the remaining text. `text` begins after the opening bracket.
fn bracket(text: &str) -> Result<(Step, &str), String> {
    if let Some(quote) = text.chars().next().filter(|quote| matches!(quote, '\'' | '"')) {
        let (name, end) = unescape(&text[1..], &[quote])?;
        let after = text[1 + end..].strip_prefix(quote).ok_or("a quote is not closed")?;
        let after = after.strip_prefix(']').ok_or("expected ']' after the quoted name")?;
        return Ok((Step::Name(name.into()), after));
    }
    let (inner, after) = text.split_once(']').ok_or("'[' is not closed")?;
    let step = match inner.trim() {
        "*" => Step::Each,
        number => {
            let number = number.parse().map_err(|_| {
                format!("[{inner}] is not understood: expected a number from 0, '*' or a quoted name")
            })?;
            Step::Element(number)
        }
    };
    Ok((step, after))
}

/// Returns the text up to the first unescaped character of `ends`, without backslashes, and its end.
fn unescape(text: &str, ends: &[char]) -> Result<(String, usize), String> {
    let mut plain = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => plain.push(chars.next().ok_or("nothing follows the last '\\'")?.1),
            char if ends.contains(&char) => return Ok((plain, at)),
            char => plain.push(char),
        }
    }
    Ok((plain, text.len()))
}

/// Writes a path that [`parse`] parses to the same steps.
pub(super) fn write(steps: &[Step], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Each => f.write_str("[*]")?,
            Step::Element(number) => write!(f, "[{number}]")?,
            Step::Name(name) if is_plain(name) => {
                f.write_str(if at == 0 { "" } else { "." })?;
                f.write_str(name)?;
            }
            Step::Name(name) => {
                f.write_str("['")?;
                for char in name.chars() {
                    if matches!(char, '\'' | '\\') {
                        f.write_char('\\')?;
                    }
                    f.write_char(char)?;
                }
                f.write_str("']")?;
            }
        }
    }
    Ok(())
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::object::path::{FieldPath, Step};

    #[test]
    fn invalid_paths_are_rejected_with_a_reason() {
        for (text, reason) in [
            ("", "a name is empty"),
            (".", "a name is empty"),
            ("{.a", "'{' is not closed"),
            ("a..b", "a name is empty"),
            ("a.", "a name is empty"),
            ("a[0", "'[' is not closed"),
            ("a['b", "a quote is not closed"),
            ("a['b'", "expected ']' after the quoted name"),
            ("a['b','c']", "expected ']' after the quoted name"),
            ("a[0]b", "expected '.' or '[' after ']'"),
            ("a\\", "nothing follows the last '\\'"),
            ("a[-1]", "[-1] is not understood: expected a number from 0, '*' or a quoted name"),
            ("a[?(@.b)]", "[?(@.b)] is not understood: expected a number from 0, '*' or a quoted name"),
        ] {
            let error = FieldPath::parse(text).expect_err(text).to_string();
            assert_eq!(error, format!("invalid field path {text:?}: {reason}"));
        }
    }

    #[test]
    fn equal_paths_print_equal() {
        for (given, expected) in [
            ("{ .a.b }", "a.b"),
            (r"metadata.labels.a\.b/c", "metadata.labels['a.b/c']"),
            ("a.*[ 0 ]", "a[*][0]"),
            ("['a'].b", "a.b"),
            ("a['*']", "a['*']"),
        ] {
            assert_eq!(FieldPath::parse(given).expect(given).to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn a_printed_path_reads_back(steps in proptest::collection::vec(
            prop_oneof![
                ".{0,4}".prop_map(|name| Step::Name(name.into())),
                (0..3usize).prop_map(Step::Element),
                Just(Step::Each),
            ],
            1..5,
        )) {
            let path = FieldPath(steps.into());
            prop_assert_eq!(FieldPath::parse(&path.to_string()), Ok(path));
        }

        #[test]
        fn no_text_panics_the_parser(text in "[\\PC.'\\[\\]{}*\\\\]{0,12}") {
            if let Ok(path) = FieldPath::parse(&text) {
                prop_assert_eq!(FieldPath::parse(&path.to_string()), Ok(path));
            }
        }
    }
}
