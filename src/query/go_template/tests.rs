//! Cases of templates. The expected values are those of Go's `text/template` with kubectl's functions.

use proptest::prelude::*;

use super::exec::Budget;
use super::{GoTemplate, TemplateError};
use crate::object::JsonValue;

const OBJECT: &str = r#"{"kind":"List","n":{"i":3,"f":0.25,"w":2.0,"big":1e21},"s":"hé","l":["b","a"],"m":{"y":null,"x":[1]},"t":true}"#;

const OUTPUTS: &[(&str, &[u8])] = &[
    ("{{/* c */}}a {{- 1 -}} b", b"a1b"),
    (
        "{{1}} {{0x1F}} {{017}} {{1_000}} {{1.5}} {{1e3}} {{'a'}} {{1+2i}} {{\"\\x41\\t\"}} {{`r`}} {{true}}",
        b"1 31 15 1000 1.5 1000 97 (1+2i) A\t r true",
    ),
    ("{{.kind}} {{.missing.x}} {{$.n.i}} {{(index .l 0)}} {{.m.y}}", b"List <no value> 3 b <no value>"),
    ("{{.n}} {{.l}} {{.m}}", b"map[big:1e+21 f:0.25 i:3 w:2] [b a] map[x:[1] y:<nil>]"),
    ("{{$x := 1}}{{if .t}}{{$x = 2}}{{$x := 3}}{{end}}{{$x}}", b"2"),
    (
        "{{if .f}}a{{else if .kind}}b{{else}}c{{end}}{{with .m.x}}{{.}}{{end}}{{with .f}}{{else with .s}}{{.}}{{end}}",
        b"b[1]h\xc3\xa9",
    ),
    (
        "{{range $i, $e := .l}}{{$i}}{{$e}}{{end}}{{range $k, $v := .m}}{{$k}}={{$v}};{{end}}{{range .f}}{{else}}none{{end}}",
        b"0b1ax=[1];y=<no value>;none",
    ),
    (
        "{{range .n.i}}{{if eq . 1}}{{continue}}{{end}}{{.}}{{end}}{{range 9}}{{if gt . 2}}{{break}}{{end}}{{.}}{{end}}",
        b"02012",
    ),
    (
        "{{define \"d\"}}<{{.}}>{{end}}{{template \"d\" .kind}}{{block \"b\" 1}}[{{.}}]{{end}}{{template \"d\"}}",
        b"<List>[1]<<no value>>",
    ),
    ("{{\"x\" | printf \"%s-%s\" \"a\" | len}}", b"3"),
    (
        "{{and 1 0 2}} {{or 0 \"\" 3}} {{not .t}} {{eq 3 .n.i}} {{eq 1 2 1}} {{ne 1 2}} {{lt 1 2}} {{le 2 2}} {{gt \"b\" \"a\"}} {{ge 1.5 2.5}}",
        b"0 3 false true true true true true true false",
    ),
    (
        "{{index .m \"x\" 0}} {{slice .s 0 1}} {{len .s}} {{len .l}} {{print 1 2 \"a\" 3}} {{println 1}}",
        b"1 h 3 2 1 2a3 1\n",
    ),
    (
        "{{html \"<a&'\\\">\"}} {{js \"<'\\n\"}} {{urlquery \"a b/é\"}} {{exists . \"m\" \"x\"}} {{exists . \"m\" \"y\"}} {{base64decode \"aGk=\"}}",
        b"&lt;a&amp;&#39;&#34;&gt; \\u003C\\'\\u000A a+b%2F%C3%A9 true false hi",
    ),
    (
        "{{printf \"%d|%5d|%-5d|%05d|%+d|%x|%#x|%o|%b|%c|%q|%U\" 42 42 42 42 42 42 42 42 42 65 65 65}}",
        b"42|   42|42   |00042|+42|2a|0x2a|52|101010|A|'A'|U+0041",
    ),
    (
        "{{printf \"%s|%6s|%-6s|%.1s|%q|%x|%v\" .s .s .s .s .s .s .s}}",
        b"h\xc3\xa9|    h\xc3\xa9|h\xc3\xa9    |h|\"h\xc3\xa9\"|68c3a9|h\xc3\xa9",
    ),
    (
        "{{printf \"%e|%.2f|%g|%8.3f|%v|%b|%x\" .n.f .n.f .n.big .n.f .n.w .n.f .n.f}}",
        b"2.500000e-01|0.25|1e+21|   0.250|2|4503599627370496p-54|0x1p-02",
    ),
    (
        "{{printf \"%T %T %T %T %T %T\" 1 .n.i .n.f .l .m nil}}",
        b"int int64 float64 []interface {} map[string]interface {} <nil>",
    ),
    (
        "{{printf \"%#v %+v %v\" .m .m .l}}",
        b"map[string]interface {}{\"x\":[]interface {}{1}, \"y\":interface {}(nil)} map[x:[1] y:<nil>] [b a]",
    ),
    (
        "{{printf \"%d %s %t %z %!\" \"x\" 1 2 3}}",
        b"%!d(string=x) %!s(int=1) %!t(int=2) %!z(int=3) %!!(MISSING)",
    ),
    (
        "{{printf \"%d\" 1 2}}{{printf \"%d %d\" 1}}{{printf \"%[2]d %[1]d\" 1 2}}{{printf \"%*d\" 4 1}}{{printf \"%\"}}",
        b"1%!(EXTRA int=2)1 %!d(MISSING)2 1   1%!(NOVERB)",
    ),
];

