use super::*;

/// Half of the stack of a test's thread.
const STACK: usize = 1 << 20;

fn run(text: &str, json: &str, raw: bool) -> Result<Vec<String>, String> {
    let filter = JqFilter::parse(text).map_err(|error| error.to_string())?;
    let mut lines = Vec::new();
    let run = filter.run(&JsonValue::parse(json.as_bytes()), raw, STACK, |line| {
        lines.push(String::from_utf8_lossy(line).into_owned());
        if lines.len() < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    run.map(|()| lines).map_err(|error| error.to_string())
}

fn lines(text: &str, json: &str) -> Vec<String> {
    run(text, json, false).expect(text)
}

const POD: &str = r#"{"metadata":{"name":"web-1","labels":{"app":"web"}},"spec":{"containers":[{"name":"a","image":"x:1"},{"name":"b","image":"y"}]},"n":1.50,"big":12345678901234567890}"#;

// The results of jq 1.7 with -c, except for the number beyond 64 bits, which Go reads as a float.
#[test]
fn results_are_compact_json() {
    for (text, expected) in [
        (".metadata.name", &[r#""web-1""#][..]),
        (".metadata", &[r#"{"labels":{"app":"web"},"name":"web-1"}"#]),
        (".spec.containers[].image", &[r#""x:1""#, r#""y""#]),
        ("[.spec.containers[] | select(.image | test(\":\")) | .name]", &[r#"["a"]"#]),
        (".nothing, .n, (.spec.containers | length)", &["null", "1.5", "2"]),
        ("\"\\(.metadata.name)=\\(.n)\"", &[r#""web-1=1.5""#]),
        (".metadata.labels | to_entries[] | \"\\(.key)/\\(.value)\"", &[r#""app/web""#]),
        ("[.metadata.name, .n] | @csv", &[r#""\"web-1\",1.5""#]),
        ("\"YWJj\" | @base64d", &[r#""abc""#]),
        ("\"2026-11-21T09:00:00Z\" | fromdateiso8601", &["1795251600"]),
        ("{a: 1} + {b: [true, null]} | tojson", &[r#""{\"a\":1,\"b\":[true,null]}""#]),
        ("empty", &[]),
        (". as {metadata: {name: $n}} | $n | ascii_upcase | ltrimstr(\"WEB\")", &[r#""-1""#]),
        ("1, halt, 2", &["1"]),
        ("\"x\" | debug, stderr", &[r#""x""#, r#""x""#]),
        ("nan, infinite, -infinite", &["null", "1.7976931348623157e+308", "-1.7976931348623157e+308"]),
        ("{(\"a\\u0001\"): {b: [1.5]}}", &[r#"{"a\u0001":{"b":[1.5]}}"#]),
    ] {
        assert_eq!(lines(text, POD), expected, "{text}");
    }
    let tsv = run(r#"["a\tb\\", null, true] | @tsv"#, "{}", true);
    assert_eq!(tsv, Ok(vec!["a\\tb\\\\\t\ttrue".into()]));
    assert_eq!(run(".metadata.name, .n", POD, true), Ok(vec!["web-1".into(), "1.5".into()]));
}

#[test]
fn syntax_errors_have_a_position() {
    for (text, expected) in [
        (".a |", "line 1, column 5: expected term, found the end"),
        (".a | (.b", "line 1, column 9: expected closing parenthesis, found the end"),
        (".a\n  | nothing(1)", "line 2, column 5: undefined filter nothing/1"),
        ("$x", "line 1, column 1: undefined variable $x"),
        (".a ]", "line 1, column 4: expected token, found ']'"),
        ("import \"a\" as a; .", "line 1, column 9: modules can't be imported"),
    ] {
        assert_eq!(run(text, "{}", false), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn failures_come_after_earlier_results() {
    let filter = JqFilter::parse(".a, (.a | keys)").expect("fine");
    let mut count = 0;
    let error = filter.run(&JsonValue::parse(br#"{"a":1}"#), false, STACK, |_| {
        count += 1;
        ControlFlow::Continue(())
    });
    assert_eq!(count, 1);
    assert!(matches!(error, Err(JqError::Failed(reason)) if reason.contains('1')));
    assert_eq!(run("error(\"no\")", "{}", false), Err("no".into()));
}

#[test]
fn endless_results_can_be_ended() {
    for text in
        ["repeat(1)", "range(1e18)", "def f: 1, f; f", "[1, 2] | combinations(1e3 | tostring | tonumber) | 1"]
    {
        if let Ok(lines) = run(text, "{}", false) {
            assert_eq!(lines.len(), 100, "{text}");
        }
    }
}

#[test]
fn endless_recursion_is_an_error() {
    for text in [
        "def f: 1 + f; f",
        "def f: [f]; f",
        "def f(g): g | f(g) | g; f(.)",
        "def f: def g: f + 1; g; f",
        r#""\(def f: 1 + f; f)""#,
    ] {
        let error = run(text, "{}", false);
        assert_eq!(error, Err("the recursion of the expression is too deep".into()), "{text}");
    }
    assert_eq!(lines("def f: 1 + f; try f catch \"caught\"", "{}"), [r#""caught""#]);
    let factorial = "def fac: if . < 2 then 1 else . * (. - 1 | fac) end; 10 | fac";
    assert_eq!(lines(factorial, "{}"), ["3628800"]);
    let tail = "def f: if . < 100000 then . + 1 | f else . end; 0 | f";
    assert_eq!(lines(tail, "{}"), ["100000"], "tail calls need no stack");
    assert_eq!(lines("def f: .a; f |= 2", r#"{"a":1}"#), [r#"{"a":2}"#], "definitions are paths");
    assert_eq!(lines("def f: .a; path(f)", "{}"), [r#"["a"]"#]);
}

#[test]
fn deeply_nested_values_are_refused() {
    let json = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    assert_eq!(run(".", &json, false), Err("the object is nested too deeply".into()));
}

#[test]
fn only_expressions_over_items_run_per_item() {
    for (text, expected) in [
        (".items[]", Some(".")),
        (".items[].metadata.name", Some(".metadata.name")),
        ("  .items[] | select(.a) | .b, .c", Some(". | select(.a) | .b, .c")),
        (".items[].a[] | {a}", Some(".a[] | {a}")),
        (".items[][0]", Some(".[0]")),
        (".items[].\"a-b\"", Some(".\"a-b\"")),
        (".items[].a, .kind", None),
        (".items[].a + 1", None),
        (".items[] as $x | .kind", None),
        (".items[] |= 1", None),
        (".items[]?", None),
        (".items[0]", None),
        (".items | length", None),
        ("[.items[]]", None),
        (".items[] // 1", None),
        (".itemsX[]", None),
    ] {
        assert_eq!(streaming::per_item(text).as_deref(), expected, "{text}");
    }
    let per_item = JqFilter::parse(".items[] | .n * 2").expect("fine").per_item().expect("it streams");
    let mut lines = Vec::new();
    for item in [r#"{"n":1}"#, r#"{"n":2}"#] {
        let run = per_item.run(&JsonValue::parse(item.as_bytes()), false, STACK, |line| {
            lines.extend_from_slice(line);
            ControlFlow::Continue(())
        });
        assert_eq!(run, Ok(()));
    }
    assert_eq!(lines, b"24");
}

#[test]
fn filters_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<JqFilter>();
}
