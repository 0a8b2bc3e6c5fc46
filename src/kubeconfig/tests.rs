//! Tests that resolve kubeconfig files, flags and a pod's environment to a configuration.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tempfile::TempDir;
use url::Url;

use super::Secret;
use super::{Config, ConfigOptions, Contexts, EnvironmentProxies, InCluster, Proxy, Trust};
use crate::client::test_server::SELF_SIGNED;

const TWO: &str = "
apiVersion: v1
kind: Config
current-context: one
clusters:
- name: c1
  cluster: {server: 'https://one.example:6443/prefix?x=1', certificate-authority: ca.crt, tls-server-name: real.example}
- name: c2
  cluster: {server: 'http://127.0.0.1:8001'}
contexts:
- name: one
  context: {cluster: c1, user: u1, namespace: team-a}
- name: two
  context: {cluster: c2, user: u1}
users:
- name: u1
  user: {token: t0ken-of-u1}
- name: u2
  user: {tokenFile: sub/token}
";

/// A folder with files, and options that read one of them.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        folder.write("ca.crt", SELF_SIGNED);
        folder
    }

    fn with(kubeconfig: &str) -> (Self, ConfigOptions) {
        let folder = Self::new();
        let options =
            ConfigOptions { kubeconfig: Some(folder.write("config", kubeconfig)), ..Default::default() };
        (folder, options)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The options of a pod with a service account.
    fn pod(&self) -> ConfigOptions {
        self.write("token", "pod-token\n");
        ConfigOptions {
            in_cluster: InCluster {
                host: Some("fd00::1".into()),
                port: Some("443".into()),
                namespace: None,
                folder: self.0.path().to_owned(),
            },
            ..Default::default()
        }
    }
}

fn env_of(paths: &[&Path]) -> OsString {
    std::env::join_paths(paths).unwrap()
}

fn load_error(options: &ConfigOptions) -> String {
    Config::load(options).unwrap_err().to_string()
}

fn server_name(config: &Config) -> Option<String> {
    config.connection_options().server_name.as_ref().map(|name| name.to_str().into_owned())
}

fn proxy(config: &Config) -> Option<&str> {
    config.connection_options().proxy.as_ref().map(Proxy::authority)
}

fn token(config: &Config) -> Option<&str> {
    config.user().token.as_ref().map(Secret::expose)
}

#[test]
fn current_context_determines_server_namespace_trust_and_user() {
    let (_folder, options) = Folder::with(TWO);
    let config = Config::load(&options).unwrap();
    assert_eq!(config.server(), "https://one.example:6443/prefix");
    assert_eq!(config.authority(), "one.example:6443");
    assert_eq!((config.context(), config.default_namespace()), ("one", "team-a"));
    assert_eq!(server_name(&config).as_deref(), Some("real.example"));
    assert!(matches!(config.trust(), Trust::Authorities(authorities) if authorities.len() == 1));
    assert_eq!(token(&config), Some("t0ken-of-u1"));
    let contexts = Contexts::load(&options).unwrap();
    let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
    assert_eq!(contexts.names, names(["one", "two"]));
    assert_eq!(contexts.current.as_deref(), Some("one"));
    assert_eq!((contexts.clusters, contexts.users), (names(["c1", "c2"]), names(["u1", "u2"])));
}

#[test]
fn debug_shows_no_credential() {
    let (_folder, options) = Folder::with(TWO);
    let options = ConfigOptions { token: Some(Secret::new("t0ken")), ..options };
    let config = Config::load(&options).unwrap();
    let shown = format!("{options:?} {config:?}");
    assert!(!shown.contains("t0ken"), "{shown}");
}

#[test]
fn plain_http_carries_no_credentials() {
    let (_folder, options) = Folder::with(TWO);
    let options = ConfigOptions { context: Some("two".into()), as_user: Some("jane".into()), ..options };
    let config = Config::load(&options).unwrap();
    assert_eq!(config.server(), "http://127.0.0.1:8001");
    assert_eq!(config.default_namespace(), "default");
    assert_eq!(token(&config), None);
    assert_eq!(config.user().impersonate.as_deref(), Some("jane"));
}

