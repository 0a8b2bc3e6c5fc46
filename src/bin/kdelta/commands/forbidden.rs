//! Notices about forbidden parts: the fallback that is used, and the parts that are skipped.

use std::collections::BTreeMap;
use std::fmt::Write;

use kdelta::listwatch::Error;

use crate::exit::Hint;
use crate::session::Part;

/// The number of names listed; further ones are only counted.
const MAX_NAMES: usize = 5;

/// Returns the notice for types that are forbidden in all namespaces and therefore listed per namespace; `None` for
/// none.
pub(super) fn fallback(parts: &[Part]) -> Option<String> {
    let titles: Vec<String> = parts.iter().map(Part::title).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    (!titles.is_empty()).then(|| {
        format!("not allowed in all namespaces at once, listing each: {}", abbreviated(&titles, "types"))
    })
}

/// Adds a hint to a refusal in all namespaces if the namespaces can't be listed either.
pub(super) fn not_listable(error: Error) -> anyhow::Error {
    let hint = "the namespaces can't be listed either: select allowed namespaces with -n";
    anyhow::Error::from(error).context(Hint(hint.to_owned()))
}

/// Returns the notice for skipped parts; `None` for none.
pub(super) fn left_out(parts: &[Part]) -> Option<String> {
    by_type(parts).map(|each| format!("not allowed, skipped: {each}"))
}

/// Returns the notice for parts that were skipped and are now allowed; `None` for none.
pub(super) fn allowed(parts: &[Part]) -> Option<String> {
    by_type(parts).map(|each| format!("allowed now, watching: {each}"))
}

/// Formats the parts in order of first appearance; types with the same namespaces are grouped.
fn by_type(parts: &[Part]) -> Option<String> {
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
        let titles = abbreviated(titles, "types");
        if names.iter().all(|name| name.is_empty()) {
            titles
        } else {
            format!("{titles} in {}", abbreviated(names, "namespaces"))
        }
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join("; "))
}

fn abbreviated(names: &[&str], noun: &str) -> String {
    let mut text = names[..names.len().min(MAX_NAMES)].join(", ");
    if names.len() > MAX_NAMES {
        // Writing to a String can't fail.
        let _ = write!(text, " and {} more {noun}", names.len() - MAX_NAMES);
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

    fn line(texts: &[&str]) -> Option<String> {
        left_out(&texts.iter().map(|text| part(text)).collect::<Vec<_>>())
    }

    #[test]
    fn fallback_is_one_line() {
        assert_eq!(fallback(&[]), None);
        assert_eq!(
            fallback(&[part(":pods"), part(":deployments.apps")]).as_deref(),
            Some("not allowed in all namespaces at once, listing each: pods, deployments.apps")
        );
    }

    #[test]
    fn left_out_parts_are_one_line() {
        assert_eq!(line(&[]), None);
        assert_eq!(
            line(&["a:pods", ":!nodes", "b:pods", "a:secrets"]).as_deref(),
            Some("not allowed, skipped: pods in a, b; nodes; secrets in a")
        );
        assert_eq!(
            line(&["a:pods", "a:secrets", ":!nodes", "b:pods", ":!volumes", "b:secrets"]).as_deref(),
            Some("not allowed, skipped: pods, secrets in a, b; nodes, volumes")
        );
        let many: Vec<String> = (1..=7).map(|number| format!("n{number}:pods")).collect();
        assert_eq!(
            line(&many.iter().map(String::as_str).collect::<Vec<_>>()).as_deref(),
            Some("not allowed, skipped: pods in n1, n2, n3, n4, n5 and 2 more namespaces")
        );
    }
}
