//! The texts for empty results.

use crate::session::{NamePatterns, PlannedPart, Session};
use crate::settings::{Namespaces, Pattern, Selection, Types};

/// Returns kubectl's text for an empty result of names and ages: it names the namespace even if no type has any.
pub(in crate::commands) fn no_names_found(namespaces: &Namespaces, default: &str) -> Option<String> {
    let namespace = match namespaces {
        Namespaces::Current => default,
        Namespaces::Named(names) if names.len() == 1 => &names[0],
        Namespaces::Named(_) | Namespaces::All | Namespaces::Matching { .. } => return None,
    };
    Some(format!("No resources found in {namespace} namespace."))
}

/// Returns the text for patterns and labels of namespaces that none has; `None` if namespaces are selected by name.
pub(in crate::commands) fn no_namespace_matches(namespaces: &Namespaces) -> Option<String> {
    let Namespaces::Matching { always, patterns, labels } = namespaces else { return None };
    if !always.is_empty() {
        return None;
    }
    let texts: Vec<String> = patterns.iter().map(|pattern| format!("{:?}", pattern.text())).collect();
    let texts = texts.join(" or ");
    Some(match labels {
        Some(labels) => format!("No namespace matches {texts} with the labels {labels:?}."),
        None => format!("No namespace matches {texts}."),
    })
}

/// Returns the text for a watch of which nothing exists yet: it names the patterns and selectors that match nothing.
pub(in crate::commands) fn nothing_at_the_moment(selection: &Selection) -> String {
    if let Some(text) = no_namespace_matches(&selection.namespaces) {
        return format!("{} at the moment.", text.trim_end_matches('.'));
    }
    let patterns: Vec<String> =
        selection.targets.iter().flat_map(|target| &target.patterns).map(quoted).collect();
    let types: Vec<String> = selection
        .targets
        .iter()
        .filter_map(|target| match &target.types {
            Types::Matching { text, .. } => Some(format!("{text:?}")),
            Types::Word(_) | Types::All => None,
        })
        .collect();
    let selectors = [("label", &selection.label_selector), ("field", &selection.field_selector)];
    let selectors = selectors
        .into_iter()
        .filter_map(|(kind, text)| Some(format!("the {kind} selector {:?}", text.as_ref()?)));
    let selectors: Vec<String> = selectors.collect();
    match () {
        () if !types.is_empty() => format!("No type matches {} at the moment.", types.join(" or ")),
        () if !patterns.is_empty() => format!("No name matches {} at the moment.", patterns.join(" or ")),
        () if !selectors.is_empty() => format!("Nothing matches {} at the moment.", selectors.join(" and ")),
        () => "Nothing matches at the moment.".to_owned(),
    }
}

fn quoted(pattern: &Pattern) -> String {
    format!("{:?}", pattern.text())
}

/// Returns the patterns of names that have matched no object of any part, each once, quoted and joined; `None` if all
/// have.
pub(in crate::commands) fn unmatched_names(session: &Session, parts: &[PlannedPart]) -> Option<String> {
    let patterns = parts.iter().filter_map(|planned| planned.part.patterns.as_deref());
    let texts =
        patterns.flat_map(NamePatterns::texts).filter(|text| !session.matched_patterns().contains(text));
    let mut unmatched: Vec<String> = Vec::new();
    for text in texts.map(|text| format!("{text:?}")) {
        if !unmatched.contains(&text) {
            unmatched.push(text);
        }
    }
    (!unmatched.is_empty()).then(|| unmatched.join(" or "))
}

/// Returns the text for patterns of names without a match, in the manner of kubectl's for an empty result.
pub(in crate::commands) fn nothing_matches(parts: &[PlannedPart], patterns: &str) -> String {
    let found = nothing_found(parts);
    format!("{} that match {patterns}", found.trim_end_matches('.'))
}

/// Returns kubectl's text for an empty result.
pub(in crate::commands) fn nothing_found(parts: &[PlannedPart]) -> String {
    match parts {
        [PlannedPart { part: first, .. }, rest @ ..]
            if !first.namespace.is_empty()
                && rest.iter().all(|other| other.part.namespace == first.namespace) =>
        {
            format!("No resources found in {} namespace.", first.namespace)
        }
        _ => "No resources found".to_owned(),
    }
}
