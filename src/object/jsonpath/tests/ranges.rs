//! Ranges.

use super::{assert_outputs, execute, execute_allowing};

const PODS: &str = r#"{"kind":"List","items":[
    {"name":"pod1","spec":{"c":[{"name":"foo","v":[{"n":"1"},{"n":"2"}]},{"name":"bar","v":[{"n":"3"}]}]}},
    {"name":"pod2","spec":{"c":[{"name":"baz","v":[{"n":"4"}]}]}}]}"#;

#[test]
fn ranges_match_client_go() {
    assert_outputs(
        PODS,
        &[
            ("{range .items[*]}{.name}, {end}{.kind}", "pod1, pod2, List"),
            (r#"{range .items[*]}{.name}{"\t"}{end}"#, "pod1\tpod2\t"),
            ("{range .items[*]}{range .spec.c[*]}{.name}, {end}{end}", "foo, bar, baz, "),
            (
                r#"{range .items[*]}{.name}{":"}{range @.spec.c[*]}{.name}{","}{end}{"+"}{end}"#,
                "pod1:foo,bar,+pod2:baz,+",
            ),
            (
                "{range .items[*]}{.name}~{range .spec.c[*]}{.name}:{range .v[0:1]}{.n},{end}+{end}#{end}.",
                "pod1~foo:1,+bar:3,+#pod2~baz:4,+#.",
            ),
            (
                "{range .items[*]}{.name} {range .spec.c[*]}{.name} {end}={range .spec.c[*]}{.name} {end}|{end}",
                "pod1 foo bar =foo bar |pod2 baz =baz |",
            ),
        ],
    );
}

#[test]
fn range_without_values_prints_nothing() {
    let empty = r#"{"items":[],"kind":"List"}"#;
    for (template, output) in [
        ("{range .items[*]}{.metadata.name}{end}", ""),
        ("{range .items[*]}{.name}:{range @.spec.c[*]}{.name},{end}+{end}{.kind}", "List"),
        ("{range .missing}x{end}{.kind}", "List"),
    ] {
        assert_eq!(execute_allowing(template, empty).as_deref(), Ok(output), "{template}");
    }
    // client-go evaluates the body for its errors.
    assert!(execute("{range .items[*]}{.metadata.name}{end}", empty).is_err());
}

#[test]
fn filtered_items_can_be_ranged_over() {
    let pods =
        r#"{"items":[{"n":"1","s":{"p":"Running"}},{"n":"2","s":{"p":"Running"}},{"resourceVersion":""}]}"#;
    let template = r#"{range .items[?(.s.p=="Running")]}{.n}{" is Running\n"}{end}"#;
    assert_eq!(execute_allowing(template, pods).as_deref(), Ok("1 is Running\n2 is Running\n"));
}

#[test]
fn range_without_end_is_repeated_once() {
    let list = r#"{"items":[{"a":1},{"a":2}],"a":0}"#;
    assert_outputs(list, &[("{range .items[*]}{.a};", "1;2;0;")]);
}

#[test]
fn range_over_null_has_no_value() {
    assert_outputs(r#"{"a":null,"b":[null]}"#, &[("{.a}", "null"), ("{range .b[*]}{@}{end}", "<no value>")]);
}
