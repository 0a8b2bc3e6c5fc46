//! Tests of the conditions on indices.

use super::*;

fn by(text: &str) -> (String, Condition) {
    let By { index, condition } = By::parse(text).expect(text);
    (index.to_string(), condition)
}

fn owned(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn first_operator_splits_and_commas_separate_values() {
    use Condition::{Absent, AnyOf, Exists, NoneOf};
    for (text, index, condition) in [
        ("label:app.kubernetes.io/name=a=b,c", "label:app.kubernetes.io/name", AnyOf(owned(&["a=b", "c"]))),
        ("node=", "node", AnyOf(owned(&[""]))),
        ("node==a", "node", AnyOf(owned(&["a"]))),
        ("node!=a,b", "node", NoneOf(owned(&["a", "b"]))),
        ("label:app in (a, b)", "label:app", AnyOf(owned(&["a", "b"]))),
        ("label:app notin (a)", "label:app", NoneOf(owned(&["a"]))),
        ("annotation:note=x in (y)", "annotation:note", AnyOf(owned(&["x in (y)"]))),
        ("label:app", "label:app", Exists),
        ("!label:app", "label:app", Absent),
    ] {
        assert_eq!(by(text), (index.to_owned(), condition), "{text}");
    }
}

#[test]
fn conditions_match_as_kubectls_label_selectors() {
    for (text, none, a, b_and_c) in [
        ("node=a,c", false, true, true),
        ("node!=a", true, false, true),
        ("node notin (b,x)", true, true, false),
        ("node", false, true, true),
        ("!node", true, false, false),
    ] {
        let By { condition, .. } = By::parse(text).expect(text);
        let matches = |values: &[&str]| {
            condition.holds(!values.is_empty(), values.iter().any(|value| condition.names(value)))
        };
        assert_eq!([matches(&[]), matches(&["a"]), matches(&["b", "c"])], [none, a, b_and_c], "{text}");
    }
}

#[test]
fn offered_index_names_are_accepted() {
    for name in IndexName::NAMES {
        let whole = if name.ends_with(':') { format!("{name}object") } else { name.to_owned() };
        assert!(IndexName::parse(&whole).is_ok(), "{name}");
        let message = UsageError::UnknownIndex { index: String::new(), similar: None }.to_string();
        assert!(message.contains(name), "{message}: {name}");
    }
}

#[test]
fn index_names_and_conditions_round_trip() {
    for text in [
        "namespace",
        "name",
        "label:a/b",
        "annotation:x",
        "owner",
        "node",
        "image",
        "field:spec.containers[*].image",
        "cel:object.spec.replicas == 2 || 'a=b' in object.metadata.labels",
    ] {
        assert_eq!(by(text), (text.to_owned(), Condition::Exists));
        let excluded = (!text.starts_with("cel:")).then(|| format!("{text}!=a"));
        let others = [text.to_owned(), format!("{text}=a,b"), format!("!{text}")];
        for condition in others.into_iter().chain(excluded) {
            assert_eq!(By::parse(&condition).expect(&condition).to_string(), condition);
        }
    }
}

#[test]
fn label_or_path_without_its_index_is_suggested() {
    for (text, flag) in [
        ("app=web", Some("did you mean --by label:app=web?")),
        ("app.kubernetes.io/name=a,b", Some("did you mean --by label:app.kubernetes.io/name=a,b?")),
        ("labels:app", Some("did you mean --by label:app?")),
        ("status.phase", Some("did you mean --by field:status.phase?")),
        ("spec.containers[*].image=x", Some("did you mean --by 'field:spec.containers[*].image=x'?")),
        ("app!=web", Some("did you mean --by 'label:app!=web'?")),
        ("!app", Some("did you mean --by '!label:app'?")),
        ("label:", None),
        ("=x", None),
    ] {
        let error = By::parse(text).expect_err(text);
        assert_eq!(error.hint().as_deref(), flag, "{text}");
    }
}

#[test]
fn unknown_index_error_lists_indices() {
    for text in ["labels:app=x", "label=x", "label:=x", "namespace:x=y", "=x", "field:", "!node=x"] {
        let error = By::parse(text).expect_err(text).to_string();
        assert!(error.contains("namespace, name, label:KEY"), "{error}");
    }
}

#[test]
fn expression_ends_at_the_first_equals_sign_that_is_no_operator() {
    use Condition::{Absent, AnyOf, Exists};
    for (text, index, condition) in [
        ("cel:object.metadata.name.split('-')[0]", "cel:object.metadata.name.split('-')[0]", Exists),
        ("cel:object.a=web,api", "cel:object.a", AnyOf(owned(&["web", "api"]))),
        ("cel:object.a == 'x' = true", "cel:object.a == 'x'", AnyOf(owned(&["true"]))),
        ("cel:object.a != 1", "cel:object.a != 1", Exists),
        ("cel:object.a in ['b']=true", "cel:object.a in ['b']", AnyOf(owned(&["true"]))),
        ("cel:object.a=k=v", "cel:object.a", AnyOf(owned(&["k=v"]))),
        ("cel:object.a=", "cel:object.a", AnyOf(owned(&[""]))),
        ("!cel:object.?a", "cel:object.?a", Absent),
    ] {
        assert_eq!(by(text), (index.to_owned(), condition), "{text}");
    }
}

#[test]
fn problems_of_an_expression_are_shown() {
    for (text, message) in [
        (
            "cel:object.a == web",
            "invalid --by cel: line 1, column 13: unknown variable \"web\"\n  object.a == web\n              ^",
        ),
        (
            "cel:{'a': 1}",
            "invalid --by cel: line 1, column 1: the expression is of type map(string, int), which has no text\n  {'a': 1}\n  ^",
        ),
        ("cel:object.a=\"web\"", "without quotes"),
        ("!cel:object.a=web", "selects objects without a value"),
        ("cel:", "invalid --by cel: line 1, column 1: "),
        ("cel:now", "unknown variable \"now\""),
    ] {
        let error = By::parse(text).expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}