/// Templates with the messages of their errors, of parsing or execution.
const ERRORS: &[(&str, &str)] = &[
    ("{{.kind", "template: output:1: unclosed action"),
    ("{{if .t}}", "template: output:1: unexpected EOF"),
    ("{{end}}", "template: output:1: unexpected {{end}}"),
    ("{{nofunc}}", "template: output:1: function \"nofunc\" not defined"),
    ("{{$x}}", "template: output:1: undefined variable \"$x\""),
    ("{{089}}", "template: output:1: integer overflow: \"089\""),
    (
        "{{.kind.x}}",
        "template: output:1:7: executing \"output\" at <.kind.x>: can't evaluate field x in type interface {}",
    ),
    (
        "{{index .l 5}}",
        "template: output:1:2: executing \"output\" at <index .l 5>: error calling index: index out of range: 5",
    ),
    (
        "{{index .l 2}}",
        "template: output:1:2: executing \"output\" at <index .l 2>: error calling index: reflect: slice index out of range",
    ),
    (
        "{{template \"none\"}}",
        "template: output:1:11: executing \"output\" at <{{template \"none\"}}>: template \"none\" not defined",
    ),
    (
        "{{len 1}}",
        "template: output:1:2: executing \"output\" at <len 1>: error calling len: len of type int",
    ),
    (
        "{{eq 1 \"a\"}}",
        "template: output:1:2: executing \"output\" at <eq 1 \"a\">: error calling eq: incompatible types for comparison: int and string",
    ),
    (
        "{{range .kind}}{{end}}",
        "template: output:1:8: executing \"output\" at <.kind>: range can't iterate over List",
    ),
    (
        "{{base64decode .n.i}}",
        "template: output:1:17: executing \"output\" at <.n.i>: wrong type for value; expected string; got int64",
    ),
    (
        "{{base64decode \"a!\"}}",
        "template: output:1:2: executing \"output\" at <base64decode \"a!\">: error calling base64decode: base64 decode failed: illegal base64 data at input byte 1",
    ),
    (
        "{{call .kind}}",
        "template: output:1:2: executing \"output\" at <call .kind>: error calling call: non-function .kind of type string",
    ),
    (
        "{{.kind 1}}",
        "template: output:1:2: executing \"output\" at <.kind>: kind is not a method but has arguments",
    ),
];

fn run(text: &str, json: &str) -> (Vec<u8>, Option<TemplateError>) {
    let mut out = Vec::new();
    let result = GoTemplate::parse(text)
        .and_then(|template| template.execute(&JsonValue::parse(json.as_bytes()), &mut out));
    (out, result.err())
}

