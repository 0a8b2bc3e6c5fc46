//! What one test has to itself: a folder that is the HOME of the programs it starts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Api, Kdelta, Testbed};

/// A folder of the test's own, removed at its end, which is the HOME of the programs it starts.
#[derive(Debug)]
pub(crate) struct TestEnv {
    home: TempDir,
}

/// What a test on the shared server has: its folder, the server, its administrator, and a namespace that no other test
/// uses.
#[derive(Debug)]
pub(crate) struct OnServer {
    pub(crate) env: TestEnv,
    pub(crate) testbed: &'static Testbed,
    pub(crate) api: Api,
    pub(crate) namespace: String,
}

impl TestEnv {
    /// A test on the real server that it shares with others; nothing where there is none, which is said on stderr.
    pub(crate) fn on_server() -> Option<OnServer> {
        let testbed = Testbed::shared()?;
        let api = Api::of(testbed);
        let namespace = api.namespace();
        Some(OnServer { env: Self::new(), testbed, api, namespace })
    }

    /// A real server of the test's own. One that was stopped is started again on its state; nothing where there is
    /// none, which is said on stderr.
    pub(crate) fn own_server(&self) -> Option<Testbed> {
        Testbed::own(&self.home().join("state"))
    }

    /// A fresh, empty folder.
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a folder for the test") }
    }

    /// The folder.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Writes a file there.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(name);
        std::fs::write(&path, text).expect("a file of the test");
        path
    }

    /// The program, with an environment that holds this HOME and nothing else.
    pub(crate) fn kdelta(&self, arguments: &[&str]) -> Kdelta {
        Kdelta::new(self.home(), arguments)
    }

    /// The program, on that server as its administrator.
    pub(crate) fn kdelta_on(&self, testbed: &Testbed, arguments: &[&str]) -> Kdelta {
        self.kdelta(arguments).env("KUBECONFIG", testbed.kubeconfig())
    }

    /// A kubeconfig for a user of that server, reached through another port of this machine where one is given.
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

    /// A kubeconfig of that server's cluster and reader, with these fields laid over theirs; a field that is null is
    /// left out.
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
