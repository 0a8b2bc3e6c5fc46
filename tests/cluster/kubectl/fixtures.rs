//! The cluster of the comparison: a server of its own with objects of many kinds and states, and the folder in which the
//! programs run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::kuberc_files;
use super::manifests;
use crate::support::{Api, Kdelta, TestEnv, Testbed, eventually, kubectl};

/// The manifests: name, text, and whether their objects have a status that is applied too. They are applied in this
/// order.
const MANIFESTS: [(&str, &str, bool); 10] = [
    ("namespaces.yaml", include_str!("fixtures/namespaces.yaml"), false),
    ("definitions.yaml", include_str!("fixtures/definitions.yaml"), false),
    ("plain.yaml", include_str!("fixtures/plain.yaml"), false),
    ("pods.yaml", include_str!("fixtures/pods.yaml"), true),
    ("workloads.yaml", include_str!("fixtures/workloads.yaml"), true),
    ("rollouts.yaml", include_str!("fixtures/rollouts.yaml"), true),
    ("cluster.yaml", include_str!("fixtures/cluster.yaml"), true),
    ("services.yaml", include_str!("fixtures/services.yaml"), true),
    ("events.yaml", include_str!("fixtures/events.yaml"), false),
    ("custom.yaml", include_str!("fixtures/custom.yaml"), true),
];

/// Further files of the working directory, which the arguments name.
const FILES: [(&str, &str); 11] = [
    ("name.jsonpath", "{.metadata.name}"),
    ("rows.jsonpath", r#"{range .items[*]}{.metadata.name}{"\n"}{end}"#),
    ("name.template", "{{.metadata.name}}"),
    ("rows.template", r#"{{range .items}}{{.metadata.name}}{{"\n"}}{{end}}"#),
    ("columns.txt", "NAME    PHASE\n.metadata.name .status.phase\n"),
    ("empty.txt", ""),
    ("broken.yaml", "apiVersion: v1\nkind: [Pod\n"),
    ("unknown.yaml", "apiVersion: nope.test/v1\nkind: Nope\nmetadata: {name: a}\n"),
    ("settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n"),
    ("absent.yaml", include_str!("fixtures/absent.yaml")),
    ("list.json", include_str!("fixtures/list.json")),
];

/// The running server and the folders of the programs.
pub(super) struct Cluster {
    env: TestEnv,
    testbed: Testbed,
    kubeconfig: PathBuf,
}

impl Cluster {
    /// Starts the server and creates every object.
    pub(super) fn start() -> Self {
        let env = TestEnv::new();
        let testbed = env.own_server();
        let kubeconfig = env.file("shop.kubeconfig", &in_namespace(&testbed, "shop"));
        let cluster = Self { env, testbed, kubeconfig };
        cluster.write_files();
        cluster.apply();
        cluster
    }

    /// Returns a client of the server that makes changes.
    pub(super) fn api(&self) -> Api {
        Api::of(&self.testbed)
    }

    /// The folder in which both programs run.
    pub(super) fn folder(&self) -> PathBuf {
        self.env.home().join("work")
    }

    /// Returns kubectl with these arguments. Each program has its own HOME, which holds its cached discovery.
    pub(super) fn kubectl(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(kubectl());
        command.env_clear().args(arguments);
        self.prepare(command, "kubectl-home")
    }

    /// Returns kdelta with these arguments.
    pub(super) fn kdelta(&self, arguments: &[String]) -> Command {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = self.prepare(self.env.kdelta(&arguments).into_command(), "kdelta-home");
        // kdelta runs `kubectl kustomize`.
        command.env("PATH", kubectl().parent().expect("a folder"));
        command
    }

    fn prepare(&self, mut command: Command, home: &str) -> Command {
        let home = self.env.home().join(home);
        fs::create_dir_all(&home).expect("a folder");
        command.env("HOME", home).env("KUBECONFIG", &self.kubeconfig).current_dir(self.folder());
        command
    }

    /// Registers an API whose server does not exist, and returns once the server reports it as unavailable.
    pub(super) fn break_an_api_service(&self) {
        self.env.file("unavailable.yaml", include_str!("fixtures/unavailable.yaml"));
        self.run("create -f ../unavailable.yaml");
        let api = Api::of(&self.testbed);
        let path = "/apis/apiregistration.k8s.io/v1/apiservices/v1.broken.kdelta.test";
        eventually("the API is unavailable", || {
            let conditions = api.get(path)["status"]["conditions"].as_array().cloned().unwrap_or_default();
            conditions.iter().any(|is| is["status"] == "False").then_some(())
        });
        eventually("discovery reports the group", || {
            let form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
            let text = api.request("GET", "/apis", &[("Accept", form)], "").text;
            text.contains("broken.kdelta.test").then_some(())
        });
        for home in ["kubectl-home", "kdelta-home"] {
            fs::remove_dir_all(self.env.home().join(home)).expect("the folder of a program");
        }
    }

    fn write_files(&self) {
        let nested = self.folder().join("folder/nested");
        fs::create_dir_all(&nested).expect("a folder");
        let write = |path: &Path, text: &str| fs::write(path, text).expect("a file of the test");
        for (name, text, _) in MANIFESTS {
            write(&self.folder().join(name), text);
        }
        for (name, text) in FILES.into_iter().chain(kuberc_files::FILES) {
            write(&self.folder().join(name), text);
        }
        write(&nested.with_file_name("a.yaml"), include_str!("fixtures/services.yaml"));
        write(&nested.with_file_name("note.txt"), "not a manifest: [");
        write(&nested.join("b.yaml"), include_str!("fixtures/custom.yaml"));
        manifests::write(&self.folder());
    }

    fn apply(&self) {
        for (name, _, has_status) in MANIFESTS {
            let apply = format!("apply --server-side --field-manager=fixtures -f {name}");
            self.run(&apply);
            if has_status {
                self.run(&format!("{apply} --subresource=status"));
            }
            if name == "definitions.yaml" {
                self.wait_for_definitions();
            }
        }
        self.run("delete pod leaving --wait=false");
    }

    fn wait_for_definitions(&self) {
        let api = Api::of(&self.testbed);
        let kinds = [("kdelta.test", "widgets"), ("kdelta.test", "realms"), ("mesh.kdelta.test", "services")];
        for (group, plural) in kinds {
            eventually("the server discovers the kind", || api.discovers(group, plural).then_some(()));
        }
        // explain reads the schemas, which the server publishes later than the kinds.
        eventually("the server publishes the schemas", || {
            let schemas = api.request("GET", "/openapi/v3", &[], "").text;
            let old = api.request("GET", "/openapi/v2", &[], "").text;
            (schemas.contains("apis/mesh.kdelta.test/v1") && old.contains("mesh.kdelta.test")).then_some(())
        });
    }

    /// Runs a command of kubectl that changes the cluster; fails the test unless it succeeds.
    fn run(&self, line: &str) {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let done = Kdelta::other(self.kubectl(&arguments)).finish();
        assert_eq!(done.code, 0, "kubectl {line}: {}", done.stderr);
    }
}

/// Returns the server's kubeconfig with a default namespace in its current context.
fn in_namespace(testbed: &Testbed, namespace: &str) -> String {
    let own = fs::read_to_string(testbed.kubeconfig()).expect("the kubeconfig");
    let context = "    user: admin\n";
    assert_eq!(own.matches(context).count(), 1, "{own}");
    own.replace(context, &format!("    namespace: {namespace}\n{context}"))
}
