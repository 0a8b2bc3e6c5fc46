//! Credentials for tests: kubeconfigs with any user, certificates, revocable tokens, plugins.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Api, OnServer, TestEnv, Testbed, tool};

impl TestEnv {
    /// Writes a kubeconfig for the user, with the testbed's authority and this server address.
    pub(crate) fn login(&self, testbed: &Testbed, server: &str, user: &Value) -> PathBuf {
        let cluster = json!({"server": server, "certificate-authority": testbed.ca_file()});
        self.login_to(&cluster, user)
    }

    /// Writes a kubeconfig for the user and the cluster.
    pub(crate) fn login_to(&self, cluster: &Value, user: &Value) -> PathBuf {
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "me", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "me"}}],
        });
        self.file("login.kubeconfig", &config.to_string())
    }

    /// Creates a client certificate and its key with the flags of `testbed certificate`; the paths end in `.crt` and
    /// `.key`.
    pub(crate) fn certificate(&self, testbed: &Testbed, name: &str, flags: &[&str]) -> (PathBuf, PathBuf) {
        let prefix = self.home().join(name);
        let mut command = tool();
        command.args(["certificate", "--state"]).arg(testbed.state()).args(flags).arg(&prefix);
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        (prefix.with_extension("crt"), prefix.with_extension("key"))
    }
}

impl OnServer {
    /// Calls the program as the user and reads one namespace. Returns `Ok(stderr)` if the server accepted the
    /// credentials, and fails the test if the `-v=9` log contains a secret.
    #[track_caller]
    pub(crate) fn ask_as(&self, user: &Value, secrets: &[&str]) -> Result<String, String> {
        self.ask_with(&self.env.login(self.testbed, self.testbed.server(), user), &[], secrets)
    }

    /// The same with any kubeconfig and flags.
    #[track_caller]
    pub(crate) fn ask_with(&self, config: &Path, flags: &[&str], secrets: &[&str]) -> Result<String, String> {
        let run = |more: &[&str]| {
            let words = [&["get", "ns", "default", "-o", "name"], flags, more].concat();
            self.env.kdelta(&words).env("KUBECONFIG", config).finish()
        };
        if !secrets.is_empty() {
            let shown = run(&["-v=9"]);
            for secret in secrets {
                let is_shown = shown.stderr.contains(secret) || shown.stdout.contains(secret);
                assert!(!secret.is_empty() && !is_shown, "{secret} in {}", shown.stderr);
            }
        }
        let done = run(&[]);
        if done.code == 0 {
            assert_eq!(done.stdout, "namespace/default\n");
            return Ok(done.stderr);
        }
        assert_eq!((done.code, done.stdout.as_str()), (1, ""), "{}", done.stderr);
        Err(done.stderr)
    }

    /// Returns an ID token of the issuer that is valid for this many seconds, and a single-use refresh token.
    #[track_caller]
    pub(crate) fn issue(&self, user: &str, seconds: i32) -> (String, String) {
        let secret = self.testbed.client_secret();
        let form = format!(
            "grant_type=password&client_id=kdelta&client_secret={secret}&username={user}&lifetime={seconds}"
        );
        let response = self.api.post_form(&format!("{}/token", self.testbed.issuer()), &form);
        let text = |field: &str| response[field].as_str().unwrap_or_else(|| panic!("{response}")).to_owned();
        (text("id_token"), text("refresh_token"))
    }
}

/// A service account with revocable tokens that may read everything in the namespace of the test.
#[derive(Debug)]
pub(crate) struct ServiceAccount<'a> {
    api: &'a Api,
    path: String,
}

