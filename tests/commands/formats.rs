//! Templates, custom columns and sorting on the demo.

use crate::support::TestEnv;

/// Returns the output for the pods of the demo.
fn get(words: &[&str]) -> String {
    let env = TestEnv::new();
    env.kdelta(&[&["get", "--demo", "--speed", "0.01"], words].concat())
        .env("KDELTA_DEMO_SEED", "7")
        .finish()
        .quiet_success()
}

#[test]
fn templates_print_each_object_of_a_list() {
    let names = get(&["deploy", "-o", "name"]);
    let expected: Vec<_> = names.lines().map(|name| name.trim_start_matches("deployment.apps/")).collect();
    assert!(expected.len() > 5, "{names}");
    for words in [
        &["-o", r#"jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}"#][..],
        &["-o", r#"go-template={{range .items}}{{.metadata.name}}{{"\n"}}{{end}}"#],
        &["--template", r#"{{range .items}}{{printf "%s\n" .metadata.name}}{{end}}"#],
        &["-o", "custom-columns=NAME:.metadata.name", "--no-headers"],
    ] {
        let printed = get(&[&["deploy"], words].concat());
        assert_eq!(printed.lines().collect::<Vec<_>>(), expected, "{words:?}");
    }
    let joined = get(&["deploy", "-o", "jsonpath={.items[*].metadata.name}"]);
    assert_eq!(joined, expected.join(" "));
    // A template that needs the whole list.
    let first_and_kind =
        get(&["deploy", "-o", "jsonpath={.items[0].metadata.name} {.items[1].kind} {.kind}"]);
    assert_eq!(first_and_kind, format!("{} Deployment List", expected[0]));
    assert_eq!(get(&["deploy", "-o", "go-template={{len .items}}"]), expected.len().to_string());
    let json: Vec<String> =
        serde_json::from_str(&get(&["deploy", "-o", "jsonpath-as-json={.items[*].metadata.name}"]))
            .expect("JSON");
    assert_eq!(json, expected);
}

#[test]
fn single_object_is_the_root_of_a_template() {
    assert_eq!(get(&["deploy", "web", "-o", "jsonpath={.metadata.name} {.spec.replicas}"]), "web 4");
    assert_eq!(get(&["deploy", "web", "-o", "go-template={{.metadata.name}} {{.x}}"]), "web <no value>");
    let columns =
        get(&["deploy", "web", "-o", "custom-columns=NAME:.metadata.name,REPLICAS:.spec.replicas,X:.x"]);
    assert_eq!(columns, "NAME   REPLICAS   X\nweb    4          <none>\n");
}

#[test]
fn rows_and_objects_are_sorted_by_a_field() {
    let names = |words: &[&str]| {
        let text = get(&[&["deploy", "--no-headers"], words].concat());
        text.lines()
            .map(|line| line.split_whitespace().next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let replicas =
        get(&["deploy", "--sort-by", ".spec.replicas", "-o", "jsonpath={.items[*].spec.replicas}"]);
    let replicas: Vec<u32> = replicas.split(' ').map(|number| number.parse().expect("a number")).collect();
    assert!(replicas.is_sorted() && replicas.first() < replicas.last(), "{replicas:?}");
    let by_replicas = names(&["--sort-by=.spec.replicas"]);
    let mut by_name = by_replicas.clone();
    by_name.sort_unstable();
    assert_ne!(by_name, by_replicas);
    assert_eq!(names(&["--sort-by={.metadata.name}"]), by_name);
}

#[test]
fn failing_templates_name_the_cause() {
    let env = TestEnv::new();
    for (words, error) in [
        (&["-o", "jsonpath={.x"][..], "error: error parsing jsonpath {.x, unclosed action\n"),
        (
            &["-o", "go-template={{.x"],
            "error: error parsing template {{.x, template: output:1: unclosed action\n",
        ),
        (
            &["-o", "custom-columns=x"],
            "error: unexpected custom-columns spec: x, expected <header>:<json-path-expr>\n",
        ),
        (&["-o", "name", "--show-labels"], "error: --show-labels option cannot be used with name printer\n"),
    ] {
        let printed = env.kdelta(&[&["get", "pods", "--demo"], words].concat()).finish().failure(2);
        assert!(printed.starts_with(error), "{words:?}: {printed}");
    }
    let index = env.kdelta(&["get", "pods", "--demo", "-o", "jsonpath={.items[1000].x}"]).finish().failure(1);
    let expected = "error: error executing jsonpath \"{.items[1000].x}\": Error executing template: array index out of bounds: index 1000, length";
    assert!(index.starts_with(expected), "{index}");
    let field = env.kdelta(&["get", "pods", "--demo", "--sort-by", ".x.y", "-o", "json"]).finish().failure(1);
    assert_eq!(field, "error: couldn't find any field with path \"{.x.y}\" in the list of objects\n");
}
