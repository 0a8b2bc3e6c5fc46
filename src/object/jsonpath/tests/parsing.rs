//! Templates to nodes, and syntax errors.

use crate::object::jsonpath::JsonPathError;
use crate::object::jsonpath::node::{Filter, Node, Slice, Test};
use crate::object::jsonpath::parser::parse;

fn text(text: &str) -> Node {
    Node::Text(text.as_bytes().to_vec())
}

fn field(name: &str) -> Node {
    Node::Field(name.to_owned())
}

fn word(name: &str) -> Node {
    Node::Identifier(name.to_owned())
}

fn slice(start: Option<i64>, end: Option<i64>) -> Node {
    Node::Array(Slice { start, end, is_index: false, step: None })
}

fn index(at: i64) -> Node {
    Node::Array(Slice { start: Some(at), end: Some(at + 1), is_index: true, step: None })
}

fn compare(left: Vec<Node>, operator: &str, right: Node) -> Node {
    let test = Test::Compare { operator: operator.to_owned(), right: vec![right] };
    Node::Filter(Box::new(Filter { left, test }))
}

#[test]
fn paths_are_parsed() {
    let cases: Vec<(&str, Vec<Node>)> = vec![
        ("", vec![]),
        ("{.jsonpath}", vec![field("jsonpath")]),
        ("{['jsonpath']}", vec![field("jsonpath")]),
        ("{$.a @.b}", vec![field("a"), field("b")]),
        (r#"{"{"}"#, vec![text("{")]),
        ("{[1:3]}", vec![slice(Some(1), Some(3))]),
        ("{.book[*].author}", vec![field("book"), slice(None, None), field("author")]),
        ("{.bicycle.*}", vec![field("bicycle"), Node::Wildcard]),
        ("{..}", vec![Node::Recursive]),
        ("{..price}", vec![Node::Recursive, field("price")]),
        ("{...price}", vec![Node::Recursive, field("price")]),
        ("{['book.price']}", vec![field("book"), field("price")]),
        (r"{['book\.price']}", vec![field("book.price")]),
        (r"{.a\.b/c-d}", vec![field("a.b/c-d")]),
        (
            "{['bicycle.price', 3, 'book.price']}",
            vec![Node::Union(vec![
                vec![field("bicycle"), field("price")],
                vec![index(3)],
                vec![field("book"), field("price")],
            ])],
        ),
        ("{[-5:]}", vec![slice(Some(-5), None)]),
        ("{[-1]}", vec![index(-1)]),
        ("{[1:-1]}", vec![slice(Some(1), Some(-1))]),
        ("{[]}", vec![Node::Array(Slice { start: None, end: Some(1), is_index: true, step: None })]),
        ("{[::2]}", vec![Node::Array(Slice { start: None, end: None, is_index: false, step: Some(2) })]),
        ("{true false}", vec![Node::Bool(true), Node::Bool(false)]),
        ("{+3}", vec![Node::Int(3)]),
        ("{-1.5}", vec![Node::Float(-1.5)]),
        ("{99999999999999999999}", vec![Node::Float(1e20)]),
        ("{range .items}", vec![word("range"), field("items")]),
    ];
    for (template, nodes) in cases {
        let expected = if template.is_empty() { vec![] } else { vec![Node::List(nodes)] };
        assert_eq!(parse(template), Ok(expected), "{template}");
    }
}

#[test]
fn text_and_sections_alternate() {
    assert_eq!(parse("hello jsonpath}"), Ok(vec![text("hello jsonpath}")]));
    assert_eq!(
        parse("{range .items}{.name},{end}"),
        Ok(vec![
            Node::List(vec![word("range"), field("items")]),
            Node::List(vec![field("name")]),
            text(","),
            Node::List(vec![word("end")]),
        ])
    );
}

#[test]
fn filters_are_parsed() {
    let image = || vec![field("os"), field("image")];
    let cases = [
        ("{[?(@.price<3)]}", compare(vec![field("price")], "<", Node::Int(3))),
        (r#"{[?(@.os.image == "()")]}"#, compare(image(), "==", text("()"))),
        (r#"{[?(@.os.image == "(\"\")")]}"#, compare(image(), "==", text(r#"("")"#))),
        (r#"{[?(@.os.image == "())(")]}"#, compare(image(), "==", text("())("))),
        ("{[?(@.os.image == 'Linux')]}", compare(image(), "==", text("Linux"))),
        (r#"{[?(@.os.image == "{[()]}")]}"#, compare(image(), "==", text("{[()]}"))),
        (r#"{[?(@.os.image == "''")]}"#, compare(image(), "==", text("''"))),
        (r#"{[?(@.os.image == '""')]}"#, compare(image(), "==", text("\"\""))),
        (r"{[?(@.os.image == '\\\'')]}", compare(image(), "==", text(r"\'"))),
        ("{[?(@.a<>1)]}", compare(vec![field("a")], "<>", Node::Int(1))),
        ("{[?(@.a)]}", Node::Filter(Box::new(Filter { left: vec![field("a")], test: Test::Exists }))),
        ("{[?(@.a=)]}", Node::Filter(Box::new(Filter { left: vec![field("a=")], test: Test::Exists }))),
    ];
    for (template, filter) in cases {
        assert_eq!(parse(template), Ok(vec![Node::List(vec![filter])]), "{template}");
    }
}

#[test]
fn syntax_errors_match_client_go() {
    for (template, error) in [
        ("{.hello", "unclosed action"),
        ("{.hello\n}", "unclosed action"),
        ("{*}", "unrecognized character in action: U+002A '*'"),
        ("{{}", "unrecognized character in action: U+007B '{'"),
        ("{.a]'}", "unrecognized character in action: U+005D ']'"),
        (r"{\\\}", r"unrecognized character in action: U+005C '\'"),
        ("{\t}", "unrecognized character in action: U+0009"),
        ("{+12.3.0}", "cannot parse number +12.3.0"),
        ("{[1}", "unterminated array"),
        ("{[?(.price]}", "unterminated filter"),
        ("{[?(.price)}", "unclosed array expect ]"),
        ("{........}", "invalid multiple recursive descent"),
        ("{............price}", "invalid multiple recursive descent"),
        ("{'a}", "unterminated quoted string"),
        (r"{'\q'}", r"unquote string '\q' error invalid syntax"),
        ("{[a]}", "invalid array index a"),
        ("{[1:2:3:4]}", "invalid array index 1:2:3:4"),
        ("{[-]}", "array index - is not a number"),
        ("{[99999999999999999999]}", "array index 99999999999999999999 is not a number"),
        ("{[1,a]}", "invalid array index a"),
    ] {
        assert_eq!(parse(template), Err(JsonPathError::Syntax(error.to_owned())), "{template}");
    }
}

#[test]
fn quotes_do_not_protect_brackets() {
    assert!(parse("{['a]b']}").is_err());
    assert_eq!(parse("{['a}b']}"), Ok(vec![Node::List(vec![field("a")])]));
}
