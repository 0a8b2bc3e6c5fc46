//! Tests of field filters: the grammar next to kubectl's, and the comparison of values.

use proptest::prelude::*;

use super::*;
use crate::object::FieldSelector;

const POD: &str = r#"{"metadata":{"name":"web","labels":{"a.b/c":"x"},"creationTimestamp":"2026-11-21T09:00:00Z"},
"spec":{"nodeName":"n1","containers":[{"image":"a:1","resources":{"requests":{"cpu":"250m","memory":"1Gi"}}},{"image":"b:2"}]},
"status":{"phase":"Running","podIP":"","containerStatuses":[{"restartCount":0},{"restartCount":12}],"ratio":0.5}}"#;

fn matches(text: &str) -> bool {
    let (others, filter) = FieldFilter::split(text).expect(text);
    assert_eq!(others, "", "{text}");
    assert!(!filter.is_empty(), "{text}");
    filter.matches_json(POD.as_bytes())
}

#[test]
fn values_are_members_of_sets() {
    for (text, expected) in [
        ("spec.nodeName in (n1,n2)", true),
        ("spec.nodeName in ( n2 , n1 )", true),
        ("spec.nodeName in(n2)", false),
        ("spec.nodeName notin (n2)", true),
        ("spec.nodeName notin (n1)", false),
        ("spec.containers[*].image in (b:2)", true),
        ("spec.containers.image notin (b:2)", false),
        ("status.podIP in ()", true),
        ("status.hostIP in (,x)", true),
        ("status.hostIP in (x)", false),
        ("status.hostIP notin (x)", true),
        ("status.hostIP notin ()", false),
        ("metadata.labels['a.b/c'] in (x)", true),
        (" {.spec.nodeName} in (n1) ", true),
    ] {
        assert_eq!(matches(text), expected, "{text}");
    }
}

#[test]
fn numbers_and_quantities_compare_by_value() {
    for (text, expected) in [
        ("status.containerStatuses[*].restartCount>3", true),
        ("status.containerStatuses[*].restartCount>12", false),
        ("status.containerStatuses[*].restartCount>=12", true),
        ("status.containerStatuses[*].restartCount<1", true),
        ("status.containerStatuses[*].restartCount<=-1", false),
        ("status.containerStatuses[0].restartCount > 3", false),
        ("status.ratio<1", true),
        ("spec.containers[*].resources.requests.cpu<0.3", true),
        ("spec.containers[*].resources.requests.cpu>0.3", false),
        ("spec.containers[*].resources.requests.memory>1000M", true),
        ("spec.containers[*].resources.requests.memory>=1024Mi", true),
        ("spec.containers[*].resources.requests.memory>1024Mi", false),
        ("status.phase>1", false),
        ("status.hostIP<1", false),
        ("metadata.creationTimestamp<2026-11-22", true),
        ("metadata.creationTimestamp>2026-11-22", false),
        ("status.phase>=Running", true),
    ] {
        assert_eq!(matches(text), expected, "{text}");
    }
}

#[test]
fn terms_of_the_server_are_split_off_unchanged() {
    for (text, others, count) in [
        ("", "", 0),
        ("a=1", "a=1", 0),
        (",a=1,,b!=2,", ",a=1,,b!=2,", 0),
        (r"a=x\,b in (c)", r"a=x\,b in (c)", 0),
        ("a=b>c", "a=b>c", 0),
        ("a>b=c", "a>b=c", 0),
        ("a in b", "a in b", 0),
        ("a", "a", 0),
        ("a=1,b in (c,d),e!=2", "a=1,e!=2", 1),
        ("a in (b),c>1", "", 2),
        ("a in (b),", "", 1),
        ("x.y in (a=b)", "", 1),
        ("metadata.labels['a=b'] in (c),d=e", "d=e", 1),
    ] {
        let (found, filter) = FieldFilter::split(text).expect(text);
        assert_eq!((found.trim_matches(','), filter.0.len()), (others.trim_matches(','), count), "{text}");
        if count == 0 {
            assert_eq!(found, text);
        }
    }
}

#[test]
fn invalid_terms_are_errors() {
    for (text, message) in [
        ("a in (b", "invalid field selector: the set in 'a in (b' has no closing parenthesis"),
        ("a in (b) c", "invalid field selector: after the set in 'a in (b)' a comma must follow"),
        ("a>", "invalid field selector: 'a>' compares with no value"),
        ("a> ,b=c", "invalid field selector: 'a> ' compares with no value"),
        (">1", "invalid field selector: invalid field path \"\": a name is empty"),
        ("a..b>1", "invalid field selector: invalid field path \"a..b\": a name is empty"),
    ] {
        assert_eq!(FieldFilter::split(text).expect_err(text).to_string(), message);
    }
}

#[test]
fn metadata_is_enough_for_its_fields() {
    for (text, expected) in [
        ("metadata.labels.app in (a)", true),
        ("metadata.name>a,metadata.generation<3", true),
        ("metadata.name>a,spec.replicas<3", false),
        ("metadata_x in (a)", false),
    ] {
        assert_eq!(FieldFilter::split(text).expect(text).1.reads_only_metadata(), expected, "{text}");
    }
}

#[test]
fn brackets_and_quotes_end_with_their_term() {
    for (text, rest) in [("[,a>b[,!]<0", "[,!]<0"), ("a['x,b<'q,c=']<1", "a['x,c=']<1")] {
        let (others, filter) = FieldFilter::split(text).expect(text);
        assert_eq!((others.as_str(), filter.0.len()), (rest, 1));
        assert_eq!(FieldFilter::split(&others), Ok((others.clone(), FieldFilter::default())));
    }
}

proptest! {
    #[test]
    fn texts_of_kubectl_are_not_changed(text in "[ab.=!,\\\\ in]{0,16}") {
        // What kubectl accepts keeps its meaning.
        if FieldSelector::parse(&text).is_ok() {
            prop_assert_eq!(FieldFilter::split(&text).map(|(others, _)| others), Ok(text));
        }
    }

    #[test]
    fn rest_for_the_server_has_no_local_terms(text in "[ab.=!,\\\\ ()<>in\\[\\]'\\PC]{0,24}") {
        if let Ok((others, filter)) = FieldFilter::split(&text) {
            let again = FieldFilter::split(&others).map(|(others, filter)| (others, filter.is_empty()));
            prop_assert_eq!(again, Ok((others, true)));
            prop_assert_eq!(filter.matches_json(POD.as_bytes()), filter.matches_json(POD.as_bytes()));
        }
    }
}
