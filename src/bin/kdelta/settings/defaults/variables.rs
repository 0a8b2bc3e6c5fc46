//! The variables `KDELTA_<FLAG>`, such as `KDELTA_REQUEST_TIMEOUT` for `--request-timeout`.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use clap::{Arg, Command};
use kdelta::kubeconfig::Secret;

use super::default_value::DefaultValue;
use super::error::{DefaultsError, Origin};
use super::key::{ValueKind, command_paths, flags_of, owners};
use super::policy::{Policy, policy};
use super::value;
use crate::suggest::nearest;

const PREFIX: &str = "KDELTA_";

/// Variables with a meaning of their own. That of `KDELTA_CACHE_DIR` is older than the flags' variables.
const RESERVED: [&str; 5] = [
    "KDELTA_CACHE_DIR",
    "KDELTA_CONFIG",
    "KDELTA_DEMO_SEED",
    "KDELTA_UPDATE_SNAPSHOTS",
    "KDELTA_WATCH_CONNECTIONS",
];

/// Prefixes of such variables: what kdelta passes to the commands that it starts, and the options of its tests.
const RESERVED_PREFIXES: [&str; 3] = ["KDELTA_EVENT_", "KDELTA_TEST_", "KDELTA_TESTBED"];

/// Reads the defaults of the variables. Variables that have no effect are reported if they resemble a flag, or if the
/// flag can't have a default; other programs may have variables of this prefix. `app` returns the definition of all
/// commands, built; it is called if a variable needs it.
///
/// # Errors
/// A variable has a wrong value.
pub(super) fn read<'a>(
    variables: &BTreeMap<String, Option<Secret>>,
    app: impl FnOnce() -> &'a Command,
    warnings: &mut Vec<String>,
) -> Result<Vec<DefaultValue>, DefaultsError> {
    let paths = LazyCell::new(|| command_paths(app()));
    let mut found = Vec::new();
    for (name, text) in variables.iter().filter(|(name, _)| !is_reserved(name)) {
        let flag = flag_of(name);
        match policy(&flag) {
            Some(Policy::Everywhere) => {
                found.push(default_value(name, &flag, text.as_ref(), &owners(&flag, &paths))?);
            }
            _ if is_of_a_service(name) => {}
            Some(Policy::Tables(reason)) => {
                warnings.push(format!(
                    "{name} has no effect: {flag} must be in the table of a command in the configuration file: {reason}"
                ));
            }
            Some(Policy::Nowhere(reason)) => {
                warnings.push(format!("{name} has no effect: {flag} can't have a default: {reason}"));
            }
            None => warnings.extend(similar(name, &paths)),
        }
    }
    Ok(found)
}

fn default_value(
    name: &str,
    flag: &str,
    text: Option<&Secret>,
    owners: &[(&str, &Arg)],
) -> Result<DefaultValue, DefaultsError> {
    let origin = Origin::Variable(name.to_owned());
    let kinds: Vec<ValueKind> = owners.iter().map(|(_, arg)| ValueKind::of(arg)).collect();
    let texts = text.and_then(|text| kinds.iter().find_map(|kind| value::of_variable(kind, text.expose())));
    let Some(texts) = texts else {
        let expected = match kinds.first() {
            Some(kind @ (ValueKind::Switch | ValueKind::Number)) => kind.words(),
            _ => "a text in UTF-8".to_owned(),
        };
        return Err(DefaultsError::Type { origin, key: flag.to_owned(), expected });
    };
    DefaultValue::of_all(flag, texts, origin, owners)
}

/// Returns the flag of a variable.
fn flag_of(name: &str) -> String {
    name.strip_prefix(PREFIX).unwrap_or(name).to_lowercase().replace('_', "-")
}

/// Returns the variable of a flag.
fn variable_of(flag: &str) -> String {
    format!("{PREFIX}{}", flag.to_uppercase().replace('-', "_"))
}

fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether Kubernetes may have set the variable, for a Service whose name begins with `kdelta`.
fn is_of_a_service(name: &str) -> bool {
    ["_SERVICE_HOST", "_PORT"].iter().any(|end| name.ends_with(end))
        || ["_SERVICE_PORT", "_PORT_"].iter().any(|part| name.contains(part))
}

