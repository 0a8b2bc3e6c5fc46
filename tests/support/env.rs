//! The environment of one test: a folder that is the HOME of the programs it starts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Api, Kdelta, Testbed};

/// A folder of the test's own, removed on drop, that is the HOME of the programs it starts.
#[derive(Debug)]
pub(crate) struct TestEnv {
    home: TempDir,
}

/// A test on the shared server: its folder, the server, an administrator's client, and a namespace of its own.
#[derive(Debug)]
pub(crate) struct OnServer {
    pub(crate) env: TestEnv,
    pub(crate) testbed: &'static Testbed,
    pub(crate) api: Api,
    pub(crate) namespace: String,
}

impl TestEnv {
    /// Sets up a test on the shared real server.
    pub(crate) fn on_server() -> OnServer {
        let testbed = Testbed::shared();
        let api = Api::of(testbed);
        let namespace = api.namespace();
        OnServer { env: Self::new(), testbed, api, namespace }
    }

    /// Starts a real server of the test's own, on the state of an earlier one if it was stopped.
    pub(crate) fn own_server(&self) -> Testbed {
        Testbed::own(&self.home().join("state"))
    }

    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a folder for the test") }
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Writes a file into the folder.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(name);
        std::fs::write(&path, text).expect("a file of the test");
        path
    }

    /// Returns a call of the program with this HOME and no other environment variables.
    pub(crate) fn kdelta(&self, arguments: &[&str]) -> Kdelta {
        Kdelta::new(self.home(), arguments)
    }

    /// Returns a call of the program on the server, as its administrator.
    pub(crate) fn kdelta_on(&self, testbed: &Testbed, arguments: &[&str]) -> Kdelta {
        self.kdelta(arguments).env("KUBECONFIG", testbed.kubeconfig())
    }

    /// Writes a kubeconfig for a user of the server that reaches it through another local port.
    pub(crate) fn kubeconfig(&self, testbed: &Testbed, user: &str, namespace: &str, port: u16) -> PathBuf {
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {
                "server": format!("https://127.0.0.1:{port}"), "certificate-authority": testbed.ca_file(),
            }}],
            "users": [{"name": user, "user": {"token": testbed.token(user)}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user, "namespace": namespace}}],
        });
        self.file(&format!("{user}-{port}.kubeconfig"), &config.to_string())
    }

    /// Writes a kubeconfig with the server's cluster and the user `reader`, overlaid with these fields; a null removes
    /// a field.
    pub(crate) fn kubeconfig_with(&self, testbed: &Testbed, cluster: Value, user: Value) -> PathBuf {
        let mut own_cluster = json!({"server": testbed.server(), "certificate-authority": testbed.ca_file()});
        let mut own_user = json!({"token": testbed.token("reader")});
        for (own, over) in [(&mut own_cluster, cluster), (&mut own_user, user)] {
            let Value::Object(over) = over else { panic!("no fields: {over}") };
            let own = own.as_object_mut().expect("fields");
            own.extend(over);
            own.retain(|_, value| !value.is_null());
        }
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": own_cluster}],
            "users": [{"name": "test", "user": own_user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        });
        self.file("with.kubeconfig", &config.to_string())
    }
}