#[test]
fn server_without_kubeconfig_is_accepted() {
    let folder = Folder::new();
    let at = |server: &str| ConfigOptions {
        home: Some(folder.path("missing")),
        server: Some(server.into()),
        ..Default::default()
    };
    assert_eq!(Config::load(&at("127.0.0.1:8001")).unwrap().server(), "http://127.0.0.1:8001");
    assert_eq!(Config::load(&at("https://h")).unwrap().authority(), "h");
    let insecure = ConfigOptions { insecure_skip_tls_verify: true, ..at("h:6443") };
    assert_eq!(Config::load(&insecure).unwrap().server(), "https://h:6443");
    assert_eq!(load_error(&at("ftp://h")), "host must be a URL or a host:port pair: \"ftp://h\"");
    let master = ConfigOptions { default_server: Some("http://m:1".into()), ..Default::default() };
    assert_eq!(Config::load(&master).unwrap().server(), "http://m:1");
}

#[test]
fn flags_select_and_override_entries() {
    let (folder, options) = Folder::with(TWO);
    let file = folder.write("elsewhere/ca.pem", SELF_SIGNED);
    let options = ConfigOptions {
        cluster: Some("c1".into()),
        user: Some("u2".into()),
        context: Some("two".into()),
        server: Some("https://other:1".into()),
        certificate_authority: Some(file),
        ..options
    };
    let config = Config::load(&options).unwrap();
    assert_eq!(server_name(&config), None, "a server takes the file's tls-server-name away");
    let expected = folder.path("sub/token");
    assert_eq!(config.user().token_file.as_deref(), expected.to_str(), "relative to the file");
    let insecure = ConfigOptions { insecure_skip_tls_verify: true, certificate_authority: None, ..options };
    let config = Config::load(&insecure).unwrap();
    assert!(matches!(config.trust(), Trust::Unverified));
    let with_token = ConfigOptions { token: Some(Secret::new("mine")), ..insecure };
    let config = Config::load(&with_token).unwrap();
    assert_eq!((token(&config), &config.user().token_file), (Some("mine"), &None));
}

#[test]
fn entries_named_by_flags_must_exist() {
    let (_folder, options) = Folder::with(TWO);
    let named = |context: &str, cluster: &str, user: &str| ConfigOptions {
        context: Some(context.into()),
        cluster: Some(cluster.into()),
        user: Some(user.into()),
        ..options.clone()
    };
    assert_eq!(load_error(&named("x", "", "")), "context \"x\" does not exist");
    assert_eq!(load_error(&named("", "x", "")), "cluster \"x\" does not exist");
    assert_eq!(load_error(&named("", "", "x")), "auth info \"x\" does not exist");
}

#[test]
fn current_context_and_its_cluster_must_exist() {
    let (_folder, options) = Folder::with("current-context: gone");
    assert_eq!(load_error(&options), "context was not found for specified context: gone");
    let (_folder, options) =
        Folder::with("{current-context: a, contexts: [{name: a, context: {cluster: c, user: u}}]}");
    assert_eq!(load_error(&options), "cluster \"c\" does not exist");
    let (_folder, options) = Folder::with("contexts: [{name: a, context: {cluster: c}}, {name: b}]");
    assert_eq!(load_error(&options), "invalid configuration: no context chosen; there are: a, b");
    let (_folder, options) = Folder::with(
        "{current-context: a, clusters: [{name: c, cluster: {}}], contexts: [{name: a, context: {cluster: c}}]}",
    );
    assert_eq!(load_error(&options), "invalid configuration: no server found for cluster \"c\"");
}

#[test]
fn missing_configuration_has_kubectls_message() {
    let expected = "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable";
    assert_eq!(load_error(&ConfigOptions::default()), expected);
    let (_folder, options) = Folder::with("");
    assert_eq!(load_error(&options), expected);
}