fn message(error: TemplateError) -> String {
    match error {
        TemplateError::Syntax { message, .. }
        | TemplateError::Execution { message, .. }
        | TemplateError::Limit { message, .. } => message,
    }
}

#[test]
fn outputs_match_go() {
    for (text, expected) in OUTPUTS {
        let (out, error) = run(text, OBJECT);
        assert_eq!(error, None, "{text}");
        assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{text}");
    }
}

#[test]
fn errors_match_go() {
    for (text, expected) in ERRORS {
        let (_, error) = run(text, OBJECT);
        assert_eq!(error.map(message).as_deref(), Some(*expected), "{text}");
    }
}

#[test]
fn missing_keys_are_errors_if_not_allowed() {
    let template = GoTemplate::parse("{{.kind}}{{.m.z}}").expect("a template").allow_missing_keys(false);
    let mut out = Vec::new();
    let error = template
        .execute(&JsonValue::parse(br#"{"kind":"Pod","m":{"a":"<"}}"#), &mut out)
        .expect_err("no key");
    let message = r#"template: output:1:13: executing "output" at <.m.z>: map has no entry for key "z""#;
    assert_eq!(
        error.to_string(),
        format!(r#"error executing template "{{{{.kind}}}}{{{{.m.z}}}}": {message}"#)
    );
    // kubectl prints what it knows behind the output.
    assert_eq!(
        String::from_utf8(out).expect("text"),
        format!(
            "PodError executing template: {message}. Printing more information for debugging the template:\n\
             \ttemplate was:\n\t\t{{{{.kind}}}}{{{{.m.z}}}}\n\traw data was:\n\t\t{{\"kind\":\"Pod\",\"m\":{{\"a\":\"\\u003c\"}}}}\n\
             \tobject given to template engine was:\n\t\tmap[kind:Pod m:map[a:<]]\n\n"
        )
    );
}

#[test]
fn syntax_errors_are_kubectls() {
    let (_, error) = run("{{.x", "{}");
    let error = error.expect("an error").to_string();
    assert_eq!(error, "error parsing template {{.x, template: output:1: unclosed action");
}

fn is_limit(text: &str, json: &str) -> bool {
    matches!(run(text, json).1, Some(TemplateError::Limit { .. }))
}

#[test]
fn depth_is_limited() {
    assert!(is_limit(r#"{{define "r"}}{{template "r" .}}{{end}}{{template "r" .}}"#, "{}"));
    let wide = r#"{{define "r"}}{{if true}}{{range 1}}{{template "r" (print (print (print .)))}}{{end}}{{end}}{{end}}"#;
    assert!(is_limit(&format!(r#"{wide}{{{{template "r" "a"}}}}"#), "{}"));
    let nested = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    let (_, error) = run(&format!("{{{{print {nested}}}}}"), "{}");
    assert_eq!(error.map(message).as_deref(), Some("template: output:1: max expression depth exceeded"));
    let (_, error) = run(&"{{if true}}".repeat(5000), "{}");
    assert_eq!(error.map(message).as_deref(), Some("template: output:1: max expression depth exceeded"));
}

#[test]
fn steps_and_sizes_are_limited() {
    let run = |text: &str, budget: Budget| {
        let template = GoTemplate::parse(text).expect("a template");
        let mut out = Vec::new();
        let result = template.execute_within(budget, &JsonValue::parse(b"{}"), &mut out);
        matches!(result, Err(TemplateError::Limit { .. }))
    };
    let endless = "{{range 9223372036854775807}}{{end}}";
    assert!(run(endless, Budget::small(10_000, 1 << 20, 1 << 20)));
    let growing = r#"{{$x := "a"}}{{range 60}}{{$x = print $x $x}}{{end}}"#;
    assert!(run(growing, Budget::small(100_000, 1 << 20, 1 << 20)));
    let wide = r#"{{range 60}}{{printf "%1000000d" 1}}{{end}}"#;
    assert!(run(wide, Budget::small(100_000_000, 1 << 20, 100 << 20)));
    assert!(!run("{{range 60}}{{.}}{{end}}", Budget::small(10_000, 1 << 20, 1 << 20)));
}

/// Executes a template item by item.
fn run_items(text: &str, items: &[&str]) -> Option<Vec<u8>> {
    let template = GoTemplate::parse(text).ok()?;
    let mut execution = template.list_execution()?;
    let mut out = Vec::new();
    execution.begin(&mut out);
    for item in items {
        if execution.item(&JsonValue::parse(item.as_bytes()), &mut out).is_err() {
            return None;
        }
    }
    execution.end(&mut out);
    Some(out)
}

#[test]
fn only_templates_of_items_are_executed_item_by_item() {
    for (text, is_possible) in [
        ("{{range .items}}{{.kind}}{{end}}", true),
        ("a{{range $i, $e := .items}}{{$i}}{{else}}none{{end}}b", true),
        (r#"{{range .items}}{{template "x" .}}{{end}}{{define "x"}}{{$.kind}}{{end}}"#, true),
        ("{{range .items}}{{$.kind}}{{end}}", false),
        ("{{range .items}}{{if (index $ 1)}}{{end}}{{end}}", false),
        ("{{range .items}}{{else}}{{.kind}}{{end}}", false),
        ("{{range .items}}{{end}}{{.kind}}", false),
        ("{{range .items.x}}{{end}}", false),
        ("{{$x := 1}}{{range $x = .items}}{{end}}", false),
        ("{{.kind}}", false),
        ("text", false),
    ] {
        assert_eq!(
            GoTemplate::parse(text).expect("a template").list_execution().is_some(),
            is_possible,
            "{text}"
        );
    }
}

const WORDS: &[&str] = &[
    "{{.kind}}",
    "{{.}}",
    "{{$i}}",
    "{{$e.n}}",
    "{{if .kind}}",
    "{{else}}",
    "{{end}}",
    "{{break}}",
    "{{continue}}",
    "{{range .l}}",
    "{{with .l}}",
    "text",
    "{{$x := .n}}",
    "{{printf \"%v\" $e}}",
    "{{if eq $i 1}}",
    "{{template \"t\" .}}",
    "{{.missing.x}}",
];

const ITEMS: &[&str] =
    &[r#"{"kind":"A","n":1,"l":[1,2]}"#, r#"{"kind":"B","l":[]}"#, "{}", r#"{"n":2.5,"l":["x",null]}"#];

proptest! {
    #[test]
    fn items_give_the_output_of_the_list(
        words in proptest::collection::vec(proptest::sample::select(WORDS), 0..8),
        items in proptest::collection::vec(proptest::sample::select(ITEMS), 0..5),
    ) {
        let body: String = words.concat();
        let text = format!("a{{{{range $i, $e := .items}}}}{body}{{{{end}}}}b{{{{define \"t\"}}}}{{{{$}}}}{{{{end}}}}");
        if let Some(streamed) = run_items(&text, &items) {
            let (whole, error) = run(&text, &format!(r#"{{"items":[{}]}}"#, items.join(",")));
            prop_assert_eq!(error, None);
            prop_assert_eq!(streamed, whole);
        }
    }

    #[test]
    fn any_text_is_parsed_without_panic(text in "(\\{\\{|\\}\\}|[-.$|():=\"`'a-z0-9 \\n%é]){0,40}", object in any::<bool>()) {
        let _result = run(&text, if object { OBJECT } else { "[1]" });
    }

    #[test]
    fn any_format_is_printed_without_panic(format in "(%[-+# 0]{0,3}[0-9*]{0,2}(\\.[0-9*]{0,2})?[a-zA-Z%\\[\\]]|[ é]){0,8}") {
        let text = format!("{{{{printf `{format}` .n.i .n.f .s .l .m nil 1i .n.big}}}}");
        let _result = run(&text, OBJECT);
    }
}
