//! The types of a plan that the server does not serve at the moment, but did when they were recorded.

use std::sync::Arc;

use kdelta::object::ApiResource;
use kdelta::wire::{DiscoveredResource, UnavailableGroup};

use super::requested_names::RequestedNames;
use super::type_match::{is_same_resource, may_contain};
use super::type_words::{names_by, version_in};

/// A type that was recorded earlier.
#[derive(Debug)]
pub(in crate::session) struct RecordedType {
    pub(in crate::session) resource: Arc<ApiResource>,
    /// Its singular and short names, as far as they are known.
    pub(in crate::session) other_names: Vec<String>,
}

/// The type that a word names once the server serves it.
#[derive(Debug)]
pub(in crate::session) struct AwaitedType {
    word: String,
    /// The recorded types that the word names. Only their groups and plurals count, and the version if the word has one.
    candidates: Vec<Arc<ApiResource>>,
    pub(super) requested: RequestedNames,
    /// The message that the server does not serve it.
    pub(super) message: String,
    /// The type, while the server serves it.
    pub(super) served: Option<Arc<ApiResource>>,
}

impl AwaitedType {
    /// Returns the type to wait for if the server serves none for a word; `None` if the word names no recorded type either.
    pub(in crate::session) fn new(
        word: &str,
        recorded: &[RecordedType],
        requested: RequestedNames,
        message: String,
    ) -> Option<Self> {
        let is_named = |recorded: &&RecordedType| {
            let resource = &*recorded.resource;
            names_by(word, resource, &recorded.other_names) && is_version_of(word, resource, resource)
        };
        let named = recorded.iter().filter(is_named).map(|recorded| Arc::clone(&recorded.resource));
        let candidates: Vec<_> = named.collect();
        let word = word.to_owned();
        (!candidates.is_empty()).then_some(Self { word, candidates, requested, message, served: None })
    }

    /// Selects the type among those that the server serves, given in order of preference. A known type keeps its version
    /// while the server serves it, and stays while the discovery of its group fails.
    pub(super) fn update(&mut self, offered: &[DiscoveredResource], missing: &[UnavailableGroup]) {
        let known = self.served.take();
        let watchable = offered.iter().filter(|found| found.can("list") && found.can("watch"));
        let named: Vec<&ApiResource> =
            watchable.map(|found| &found.resource).filter(|resource| self.includes(resource)).collect();
        let is_served = |known: &Arc<ApiResource>| {
            named.contains(&&**known)
                || (named.is_empty() && missing.iter().any(|missing| may_contain(missing, known)))
        };
        self.served =
            known.filter(is_served).or_else(|| named.first().map(|first| Arc::new((*first).clone())));
    }

    fn includes(&self, resource: &ApiResource) -> bool {
        self.candidates.iter().any(|candidate| {
            is_same_resource(candidate, resource) && is_version_of(&self.word, candidate, resource)
        })
    }

    /// Whether objects are requested by name, and the type had namespaces.
    pub(super) fn names_namespaced(&self) -> bool {
        !self.requested.names.is_empty() && self.candidates.iter().any(|candidate| candidate.namespaced)
    }
}

