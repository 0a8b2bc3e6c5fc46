//! Tests of the checker.

use crate::query::cel::CelFilter;

/// Returns the column and the message of the problem.
fn problem(text: &str) -> (usize, String) {
    let error = CelFilter::parse(text, false).expect_err(text);
    (error.column, error.problem)
}

#[test]
fn names_are_resolved() {
    for (text, column, message) in [
        ("object.a == foo", 13, "unknown variable \"foo\""),
        ("old.spec.a == 1", 1, "unknown variable \"old\""),
        ("object.a.frobnicate()", 10, "unknown function \"frobnicate\""),
        ("startsWith('a', 'b')", 1, "the function \"startsWith\" is called on a value"),
        ("'a'.timestamp() == now", 5, "the function \"timestamp\" is not called on a value"),
        ("object.a.startsWith()", 10, "the function \"startsWith\" takes 1 argument, not 0"),
        ("'a'.replace('b') == ''", 5, "the function \"replace\" takes 2 or 3 arguments, not 1"),
        ("[1].all(x, y == 1)", 12, "unknown variable \"y\""),
        ("[1].all(1, true)", 9, "expected the name of a variable"),
        ("has(object)", 5, "has needs a field, such as has(object.spec.paused)"),
        ("[1].all(x)", 5, "unknown function \"all\""),
        ("Pod{name: 'a'} == 1", 1, "unknown message type \"Pod\""),
    ] {
        assert_eq!(problem(text), (column, message.to_owned()), "{text}");
    }
}

#[test]
fn types_are_checked() {
    for (text, column, message) in [
        ("1 + 'a' == 2", 3, "+ does not accept int and string"),
        ("1 == 'a'", 3, "== does not accept int and string"),
        ("1 == 1.0", 3, "== does not accept int and double"),
        ("'a'.startsWith(1)", 5, "the function \"startsWith\" does not accept string, int"),
        ("object.a.startsWith(1)", 10, "the function \"startsWith\" does not accept dyn, int"),
        ("size(1) == 1", 1, "the function \"size\" does not accept int"),
        ("[1, 'a'] == []", 5, "expected int, found string"),
        ("{'a': 1, 'b': ''} == {}", 15, "expected int, found string"),
        ("object.a ? 1 == 1 : 'a'", 10, "? returns bool or string"),
        ("1 && true", 1, "&& does not accept int"),
        ("!'a'", 2, "! does not accept string"),
        ("-'a' == 1", 1, "- does not accept string"),
        ("object.a + 1", 10, "the expression is of type int, not bool"),
        ("'a'.b == 1", 5, "a value of type string has no fields"),
        ("[1]['a'] == 1", 4, "[] does not accept list(int) and string"),
        ("'a'.all(x, true)", 1, "all needs a list or a map, not string"),
        ("[1].filter(x, x + 1) == []", 17, "filter does not accept int"),
        ("['a'].sum() == 1", 7, "the function \"sum\" does not accept list(string)"),
        ("timestamp('yesterday') < now", 11, "\"yesterday\" is no timestamp"),
        ("duration('1d') < duration('1h')", 10, "\"1d\" is no duration"),
        ("now + duration('1h') > '1h'", 22, "> does not accept timestamp and string"),
    ] {
        assert_eq!(problem(text), (column, message.to_owned()), "{text}");
    }
    assert!(problem("'a'.matches('(')").1.starts_with("invalid regular expression: "));
}

#[test]
fn dynamic_values_are_accepted() {
    for text in [
        "object.a",
        "object.a + 1 == 2",
        "object.a.b[0].c in object.d",
        "[dyn(1), object.a] == [object.b] && [[], [1]] == []",
        "object.a == null && object.a.startsWith('x')",
        "object.a.all(x, x.y) && object.a.map(x, x.y).sum() > 1",
        "(object.a ? 1 : object.b) == 'x'",
        "timestamp(object.a) < now && now - timestamp(object.a) > duration('1h')",
        "object.a.indexOf('x') == 1 && object.a.reverse() == []",
    ] {
        assert!(CelFilter::parse(text, false).is_ok(), "{text}");
    }
}

#[test]
fn positions_are_marked_in_their_line() {
    let error = CelFilter::parse("object.a == 1 &&\n  object.b == 'ü' + fu", false).expect_err("unknown");
    assert_eq!((error.line, error.column), (2, 21));
    assert_eq!(error.excerpt, "  object.b == 'ü' + fu");
}
