//! Defaults for flags, from the configuration file and the variables `KDELTA_<FLAG>`.

use std::fs;
use std::path::Path;

use crate::support::{Kdelta, TestEnv};

/// Returns a test environment whose usual configuration file has this text.
fn with_file(text: &str) -> TestEnv {
    let env = TestEnv::new();
    fs::create_dir_all(env.home().join(".config/kdelta")).expect("a folder");
    env.file(".config/kdelta/config.toml", text);
    env
}

/// A command without a server, whose format shows whether a default applies.
fn version(env: &TestEnv) -> Kdelta {
    env.kdelta(&["version", "--client"])
}

#[track_caller]
fn prints_json(call: Kdelta) -> bool {
    call.finish().quiet_success().starts_with('{')
}

#[test]
fn file_is_found_in_its_places() {
    let env = with_file("output = 'json'");
    assert!(prints_json(version(&env)));
    assert!(!prints_json(version(&env).env("KDELTA_CONFIG", "off")));
    let other = env.file("other.toml", "output = 'yaml'");
    assert!(!prints_json(version(&env).env("KDELTA_CONFIG", &other)));
    fs::create_dir_all(env.home().join("xdg/kdelta")).expect("a folder");
    env.file("xdg/kdelta/config.toml", "");
    assert!(!prints_json(version(&env).env("XDG_CONFIG_HOME", env.home().join("xdg"))));
    assert!(prints_json(version(&env).env("XDG_CONFIG_HOME", "xdg")), "a relative directory is ignored");
    assert!(!prints_json(version(&TestEnv::new())));
    let missing = version(&env).env("KDELTA_CONFIG", "missing.toml").finish().failure(2);
    assert_eq!(missing, "error: can't read missing.toml: no such file or directory\n");
}

#[test]
fn flag_overrides_variable_overrides_file() {
    let env = with_file("output = 'json'");
    assert!(!prints_json(version(&env).env("KDELTA_OUTPUT", "yaml")));
    assert!(prints_json(version(&env).env("KDELTA_OUTPUT", "")), "an empty variable counts as not set");
    assert!(prints_json(env.kdelta(&["version", "--client", "-o", "json"]).env("KDELTA_OUTPUT", "yaml")));
    assert!(!prints_json(env.kdelta(&["version", "--client", "-o", "yaml"])));
    assert!(!prints_json(env.kdelta(&["version", "--client", "--output="])));
}

#[test]
fn defaults_reach_a_cluster() {
    let env = with_file("demo = true\nnamespace = 'shop'\n[get]\noutput = 'name'\n[watch]\ncount = 1\n");
    let error = env.kdelta(&["watch", "pods"]).finish().failure(2);
    let file = env.home().join(".config/kdelta/config.toml");
    let expected =
        format!("error: {}:6: count can't have a default: it applies to one watch\n", file.display());
    assert_eq!(error, expected);
    let env = with_file("demo = true\nnamespace = 'shop'\n[get]\noutput = 'name'\nno-headers = true\n");
    let file = env.home().join(".config/kdelta/config.toml");
    let get = |words: &[&str]| env.kdelta(&[&["get"], words].concat()).finish().quiet_success();
    assert_eq!(get(&["deploy"]), "deployment.apps/checkout\ndeployment.apps/payments\n");
    assert_eq!(get(&["deploy", "-n", "monitoring"]), "deployment.apps/grafana\ndeployment.apps/prometheus\n");
    assert!(get(&["deploy", "-A"]).contains("deployment.apps/grafana\n"));
    assert!(!get(&["deploy", "-o", "wide"]).contains("NAME"));
    assert!(get(&["deploy", "-o", "wide", "--no-headers=false"]).contains("NAME"));
    let verbose = env.kdelta(&["get", "deploy", "-v"]).finish();
    let applied: Vec<_> = verbose.stderr.lines().filter_map(|line| line.strip_prefix("default: ")).collect();
    let place = |line: u8| format!("({}:{line})", file.display());
    let expected = [
        format!("--demo=true {}", place(1)),
        format!("--namespace=shop {}", place(2)),
        format!("--output=name {}", place(4)),
        format!("--no-headers=true {}", place(5)),
    ];
    assert_eq!(applied, expected);
    let counts = env.kdelta(&["index", "deploy", "--by", "namespace"]).finish().quiet_success();
    assert!(counts.contains("shop") && !counts.contains("monitoring"), "{counts}");
}

