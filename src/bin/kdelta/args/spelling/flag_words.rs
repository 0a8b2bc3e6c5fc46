//! Flags as they are typed: their names in messages, and their words on the command line.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// The form in which a flag was typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// `--NAME VALUE`.
    Long(String),
    /// `-N VALUE`, or the last letter of a cluster such as `-AN VALUE`.
    Short(char),
    /// The value is part of the word.
    WithValue,
}

/// Returns the names of a flag as kubectl shows them: `-A, --all-namespaces`.
pub(crate) fn flag_names(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    short.into_iter().chain(long).collect::<Vec<_>>().join(", ")
}

/// Returns the form of the first word that names this flag; `None` if there is none.
pub(crate) fn spelling(words: &[OsString], arg: &Arg) -> Option<Spelling> {
    flag_words(words).find_map(|word| {
        if let Some(text) = word.strip_prefix("--") {
            let (name, value) =
                text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            let is_named =
                arg.get_long() == Some(name) || arg.get_all_aliases().unwrap_or_default().contains(&name);
            return is_named.then(|| match value {
                None => Spelling::Long(name.to_owned()),
                Some(_) => Spelling::WithValue,
            });
        }
        let short = arg.get_short()?;
        let at = word.find(short)?;
        Some(if at + short.len_utf8() == word.len() { Spelling::Short(short) } else { Spelling::WithValue })
    })
}

/// Returns the rest of the first cluster such as `-zA` from the letter that is no flag of the command.
pub(crate) fn unknown_shorthand(words: &[OsString], command: &Command) -> Option<String> {
    let clusters = flag_words(words).filter(|word| !word.starts_with("--"));
    clusters.into_iter().find_map(|word| {
        let cluster = word.trim_start_matches('-');
        for (at, letter) in cluster.char_indices() {
            let mut arguments = command.get_arguments();
            match arguments.find(|arg| arg.get_short() == Some(letter)) {
                None => return Some(cluster[at..].to_owned()),
                Some(arg) if !matches!(arg.get_action(), ArgAction::SetTrue) => return None,
                Some(_) => {}
            }
        }
        None
    })
}

/// Returns the words that start with a dash, up to `--`.
fn flag_words(words: &[OsString]) -> impl Iterator<Item = &str> {
    let texts = words.iter().skip(1).take_while(|word| *word != "--").filter_map(|word| word.to_str());
    texts.filter(|word| word.len() > 1 && word.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(Into::into).collect()
    }

    fn command() -> Command {
        let value = |short, long| Arg::new(long).short(short).long(long);
        Command::new("get")
            .arg(value('n', "namespace").visible_alias("ns"))
            .arg(value('A', "all").action(ArgAction::SetTrue))
    }

    #[test]
    fn flag_is_found_as_typed() {
        let command = command();
        let namespace = command.get_arguments().next().expect("a flag");
        for (line, expected) in [
            ("get -n", Some(Spelling::Short('n'))),
            ("get -An", Some(Spelling::Short('n'))),
            ("get -nx", Some(Spelling::WithValue)),
            ("get --namespace", Some(Spelling::Long("namespace".into()))),
            ("get --ns", Some(Spelling::Long("ns".into()))),
            ("get --namespace=", Some(Spelling::WithValue)),
            ("get -- -n", None),
        ] {
            assert_eq!(spelling(&words(line), namespace), expected, "{line}");
        }
        assert_eq!(flag_names(namespace), "-n, --namespace");
    }

    #[test]
    fn rest_of_a_cluster_starts_at_the_unknown_letter() {
        for (line, rest) in [
            ("get -zA", Some("zA")),
            ("get -Az", Some("z")),
            ("get -nz", None),
            ("get -A --z", None),
            ("get -A -z=1", Some("z=1")),
        ] {
            assert_eq!(unknown_shorthand(&words(line), &command()).as_deref(), rest, "{line}");
        }
    }
}
