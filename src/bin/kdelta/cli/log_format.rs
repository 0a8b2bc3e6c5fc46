//! The form of messages before the settings are known, for errors in the command line.

use std::ffi::OsString;

use kdelta::kubeconfig::Secret;

use crate::output::Messages;
use crate::settings::Environment;

const FLAG: &str = "--log-format";
const VARIABLE: &str = "KDELTA_LOG_FORMAT";

/// Returns the writer of messages for a command line that is not parsed yet.
pub(super) fn early_messages(words: &[OsString], environment: &Environment) -> Messages {
    Messages::stderr(environment.stderr_is_terminal, false).with_json(is_json(words, environment))
}

/// Whether the last flag of the words, or else the variable, selects JSON.
fn is_json(words: &[OsString], environment: &Environment) -> bool {
    let words = words.iter().map_while(|word| word.to_str().filter(|word| *word != "--"));
    let words: Vec<&str> = words.collect();
    let value = |at: usize| match words[at].strip_prefix(FLAG)? {
        "" => words.get(at + 1).copied(),
        rest => rest.strip_prefix('='),
    };
    let flag = (0..words.len()).rev().find_map(value);
    let variable = environment.kdelta_variables.get(VARIABLE).and_then(Option::as_ref);
    flag.or_else(|| variable.map(Secret::expose)) == Some("json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_flag_overrides_the_variable() {
        let json = |line: &str, variable: Option<&str>| {
            let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
            let mut environment = Environment::default();
            if let Some(value) = variable {
                environment.kdelta_variables.insert(VARIABLE.to_owned(), Some(value.to_owned().into()));
            }
            is_json(&words, &environment)
        };
        for line in [
            "kdelta --log-format=json x",
            "kdelta x --log-format json",
            "kdelta --log-format text --log-format=json",
        ] {
            assert!(json(line, None) && json(line, Some("text")), "{line}");
        }
        for line in [
            "kdelta x",
            "kdelta --log-format",
            "kdelta --log-format=text",
            "kdelta x -- --log-format=json",
            "kdelta --log-formats=json",
        ] {
            assert!(!json(line, None), "{line}");
        }
        assert!(json("kdelta x", Some("json")) && !json("kdelta --log-format=text", Some("json")));
    }
}
