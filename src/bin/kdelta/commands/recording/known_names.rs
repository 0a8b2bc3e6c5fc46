//! The names that a recording has, in the error of one that it does not have.

use std::collections::BTreeSet;

use crate::session::nearest_names;

/// The maximum number of names in an error.
const MAX_NAMES: usize = 10;

/// Returns the end of an error about a name: the most similar ones among all spellings, or else the known names.
pub(super) fn alternatives(name: &str, spellings: BTreeSet<String>, known: &BTreeSet<String>) -> String {
    let near = nearest_names(name, spellings.into_iter().collect());
    if !near.is_empty() {
        let near: Vec<String> = near.iter().map(|near| format!("{near:?}")).collect();
        return format!(": did you mean {}?", near.join(" or "));
    }
    let mut names: Vec<&str> = known.iter().take(MAX_NAMES).map(String::as_str).collect();
    let more = format!("{} more", known.len().saturating_sub(MAX_NAMES));
    if known.len() > MAX_NAMES {
        names.push(&more);
    }
    if names.is_empty() { String::new() } else { format!(", the recording has: {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn similar_names_precede_a_list_of_all() {
        let all = known(&["default", "shop"]);
        let alternatives = |name, spellings: &[&str]| alternatives(name, known(spellings), &all);
        assert_eq!(alternatives("shp", &["default", "shop"]), ": did you mean \"shop\"?");
        assert_eq!(alternatives("pos", &["pods", "pvs"]), ": did you mean \"pods\" or \"pvs\"?");
        assert_eq!(alternatives("x", &["default", "shop"]), ", the recording has: default, shop");
    }

    #[test]
    fn long_lists_are_cut() {
        let many = (10..22).map(|number| format!("team-{number}")).collect();
        assert!(alternatives("x", BTreeSet::new(), &many).ends_with("team-18, team-19, 2 more"));
        assert_eq!(alternatives("x", BTreeSet::new(), &BTreeSet::new()), "");
    }
}
