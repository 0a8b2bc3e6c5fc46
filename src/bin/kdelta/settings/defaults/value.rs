//! The values of defaults: from TOML or a variable to the texts that the command line would have.

use clap::{Arg, ArgAction, Command};
use toml::de::DeValue;

use super::key::{ValueKind, is_switch};
use crate::args::parse_bool;

/// Returns the texts of a TOML value; `None` if it is of another type.
pub(super) fn of_toml(kind: &ValueKind, value: &DeValue<'_>) -> Option<Vec<String>> {
    let one = match (kind, value) {
        (ValueKind::Switch, DeValue::Boolean(value)) => value.to_string(),
        (ValueKind::Number | ValueKind::Time, DeValue::Integer(value)) => {
            i64::from_str_radix(value.as_str(), value.radix()).ok()?.to_string()
        }
        (ValueKind::Number, DeValue::Float(value)) => value.as_str().to_owned(),
        (
            ValueKind::Text | ValueKind::Time | ValueKind::Choice(_) | ValueKind::List,
            DeValue::String(value),
        ) => value.clone().into_owned(),
        (ValueKind::List, DeValue::Array(values)) => {
            let text = |value: &toml::Spanned<DeValue<'_>>| match value.get_ref() {
                DeValue::String(text) => Some(text.clone().into_owned()),
                _ => None,
            };
            return values.iter().map(text).collect();
        }
        _ => return None,
    };
    Some(vec![one])
}

/// Returns the texts of a variable; `None` if it is of another type. A list has one text per line.
pub(super) fn of_variable(kind: &ValueKind, text: &str) -> Option<Vec<String>> {
    match kind {
        ValueKind::Switch => Some(vec![parse_bool(text)?.to_string()]),
        ValueKind::Number => text.parse::<f64>().ok().map(|_| vec![text.to_owned()]),
        ValueKind::List => Some(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()),
        ValueKind::Text | ValueKind::Time | ValueKind::Choice(_) => Some(vec![text.to_owned()]),
    }
}

/// Checks texts as clap checks them on the command line.
///
/// # Errors
/// clap's message about the first wrong text.
pub(super) fn check(arg: &Arg, texts: &[String]) -> Result<(), String> {
    if is_switch(arg) {
        return Ok(());
    }
    let flag = arg.get_long().unwrap_or_default().to_owned();
    let words = texts.iter().map(|text| format!("--{flag}={text}"));
    let alone = Arg::new("flag")
        .long(flag.clone())
        .action(ArgAction::Append)
        .value_parser(arg.get_value_parser().clone())
        .value_delimiter(arg.get_value_delimiter())
        .value_names(arg.get_value_names().unwrap_or_default().iter().cloned());
    let command = Command::new("kdelta").no_binary_name(true).arg(alone);
    match command.try_get_matches_from(words) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            let message = text.split("\n\n").next().unwrap_or_default();
            Err(message.strip_prefix("error: ").unwrap_or(message).to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use toml::de::DeTable;

    use super::*;
    use crate::settings::defaults::key::{built_app, command_paths, owners};

    fn texts(kind: &ValueKind, toml: &str) -> Option<Vec<String>> {
        let text = format!("x = {toml}");
        let table = DeTable::parse(&text).expect(toml);
        let (_, value) = table.get_ref().iter().next().expect("a key");
        of_toml(kind, value.get_ref())
    }

    fn list(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn toml_values_become_texts() {
        let choice = ValueKind::Choice(vec!["a".into()]);
        for (kind, toml, expected) in [
            (&ValueKind::Switch, "true", Some(list(&["true"]))),
            (&ValueKind::Switch, "'true'", None),
            (&ValueKind::Number, "0x1F", Some(list(&["31"]))),
            (&ValueKind::Number, "1_000", Some(list(&["1000"]))),
            (&ValueKind::Number, "0.5", Some(list(&["0.5"]))),
            (&ValueKind::Number, "'5'", None),
            (&ValueKind::Text, "\"a\\tb\"", Some(list(&["a\tb"]))),
            (&ValueKind::Text, "5", None),
            (&ValueKind::Time, "30", Some(list(&["30"]))),
            (&ValueKind::Time, "'1m'", Some(list(&["1m"]))),
            (&ValueKind::Time, "1.5", None),
            (&ValueKind::List, "['a', 'b']", Some(list(&["a", "b"]))),
            (&ValueKind::List, "'a'", Some(list(&["a"]))),
            (&ValueKind::List, "['a', 1]", None),
            (&ValueKind::List, "[]", Some(list(&[]))),
            (&choice, "'b'", Some(list(&["b"]))),
            (&choice, "1979-05-27", None),
        ] {
            assert_eq!(texts(kind, toml), expected, "{kind:?} {toml}");
        }
    }

    #[test]
    fn variables_become_texts() {
        assert_eq!(of_variable(&ValueKind::Switch, "T"), Some(list(&["true"])));
        assert_eq!(of_variable(&ValueKind::Switch, "yes"), None);
        assert_eq!(of_variable(&ValueKind::Number, "x"), None);
        assert_eq!(of_variable(&ValueKind::List, "a,b\n\nc\n"), Some(list(&["a,b", "c"])));
        assert_eq!(of_variable(&ValueKind::Time, "30"), Some(list(&["30"])));
    }

    #[test]
    fn texts_are_checked_as_on_the_command_line() {
        let app = built_app();
        let paths = command_paths(&app);
        let check = |flag: &str, text: &str| check(owners(flag, &paths)[0].1, &[text.to_owned()]);
        for (flag, text) in [("color", "never"), ("fields", "name,type"), ("chunk-size", "0"), ("only", "-a")]
        {
            assert_eq!(check(flag, text), Ok(()), "{flag} {text}");
        }
        assert_eq!(
            check("color", "red"),
            Err("invalid value 'red' for '--color <WHEN>'\n  [possible values: auto, always, never]".into())
        );
        assert!(check("fields", "name,tipe").is_err() && check("verbose", "256").is_err());
    }
}
