//! Tests of the parts that a selection resolves to.

use kdelta::wire::{DiscoveredResource, UnavailableGroup};

use super::*;
use crate::session::part::tests::{resource, template};
use crate::settings::{ListMode, ObjectFilter, Target};

fn selection(words: &[&str], namespaces: Namespaces) -> Selection {
    let pattern = |text: &&str| {
        let types = match text.split_once('.') {
            _ if *text == "all" => Types::All,
            Some((plural, group)) => Types::Matching {
                text: (*text).into(),
                plural: Pattern::new(plural),
                group: Some(Pattern::new(group)),
            },
            None => Types::Matching { text: (*text).into(), plural: Pattern::new(text), group: None },
        };
        Target { types, names: Vec::new(), patterns: Vec::new() }
    };
    Selection {
        targets: words.iter().map(pattern).collect(),
        namespaces,
        label_selector: None,
        field_selector: None,
        filter: ObjectFilter::default(),
        cached: false,
        keeps_repeated_names: false,
        page_size: 500,
        required_namespace: None,
        list_mode: ListMode::Auto,
    }
}

pub(super) fn plan(
    words: &[&str],
    named: &[(&str, &[&str])],
    namespaces: Namespaces,
) -> anyhow::Result<Plan> {
    let requested = |texts: &[&str]| {
        let (patterns, plain): (Vec<&str>, Vec<&str>) = texts.iter().partition(|text| text.contains('*'));
        let plain = plain.into_iter().map(str::to_owned).collect();
        RequestedNames::new(plain, patterns.into_iter().map(Pattern::new).collect())
    };
    let named = named.iter().map(|(text, names)| (resource(text), requested(names))).collect();
    Plan::new(template("home"), &selection(words, namespaces), named)
}

#[test]
fn required_namespace_replaces_all_namespaces() {
    let required = |namespaces| {
        let required_namespace = Some("shop".to_owned());
        let selection = Selection { required_namespace, ..selection(&[], namespaces) };
        let whole = |text| (resource(text), RequestedNames::default());
        Plan::new(template("home"), &selection, vec![whole("pods"), whole("!nodes")]).expect("a plan")
    };
    let mut plan = required(Namespaces::All);
    assert_eq!(titles(&plan), ["shop:pods", ":nodes"]);
    let pods = plan.parts().swap_remove(0).part;
    assert!(!plan.split_by_namespace(&pods), "it is listed in one namespace already");
}

/// Formats the parts as `namespace:type` or `namespace:type/name`. A type is `plural` or `plural.group`; `!` marks a
/// cluster-scoped type.
pub(super) fn titles(plan: &Plan) -> Vec<String> {
    let title = |PlannedPart { part, .. }: PlannedPart| format!("{}:{}", part.namespace, part.title());
    plan.parts().into_iter().map(title).collect()
}

pub(super) fn offered(texts: &[&str]) -> Vec<DiscoveredResource> {
    let one = |text: &&str| {
        let (text, verbs) = text.split_once(' ').unwrap_or((text, "get list watch"));
        let (text, version) = text.split_once('@').unwrap_or((text, "v1"));
        let resource = ApiResource { version: version.into(), ..(*resource(text)).clone() };
        DiscoveredResource {
            resource,
            singular: String::new(),
            short_names: Vec::new(),
            categories: Vec::new(),
            verbs: verbs.split(' ').map(str::to_owned).collect(),
            preferred: true,
        }
    };
    texts.iter().map(one).collect()
}

fn live(names: &[&str]) -> BTreeSet<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

fn matching(always: &[&str], patterns: &[&str]) -> Namespaces {
    Namespaces::Matching {
        always: always.iter().map(|name| (*name).to_owned()).collect(),
        patterns: patterns.iter().map(|text| Pattern::new(text)).collect(),
        labels: None,
    }
}

