//! The grammar of label selectors.

use super::SelectorError;
use super::requirement::{Requirement, Test};

const OPERATORS: [&str; 6] = ["==", "!=", "=", "!", ">", "<"];
const AFTER: &str = "',' or 'end of string'";

/// A token. The end of the text is the empty symbol; a word may be a label, a value, `in` or `notin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Word(&'t str),
    Symbol(&'static str),
}

const END: Token<'static> = Token::Symbol("");

impl<'t> Token<'t> {
    fn text(self) -> &'t str {
        match self {
            Self::Word(text) | Self::Symbol(text) => text,
        }
    }

    fn is_a_requirement(self) -> bool {
        matches!(self, Self::Word(_) | Self::Symbol("!"))
    }
}

struct Tokens<'t>(&'t str);

impl<'t> Tokens<'t> {
    fn peek(&self) -> Token<'t> {
        Tokens(self.0).next()
    }

    fn next(&mut self) -> Token<'t> {
        self.0 = self.0.trim_start_matches(is_whitespace);
        for symbol in OPERATORS.into_iter().chain(["(", ")", ","]) {
            if let Some(rest) = self.0.strip_prefix(symbol) {
                self.0 = rest;
                return Token::Symbol(symbol);
            }
        }
        let end = self.0.find(|char| is_whitespace(char) || "=!(),><".contains(char)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        if word.is_empty() { END } else { Token::Word(word) }
    }

    fn take_if(&mut self, symbol: &'static str) -> bool {
        let found = self.peek() == Token::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }
}

fn is_whitespace(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\r' | '\n')
}

/// Parses the requirements of a selector, in text order.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, SelectorError> {
    let unexpected =
        |token: Token<'_>, expected| SelectorError::Unexpected { found: token.text().to_owned(), expected };
    let mut tokens = Tokens(text);
    let mut requirements = Vec::new();
    match tokens.peek() {
        END => return Ok(requirements),
        token if token.is_a_requirement() => {}
        token => return Err(unexpected(token, "!, identifier, or 'end of string'")),
    }
    loop {
        requirements.push(requirement(&mut tokens).map_err(SelectorError::Requirement)?);
        match tokens.next() {
            END => return Ok(requirements),
            Token::Symbol(",") if tokens.peek().is_a_requirement() => {}
            Token::Symbol(",") => return Err(unexpected(tokens.peek(), "identifier after ','")),
            token => return Err(unexpected(token, AFTER)),
        }
    }
}

fn requirement(tokens: &mut Tokens<'_>) -> Result<Requirement, String> {
    let absent = tokens.take_if("!");
    let Token::Word(label) = tokens.peek() else {
        return Err(format!("found '{}', expected: identifier", tokens.next().text()));
    };
    tokens.next();
    check_label(label)?;
    let test = if absent { Test::Absent } else { test(tokens, label)? };
    Ok(Requirement { label: label.to_owned(), test })
}

fn test(tokens: &mut Tokens<'_>, label: &str) -> Result<Test, String> {
    if matches!(tokens.peek(), END | Token::Symbol(",")) {
        return Ok(Test::Exists);
    }
    Ok(match tokens.next() {
        Token::Word("in") => Test::In(values(tokens, label)?),
        Token::Word("notin") => Test::NotIn(values(tokens, label)?),
        Token::Symbol(operator @ ("=" | "==")) => Test::Is(operator, value(tokens, label)?),
        Token::Symbol("!=") => Test::IsNot(value(tokens, label)?),
        Token::Symbol(">") => Test::Greater(number(tokens, label)?),
        Token::Symbol("<") => Test::Less(number(tokens, label)?),
        token => return Err(format!("found '{}', expected: in, notin, =, ==, !=, gt, lt", token.text())),
    })
}

/// Parses the value after an operator; an omitted one is empty.
fn value(tokens: &mut Tokens<'_>, label: &str) -> Result<String, String> {
    match tokens.peek() {
        END | Token::Symbol(",") => Ok(String::new()),
        Token::Word(value) => {
            tokens.next();
            check_value(label, value)?;
            Ok(value.to_owned())
        }
        token @ Token::Symbol(_) => Err(format!("found '{}', expected: identifier", token.text())),
    }
}

fn number(tokens: &mut Tokens<'_>, label: &str) -> Result<i64, String> {
    let value = value(tokens, label)?;
    value.parse().map_err(|_| {
        invalid(
            &format!("values[0][{label}]"),
            &value,
            "for 'Gt', 'Lt' operators, the value must be an integer",
        )
    })
}

/// Parses `(a,b)`; an omitted value between commas is empty.
fn values(tokens: &mut Tokens<'_>, label: &str) -> Result<Vec<String>, String> {
    match tokens.next() {
        Token::Symbol("(") => {}
        token => return Err(format!("found '{}' expected: '('", token.text())),
    }
    let mut values = Vec::new();
    loop {
        match tokens.peek() {
            Token::Word(value) => {
                tokens.next();
                check_value(label, value)?;
                values.push(value.to_owned());
            }
            Token::Symbol("," | ")") => values.push(String::new()),
            token @ Token::Symbol(_) => {
                return Err(format!("found '{}', expected: ',', ')' or identifier", token.text()));
            }
        }
        match tokens.next() {
            Token::Symbol(",") => {}
            Token::Symbol(")") => break,
            token => return Err(format!("found '{}', expected: ',' or ')'", token.text())),
        }
    }
    values.sort_unstable();
    values.dedup();
    Ok(values)
}

