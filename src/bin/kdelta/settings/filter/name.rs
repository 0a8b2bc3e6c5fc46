//! The names of `--name`: patterns as in a shell, and regular expressions between slashes.

use std::fmt;

use regex_bites::{Regex, RegexBuilder};

use crate::settings::{Pattern, UsageError};

/// The size of a compiled expression in bytes: a bound for repetitions such as `(a{1000}){1000}`.
const LARGEST_EXPRESSION: usize = 1 << 20;

/// Names, one of which must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names(Vec<Name>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Pattern(Pattern),
    Expression(Expression),
}

/// A regular expression. Matching takes time in proportion to the lengths of expression and name.
#[derive(Debug, Clone)]
struct Expression(Regex);

/// Expressions are equal if their texts are.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Expression {}

impl Names {
    /// Reads the values of the flag: `/regex/`, or patterns separated by commas.
    pub(super) fn read(texts: &[String]) -> Result<Self, UsageError> {
        let mut names = Vec::new();
        for text in texts {
            if let Some(expression) = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
                let regex = RegexBuilder::new(expression).size_limit(LARGEST_EXPRESSION).build();
                let regex = regex.map_err(|error| UsageError::NameExpression {
                    text: text.clone(),
                    reason: error.to_string(),
                })?;
                names.push(Name::Expression(Expression(regex)));
                continue;
            }
            if text.contains('/') {
                return Err(UsageError::NameWithSlash(text.clone()));
            }
            let patterns = text.split(',').filter(|pattern| !pattern.is_empty());
            names.extend(patterns.map(|pattern| Name::Pattern(Pattern::new(pattern))));
        }
        match (names.is_empty(), texts.first()) {
            (true, Some(text)) => Err(UsageError::NoNames { flag: "name", text: text.clone() }),
            _ => Ok(Self(names)),
        }
    }

    /// Whether one of them matches. A pattern matches the whole name, an expression any part of it.
    pub(crate) fn matches(&self, name: &str) -> bool {
        self.0.iter().any(|expected| match expected {
            Name::Pattern(pattern) => pattern.matches(name),
            Name::Expression(Expression(regex)) => regex.is_match(name),
        })
    }
}

/// Formats the names as they are typed, separated by commas.
impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, name) in self.0.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { "," })?;
            match name {
                Name::Pattern(pattern) => f.write_str(pattern.text())?,
                Name::Expression(Expression(regex)) => write!(f, "/{}/", regex.as_str())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> Result<Names, UsageError> {
        Names::read(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn any_pattern_or_expression_selects_a_name() {
        for (texts, name, expected) in [
            (&["web-*"][..], "web-1", true),
            (&["web-*"], "my-web-1", false),
            (&["web-*,db"], "db", true),
            (&["web-*", "db"], "db", true),
            (&["/^web-[0-9]+$/"], "web-12", true),
            (&["/^web-[0-9]+$/"], "web-x", false),
            (&["/eb/"], "web", true),
            (&["/a{1,2}/"], "xaax", true),
            (&["/,/", "x"], "x", true),
            (&["//"], "anything", true),
        ] {
            assert_eq!(names(texts).expect("names").matches(name), expected, "{texts:?} {name}");
        }
    }

    #[test]
    fn invalid_names_are_usage_errors() {
        assert!(names(&["/(/"]).expect_err("no end").to_string().starts_with("invalid --name /(/: "));
        assert!(names(&["/(a{999}){999}/"]).is_err(), "too large");
        assert_eq!(
            names(&["pod/web"]).expect_err("a slash").to_string(),
            "--name \"pod/web\" has a slash: a regular expression stands between two, as in /^web/"
        );
        assert_eq!(
            names(&[","]).expect_err("none").to_string(),
            "--name needs a name: there is none in \",\""
        );
    }
}
