//! Results and their output.

use std::borrow::Cow;

use super::{assert_outputs, execute, execute_allowing};
use crate::object::JsonValue;
use crate::object::jsonpath::JsonPath;

const TYPES: &str = r#"{"bools":[true,false,true],"integers":[1,2,3,4],"floats":[1.0,2.2,1e6,0.00001],
    "strings":["one","two"],"mixed":[true,"one",1,1.1,null],"maps":[{"value":1,"name":"one"},{"name":"<two>"}]}"#;

const SHOP: &str = r#"{"Name":"jsonpath","Labels":{"web/html":15,"k8s-app":20},
    "Book":[{"Author":"Rees","Price":8.95},{"Author":"Waugh","Price":12.99},{"Author":"Melville","Price":8.99}],
    "Bicycle":[{"Color":"red","IsNew":true,"Price":19.95},{"Color":"green","IsNew":false,"Price":20.01}]}"#;

const NODES: &str = r#"{"kind":"List","items":[
    {"kind":"None","metadata":{"name":"127.0.0.1","labels":{"kubernetes.io/hostname":"127.0.0.1"}},
     "status":{"capacity":{"cpu":"4"},"ready":true,"addresses":[{"address":"127.0.0.1"}]}},
    {"kind":"None","metadata":{"name":"127.0.0.2","labels":{"kubernetes.io/hostname":"127.0.0.2"}},
     "status":{"capacity":{"cpu":"8"},"ready":false,"addresses":[{"address":"127.0.0.2"},{"address":"127.0.0.3"}]}}],
    "users":[{"name":"myself","user":{}},{"name":"e2e","user":{"username":"admin","password":"secret"}}]}"#;

