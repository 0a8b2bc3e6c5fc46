//! Tests of the syntax.

use super::{ExprKind, Literal, parse};

/// Returns the position and the message of the problem.
fn problem(text: &str) -> (usize, String) {
    let problem = parse(text).expect_err(text);
    (problem.at, problem.message)
}

#[test]
fn literals_have_their_values() {
    for (text, expected) in [
        ("-9223372036854775808", Literal::Int(i64::MIN)),
        ("0xFFu", Literal::Uint(255)),
        ("-1.5e3", Literal::Double(-1500.0)),
        (".5", Literal::Double(0.5)),
        (r#""a\n\x41\u00fc\101\"""#, Literal::Text("a\nAüA\"".to_owned())),
        (r"r'\d'", Literal::Text(r"\d".to_owned())),
        ("'''it's\n'''", Literal::Text("it's\n".to_owned())),
        (r"b'\xff\x00a'", Literal::Bytes(vec![255, 0, b'a'])),
        ("null // nothing", Literal::Null),
    ] {
        let expr = parse(text).expect(text);
        assert!(matches!(&expr.kind, ExprKind::Literal(found) if *found == expected), "{text}: {expr:?}");
    }
}

#[test]
fn problems_have_positions() {
    assert_eq!(problem("1 +"), (3, "expected an expression, found the end".to_owned()));
    assert_eq!(problem("a b"), (2, "expected an operator or the end, found \"b\"".to_owned()));
    assert_eq!(problem("f(1, 2"), (6, "expected \")\", found the end".to_owned()));
    assert_eq!(problem("a.1"), (1, "expected an operator or the end, found a number".to_owned()));
    assert_eq!(problem("a == 'x"), (5, "the string is not closed".to_owned()));
    assert_eq!(problem("'\\q'"), (0, "invalid escape in the string".to_owned()));
    assert_eq!(problem("9223372036854775808"), (0, "the integer is out of range".to_owned()));
    assert_eq!(problem("1 # 2"), (2, "unexpected character '#'".to_owned()));
    assert_eq!(problem("for"), (0, "\"for\" is a reserved word".to_owned()));
    assert_eq!(problem("1.5x"), (3, "unexpected character after a number".to_owned()));
}

#[test]
fn nesting_is_bounded() {
    let nested = |open: &str, close: &str, depth: usize| open.repeat(depth) + "1" + &close.repeat(depth);
    for (text, is_valid) in [
        (nested("(", ")", 45), true),
        (nested("(", ")", 10_000), false),
        (nested("[", "]", 10_000), false),
        (nested("-(", ")", 10_000), false),
        (nested("!", "", 10_000), true),
        ("1".to_owned() + &"+1".repeat(90), true),
        ("1".to_owned() + &"+1".repeat(10_000), false),
        ("a".to_owned() + &".a".repeat(10_000), false),
        ("true".to_owned() + &"&& true".repeat(10_000), true),
        ("1".repeat(200_000), false),
    ] {
        assert_eq!(parse(&text).is_ok(), is_valid, "{text:.20}");
    }
}