#[test]
fn first_file_wins_per_name_and_missing_files_are_skipped() {
    let folder = Folder::new();
    let first = folder.write(
        "a/config",
        "{current-context: '', clusters: [{name: c, cluster: {server: 'https://first'}}],
          users: [{name: u, user: {tokenFile: t}}]}",
    );
    let second = folder.write(
        "b/config",
        "{kind: Other, current-context: x, clusters: [{name: c, cluster: {server: 'https://second'}}],
          contexts: [{name: x, context: {cluster: c, user: u}}], users: [{name: u, user: {token: second}}]}",
    );
    let options = ConfigOptions {
        kubeconfig_env: Some(env_of(&[&folder.path("missing"), Path::new(""), &first, &second, &first])),
        ..Default::default()
    };
    let config = Config::load(&options).unwrap();
    assert_eq!((config.context(), config.server()), ("x", "https://first"));
    let expected = folder.path("a/t");
    assert_eq!((token(&config), config.user().token_file.as_deref()), (None, expected.to_str()));
    let all_missing =
        ConfigOptions { kubeconfig_env: Some(env_of(&[&folder.path("m")])), ..Default::default() };
    assert!(load_error(&all_missing).contains("no configuration has been provided"));
}

#[test]
fn home_kubeconfig_is_the_default() {
    let folder = Folder::new();
    folder.write(".kube/config", "{current-context: a, clusters: [{name: c, cluster: {server: 'https://h'}}], contexts: [{name: a, context: {cluster: c}}]}");
    let options = ConfigOptions { home: Some(folder.0.path().to_owned()), ..Default::default() };
    assert_eq!(Config::load(&options).unwrap().server(), "https://h");
}

#[test]
fn named_file_must_exist_and_be_a_kubeconfig() {
    let folder = Folder::new();
    let named = |path: PathBuf| ConfigOptions { kubeconfig: Some(path), ..Default::default() };
    let missing = folder.path("missing");
    assert_eq!(
        load_error(&named(missing.clone())),
        format!("stat {}: no such file or directory", missing.display())
    );
    let broken = folder.write("broken", "clusters: [\n  token: s3cret\n users: x: y");
    let message = load_error(&named(broken.clone()));
    assert!(
        message.starts_with(&format!("error loading config file \"{}\": yaml: ", broken.display())),
        "{message}"
    );
    assert!(message.contains("line") && !message.contains("s3cret") && !message.contains('\n'), "{message}");
    let mistyped = folder.write("mistyped", "users:\n- name: u\n  user: s3cret");
    let message = load_error(&named(mistyped));
    assert!(message.contains("json: users[0]: ") && !message.contains("s3cret"), "{message}");
    let twice = folder.write("twice", "users: [{name: u, user: {}}, {name: u, user: {}}]");
    assert!(load_error(&named(twice)).ends_with("duplicate name \"u\" in list: users"));
    assert!(load_error(&named(folder.0.path().to_owned())).contains("directory"));
}

#[test]
fn pod_uses_its_service_account() {
    let folder = Folder::new();
    let options = folder.pod();
    let config = Config::load(&options).unwrap();
    assert_eq!((config.server(), config.context()), ("https://[fd00::1]", ""));
    assert_eq!(config.user().token_file.as_deref(), folder.path("token").to_str());
    assert!(matches!(config.trust(), Trust::AuthorityFile(file, _) if *file == folder.path("ca.crt")));
    assert_eq!(config.default_namespace(), "default");
    folder.write("namespace", "team-b\n");
    assert_eq!(Config::load(&options).unwrap().default_namespace(), "team-b");
    let mut with_namespace = options.clone();
    with_namespace.in_cluster.namespace = Some("named".into());
    assert_eq!(Config::load(&with_namespace).unwrap().default_namespace(), "named");
    let elsewhere = ConfigOptions { server: Some("https://other".into()), ..options };
    assert_eq!(Config::load(&elsewhere).unwrap().user().token_file, None);
}

/// Returns the error of a file with this user and a TLS server.
fn user_error(user: &str) -> String {
    let (_folder, options) = Folder::with(&with_user(user));
    load_error(&options)
}

fn with_user(user: &str) -> String {
    format!(
        "{{current-context: a, clusters: [{{name: c, cluster: {{server: 'https://h'}}}}], \
          contexts: [{{name: a, context: {{cluster: c, user: u}}}}], users: [{{name: u, user: {user}}}]}}"
    )
}