const SOME: &[&str] = &[
    "pods",
    "events",
    "!nodes",
    "bindings create",
    "deployments.apps",
    "deployments.extensions",
    "events.events.k8s.io",
    "leases.coordination.k8s.io",
    "pods.metrics.k8s.io",
    "values.custom.metrics.k8s.io",
    "widgets.example.com@v2",
    "widgets.example.com@v1",
    "!gears.example.com",
    "once.example.com list",
    "things.sub.example.com",
];

#[test]
fn cluster_scoped_type_is_listed_once() {
    let both: &[(&str, &[&str])] = &[("pods", &[]), ("!nodes", &[])];
    let two = Namespaces::Named(vec!["a".into(), "b".into()]);
    assert_eq!(titles(&plan(&[], both, two).unwrap()), ["a:pods", "b:pods", ":nodes"]);
    assert_eq!(titles(&plan(&[], both, Namespaces::Current).unwrap()), ["home:pods", ":nodes"]);
    assert_eq!(titles(&plan(&[], both, Namespaces::All).unwrap()), [":pods", ":nodes"]);
    let names: &[(&str, &[&str])] = &[("pods", &["x", "y"]), ("!nodes", &["x"])];
    let plan = plan(&[], names, Namespaces::Current).unwrap();
    assert_eq!(titles(&plan), ["home:pods/x", "home:pods/y", ":nodes/x"]);
}

#[test]
fn names_need_a_namespace() {
    let error = plan(&[], &[("pods", &["x"])], Namespaces::All).expect_err("refused");
    assert_eq!(error.to_string(), "a resource cannot be retrieved by name across all namespaces");
    assert!(plan(&[], &[("!nodes", &["x"])], Namespaces::All).is_ok());
}

#[test]
fn collection_covers_its_names() {
    let plan = plan(&[], &[("pods", &["x"]), ("pods", &[]), ("pods", &["y"])], Namespaces::Current).unwrap();
    assert_eq!(titles(&plan), ["home:pods"]);
}

#[test]
fn object_has_as_many_parts_as_names_where_repetitions_are_kept() {
    let names: &[(&str, &[&str])] = &[("pods", &["x", "y", "x"]), ("!nodes", &["x"]), ("pods", &["x"])];
    let once = plan(&[], names, Namespaces::Current).unwrap();
    assert_eq!(titles(&once), ["home:pods/x", "home:pods/y", ":nodes/x"]);
    let kept = Plan { keeps_repeated_names: true, ..once };
    let often = ["home:pods/x", "home:pods/y", "home:pods/x", ":nodes/x", "home:pods/x"];
    assert_eq!(titles(&kept), often);
    let repetitions: Vec<usize> = kept.parts().iter().map(|planned| planned.part.repetition).collect();
    assert_eq!(repetitions, [0, 0, 1, 0, 2], "equal parts differ in this number only");
    let once = Plan { keeps_repeated_names: false, ..kept };
    assert_eq!(once.parts_with_repetitions().len(), often.len());
}

#[test]
fn repetitions_are_counted_per_namespace_and_not_for_collections() {
    let named: &[(&str, &[&str])] = &[("pods", &["x", "x"]), ("services", &[]), ("services", &["x", "x"])];
    let two = Namespaces::Named(vec!["a".into(), "b".into()]);
    let kept = Plan { keeps_repeated_names: true, ..plan(&[], named, two).unwrap() };
    let expected = ["a:pods/x", "a:pods/x", "b:pods/x", "b:pods/x", "a:services", "b:services"];
    assert_eq!(titles(&kept), expected);
}

#[test]
fn each_type_of_a_list_has_each_name() {
    let named: &[(&str, &[&str])] = &[("pods", &["x", "y"]), ("services", &["x", "y"]), ("!nodes", &["x"])];
    let two = Namespaces::Named(vec!["a".into(), "b".into()]);
    let expected = [
        "a:pods/x",
        "a:pods/y",
        "b:pods/x",
        "b:pods/y",
        "a:services/x",
        "a:services/y",
        "b:services/x",
        "b:services/y",
        ":nodes/x",
    ];
    assert_eq!(titles(&plan(&[], named, two).unwrap()), expected);
}