#[test]
fn mistakes_are_usage_errors_with_file_line_and_nearest_name() {
    for (text, expected) in [
        ("\nouput = 'json'", ":2: unknown key \"ouput\"\n  tip: a similar key exists: 'output'\n"),
        (
            "[vresion]",
            ":1: unknown table \"vresion\": a table has the name of a command\n  tip: a similar table exists: 'version'\n",
        ),
        ("cached = 'yes'", ":1: cached must be true or false\n"),
        (
            "color = 'red'",
            ":1: invalid value 'red' for '--color <WHEN>'\n  [possible values: auto, always, never]\n",
        ),
        ("request-timeout = 'x'", ":1: Invalid timeout value. "),
        ("output =", ":1: string values must be quoted, expected literal string\n"),
    ] {
        let env = with_file(text);
        let error = version(&env).finish().failure(2);
        let file = env.home().join(".config/kdelta/config.toml");
        let expected = format!("error: {}{expected}", file.display());
        assert!(error.starts_with(&expected), "{text}: {error}");
        for words in [&["version", "--help"][..], &["help", "config"], &["completions", "bash"], &["man"]] {
            assert!(!env.kdelta(words).finish().quiet_success().is_empty(), "{words:?}");
        }
        assert!(!prints_json(version(&env).env("KDELTA_CONFIG", "off")));
    }
    let env = TestEnv::new();
    let error = version(&env).env("KDELTA_VERBOSE", "much").finish().failure(2);
    assert_eq!(error, "error: KDELTA_VERBOSE: verbose must be a number\n");
}

#[test]
fn variables_without_effect_are_reported() {
    let env = TestEnv::new();
    let warnings = |name: &str, value: &str| {
        let finished = version(&env).env(name, value).finish();
        assert_eq!(finished.code, 0);
        finished.stderr
    };
    assert_eq!(
        warnings("KDELTA_OUPUT", "json"),
        "Warning: KDELTA_OUPUT has no effect: there is no flag --ouput; did you mean KDELTA_OUTPUT?\n"
    );
    let token = warnings("KDELTA_TOKEN", "s3cr3t");
    assert!(
        token.starts_with("Warning: KDELTA_TOKEN has no effect: token can't have a default: "),
        "{token}"
    );
    assert!(!token.contains("s3cr3t"), "{token}");
    for name in
        ["KDELTA_EVENT_OUTPUT", "KDELTA_VERSION", "KDELTA_PORT", "KDELTA_CACHE_DIR", "KDELTA_DEMO_SEED"]
    {
        assert_eq!(warnings(name, "1"), "", "{name}");
    }
}

#[test]
fn completion_uses_defaults_and_survives_mistakes() {
    let complete = |env: &TestEnv, words: &[&str]| {
        let call = || env.kdelta(&[&["__complete"], words].concat());
        crate::support::eventually("a completion", || {
            Some(call().finish().quiet_success()).filter(|output| output != ":4\n")
        })
    };
    let env = with_file("demo = true\n[get]\nnamespace = 'shop'");
    assert_eq!(complete(&env, &["get", "deploy", ""]), "checkout\npayments\n:4\n");
    assert_eq!(complete(&env, &["get", "deploy", "-n", "monitoring", ""]), "grafana\nprometheus\n:4\n");
    let env = with_file("ouput = 1");
    assert_eq!(complete(&env, &["get", "--demo", "-n", "shop", "deploy", ""]), "checkout\npayments\n:4\n");
}

/// Returns the blocks of a language in a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())).collect()
}

#[test]
fn examples_of_the_documentation_work() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/config.md");
    let page = fs::read_to_string(page).expect("docs/config.md");
    let files = blocks(&page, "toml");
    assert!(!files.is_empty() && page.contains("KDELTA_CONFIG=off"));
    for text in files {
        let env = with_file(&text);
        for words in
            [&["get", "pods"][..], &["watch", "pods", "--count", "1"], &["events"], &["version", "--client"]]
        {
            let words = [words, &["--demo"]].concat();
            let finished = env.kdelta(&words).finish();
            assert_eq!(finished.code, 0, "{words:?}: {}", finished.stderr);
        }
        let sorted = env.kdelta(&["get", "pods", "--demo"]).finish().quiet_success();
        assert!(sorted.lines().next().is_some_and(|header| header.contains("NOMINATED NODE")), "{sorted}");
    }
}