#[test]
fn contradictory_credentials_have_kubectls_messages() {
    let cases = [
        (
            "{token: t, username: me, password: p}",
            "invalid configuration: more than one authentication method found for u; found [token basicAuth], only one is allowed",
        ),
        (
            "{tokenFile: t, username: me, password: p}",
            "invalid configuration: username/password or bearer token may be set, but not both",
        ),
        (
            "{client-certificate-data: eA==}",
            "invalid configuration: client-key-data or client-key must be specified for u to use the clientCert authentication method.",
        ),
        (
            "{as-uid: '1'}",
            "invalid configuration: requesting uid, groups or user-extra for u without impersonating a user",
        ),
        (
            "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x}}",
            "invalid configuration: interactiveMode must be specified for u to use exec authentication plugin",
        ),
        (
            "{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}",
            "exec plugin: invalid apiVersion \"client.authentication.k8s.io/v1alpha1\"",
        ),
        (
            "{exec: {apiVersion: client.authentication.k8s.io/v1beta1}}",
            "invalid configuration: command must be specified for u to use exec authentication plugin",
        ),
        (
            "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x, env: [{value: v}]}}",
            "invalid configuration: env variable name must be specified for u to use exec authentication plugin",
        ),
        (
            "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x, interactiveMode: Often}}",
            "invalid configuration: invalid interactiveMode for u: \"Often\"",
        ),
        ("{auth-provider: {name: nobody}}", "no Auth Provider found for name \"nobody\""),
    ];
    for (user, expected) in cases {
        assert_eq!(user_error(user), expected, "{user}");
    }
    assert!(
        user_error("{auth-provider: {name: gcp}}").starts_with("The gcp auth plugin has been removed.\n")
    );
    assert!(
        user_error("{auth-provider: {name: azure}}").starts_with("The azure auth plugin has been removed.\n")
    );
    let missing = user_error("{client-certificate: gone.crt, client-key: gone.key}");
    assert!(
        missing.starts_with("invalid configuration: [unable to read client-cert ")
            && missing.contains("gone.crt for u due to open ")
            && missing.contains("gone.crt: no such file or directory, unable to read client-key ")
            && missing.ends_with("gone.key: no such file or directory]"),
        "{missing}"
    );
}

#[test]
fn direct_credentials_precede_a_plugin() {
    let plugin = "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x}";
    let (_folder, options) = Folder::with(&with_user(&format!("{{{plugin}}}")));
    let has_plugin = |options: &ConfigOptions| Config::load(options).unwrap().user().exec.is_some();
    assert!(has_plugin(&options));
    let options = ConfigOptions { token: Some(Secret::new("t")), ..options };
    assert!(!has_plugin(&options));
}

#[test]
fn contradictory_or_empty_trust_is_rejected() {
    let cluster = |cluster: &str| {
        Folder::with(&format!(
            "{{current-context: a, clusters: [{{name: c, cluster: {{server: 'https://h', {cluster}}}}}], \
              contexts: [{{name: a, context: {{cluster: c}}}}]}}"
        ))
    };
    let (_folder, options) = cluster("certificate-authority: ca.crt, insecure-skip-tls-verify: true");
    assert!(load_error(&options).contains("with the insecure flag is not allowed"));
    let (_folder, options) = cluster("certificate-authority: gone.crt");
    let why = load_error(&options);
    assert!(why.contains("unable to read certificate-authority"), "{why}");
    assert!(why.ends_with("gone.crt: no such file or directory"), "{why}");
    let (_folder, options) = cluster("certificate-authority-data: bm90aGluZw==");
    assert!(load_error(&options).starts_with("unable to load root certificates: "));
    let (_folder, options) = cluster("certificate-authority-data: '%%'");
    assert_eq!(load_error(&options), "unable to load root certificates: illegal base64 data");
    let (_folder, options) = cluster("tls-server-name: 'not a name'");
    assert!(load_error(&options).ends_with("\"not a name\" is neither a host name nor an address"));
}

#[test]
fn authority_data_may_be_folded_and_needs_a_certificate() {
    let data = |text: &str| {
        let (_folder, options) = Folder::with(&TWO.replace(
            "certificate-authority: ca.crt",
            &format!(
                "certificate-authority-data: {:?}",
                STANDARD.encode(text).replace("LS0tLS1", "LS0t\n LS1")
            ),
        ));
        Config::load(&options)
    };
    let config = data(SELF_SIGNED).unwrap();
    assert!(matches!(config.trust(), Trust::Authorities(authorities) if authorities.len() == 1));
    let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let load_error = data(key).unwrap_err().to_string();
    assert_eq!(load_error, "unable to load root certificates: unable to parse bytes as PEM block");
}

