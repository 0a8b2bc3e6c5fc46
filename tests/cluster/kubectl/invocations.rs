//! An invocation: the line that names it, its arguments and its standard input.

use super::words::split;

/// An invocation of both programs.
#[derive(Clone, Debug)]
pub(super) struct Invocation {
    /// Its line in the table, which also names it in the lists of differences.
    pub(super) line: String,
    pub(super) arguments: Vec<String>,
    /// Environment variables.
    pub(super) variables: Vec<(String, String)>,
    /// A file of the working directory.
    pub(super) stdin: Option<String>,
}

impl Invocation {
    /// Parses a line: optionally `NAME=VALUE` words, arguments, and optionally `< FILE`.
    pub(super) fn parse(line: &str) -> Self {
        let mut arguments = split(line);
        let is_variable = |word: &String| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
            })
        };
        let first = arguments.iter().position(|word| !is_variable(word)).unwrap_or(arguments.len());
        let variables = arguments.drain(..first).filter_map(|word| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        });
        let variables = variables.collect();
        let stdin = arguments.iter().position(|word| word == "<").map(|at| {
            let file = arguments.split_off(at).pop();
            file.filter(|file| file != "<").unwrap_or_else(|| panic!("no file after <: {line}"))
        });
        Self { line: line.to_owned(), arguments, variables, stdin }
    }

    /// Parses a table: a line each, without empty lines and comments.
    pub(super) fn table(text: &str) -> Vec<Self> {
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(Self::parse).collect()
    }

    /// Names the invocation as one that runs while an API is unavailable.
    pub(super) fn without_an_api(self) -> Self {
        Self { line: format!("{} # unavailable", self.line), ..self }
    }
}
