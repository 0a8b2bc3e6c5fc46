//! A program in a pod that finds its server through its environment and its service account's folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kdelta::api::{Client, Request};
use kdelta::kubeconfig::{Config, ConfigOptions, InCluster};
use kdelta::listwatch::Error;

use crate::support::{Kdelta, OnServer, TestEnv, Testbed};

/// Writes the folder of a service account with this token.
fn service_account(env: &TestEnv, testbed: &Testbed, token: &str) -> PathBuf {
    let folder = env.home().join("serviceaccount");
    fs::create_dir_all(&folder).expect("a folder");
    fs::copy(testbed.ca_file(), folder.join("ca.crt")).expect("the authority");
    fs::write(folder.join("token"), format!("{token}\n")).expect("a token");
    fs::write(folder.join("namespace"), "kube-system").expect("a namespace");
    folder
}

fn in_pod(folder: &Path, port: u16) -> ConfigOptions {
    ConfigOptions::default().in_cluster(
        InCluster::default()
            .host(Some("127.0.0.1".into()))
            .port(Some(port.to_string()))
            .namespace(None)
            .folder(folder.to_owned()),
    )
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn service_account_token_is_reread_after_a_rejection() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let folder = service_account(&env, testbed, "expired");
    let config = Config::load(&in_pod(&folder, testbed.port())).expect("a pod's configuration");
    assert_eq!((config.server(), config.default_namespace()), (testbed.server(), "kube-system"));
    let client = Client::new(&config).expect("a client");
    let request = Request::new("/api/v1/namespaces/default");
    let send = |client: &Client| runtime.block_on(client.send(&request)).map(|_| ());
    let refused = send(&client).err();
    assert!(matches!(refused, Some(Error::Unauthorized(_))), "{refused:?}");
    fs::write(folder.join("token"), testbed.token("reader")).expect("a token");
    send(&client).expect("the new token is taken");

    fs::copy(testbed.state().join("admin.crt"), folder.join("ca.crt")).expect("a certificate");
    let untrusted = send(&Client::new(&config).expect("a client")).err();
    assert!(
        untrusted
            .as_ref()
            .is_some_and(|error| error.to_string().ends_with("certificate signed by unknown authority")),
        "{untrusted:?}"
    );
    let mut named = in_pod(&folder, testbed.port());
    named.in_cluster.namespace = Some("named".to_owned());
    assert_eq!(Config::load(&named).expect("a configuration").default_namespace(), "named");
}

/// Runs the program with the folder mounted at a pod's path in its own mount namespace.
#[test]
#[cfg_attr(not(all(has_go, can_mount)), ignore = "needs Go and a mount namespace")]
fn program_in_a_pod_needs_no_kubeconfig() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let folder = service_account(&env, testbed, testbed.token("reader"));
    let place = "/var/run/secrets/kubernetes.io/serviceaccount";
    let script = format!(
        "mount -t tmpfs none /var/run && mkdir -p {place} && mount --bind \"$FOLDER\" {place} && exec \"$@\""
    );
    let pod = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]).args(words);
        command.env_remove("KUBECONFIG").env("HOME", env.home()).env("FOLDER", &folder);
        command.env("KUBERNETES_SERVICE_HOST", "127.0.0.1");
        Kdelta::other(command).env("KUBERNETES_SERVICE_PORT", testbed.port().to_string())
    };
    let program = env!("CARGO_BIN_EXE_kdelta");
    let words = [program, "get", "cm", "extension-apiserver-authentication", "-o", "name"];
    let found = pod(&words).finish().quiet_success();
    assert_eq!(found, "configmap/extension-apiserver-authentication\n", "in the pod's namespace");
    let error = pod(&words).env("POD_NAMESPACE", "default").finish().failure(1);
    assert!(error.starts_with("Error from server (NotFound): "), "{error}");
    fs::write(folder.join("token"), "wrong").expect("a token");
    let error = pod(&words).finish().failure(1);
    assert!(error.contains("You must be logged in to the server (Unauthorized)"), "{error}");
}