#[test]
fn plugin_receives_the_resolved_server_if_configured() {
    let user = |provide: bool| {
        let exec = "apiVersion: client.authentication.k8s.io/v1beta1, command: x";
        let file = with_user(&format!("{{exec: {{{exec}, provideClusterInfo: {provide}}}}}")).replace(
            "server: 'https://h'",
            "server: 'https://h/', certificate-authority: ca.crt, tls-server-name: real, \
             extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: a}}]",
        );
        let (_folder, options) = Folder::with(&file);
        let proxies = EnvironmentProxies { https: Some(Secret::new("http://env:3")), ..Default::default() };
        Config::load(&ConfigOptions { proxies, ..options }).unwrap()
    };
    assert!(user(false).exec_cluster().is_none());
    let received = serde_json::to_value(user(true).exec_cluster()).unwrap();
    let expected = json!({
        "server": "https://h/", "tls-server-name": "real",
        "certificate-authority-data": STANDARD.encode(SELF_SIGNED), "config": {"audience": "a"},
    });
    assert_eq!(received, expected, "the environment's proxy is not the cluster's");
}

#[test]
fn proxy_of_flags_precedes_cluster_and_environment() {
    let environment = EnvironmentProxies { https: Some(Secret::new("http://env:3")), ..Default::default() };
    let in_file = |cluster: &str| {
        let (folder, options) = Folder::with(&format!(
            "{{current-context: a, clusters: [{{name: c, cluster: {{server: 'https://h', {cluster}}}}}], \
              contexts: [{{name: a, context: {{cluster: c}}}}]}}"
        ));
        (folder, ConfigOptions { proxies: environment.clone(), ..options })
    };
    let (_folder, options) = in_file("proxy-url: 'socks5://p:1', tls-server-name: 10.0.0.1");
    let config = Config::load(&options).unwrap();
    assert_eq!((proxy(&config), server_name(&config).as_deref()), (Some("p:1"), Some("10.0.0.1")));
    let by_flag = ConfigOptions { proxy_url: Some(Secret::new("http://flag:2")), ..options };
    assert_eq!(proxy(&Config::load(&by_flag).unwrap()), Some("flag:2"));
    let (_folder, options) = in_file("");
    assert_eq!(proxy(&Config::load(&options).unwrap()), Some("env:3"));
    let (_folder, options) = in_file("proxy-url: 'ftp://user:s3cret@p'");
    assert_eq!(
        load_error(&options),
        "invalid 'proxy-url' \"ftp://p\" for cluster \"c\": \
         unsupported scheme \"ftp\", must be http, https, or socks5"
    );
}

#[test]
fn other_servers_share_the_protocol_and_have_their_own_name() {
    let options = ConfigOptions {
        server: Some("https://a".into()),
        tls_server_name: Some("b".into()),
        http1_only: true,
        ..ConfigOptions::default()
    };
    let config = Config::load(&options).unwrap();
    let connection_options = config.connection_options_to(&Url::parse("https://issuer").unwrap()).unwrap();
    assert!(
        connection_options.http1_only
            && connection_options.server_name.is_none()
            && config.connection_options().server_name.is_some()
    );
}

/// A pipe, as from `--kubeconfig <(…)`.
#[cfg(unix)]
#[test]
fn kubeconfig_pipe_is_read_once() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let provider = "{name: oidc, config: {idp-issuer-url: 'https://i', client-id: c}}";
    let text = TWO.replace("token: t0ken-of-u1", &format!("auth-provider: {provider}"));
    let options = ConfigOptions { kubeconfig: Some(pipe.clone()), ..Default::default() };
    let (tell, server) = std::sync::mpsc::channel();
    // In detached threads: if the pipe is opened twice, one of them never ends.
    std::thread::spawn(move || {
        let config = Config::load(&options)
            .map(|config| config.token_store().map(|token_store| token_store.file.clone()));
        tell.send(config.unwrap()).unwrap();
    });
    let given = pipe.clone();
    std::thread::spawn(move || fs::write(given, text).unwrap());
    let token_store = server.recv_timeout(std::time::Duration::from_mins(1)).expect("it is loaded");
    assert_eq!(token_store, Some(pipe));
}
