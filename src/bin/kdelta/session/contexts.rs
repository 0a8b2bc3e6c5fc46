//! The selected contexts, each with its configuration options.

use kdelta::kubeconfig::Contexts as Known;
use kdelta::kubeconfig::{ConfigOptions, Error};

use crate::settings::{Connection, Contexts, Pattern};

/// Returns one set of options for each selected context.
///
/// # Errors
/// The kubeconfig can't be read, or a context does not exist.
pub(super) fn each_context(connection: &Connection) -> anyhow::Result<Vec<ConfigOptions>> {
    let options = &connection.options;
    let with = |name: String| options.clone().context(Some(name));
    let names = match &connection.contexts {
        Contexts::Current => return Ok(vec![options.clone()]),
        Contexts::Named(name) => vec![name.clone()],
        Contexts::Matching { text, patterns } => matching(text, patterns, &Known::load(options)?.names)?,
        Contexts::All => Known::load(options)?.names,
    };
    anyhow::ensure!(!names.is_empty(), "the kubeconfig has no contexts");
    Ok(names.into_iter().map(with).collect())
}

/// Returns the contexts that match a pattern, each once, in the order of the patterns.
pub(super) fn matching(text: &str, patterns: &[Pattern], known: &[String]) -> anyhow::Result<Vec<String>> {
    if known.iter().any(|name| name == text) {
        return Ok(vec![text.to_owned()]);
    }
    let mut names: Vec<String> = Vec::new();
    for pattern in patterns {
        let before = names.len();
        let found: Vec<&String> = known.iter().filter(|name| pattern.matches(name)).collect();
        match pattern.text() {
            name if found.is_empty() && pattern.is_plain() => {
                return Err(Error::NoContext(name.to_owned()).into());
            }
            text if found.is_empty() => anyhow::bail!("no context matches {text:?}"),
            _ => {}
        }
        for name in found {
            if !names[..before].contains(name) {
                names.push(name.clone());
            }
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_match_names_and_patterns_once() {
        let known = ["prod-eu", "dev", "prod-us", "a,b"].map(str::to_owned);
        let find = |text: &str| {
            let patterns: Vec<_> = text.split(',').map(Pattern::new).collect();
            matching(text, &patterns, &known).map_err(|error| error.to_string())
        };
        let names = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(find("dev,prod-*"), names(&["dev", "prod-eu", "prod-us"]));
        assert_eq!(find("prod-us,prod-*"), names(&["prod-us", "prod-eu"]));
        assert_eq!(find("a,b"), names(&["a,b"]));
        assert_eq!(find("dev,x"), Err("context \"x\" does not exist".to_owned()));
        assert_eq!(find("dev,x*"), Err("no context matches \"x*\"".to_owned()));
    }
}