#[test]
fn all_kinds_selects_watchable_types_once() {
    let mut plan = plan(&["all"], &[], Namespaces::All).unwrap();
    plan.update_kinds(&offered(SOME), &[]);
    assert_eq!(
        titles(&plan),
        [
            ":pods",
            ":nodes",
            ":deployments.apps",
            ":widgets.example.com",
            ":gears.example.com",
            ":things.sub.example.com"
        ]
    );
    assert_eq!(plan.parts()[3].part.resource.version, "v2");
    assert!(plan.parts().iter().all(|planned| planned.open_type && !planned.open_namespace));
}

#[test]
fn names_that_match_a_pattern_are_a_part() {
    let of = |named, namespaces| titles(&plan(&[], named, namespaces).unwrap());
    let these = |names: &[&str]| Namespaces::Named(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(
        of(&[("pods", &["web-*", "db", "x*"]), ("svc", &["web-*"])], these(&["a", "b"])),
        ["a:pods/db", "a:pods/web-*,x*", "b:pods/db", "b:pods/web-*,x*", "a:svc/web-*", "b:svc/web-*"]
    );
    assert_eq!(of(&[("pods", &["web-*"])], Namespaces::All), [":pods/web-*"], "a pattern needs no namespace");
    assert_eq!(of(&[("pods", &["web-*"]), ("pods", &[])], these(&["a"])), ["a:pods"]);
}

#[test]
fn excluded_type_is_listed_when_named() {
    let mut plan = plan(&["all"], &[("events", &[]), ("pods", &[])], Namespaces::Current).unwrap();
    plan.update_kinds(&offered(&SOME[..4]), &[]);
    assert_eq!(titles(&plan), ["home:events", "home:pods", ":nodes"]);
    assert_eq!(
        plan.parts().iter().map(|planned| planned.open_type).collect::<Vec<_>>(),
        [false, false, true]
    );
}

#[test]
fn all_kinds_of_named_namespaces_excludes_cluster_scoped() {
    let mut plan = plan(&["all"], &[], Namespaces::Named(vec!["a".into()])).unwrap();
    plan.update_kinds(&offered(&SOME[..4]), &[]);
    assert_eq!(titles(&plan), ["a:pods"]);
}

#[test]
fn group_pattern_selects_all_its_types() {
    let kinds = |word: &str| {
        let mut plan = plan(&[word], &[], Namespaces::All).unwrap();
        plan.update_kinds(&offered(SOME), &[]);
        (titles(&plan), plan.unmatched().map(str::to_owned))
    };
    let found = |titles: &[&str]| (titles.iter().map(|title| format!(":{title}")).collect::<Vec<_>>(), None);
    assert_eq!(kinds("*.example.com"), found(&["widgets.example.com", "gears.example.com"]));
    assert_eq!(
        kinds("*.*example.com"),
        found(&["widgets.example.com", "gears.example.com", "things.sub.example.com"])
    );
    assert_eq!(kinds("*.events.k8s.io"), found(&["events.events.k8s.io"]));
    assert_eq!(kinds("event*"), found(&["events"]));
    assert_eq!(kinds("*.nothing"), (Vec::new(), Some("*.nothing".to_owned())));
}

#[test]
fn type_keeps_version_while_served() {
    let mut plan = plan(&["*.example.com"], &[], Namespaces::All).unwrap();
    let versions = |plan: &Plan| {
        let version =
            |planned: PlannedPart| format!("{}@{}", planned.part.title(), planned.part.resource.version);
        plan.parts().into_iter().map(version).collect::<Vec<_>>()
    };
    plan.update_kinds(&offered(&["a.example.com@v1"]), &[]);
    assert_eq!(versions(&plan), ["a.example.com@v1"]);
    plan.update_kinds(&offered(&["a.example.com@v2", "a.example.com@v1", "b.example.com@v1"]), &[]);
    assert_eq!(versions(&plan), ["a.example.com@v1", "b.example.com@v1"]);
    plan.update_kinds(&offered(&["a.example.com@v2"]), &[]);
    assert_eq!(versions(&plan), ["a.example.com@v2"]);
    plan.update_kinds(&[], &[]);
    assert_eq!(versions(&plan), [""; 0]);
}

#[test]
fn failed_discovery_keeps_types() {
    let missing = |group: &str, version: &str| UnavailableGroup {
        group: group.into(),
        version: version.into(),
        reason: String::new(),
        is_stale: false,
    };
    for (missing, stays) in [
        (missing("example.com", "v1"), true),
        (missing("example.com", ""), true),
        (missing("", ""), true),
        (missing("other.com", "v1"), false),
        (missing("", "v1"), false),
    ] {
        let mut plan = plan(&["*.example.com"], &[], Namespaces::All).unwrap();
        plan.update_kinds(&offered(&["a.example.com"]), &[]);
        plan.update_kinds(&[], std::slice::from_ref(&missing));
        assert_eq!(plan.parts().len(), usize::from(stays), "{missing:?}");
    }
}

#[test]
fn namespace_patterns_follow_changes() {
    let mut plan = plan(&[], &[("pods", &[])], matching(&["fixed"], &["team-*"])).unwrap();
    assert!(plan.needs_namespaces() && !plan.is_settled());
    assert_eq!(titles(&plan), ["fixed:pods"]);
    plan.update_namespaces(live(&["fixed", "other", "team-a"]));
    assert!(plan.is_settled());
    assert_eq!(titles(&plan), ["fixed:pods", "team-a:pods"]);
    let open: Vec<_> = plan.parts().iter().map(|planned| planned.open_namespace).collect();
    assert_eq!(open, [false, true]);
    plan.update_namespaces(live(&["team-b"]));
    assert_eq!(titles(&plan), ["fixed:pods", "team-b:pods"]);
}

#[test]
fn forbidden_type_is_listed_per_namespace() {
    let mut plan = plan(&[], &[("pods", &[]), ("secrets", &[]), ("!nodes", &[])], Namespaces::All).unwrap();
    assert!(plan.is_settled() && !plan.needs_namespaces());
    let parts = plan.parts();
    assert!(!plan.split_by_namespace(&parts[2].part), "a cluster-scoped type has no namespaces");
    assert!(plan.split_by_namespace(&parts[0].part));
    assert!(!plan.is_settled());
    assert_eq!(titles(&plan), [":secrets", ":nodes"]);
    plan.update_namespaces(live(&["a", "b"]));
    assert_eq!(titles(&plan), ["a:pods", "b:pods", ":secrets", ":nodes"]);
    assert!(!plan.split_by_namespace(&plan.parts()[0].part), "a refusal in one namespace is final");
}

#[test]
fn forbidden_type_is_dropped_without_namespaces() {
    let mut plan = plan(&[], &[("pods", &[]), ("secrets", &[]), ("!nodes", &[])], Namespaces::All).unwrap();
    assert!(plan.split_by_namespace(&plan.parts()[0].part));
    assert_eq!(plan.give_up_namespaces(), RemainingParts::AllButSplit);
    assert!(plan.is_settled());
    assert_eq!(titles(&plan), [":secrets", ":nodes"]);
    assert!(!plan.split_by_namespace(&plan.parts()[0].part), "no namespaces are known");
}

#[test]
fn known_namespaces_stay_when_listing_fails() {
    let mut everywhere = plan(&[], &[("pods", &[])], Namespaces::All).unwrap();
    assert!(everywhere.split_by_namespace(&everywhere.parts()[0].part));
    let mut matched = plan(&[], &[("pods", &[])], matching(&[], &["team-*"])).unwrap();
    for plan in [&mut everywhere, &mut matched] {
        plan.update_namespaces(live(&["team-a"]));
        assert!(plan.is_open());
        assert_eq!(plan.give_up_namespaces(), RemainingParts::Known);
        assert_eq!(titles(plan), ["team-a:pods"]);
        assert!(!plan.is_open(), "new namespaces are not seen");
    }
}

#[test]
fn named_namespaces_stay_when_listing_fails() {
    for (types, always, remains, parts) in [
        (&["pods"][..], &["shop"][..], RemainingParts::Known, &["shop:pods"][..]),
        (&["pods", "!nodes"], &[], RemainingParts::Known, &[":nodes"]),
        (&[], &["shop"], RemainingParts::Known, &[]),
        (&["pods"], &[], RemainingParts::Nothing, &[]),
    ] {
        let named: Vec<(&str, &[&str])> = types.iter().map(|text| (*text, &[][..])).collect();
        let mut plan = plan(&[], &named, matching(always, &["team-*"])).unwrap();
        assert_eq!(titles(&plan), parts);
        assert_eq!(plan.give_up_namespaces(), remains, "{types:?} {always:?}");
        assert!(plan.is_settled());
        assert_eq!(titles(&plan), parts, "{types:?} {always:?}");
    }
}

#[test]
fn split_of_deleted_type_is_dropped() {
    let mut plan = plan(&["*.example.com"], &[("pods", &[])], Namespaces::All).unwrap();
    plan.update_namespaces(live(&["a"]));
    for round in 0..3 {
        plan.update_kinds(&offered(&["widgets.example.com", "gadgets.example.com"]), &[]);
        let parts = plan.parts();
        for PlannedPart { part, .. } in &parts {
            // `pods` exists throughout.
            let is_new = round == 0 || part.resource.resource != "pods";
            assert_eq!(part.namespace.is_empty() && plan.split_by_namespace(part), is_new, "{part:?}");
            assert!(plan.is_split(part));
        }
        assert_eq!(plan.split_types.len(), 3);
        plan.update_kinds(&offered(&["widgets.example.com"]), &[]);
        assert_eq!(titles(&plan), ["a:pods", "a:widgets.example.com"]);
        plan.update_kinds(&[], &[]);
        assert_eq!(plan.split_types.len(), 1, "{:?}", plan.split_types);
    }
}

#[test]
fn named_objects_are_looked_up_in_matching_namespaces_only() {
    let named: &[(&str, &[&str])] =
        &[("pods", &["x", "y"]), ("!nodes", &["n"]), ("secrets", &["s"]), ("secrets", &[]), ("pods", &["x"])];
    let titles = |plan: &Plan| {
        plan.named_in_matching()
            .iter()
            .map(|part| format!("{}:{}", part.namespace, part.title()))
            .collect::<Vec<_>>()
    };
    let mut matched = plan(&[], named, matching(&["fixed"], &["team-*"])).unwrap();
    assert_eq!(titles(&matched), [":pods/x", ":pods/y"]);
    matched.give_up_namespaces();
    assert_eq!(titles(&matched), [""; 0], "namespaces are unknown");
    assert_eq!(titles(&plan(&[], named, Namespaces::Current).unwrap()), [""; 0]);
}

#[test]
fn objects_of_files_are_parts_of_their_own() {
    let object = |text: &str, namespace: &str, name: &str| Part {
        resource: resource(text),
        name: Some(name.into()),
        ..template(namespace)
    };
    let objects = vec![
        object("pods", "shop", "a"),
        object("!nodes", "", "n"),
        object("pods", "other", "a"),
        object("pods", "shop", "a"),
    ];
    let plan = plan(&[], &[], Namespaces::Current).expect("a plan").with_objects(objects);
    assert_eq!(titles(&plan), ["shop:pods/a", ":nodes/n", "other:pods/a"]);
    assert!(plan.is_settled() && !plan.is_open());
    let resources: Vec<_> = plan.resources().map(|resource| resource.resource.as_str()).collect();
    assert_eq!(resources[..2], ["pods", "nodes"]);
}