/// Whether a word that names a candidate has no version, or that of the resource.
fn is_version_of(word: &str, candidate: &ApiResource, resource: &ApiResource) -> bool {
    version_in(word, candidate).is_none_or(|version| version == resource.version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::part_fixtures::resource;
    use crate::session::plan::tests::{offered, plan, titles};
    use crate::session::plan::{NAMES_IN_ALL_NAMESPACES, Plan};
    use crate::settings::{Namespaces, Pattern};

    /// Returns the awaited type of a word, with these names and patterns, if `texts` are recorded.
    fn awaited(word: &str, requested: (&[&str], &[&str]), texts: &[&str]) -> Option<AwaitedType> {
        let recorded =
            |text: &&str| RecordedType { resource: resource(text), other_names: vec!["wd".into()] };
        let recorded: Vec<_> = texts.iter().map(recorded).collect();
        let names = requested.0.iter().map(|name| (*name).to_owned()).collect();
        let patterns = requested.1.iter().map(|text| Pattern::new(text)).collect();
        AwaitedType::new(word, &recorded, RequestedNames::new(names, patterns), format!("no {word}"))
    }

    /// Returns a plan of pods and an awaited type.
    fn plan_of(awaited: AwaitedType, namespaces: Namespaces) -> anyhow::Result<Plan> {
        let mut plan = plan(&[], &[("pods", &[])], namespaces)?;
        plan.await_types(vec![awaited])?;
        Ok(plan)
    }

    const WIDGETS: &[&str] = &["widgets.example.com"];

    #[test]
    fn awaited_type_is_a_part_while_it_is_served() {
        let awaited = awaited("widgets", (&[], &[]), WIDGETS).expect("a recorded type");
        let mut plan = plan_of(awaited, Namespaces::Current).expect("a plan");
        let both = ["home:pods", "home:widgets.example.com"];
        assert!(plan.needs_kinds() && plan.is_open() && plan.is_settled());
        for (served, parts) in [
            (&["pods"][..], &both[..1]),
            (&["pods", "widgets.example.com create", "widgets.other.com"], &both[..1]),
            (&["pods", "widgets.example.com@v2", "widgets.example.com@v1"], &both),
            (&["pods", "widgets.example.com@v1", "widgets.example.com@v2"], &both),
            (&["pods"], &both[..1]),
        ] {
            plan.update_kinds(&offered(served), &[]);
            assert_eq!(titles(&plan), parts, "{served:?}");
            let missing: Vec<_> = plan.missing_types().collect();
            assert_eq!(missing, if parts.len() == 1 { vec!["no widgets"] } else { vec![] }, "{served:?}");
            for planned in plan.parts().into_iter().skip(1) {
                assert!(planned.open_type && planned.part.resource.version == "v2", "{planned:?}");
            }
        }
    }

    #[test]
    fn awaited_type_stays_while_its_discovery_fails() {
        let awaited = awaited("widgets", (&[], &[]), WIDGETS).expect("a recorded type");
        let mut plan = plan_of(awaited, Namespaces::Current).expect("a plan");
        let [group, version, reason] = ["example.com", "", ""].map(str::to_owned);
        let missing = [UnavailableGroup { group, version, reason, is_stale: false }];
        plan.update_kinds(&[], &missing);
        assert_eq!(titles(&plan), ["home:pods"]);
        plan.update_kinds(&offered(WIDGETS), &[]);
        plan.update_kinds(&[], &missing);
        assert_eq!(titles(&plan), ["home:pods", "home:widgets.example.com"]);
    }

    #[test]
    fn names_and_patterns_of_an_awaited_type_are_requested() {
        let two = || awaited("widgets", (&["a"], &["web-*"]), WIDGETS).expect("a recorded type");
        let mut plan = plan_of(two(), Namespaces::Current).expect("a plan");
        plan.update_kinds(&offered(WIDGETS), &[]);
        let widgets = ["home:widgets.example.com/a", "home:widgets.example.com/web-*"];
        assert_eq!(titles(&plan)[1..], widgets);
        let error = plan_of(two(), Namespaces::All).expect_err("refused");
        assert_eq!(error.to_string(), NAMES_IN_ALL_NAMESPACES);
    }

    #[test]
    fn awaited_type_that_a_pattern_matches_too_is_listed_once() {
        let awaited = awaited("widgets", (&[], &[]), WIDGETS).expect("a recorded type");
        let mut plan = plan(&["*.example.com"], &[], Namespaces::All).expect("a plan");
        plan.await_types(vec![awaited]).expect("no names");
        plan.update_kinds(&offered(WIDGETS), &[]);
        assert_eq!(titles(&plan), [":widgets.example.com"]);
    }

    #[test]
    fn words_name_recorded_types_only() {
        let recorded = &["widgets.example.com", "widgets.other.com", "pods"];
        for (word, served) in [
            ("widgets", Some(":widgets.other.com")),
            ("Widgets", Some(":widgets.other.com")),
            ("wd", Some(":widgets.other.com")),
            ("wd.example.com", Some(":widgets.example.com")),
            ("widgets.example.com", Some(":widgets.example.com")),
            ("widgets.v1.example.com", Some(":widgets.example.com")),
            ("widgets.v2.example.com", None),
            ("widgets.third.com", None),
            ("gears", None),
        ] {
            let found = awaited(word, (&[], &[]), recorded).map(|awaited| {
                let mut plan = plan(&[], &[], Namespaces::All).expect("a plan");
                plan.await_types(vec![awaited]).expect("no names");
                plan.update_kinds(&offered(&["widgets.other.com", "widgets.example.com"]), &[]);
                titles(&plan)
            });
            assert_eq!(found, served.map(|title| vec![title.to_owned()]), "{word}");
        }
    }
}
