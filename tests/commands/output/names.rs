//! Names as patterns, on the demo.

use crate::support::{Finished, TestEnv};

fn call(words: &[&str]) -> Finished {
    let env = TestEnv::new();
    let call = env.kdelta(&[words, &["--demo", "--speed", "0.0001"]].concat());
    call.env("KDELTA_DEMO_SEED", "7").finish()
}

fn lines(words: &[&str]) -> Vec<String> {
    call(words).quiet_success().lines().map(str::to_owned).collect()
}

#[test]
fn patterns_select_objects_in_every_format() {
    let all = lines(&["get", "nodes", "-o", "name"]);
    let workers: Vec<_> = all.iter().filter(|name| name.starts_with("node/worker-")).cloned().collect();
    assert!(workers.len() > 2 && workers.len() < all.len(), "{all:?}");
    for words in [
        &["get", "nodes", "worker-*", "-o", "name"][..],
        &["get", "node/worker-*", "-o", "name"],
        &["get", "nodes", "worker-?", "worker-1*", "-o", "name"],
        &["watch", "nodes", "worker-*", "--until-synced", "-o", "name"],
        &["get", "nodes", "worker-*", "-o", "jsonpath={range .items[*]}node/{.metadata.name}{\"\\n\"}{end}"],
        &["get", "nodes", "worker-*", "-o", "custom-columns=N:.metadata.name", "--no-headers"],
    ] {
        let found: Vec<_> = lines(words).into_iter().map(|line| line.replace("node/", "")).collect();
        assert_eq!(
            found,
            workers.iter().map(|name| name.replace("node/", "")).collect::<Vec<_>>(),
            "{words:?}"
        );
    }
    let table = lines(&["get", "nodes", "worker-*"]);
    assert!(table[0].starts_with("NAME ") && table.len() == workers.len() + 1, "{table:?}");
    let index = lines(&["index", "nodes", "worker-*", "--by", "name", "--no-headers"]);
    assert_eq!(index.len(), workers.len());
    let by = lines(&["get", "nodes", "worker-*", "--by", "name=worker-1,control-1", "-o", "name"]);
    assert_eq!(by, ["node/worker-1"]);
}

#[test]
fn patterns_combine_with_namespaces_selectors_and_names() {
    let all = lines(&["get", "pods", "-A", "--no-headers"]);
    let web = lines(&["get", "pods", "web-*", "-A", "--no-headers"]);
    assert!(!web.is_empty() && web.len() < all.len());
    assert!(
        web.iter().all(|row| row.split_whitespace().nth(1).is_some_and(|name| name.starts_with("web-"))),
        "{web:?}"
    );
    let one = lines(&["get", "nodes", "control-1", "*-1", "-o", "name"]);
    assert_eq!(one, ["node/control-1", "node/worker-1"], "each once");
    let types = lines(&["get", "deploy,svc", "web*", "-o", "name"]);
    assert!(
        types.contains(&"deployment.apps/web".to_owned()) && types.contains(&"service/web".to_owned()),
        "{types:?}"
    );
    let labelled = lines(&["get", "pods", "web-*", "-l", "app=web", "-o", "name"]);
    assert!(!labelled.is_empty() && labelled.iter().all(|name| name.starts_with("pod/web-")), "{labelled:?}");
}

#[test]
fn pattern_without_a_match_is_named() {
    let nothing = call(&["get", "pods", "nothing-*", "-n", "shop"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""));
    assert_eq!(nothing.stderr, "No resources found in shop namespace that match \"nothing-*\"\n");
    let all = call(&["get", "pods", "nothing-*", "no?", "-A"]);
    assert_eq!(all.stderr, "No resources found that match \"nothing-*\" or \"no?\"\n");
    let some = call(&["get", "nodes", "worker-*", "nothing-*"]);
    assert_eq!((some.code, some.stderr.as_str()), (0, "No resources found that match \"nothing-*\"\n"));
    let index = call(&["index", "pods", "nothing-*", "-n", "shop", "--by", "name"]);
    assert_eq!(index.stderr, "No resources found in shop namespace that match \"nothing-*\"\n");
    let watch = call(&["watch", "nodes", "nothing-*", "--until-synced", "-o", "name"]);
    assert!(
        watch.stderr.contains("No resources found that match \"nothing-*\" at the moment\n"),
        "{}",
        watch.stderr
    );
    let code = call(&["get", "pods", "nothing-*", "--fail-if-empty"]).code;
    assert_eq!(code, 3);
    let missing = call(&["get", "nodes", "worker-*", "nothing"]);
    assert!(
        missing.code == 1 && missing.stderr.contains("nodes \"nothing\" not found"),
        "{}",
        missing.stderr
    );
}