impl<'a> ServiceAccount<'a> {
    pub(crate) fn new(api: &'a Api, namespace: &str) -> Self {
        let path = format!("/api/v1/namespaces/{namespace}");
        api.create(&format!("{path}/serviceaccounts"), &json!({"metadata": {"name": "me"}}));
        let rbac = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}");
        let rules = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]);
        api.create(&format!("{rbac}/roles"), &json!({"metadata": {"name": "me"}, "rules": rules}));
        let binding = json!({
            "metadata": {"name": "me"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "me"},
            "subjects": [{"kind": "ServiceAccount", "name": "me", "namespace": namespace}],
        });
        api.create(&format!("{rbac}/rolebindings"), &binding);
        Self { api, path }
    }

    /// Returns a token that is valid until [`ServiceAccount::revoke`].
    pub(crate) fn token(&self, name: &str) -> String {
        self.api.create(&format!("{}/secrets", self.path), &json!({"metadata": {"name": name}}));
        let bound = json!({"apiVersion": "v1", "kind": "Secret", "name": name});
        let request = json!({"spec": {"boundObjectRef": bound}});
        let made = self.api.create(&format!("{}/serviceaccounts/me/token", self.path), &request);
        let token = made["status"]["token"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        super::eventually("the server knows what the account may", || {
            (self.status_of(&token) == 200).then_some(())
        });
        token
    }

    /// Returns the status code of a request with the token.
    fn status_of(&self, token: &str) -> u16 {
        self.api.ask_as(&format!("{}/configmaps?limit=1", self.path), &format!("Bearer {token}"))
    }

    /// Revokes a token and waits until the server rejects it: the server caches accepted tokens for some seconds.
    pub(crate) fn revoke(&self, name: &str, token: &str) {
        self.api.delete(&format!("{}/secrets/{name}", self.path));
        super::eventually("the server no longer takes the token", || {
            (self.status_of(token) == 401).then_some(())
        });
    }
}

/// A credential plugin of a test: a shell script that counts its runs, saves its input and prints the contents of a
/// file.
#[derive(Debug)]
pub(crate) struct Plugin {
    folder: PathBuf,
}

impl Plugin {
    /// Creates the plugin with the status it prints. It runs through a shell: a file just written can't be executed
    /// while another test's fork still has it open for writing.
    pub(crate) fn new(env: &TestEnv, version: &str, status: &Value) -> Self {
        let plugin = Self { folder: env.home().to_owned() };
        let script =
            "cd \"$(dirname \"$0\")\" && echo run >> runs && echo \"$KUBERNETES_EXEC_INFO\" > input\n\
                      echo \"asked $GREETING\" >&2\n. ./ending\ncat output
";
        env.file("plugin.sh", script);
        env.file("ending", "");
        plugin.set_output(version, status);
        plugin
    }

    /// Replaces the status that the plugin prints.
    pub(crate) fn set_output(&self, version: &str, status: &Value) {
        let version = format!("client.authentication.k8s.io/{version}");
        let printed = json!({"apiVersion": version, "kind": "ExecCredential", "status": status});
        // Renamed into place: a running plugin may be reading the file.
        fs::write(self.folder.join("output.new"), printed.to_string()).expect("a file of the test");
        fs::rename(self.folder.join("output.new"), self.folder.join("output")).expect("a file of the test");
    }

    /// Returns the kubeconfig user that runs the plugin.
    pub(crate) fn user(&self, version: &str) -> Value {
        json!({"exec": {
            "apiVersion": format!("client.authentication.k8s.io/{version}"),
            "command": "sh", "args": [self.folder.join("plugin.sh"), "arg-s3cret"],
            "env": [{"name": "GREETING", "value": "politely"}],
            "interactiveMode": "IfAvailable", "provideClusterInfo": true,
        }})
    }

    /// Returns the number of runs.
    pub(crate) fn runs(&self) -> usize {
        fs::read_to_string(self.folder.join("runs")).unwrap_or_default().lines().count()
    }

    /// Returns the `ExecCredential` that its last run received.
    pub(crate) fn last_input(&self) -> Value {
        let input = fs::read_to_string(self.folder.join("input")).expect("it has run");
        serde_json::from_str(&input).unwrap_or_else(|error| panic!("{input}: {error}"))
    }
}