/// Checks a label: a name of up to 63 characters, optionally after a DNS subdomain of up to 253 and a slash.
fn check_label(label: &str) -> Result<(), String> {
    let (prefix, name) = label.split_once('/').map_or((None, label), |(prefix, name)| (Some(prefix), name));
    let refuse = |reason: &str| Err(invalid("key", label, reason));
    match prefix {
        Some("") => return refuse("prefix part must be non-empty"),
        Some(prefix) if prefix.len() > 253 => return refuse("prefix part must be no more than 253 bytes"),
        Some(prefix) if !prefix.split('.').all(is_dns_label) => {
            return refuse("prefix part must be a lowercase RFC 1123 subdomain (e.g. 'example.com')");
        }
        _ => {}
    }
    match name {
        "" => refuse("name part must be non-empty"),
        _ if name.len() > 63 => refuse("name part must be no more than 63 bytes"),
        _ if !is_name(name) => refuse(
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        ),
        _ => Ok(()),
    }
}

fn check_value(label: &str, value: &str) -> Result<(), String> {
    let refuse = |reason: &str| Err(invalid(&format!("values[0][{label}]"), value, reason));
    match value {
        _ if value.len() > 63 => refuse("must be no more than 63 bytes"),
        _ if !is_name(value) => refuse(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        ),
        _ => Ok(()),
    }
}

fn invalid(what: &str, value: &str, reason: &str) -> String {
    format!("{what}: Invalid value: {value:?}: {reason}")
}

fn is_name(text: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_dns_label(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    is_name(text) && text.bytes().all(is_inner)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::object::LabelSelector;

    #[test]
    fn a_selector_prints_as_kubectl_prints_it() {
        for (given, expected) in [
            ("", ""),
            (" ", ""),
            ("x=a,y=b,z=c", "x=a,y=b,z=c"),
            ("z=c,a", "a,z=c"),
            ("x!=a,y==b", "x!=a,y==b"),
            ("x= ,z= ", "x=,z="),
            ("!x", "!x"),
            ("! x", "!x"),
            ("x>1,z<5", "x>1,z<5"),
            ("x in (foo,,baz),y,z notin ()", "x in (,baz,foo),y,z notin ()"),
            ("x in (in, notin)", "x in (in,notin)"),
            ("in in (in)", "in in (in)"),
            ("x in (,)", "x in ()"),
            ("x in (a,)", "x in (,a)"),
            ("\tx\n=\ra ", "x=a"),
            ("a.b/c-d_e.f=G", "a.b/c-d_e.f=G"),
        ] {
            assert_eq!(LabelSelector::parse(given).expect(given).to_string(), expected);
        }
    }

    #[test]
    fn invalid_selectors_are_rejected_with_kubectls_messages() {
        let long = "x".repeat(64);
        for (given, expected) in [
            (
                "x=a||y=b",
                "unable to parse requirement: values[0][x]: Invalid value: \"a||y\": a valid label must",
            ),
            ("x==a==b", "found '==', expected: ',' or 'end of string'"),
            ("!x=a", "found '=', expected: ',' or 'end of string'"),
            ("x,", "found '', expected: identifier after ','"),
            ("x,,y", "found ',', expected: identifier after ','"),
            (",x", "found ',', expected: !, identifier, or 'end of string'"),
            ("x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"),
            ("x (a)", "unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt"),
            ("!", "unable to parse requirement: found '', expected: identifier"),
            ("x=(", "unable to parse requirement: found '(', expected: identifier"),
            ("x in a", "unable to parse requirement: found 'a' expected: '('"),
            ("x in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"),
            ("x in (a", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("x in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
            (
                "x<a",
                "unable to parse requirement: values[0][x]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer",
            ),
            ("-x", "unable to parse requirement: key: Invalid value: \"-x\": name part must consist of"),
            ("/x", "unable to parse requirement: key: Invalid value: \"/x\": prefix part must be non-empty"),
            ("a/", "unable to parse requirement: key: Invalid value: \"a/\": name part must be non-empty"),
            (
                "A/x",
                "unable to parse requirement: key: Invalid value: \"A/x\": prefix part must be a lowercase",
            ),
            (
                "a/b/c",
                "unable to parse requirement: key: Invalid value: \"a/b/c\": name part must consist of",
            ),
            (&long, "unable to parse requirement: key: Invalid value: \"xxx"),
            (&format!("x={long}"), "unable to parse requirement: values[0][x]: Invalid value: \"xxx"),
        ] {
            let error = LabelSelector::parse(given).expect_err(given).to_string();
            assert!(error.starts_with(expected), "{given}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_the_parser(text in "([xy,=!()<> \\PC]|in|notin){0,12}") {
            if let Ok(selector) = LabelSelector::parse(&text) {
                prop_assert_eq!(LabelSelector::parse(&selector.to_string()), Ok(selector));
            }
        }
    }
}
