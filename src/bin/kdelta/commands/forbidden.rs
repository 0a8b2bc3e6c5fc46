//! What is said of what is forbidden: what is asked for instead, and what is left out.

use std::collections::BTreeMap;
use std::fmt::Write;

use kdelta::listwatch::Error;

use crate::exit::Hint;
use crate::session::Part;

/// So many names are read; of more the number says enough.
const NAMED: usize = 5;

/// The line for what is not allowed in all namespaces at once, and so is asked for in each; nothing for none.
pub(super) fn fallback(parts: &[Part]) -> Option<String> {
    let titles: Vec<String> = parts.iter().map(Part::title).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    (!titles.is_empty())
        .then(|| format!("not allowed in all namespaces at once, asking in each: {}", some(&titles, "types")))
}

/// The refusal of all namespaces at once, where each can't be asked either.
pub(super) fn everywhere(error: Error) -> anyhow::Error {
    let hint = "the namespaces can't be listed either: name those you may look into with -n";
    anyhow::Error::from(error).context(Hint(hint.to_owned()))
}

/// The line for what is left out: these parts; nothing for none.
pub(super) fn line(parts: &[Part]) -> Option<String> {
    each(parts).map(|each| format!("not allowed, and so left out: {each}"))
}

/// The line for what was left out until now; nothing for none.
pub(super) fn allowed(parts: &[Part]) -> Option<String> {
    each(parts).map(|each| format!("can be had now, and so is watched: {each}"))
}

/// These parts, in the order of their first mention; types that have their namespaces in common stand together.
fn each(parts: &[Part]) -> Option<String> {
    let mut types: Vec<String> = Vec::new();
    let mut namespaces: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for part in parts {
        let title = Part { name: None, ..part.clone() }.title();
        if !namespaces.contains_key(&title) {
            types.push(title.clone());
        }
        namespaces.entry(title).or_default().push(&part.namespace);
    }
    let mut together: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for title in &types {
        let mut names = namespaces.remove(title).unwrap_or_default();
        names.dedup();
        match together.iter_mut().find(|(others, _)| *others == names) {
            Some((_, titles)) => titles.push(title),
            None => together.push((names, vec![title])),
        }
    }
    let each = together.iter().map(|(names, titles)| {
        let titles = some(titles, "types");
        if names.iter().all(|name| name.is_empty()) {
            titles
        } else {
            format!("{titles} in {}", some(names, "namespaces"))
        }
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join("; "))
}

fn some(names: &[&str], what: &str) -> String {
    let mut text = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED {
        // Writing to a String can't fail.
        let _ = write!(text, " and {} more {what}", names.len() - NAMED);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::part_fixtures::{resource, template};

    fn part(text: &str) -> Part {
        let (namespace, plural) = text.split_once(':').expect("namespace:plural");
        Part { resource: resource(plural), ..template(namespace) }
    }

    fn told(texts: &[&str]) -> Option<String> {
        line(&texts.iter().map(|text| part(text)).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_asked_for_in_each_namespace_is_one_line() {
        assert_eq!(fallback(&[]), None);
        assert_eq!(
            fallback(&[part(":pods"), part(":deployments.apps")]).as_deref(),
            Some("not allowed in all namespaces at once, asking in each: pods, deployments.apps")
        );
    }

    #[test]
    fn what_is_forbidden_is_one_line() {
        assert_eq!(told(&[]), None);
        assert_eq!(
            told(&["a:pods", ":!nodes", "b:pods", "a:secrets"]).as_deref(),
            Some("not allowed, and so left out: pods in a, b; nodes; secrets in a")
        );
        assert_eq!(
            told(&["a:pods", "a:secrets", ":!nodes", "b:pods", ":!volumes", "b:secrets"]).as_deref(),
            Some("not allowed, and so left out: pods, secrets in a, b; nodes, volumes")
        );
        let many: Vec<String> = (1..=7).map(|number| format!("n{number}:pods")).collect();
        assert_eq!(
            told(&many.iter().map(String::as_str).collect::<Vec<_>>()).as_deref(),
            Some("not allowed, and so left out: pods in n1, n2, n3, n4, n5 and 2 more namespaces")
        );
    }
}
