//! The tokens of an expression.

use super::literal;
use crate::query::cel::error::Problem;

/// A token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    /// A name that is no keyword.
    Ident(&'a str),
    /// The digits of an integer, with `0x` if hexadecimal, without `u`.
    Int(&'a str),
    Uint(&'a str),
    Double(&'a str),
    /// The content between the quotes, with its escapes if it is not raw.
    Text {
        content: &'a str,
        is_raw: bool,
    },
    Bytes {
        content: &'a str,
        is_raw: bool,
    },
    /// A keyword, operator or bracket.
    Symbol(&'static str),
    End,
}

/// Longer ones first.
const SYMBOLS: [&str; 23] = [
    "==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", "{", "}", ".", ",", ":", "?", "+", "-", "*", "/",
    "%", "<", ">",
];

const KEYWORDS: [&str; 4] = ["true", "false", "null", "in"];

/// Splits an expression into tokens, each with the byte at which it begins. The last token is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, usize)>, Problem> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at = skip_space(text, at);
        let rest = &text[at..];
        if rest.is_empty() {
            tokens.push((Token::End, at));
            return Ok(tokens);
        }
        let (token, length) =
            token(rest).map_err(|problem| Problem::new(at + problem.at, problem.message))?;
        tokens.push((token, at));
        at += length;
    }
}

/// Returns the byte of the first `=` outside of brackets that is no part of a token. No expression has one.
pub(in crate::query::cel) fn lone_equals_sign(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0_usize);
    loop {
        at = skip_space(text, at);
        let rest = &text[at..];
        match token(rest) {
            _ if rest.is_empty() => return None,
            Ok((token, length)) => {
                match token {
                    Token::Symbol("(" | "[" | "{") => depth += 1,
                    Token::Symbol(")" | "]" | "}") => depth = depth.saturating_sub(1),
                    _ => {}
                }
                at += length;
            }
            Err(_) => return (depth == 0 && rest.starts_with('=')).then_some(at),
        }
    }
}

/// Skips whitespace and comments.
fn skip_space(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']);
        at += rest.len() - trimmed.len();
        if !trimmed.starts_with("//") {
            return at;
        }
        at += trimmed.find('\n').unwrap_or(trimmed.len());
    }
}

fn token(rest: &str) -> Result<(Token<'_>, usize), Problem> {
    if let Some(string) = string(rest)? {
        return Ok(string);
    }
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    if digits.starts_with(|first: char| first.is_ascii_digit()) {
        return number(rest);
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
    if !name.is_empty() {
        let keyword = KEYWORDS.iter().find(|keyword| **keyword == name);
        return Ok((keyword.map_or(Token::Ident(name), |keyword| Token::Symbol(keyword)), name.len()));
    }
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        return Ok((Token::Symbol(symbol), symbol.len()));
    }
    if rest.starts_with('!') {
        return Ok((Token::Symbol("!"), 1));
    }
    let unexpected = rest.chars().next().unwrap_or_default();
    Err(Problem::new(0, format!("unexpected character {unexpected:?}")))
}

/// Returns a string or bytes literal, if there is one.
fn string(rest: &str) -> Result<Option<(Token<'_>, usize)>, Problem> {
    let is_bytes = rest.starts_with(['b', 'B']);
    let unprefixed = &rest[usize::from(is_bytes)..];
    let is_raw = unprefixed.starts_with(['r', 'R']);
    let quoted = &unprefixed[usize::from(is_raw)..];
    let quote = match quoted.as_bytes() {
        [b'"', b'"', b'"', ..] => "\"\"\"",
        [b'\'', b'\'', b'\'', ..] => "'''",
        [b'"', ..] => "\"",
        [b'\'', ..] => "'",
        _ => return Ok(None),
    };
    let inside = &quoted[quote.len()..];
    let Some(end) = literal::end(inside, quote, is_raw) else {
        return Err(Problem::new(0, "the string is not closed"));
    };
    let content = &inside[..end];
    let length = rest.len() - inside.len() + end + quote.len();
    let token = if is_bytes { Token::Bytes { content, is_raw } } else { Token::Text { content, is_raw } };
    Ok(Some((token, length)))
}

fn number(rest: &str) -> Result<(Token<'_>, usize), Problem> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end;
    let mut is_double = false;
    if rest.starts_with("0x") && bytes.get(2).is_some_and(u8::is_ascii_hexdigit) {
        end = 2 + bytes[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    } else {
        end = digits(0);
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            is_double = true;
            end += 1 + digits(end + 1);
        }
        if let Some(b'e' | b'E') = bytes.get(end) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent == 0 {
                return Err(Problem::new(end, "the exponent has no digits"));
            }
            is_double = true;
            end += 1 + sign + exponent;
        }
    }
    let text = &rest[..end];
    let is_unsigned = !is_double && matches!(bytes.get(end), Some(b'u' | b'U'));
    let length = end + usize::from(is_unsigned);
    if bytes.get(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
        return Err(Problem::new(length, "unexpected character after a number"));
    }
    let token = match (is_double, is_unsigned) {
        (true, _) => Token::Double(text),
        (false, true) => Token::Uint(text),
        (false, false) => Token::Int(text),
    };
    Ok((token, length))
}
