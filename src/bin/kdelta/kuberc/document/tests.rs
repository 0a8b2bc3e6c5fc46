//! Tests of the decoding of `kuberc` files. Their errors are kubectl's.

use super::*;

const V1_BETA_1: &str = "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n";
const V1_ALPHA_1: &str = "apiVersion: kubectl.config.k8s.io/v1alpha1\nkind: Preference\n";

fn beta(rest: &str) -> Result<Option<Found>, NothingUsable> {
    read(&format!("{V1_BETA_1}{rest}"))
}

fn ignored(rest: &str) -> String {
    beta(rest).expect("usable").expect("a document").ignored.unwrap_or_default()
}

#[test]
fn both_versions_are_decoded() {
    let output = OptionDefault { name: "output".into(), value: "wide".into() };
    let preferences = Preferences {
        defaults: vec![CommandDefaults { command: "get".into(), options: vec![output.clone()] }],
        aliases: vec![Alias {
            name: "getn".into(),
            command: "get".into(),
            options: vec![output],
            prepend: vec!["nodes".into()],
            append: vec!["--".into(), "a".into()],
        }],
        ..Preferences::default()
    };
    let lists = "- {name: getn, command: get, prependArgs: [nodes], appendArgs: [--, a], OPTIONS: [{name: output, default: wide}]}\n";
    for (start, defaults, options) in [(V1_BETA_1, "defaults", "options"), (V1_ALPHA_1, "overrides", "flags")]
    {
        let text = format!(
            "{start}{defaults}:\n- command: get\n  {options}: [{{name: output, default: wide}}]\naliases:\n{}",
            lists.replace("OPTIONS", options)
        );
        let found = Found { preferences: preferences.clone(), ignored: None };
        assert_eq!(read(&text), Ok(Some(found)), "{text}");
    }
    let policy =
        beta("credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{name: a}, {command: b}, {}]\n");
    let policy = policy.expect("usable").expect("a document").preferences;
    assert_eq!(policy.plugin_policy, "Allowlist");
    assert_eq!(policy.plugin_allowlist, Some(vec!["a".into(), "b".into(), String::new()]));
}

#[test]
fn first_usable_document_counts() {
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\n--- # next\n# a comment\n---\napiVersion: kubectl.config.k8s.io/v9\nkind: Preference\n---\n{V1_ALPHA_1}overrides: [{{command: a}}]\n---\n{V1_BETA_1}defaults: [{{command: b}}]\n"
    );
    let found = read(&text).expect("usable").expect("a document");
    assert_eq!(found.preferences.defaults[0].command, "a");
    for text in ["", "\n \n", "---\n---\n"] {
        assert_eq!(read(text), Ok(None), "{text:?}");
    }
}

#[test]
fn documents_of_other_types_are_not_usable() {
    for text in
        ["# only", "a: [", "[]", "kind: Preference", "{\"apiVersion\": \"kubectl.config.k8s.io/v1beta1\",}"]
    {
        assert_eq!(read(text), Err(NothingUsable), "{text}");
    }
    for rest in [
        "defaults: {}",
        "defaults: [{command: get, options: [{name: no-headers, default: true}]}]",
        "defaults: [{command: get, options: [{name: x, default: yes}]}]",
        "aliases: [text]",
        "aliases: [{prependArgs: [1]}]",
        "credentialPluginAllowlist: [{name: a, command: b}]",
    ] {
        assert_eq!(beta(rest), Err(NothingUsable), "{rest}");
    }
    assert!(beta("defaults: null\naliases: [{name: a, options: null}, null]").is_ok());
}

#[test]
fn unknown_and_repeated_fields_are_ignored_and_reported() {
    assert_eq!(ignored("defaults: []"), "");
    assert_eq!(
        ignored(
            "zeta: 1\ndefaults:\n- command: get\n  other: x\n  options:\n  - {name: output, default: name, more: {a: 1}}\naliases:\n- {name: x, command: get, Options: []}\n"
        ),
        r#"strict decoding error: unknown field "aliases[0].Options", unknown field "defaults[0].options[0].more", unknown field "defaults[0].other", unknown field "zeta""#
    );
    assert_eq!(
        ignored("defaults:\n- command: get\n  command: events\n  other: x\n"),
        "strict decoding error: yaml: unmarshal errors:\n  line 5: key \"command\" already set in map, unknown field \"defaults[0].other\""
    );
    let json = r#"{"apiVersion":"kubectl.config.k8s.io/v1beta1","kind":"Preference","defaults":[{"command":"get","x":1,"x":2,"command":"events"}]}"#;
    let found = read(json).expect("usable").expect("a document");
    assert_eq!(found.preferences.defaults[0].command, "events");
    assert_eq!(
        found.ignored.as_deref(),
        Some(
            r#"strict decoding error: unknown field "defaults[0].x", duplicate field "defaults[0].command""#
        )
    );
}