#[test]
fn values_are_printed_as_go_prints_them() {
    assert_outputs(
        TYPES,
        &[
            ("{ .bools }", "[true,false,true]"),
            ("{ .bools[0:2] }", "true false"),
            ("{ .integers[-2] }", "3"),
            ("{ .floats }", "[1,2.2,1000000,0.00001]"),
            ("{ .floats[*] }", "1 2.2 1e+06 1e-05"),
            ("{ .strings }", r#"["one","two"]"#),
            ("{ .strings[*] }", "one two"),
            ("{ .mixed }", r#"[true,"one",1,1.1,null]"#),
            ("{ .mixed[*] }", "true one 1 1.1 null"),
            ("{ .maps[0] }", r#"{"name":"one","value":1}"#),
            ("{ .maps[1] }", r#"{"name":"\u003ctwo\u003e"}"#),
            ("{ .strings[0].* }", "111 110 101"),
        ],
    );
}

#[test]
fn texts_and_constants_are_printed() {
    assert_outputs(
        "null",
        &[
            ("hello jsonpath", "hello jsonpath"),
            (r#"{"{"}"#, "{"),
            (r"{'\t\x41'}{'\u00e4'}", "\tAä"),
            ("{1}{-1.5}{true}{1.0}", "1-1.5true1"),
            ("{}", "<no value>"),
        ],
    );
    let mut out = Vec::new();
    let path = JsonPath::parse(r"{'\xff'}").expect("a template");
    path.execute(&JsonValue::Null, &mut out).expect("an output");
    assert_eq!(out, [0xff]);
}

#[test]
fn fields_wildcards_and_descents_match_client_go() {
    assert_outputs(
        SHOP,
        &[
            ("hello {.Name}", "hello jsonpath"),
            ("{$.Labels.web/html}", "15"),
            ("{.Labels.k8s-app}", "20"),
            ("{.Bicycle[*].Color}", "red green"),
            (r#"{range .Bicycle[*]}{ "{" }{ @.* }{ "} " }{end}"#, "{red true 19.95} {green false 20.01} "),
            ("{..Price}", "19.95 20.01 8.95 12.99 8.99"),
            ("{...Price}", "19.95 20.01 8.95 12.99 8.99"),
            ("{..Book[2]}", r#"{"Author":"Melville","Price":8.99}"#),
            ("{.Book[-1:]}", r#"{"Author":"Melville","Price":8.99}"#),
            ("{.Bicycle[?(@.IsNew==true)].Color}", "red"),
            ("{['Name','Labels']}", r#"jsonpath {"k8s-app":20,"web/html":15}"#),
        ],
    );
    assert_outputs("[1,2,3]", &[("{..}", "[1,2,3]"), ("{[0,2]}", "1 3"), ("{[0]} {[1:]}", "1 2 3")]);
    assert_outputs(r#"{"a":["x",""],"b":{}}"#, &[("{..}", r#"{"a":["x",""],"b":{}} ["x",""] x"#)]);
}

#[test]
fn kubernetes_lists_match_client_go() {
    assert_outputs(
        NODES,
        &[
            ("{.items[*].status.addresses[*].address}", "127.0.0.1 127.0.0.2 127.0.0.3"),
            ("{.items[*].metadata.name}", "127.0.0.1 127.0.0.2"),
            (
                "{.items[*]['metadata.name', 'status.capacity']}",
                r#"127.0.0.1 127.0.0.2 {"cpu":"4"} {"cpu":"8"}"#,
            ),
            (r#"{.users[?(@.name=="e2e")].user.password}"#, "secret"),
            (r"{.items[0].metadata.labels.kubernetes\.io/hostname}", "127.0.0.1"),
            (r#"{.items[?(@.metadata.labels.kubernetes\.io/hostname=="127.0.0.1")].kind}"#, "None"),
            ("{.items[?(@..ready==true)].metadata.name}", "127.0.0.1"),
            ("{..name}", "127.0.0.1 127.0.0.2 myself e2e"),
        ],
    );
}

#[test]
fn filters_compare_numbers_and_strings() {
    let points =
        r#"[{"id":"i1","x":4},{"id":"i2","x":-2,"z":1},{"id":"i3","x":8,"z":1.5},{"id":"i4","x":null}]"#;
    assert_outputs(
        points,
        &[
            ("{[?(@.z)].id}", "i2 i3"),
            ("{[0]['id']}", "i1"),
            ("{[-1]['x']}", "null"),
            ("{[?(@.id>='i2')].id}", "i2 i3 i4"),
            ("{[?(@.id!='i2')].id}", "i1 i3 i4"),
        ],
    );
    assert_outputs(
        "[2,6,3,7]",
        &[
            ("{[?(@<5)]}", "2 3"),
            ("{[?(@<=3)]}", "2 3"),
            ("{[?(@>3)]}", "6 7"),
            ("{[?(@>=6)]}", "6 7"),
            ("{[?(@==6)]}", "6"),
            ("{[?(@!=6)]}", "2 3 7"),
            ("{[?(3<@)]}", "6 7"),
        ],
    );
    assert_outputs("[1.5,-0.0]", &[("{[?(@==0.0)]}", "-0"), ("{[?(@>1.25)]}", "1.5")]);
}

#[test]
fn existence_ignores_errors_that_return_values() {
    // client-go returns the inputs together with an index error.
    assert_outputs(r#"[{"a":[1]},{"a":[]},{}]"#, &[("{[?(@.a[5])]}", r#"{"a":[1]} {"a":[]}"#)]);
    assert_outputs(r#"[{"a":1}]"#, &[("{[?(@.b)]}", "")]);
}

#[test]
fn missing_keys_can_be_allowed() {
    let pods = r#"[{"name":"a","color":"blue"},{"name":"b"},{"name":"c","color":"red"},{"name":"d","color":"blue"}]"#;
    assert_eq!(execute_allowing("{[?(@.color=='blue')].name}", pods).as_deref(), Ok("a d"));
    assert_eq!(execute_allowing("before-{.hello}after", SHOP).as_deref(), Ok("before-after"));
    assert!(execute("{[?(@.color=='blue')].name}", pods).is_err());
    assert_eq!(execute("{[*].color}", pods).as_deref(), Ok("blue red blue"));
}

#[test]
fn result_sets_are_returned() {
    let value = JsonValue::parse(br#"{"a":[1,"x"]}"#);
    let path = JsonPath::parse("{.a[*]}-{.a}{2}").expect("a template");
    let sets = path.find_results(&value).expect("results");
    let array = JsonValue::Array(vec![JsonValue::Int(1), JsonValue::Text(Cow::Borrowed("x"))]);
    let text = JsonValue::Text(Cow::Borrowed("-"));
    let expected = [
        vec![JsonValue::Int(1), JsonValue::Text(Cow::Borrowed("x"))],
        vec![text],
        vec![array],
        vec![JsonValue::Int(2)],
    ];
    let sets: Vec<Vec<JsonValue<'_>>> =
        sets.into_iter().map(|set| set.into_iter().map(Cow::into_owned).collect()).collect();
    assert_eq!(sets, expected);
}

#[test]
fn json_output_is_an_array_per_section() {
    let path = JsonPath::parse("{.a[*]} {.b}").expect("a template").allow_missing_keys(true);
    let mut out = Vec::new();
    path.execute_json(&JsonValue::parse(br#"{"a":[{"x":[1.0]},"<"]}"#), &mut out).expect("an output");
    let expected = "[\n    {\n        \"x\": [\n            1\n        ]\n    },\n    \"\\u003c\"\n]\n[\n    \" \"\n]\n[]\n";
    assert_eq!(String::from_utf8_lossy(&out), expected);
}
