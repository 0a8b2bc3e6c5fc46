//! `kdelta explain` on the demo, which serves the documentation of its kinds.

use crate::support::{DemoServer, TestEnv};

#[test]
fn fields_of_a_built_in_kind_are_explained() {
    let env = TestEnv::new();
    let explain =
        |words: &[&str]| env.kdelta(&[&["explain", "--demo"], words].concat()).finish().quiet_success();
    let pods = explain(&["pods"]);
    let heading = "KIND:       Pod\nVERSION:    v1\n\nDESCRIPTION:\n    Pod is a collection of containers that can run on a host.";
    assert!(pods.starts_with(heading), "{pods}");
    assert!(
        pods.contains("\n  spec\t<PodSpec>\n    Specification of the desired behavior of the pod."),
        "{pods}"
    );
    let ports = explain(&["pods.spec.containers.ports"]);
    assert!(ports.contains("\nFIELD: ports <[]ContainerPort>\n\n\nDESCRIPTION:\n"), "{ports}");
    assert!(
        ports.contains("\n  containerPort\t<integer> -required-\n    Number of port to expose"),
        "{ports}"
    );
    let recursive = explain(&["deploy.spec.selector", "-R"]);
    let fields = "FIELDS:\n  matchExpressions\t<[]LabelSelectorRequirement>\n    key\t<string> -required-\n";
    assert!(recursive.starts_with("GROUP:      apps\nKIND:       Deployment\n"), "{recursive}");
    assert!(recursive.contains(fields), "{recursive}");
}

#[test]
fn fields_of_a_custom_kind_are_explained() {
    let env = TestEnv::new();
    let backups = env.kdelta(&["explain", "bk", "--demo"]).finish().quiet_success();
    assert!(
        backups.starts_with("GROUP:      demo.kdelta.dev\nKIND:       Backup\nVERSION:    v1\n"),
        "{backups}"
    );
    assert!(backups.contains("\n  metadata\t<ObjectMeta>\n    Standard object's metadata.\n"), "{backups}");
}

#[test]
fn heading_is_printed_before_the_error_of_a_missing_field() {
    let env = TestEnv::new();
    let ended = env.kdelta(&["explain", "pods.spec.nope", "--demo"]).finish();
    assert_eq!(ended.stdout, "KIND:       Pod\nVERSION:    v1\n\n");
    assert_eq!((ended.code, ended.stderr.as_str()), (1, "error: field \"nope\" does not exist\n"));
}

#[test]
fn unknown_words_and_formats_are_errors() {
    let env = TestEnv::new();
    for (words, error) in [
        (&["podz"][..], "the server doesn't have a resource type \"podz\"\n"),
        (&["pods[0]"], "error: invalid jsonpath syntax, first node must be field node\n"),
        (&["pods", "-o", "xml"], "error: unrecognized format: xml\n"),
        (&["pods", "--api-version", "v9"], "error: couldn't find resource for \"/v9, Resource=pods\"\n"),
        // The demo has no document of version 2.
        (&["pods", "-o", "plaintext-openapiv2"], "error: couldn't find resource for \"/v1, Kind=Pod\"\n"),
        (
            &[],
            "error: You must specify the type of resource to explain. Use \"kdelta api-resources\" for a complete list of supported resources.\n",
        ),
    ] {
        let ended = env.kdelta(&[&["explain", "--demo"], words].concat()).finish();
        assert_eq!(ended.failure(1), error, "{words:?}");
    }
    let contexts = env.kdelta(&["explain", "pods", "--all-contexts"]).finish().failure(2);
    assert!(contexts.starts_with("error: explain takes one context\n"), "{contexts}");
}

#[test]
fn field_paths_are_completed() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &[]);
    let complete = |words: &[&str]| {
        let words = [&["__complete", "explain", "-s", &demo.url], words].concat();
        env.kdelta(&words).finish().quiet_success()
    };
    let fields = complete(&["pods.spec.containers.lif"]);
    assert_eq!(fields, "pods.spec.containers.lifecycle\tLifecycle\n:4\n");
    let version = complete(&["--api-version", "autoscaling/v2", "hpa.spec.met"]);
    assert_eq!(version, "hpa.spec.metrics\t[]MetricSpec\n:4\n");
    assert_eq!(complete(&["pods.nope."]), ":4\n");
}