/// Returns the report of a variable whose name is similar to that of a flag.
fn similar(name: &str, paths: &[(String, &Command)]) -> Option<String> {
    let mut flags: Vec<&str> =
        paths.iter().flat_map(|(_, command)| flags_of(command)).filter_map(Arg::get_long).collect();
    flags.retain(|flag| policy(flag) == Some(Policy::Everywhere));
    flags.sort_unstable();
    flags.dedup();
    let flag = flag_of(name);
    let near = nearest(&flag, flags.iter().map(|flag| (variable_of(flag), vec![(*flag).to_owned()])));
    let near = if near.is_empty() { return None } else { near.join(" or ") };
    Some(format!("{name} has no effect: there is no flag --{flag}; did you mean {near}?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::defaults::key::built_app;

    fn parsed(pairs: &[(&str, &str)]) -> Result<(Vec<String>, Vec<String>), String> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), Some(Secret::new(*value))));
        let (app, mut warnings) = (built_app(), Vec::new());
        let values = read(&pairs.collect(), || &app, &mut warnings).map_err(|error| error.to_string())?;
        let shown = values.iter().map(|value| format!("{}={}", value.flag, value.texts.join("|")));
        Ok((shown.collect(), warnings))
    }

    #[test]
    fn variables_set_the_flags_of_their_names() {
        let (values, warnings) = parsed(&[
            ("KDELTA_COLOR", "never"),
            ("KDELTA_IGNORE", "a,b\nc"),
            ("KDELTA_NO_HEADERS", "1"),
            ("KDELTA_REQUEST_TIMEOUT", "30"),
        ])
        .expect("fine");
        assert_eq!(values, ["color=never", "ignore=a,b|c", "no-headers=true", "request-timeout=30"]);
        assert_eq!(warnings, [""; 0]);
    }

    #[test]
    fn wrong_values_are_errors() {
        for (name, value, expected) in [
            ("KDELTA_NO_HEADERS", "yes", "KDELTA_NO_HEADERS: no-headers must be true or false"),
            ("KDELTA_CHUNK_SIZE", "x", "KDELTA_CHUNK_SIZE: chunk-size must be a number"),
            ("KDELTA_OUTPUT", "jsn", "KDELTA_OUTPUT: no command has the output format \"jsn\""),
            (
                "KDELTA_ON_SLOW",
                "x",
                "KDELTA_ON_SLOW: invalid value 'x' for '--on-slow <POLICY>'\n  [possible values: block, coalesce]",
            ),
        ] {
            assert_eq!(parsed(&[(name, value)]), Err(expected.to_owned()));
        }
        let not_text = BTreeMap::from([("KDELTA_OUTPUT".to_owned(), None)]);
        let app = built_app();
        let error = read(&not_text, || &app, &mut Vec::new()).expect_err("no text").to_string();
        assert_eq!(error, "KDELTA_OUTPUT: output must be a text in UTF-8");
    }

    #[test]
    fn variables_without_effect_are_reported_if_they_resemble_a_flag() {
        let (values, warnings) = parsed(&[
            ("KDELTA_CACHE_DIR", "/x"),
            ("KDELTA_EVENT_OUTPUT", "x"),
            ("KDELTA_OUPUT", "json"),
            ("KDELTA_PORT", "tcp://10.0.0.1:80"),
            ("KDELTA_PORT_80_TCP_ADDR", "10.0.0.1"),
            ("KDELTA_SERVICE_HOST", "10.0.0.1"),
            ("KDELTA_SORT_BY", ".x"),
            ("KDELTA_TESTBED", "off"),
            ("KDELTA_TOKEN", "s3cr3t"),
            ("KDELTA_VERSION", "1.2"),
        ])
        .expect("fine");
        assert_eq!(values, [""; 0]);
        assert_eq!(
            warnings,
            [
                "KDELTA_OUPUT has no effect: there is no flag --ouput; did you mean KDELTA_OUTPUT?",
                "KDELTA_SORT_BY has no effect: sort-by must be in the table of a command in the configuration file: the flag differs between commands",
                "KDELTA_TOKEN has no effect: token can't have a default: each context would send these credentials to its server: use a user of the kubeconfig",
            ]
        );
    }

    #[test]
    fn reserved_variables_need_no_definition() {
        let names = ["KDELTA_CACHE_DIR", "KDELTA_EVENT_TYPE", "KDELTA_PORT"];
        let variables = names.map(|name| (name.to_owned(), Some(Secret::new("x"))));
        let mut warnings = Vec::new();
        let read = read(&variables.into(), || panic!("not needed"), &mut warnings);
        assert_eq!((read, warnings), (Ok(Vec::new()), Vec::new()));
    }

    #[test]
    fn no_flag_has_a_reserved_variable() {
        let app = built_app();
        let paths = command_paths(&app);
        let flags = paths.iter().flat_map(|(_, command)| flags_of(command)).filter_map(Arg::get_long);
        for flag in flags.filter(|flag| *flag != "cache-dir") {
            assert!(!is_reserved(&variable_of(flag)), "{flag}");
        }
    }
}
