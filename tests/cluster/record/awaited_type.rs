//! A recorder that is started again while the server does not serve a recorded type: it records the others, and the type
//! once it is served.

use std::path::PathBuf;

use kdelta::recording::{Gap, Moment};
use serde_json::json;

use crate::support::{
    Kdelta, OnServer, Recorded, Running, TestEnv, eventually, open_recording, recorded_objects,
    recorded_resource,
};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The message about the type `gauges`.
const MISSING: &str = "the server doesn't have a resource type \"gauges\" yet\n";

/// A server with a custom type, and the directory of its recording.
struct Setup {
    on: OnServer,
    group: String,
    dir: PathBuf,
}

impl Setup {
    fn new() -> Self {
        let on = TestEnv::on_server();
        let (group, dir) = (format!("{}.kdelta.test", on.namespace), on.env.home().join("recordings"));
        Self { on, group, dir }
    }

    /// Defines the type `gauges`, and creates a gauge.
    fn define(&self, name: &str) {
        let Self { on: OnServer { api, namespace, .. }, group, .. } = self;
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let versions =
            json!([{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]);
        // Each test has a short name of its own: the tests share the server.
        let names = json!({"plural": "gauges", "kind": "Gauge", "shortNames": [self.short_name()]});
        let spec = json!({"group": group, "scope": "Namespaced", "names": names, "versions": versions});
        api.create(DEFINITIONS, &json!({"metadata": {"name": format!("gauges.{group}")}, "spec": spec}));
        let path = format!("/apis/{group}/v1/namespaces/{namespace}/gauges");
        eventually("the type is served", || api.find(&path).filter(|_| api.discovers(group, "gauges")));
        let metadata = json!({ "name": name });
        api.create(
            &path,
            &json!({"apiVersion": format!("{group}/v1"), "kind": "Gauge", "metadata": metadata}),
        );
    }

    fn short_name(&self) -> String {
        format!("g{}", self.on.namespace.replace('-', ""))
    }

    /// Deletes the type, and waits until it is not served.
    fn delete_definition(&self) {
        let Self { on: OnServer { api, .. }, group, .. } = self;
        let definition = format!("{DEFINITIONS}/gauges.{group}");
        api.delete(&definition);
        eventually("the type is gone", || {
            (api.find(&definition).is_none() && !api.discovers(group, "gauges")).then_some(())
        });
    }

    /// Returns a recorder with these words and flags.
    fn record(&self, words: &[&str]) -> Kdelta {
        let OnServer { env, testbed, namespace, .. } = &self.on;
        let all = ["record", "-n", namespace, "--to", self.dir.to_str().expect("text")];
        env.kdelta_on(testbed, &[&all, words].concat())
    }

    /// Returns the keys of the recorded objects of a type.
    fn recorded(&self, plural: &str) -> Vec<String> {
        let recording = open_recording(&self.dir);
        let state = recording.state(Moment::End).expect("a state");
        let objects = recorded_objects(&state, &recorded_resource(&recording, plural));
        let prefix = format!("{}/", self.on.namespace);
        objects.keys().map(|key| key.trim_start_matches(&prefix).to_owned()).collect()
    }

    /// Waits until an object of a type is recorded.
    fn find(&self, plural: &str, name: &str) {
        eventually("the object is recorded", || {
            self.recorded(plural).iter().any(|key| key == name).then_some(())
        });
    }

    /// Returns the types that were not observed at the end.
    fn unobserved(&self) -> Vec<String> {
        let recording = open_recording(&self.dir);
        let unobserved = recording.unobserved_at(recording.end().expect("an end")).expect("gaps");
        let plural = |gap: &Gap| gap.resource.as_ref().map(|resource| resource.resource.clone());
        unobserved.gaps.iter().filter_map(plural).collect()
    }
}

fn end(mut running: Running) -> String {
    running.signal("INT");
    assert_eq!(running.wait(), 130);
    running.stderr.drain()
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn recorded_type_that_is_not_served_is_recorded_once_it_is() {
    let setup = Setup::new();
    let OnServer { env, api, namespace, .. } = &setup.on;
    // Other tests define a type with this plural too.
    let gauges = format!("gauges.{}", setup.group);
    let types = format!("{gauges},cm");
    setup.define("first");
    api.create_config_map(namespace, "a", &json!({}));
    let first = setup.record(&[&types, "--until-synced"]).finish();
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(setup.recorded("gauges"), ["first"]);
    let mut killed = setup.record(&[&types]).start();
    api.create_config_map(namespace, "b", &json!({}));
    setup.find("configmaps", "b");
    killed.signal("KILL");
    killed.wait();

    setup.delete_definition();
    let running = setup.record(&[&types]).start();
    running.stderr.find("the missing type", |line| line == MISSING);
    api.create_config_map(namespace, "c", &json!({}));
    setup.find("configmaps", "c");
    assert_eq!(setup.unobserved(), ["gauges"]);
    setup.define("second");
    setup.find("gauges", "second");
    let rest = end(running);
    assert!(!rest.contains("doesn't have a resource type"), "once: {rest}");
    assert_eq!(setup.recorded("gauges"), ["second"], "{rest}");
    assert_eq!(setup.unobserved(), [""; 0], "{rest}");
    let gaps = Recorded::read(&open_recording(&setup.dir)).gaps;
    assert!(gaps.iter().any(|(plural, ..)| plural == "gauges"), "{gaps:?}: {rest}");
    let words = ["get", &gauges, "-o", "name", "-n", namespace, "--from", setup.dir.to_str().expect("text")];
    let shown = env.kdelta(&words).finish().quiet_success();
    assert_eq!(shown, format!("gauge.{}/second\n", setup.group));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn recorder_of_a_missing_type_alone_waits_for_it() {
    let setup = Setup::new();
    let short_name = setup.short_name();
    let word = format!("gauges.{}", setup.group);
    let unknown = setup.record(&[&word, "--until-synced"]).finish();
    assert_eq!(unknown.code, 1, "a new recording has no types: {}", unknown.stderr);
    setup.define("first");
    let first = setup.record(&[&format!("{word}/first"), "--until-synced"]).finish();
    assert_eq!(first.code, 0, "{}", first.stderr);
    setup.delete_definition();
    for (words, flag) in
        [(&word, "--until-synced"), (&word, "--duration=1s"), (&short_name, "--until-synced")]
    {
        let partial = setup.record(&[words, flag]).finish();
        assert_eq!(partial.code, 4, "{words} {flag}: {}", partial.stderr);
        assert!(partial.stderr.contains(" yet\n"), "{words} {flag}: {}", partial.stderr);
    }
    let error = "error: the server doesn't have a resource type \"dials\"\n";
    let unknown = setup.record(&["dials,cm", "--until-synced"]).finish();
    assert!(unknown.code == 1 && unknown.stderr.starts_with(error), "{unknown:?}");
    // The object is created after the type, and after another one.
    let running = setup.record(&[&format!("{word}/second")]).start();
    running.stderr.find("the missing type", |line| line == MISSING);
    setup.define("other");
    let path = format!("/apis/{}/v1/namespaces/{}/gauges", setup.group, setup.on.namespace);
    let gauge =
        json!({"apiVersion": format!("{}/v1", setup.group), "kind": "Gauge", "metadata": {"name": "second"}});
    setup.on.api.create(&path, &gauge);
    setup.find("gauges", "second");
    end(running);
}
