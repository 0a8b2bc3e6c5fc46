//! Tests of the credentials of requests for users with a plugin or an issuer. Plugins are shell scripts; the issuer
//! is a closure.
#![cfg(unix)]

use std::fs;
use std::sync::Mutex;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tempfile::TempDir;

use std::time::Duration;

use super::*;
use crate::client::notice::Notice;
use crate::client::test_server::{TestServer, eventually, json as response};
use crate::kubeconfig::ConfigOptions;
use crate::kubeconfig::file_format::{AuthInfo, AuthProvider, ExecConfig, ExecVariable};
use crate::listwatch::{ListerWatcher, WatchStream};

fn config(user: AuthInfo) -> Config {
    let mut config = Config::for_server("https://127.0.0.1:1").unwrap();
    *config.user_mut() = user;
    config
}

fn credentials(user: AuthInfo) -> Credentials {
    Credentials::open(&config(user), None, CredentialPlugins::default()).unwrap()
}

async fn failure(credentials: &Credentials) -> String {
    credentials.current().await.err().unwrap().to_string()
}

fn token(auth: &RequestAuth) -> &str {
    let header = auth.authorization.as_ref().unwrap();
    assert!(header.is_sensitive());
    header.to_str().unwrap()
}

/// A plugin that counts its runs in a file in that folder.
fn plugin(folder: &TempDir, script: &str) -> AuthInfo {
    let path = folder.path().join("plugin");
    fs::write(&path, format!("echo run >> '{}'\n{script}", folder.path().join("runs").display())).unwrap();
    let exec = ExecConfig {
        api_version: Some("client.authentication.k8s.io/v1".into()),
        // Through a shell: a file just written can't be executed while another test's fork still holds it open.
        command: Some("sh".into()),
        args: Some(vec![path.to_str().unwrap().into()]),
        interactive_mode: Some("Never".into()),
        ..ExecConfig::default()
    };
    AuthInfo { exec: Some(exec), ..AuthInfo::default() }
}

fn runs(folder: &TempDir) -> usize {
    fs::read_to_string(folder.path().join("runs")).unwrap_or_default().lines().count()
}

/// A script that issues `token-1`, then `token-2`, and so on.
fn numbered(expires: &str) -> String {
    let message = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": {"token": "token-N", "expirationTimestamp": expires},
    });
    format!("n=$(wc -l < \"$(dirname \"$0\")/runs\")\necho '{message}' | sed s/token-N/token-$((n))/")
}

#[tokio::test]
async fn plugin_runs_once_until_its_token_expires_or_is_refused() {
    let folder = TempDir::new().unwrap();
    let lasting = credentials(plugin(&folder, &numbered("2999-01-01T00:00:00Z")));
    assert_eq!(runs(&folder), 0, "it is not run before a request needs it");
    let first = lasting.current().await.unwrap();
    assert_eq!(token(&first), "Bearer token-1");
    assert_eq!(token(&lasting.current().await.unwrap()), "Bearer token-1");
    let renewed = futures_util::future::join_all((0..9).map(|_| lasting.replacement_for(&first))).await;
    for auth in renewed {
        assert_eq!(token(&auth.unwrap().unwrap()), "Bearer token-2");
    }
    assert_eq!(runs(&folder), 2);

    let folder = TempDir::new().unwrap();
    let expired = credentials(plugin(&folder, &numbered("2001-01-01T00:00:00Z")));
    for expected in ["Bearer token-1", "Bearer token-2"] {
        assert_eq!(token(&expired.current().await.unwrap()), expected);
    }
}

#[tokio::test]
async fn server_that_refuses_every_token_causes_two_plugin_runs() {
    let folder = TempDir::new().unwrap();
    let server = TestServer::start(|_| response(401, "{}")).await;
    let mut config = Config::for_server(&server.url).unwrap();
    *config.user_mut() = plugin(&folder, &numbered("2999-01-01T00:00:00Z"));
    let client = crate::api::Client::new(&config).unwrap();
    for _ in 0..5 {
        let refused = client.send(&crate::api::Request::new("/version")).await.err().unwrap();
        assert!(matches!(refused, crate::listwatch::Error::Unauthorized(_)), "{refused:?}");
    }
    assert_eq!((runs(&folder), server.requests().len()), (2, 2 + 4));
}

#[tokio::test]
async fn clients_that_run_the_same_plugin_have_one_log_in() {
    let folder = TempDir::new().unwrap();
    let user = plugin(&folder, &numbered("2999-01-01T00:00:00Z"));
    let both = [credentials(user.clone()), credentials(user.clone())];
    let proofs = futures_util::future::join_all(both.iter().map(Credentials::current)).await;
    let proofs: Vec<_> = proofs.into_iter().map(Result::unwrap).collect();
    assert_eq!((token(&proofs[0]), token(&proofs[1])), ("Bearer token-1", "Bearer token-1"));
    let fresh = both[0].replacement_for(&proofs[0]).await.unwrap().unwrap();
    assert_eq!(
        (token(&fresh), token(&both[1].current().await.unwrap())),
        ("Bearer token-2", "Bearer token-2")
    );

    let mut other = user.clone();
    other.exec.as_mut().unwrap().env = Some(vec![ExecVariable { name: "A".into(), value: "b".into() }]);
    assert_eq!(token(&credentials(other).current().await.unwrap()), "Bearer token-3", "another environment");
    drop(both);
    assert_eq!(
        token(&credentials(user).current().await.unwrap()),
        "Bearer token-4",
        "the last client has gone"
    );
}

#[tokio::test]
async fn plugins_use_the_terminal_one_after_the_other() {
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let heard = Arc::new(Mutex::new(Vec::new()));
    let both = folders.each_ref().map(|folder| {
        let mut user = plugin(folder, &numbered("2999-01-01T00:00:00Z"));
        user.exec.as_mut().unwrap().interactive_mode = Some("Always".into());
        let hear = Arc::clone(&heard);
        let listener = move |notice: Notice<'_>| hear.lock().unwrap().push(format!("{notice:?}"));
        Credentials::open(
            &config(user).with_terminal(),
            Some(Arc::new(listener)),
            CredentialPlugins::default(),
        )
        .unwrap()
    });
    // Both are started before either plugin can end: the notice about the terminal comes first.
    for auth in futures_util::future::join_all(both.iter().map(Credentials::current)).await {
        assert_eq!(token(&auth.unwrap()), "Bearer token-1");
    }
    assert_eq!(
        *heard.lock().unwrap(),
        ["TerminalTaken", "TerminalReleased", "TerminalTaken", "TerminalReleased"]
    );
}

#[tokio::test]
async fn dropped_plugin_releases_the_terminal() {
    let folder = TempDir::new().unwrap();
    let mut user = plugin(&folder, "exec sleep 600");
    user.exec.as_mut().unwrap().interactive_mode = Some("Always".into());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    let listener = move |notice: Notice<'_>| hear.lock().unwrap().push(format!("{notice:?}"));
    let credentials = Credentials::open(
        &config(user).with_terminal(),
        Some(Arc::new(listener)),
        CredentialPlugins::default(),
    )
    .unwrap();
    let started = eventually("the plugin has started", || (runs(&folder) > 0).then_some(()));
    tokio::select! {
        _ = credentials.current() => panic!("it sleeps"),
        () = started => {}
    }
    assert_eq!(*heard.lock().unwrap(), ["TerminalTaken", "TerminalReleased"]);
}

/// A client certificate and its key in the format of a plugin.
fn made_certificate() -> Value {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec![]).unwrap().self_signed(&key).unwrap();
    json!({"clientCertificateData": certificate.pem(), "clientKeyData": key.serialize_pem()})
}

#[tokio::test]
async fn new_certificate_ends_watches_but_not_lists() {
    let folder = TempDir::new().unwrap();
    for number in 1..3 {
        let version = "client.authentication.k8s.io/v1";
        let message = json!({"apiVersion": version, "kind": "ExecCredential", "status": made_certificate()});
        fs::write(folder.path().join(format!("output-{number}")), message.to_string()).unwrap();
    }
    let event = r#"{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}"#;
    let server = TestServer::start(move |head| match head {
        // Neither body ends.
        _ if head.contains("watch=") => format!("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{event}\n"),
        _ if head.contains("/version") => "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{".to_owned(),
        _ => response(401, "{}"),
    })
    .await;
    let mut config = Config::for_server(&server.url).unwrap();
    *config.user_mut() = plugin(&folder, "cd \"$(dirname \"$0\")\"; cat output-$(wc -l < runs)");
    let client = crate::api::Client::new(&config).unwrap();
    let mut list = client.send(&crate::api::Request::new("/version")).await.unwrap();
    assert_eq!(list.chunk().await.unwrap().unwrap(), "{");
    let pods = crate::object::ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "pods".into(),
        kind: "Pod".into(),
        namespaced: true,
    };
    let pods = crate::api::ResourceClient::new(client.clone(), pods);
    let mut watch = pods.watch(&crate::listwatch::WatchOptions::default()).await.unwrap();
    assert!(matches!(watch.next().await, Some(Ok(crate::listwatch::WatchEvent::Added(_)))));
    let refused = client.send(&crate::api::Request::new("/refused")).await.err();
    assert!(matches!(refused, Some(crate::listwatch::Error::Unauthorized(_))), "{refused:?}");
    assert_eq!(runs(&folder), 2);
    assert!(watch.next().await.is_none());
    tokio::select! {
        biased;
        more = list.chunk() => panic!("{more:?}"),
        () = tokio::task::yield_now() => {}
    }
}

#[tokio::test]
async fn login_continues_when_its_request_is_dropped() {
    let folder = TempDir::new().unwrap();
    let go = folder.path().join("go");
    let wait = format!("while [ ! -e '{}' ]; do sleep 0.01; done\n", go.display());
    let user = plugin(&folder, &(wait + &numbered("2999-01-01T00:00:00Z")));
    let client = crate::api::Client::new(&config(user)).unwrap();
    let request = crate::api::Request::new("/version");
    let started = eventually("the plugin has started", || (runs(&folder) > 0).then_some(()));
    tokio::select! {
        _ = client.send(&request) => panic!("there is no token yet"),
        () = started => {}
    }
    assert!(client.external_wait() > Duration::ZERO, "it is not the server that is waited for");
    fs::write(&go, "").unwrap();
    let error = client.send(&request).await.err().unwrap();
    assert!(matches!(error, crate::listwatch::Error::Refused(_)), "{error:?}");
    assert_eq!(runs(&folder), 1, "the second request got the token of the run that the first began");
}

#[tokio::test]
async fn failed_plugin_is_reported_by_exit_code_and_stderr() {
    let folder = TempDir::new().unwrap();
    let script = "echo s3cret; echo no luck >&2; exit 3";
    let failed = "getting credentials: exec: executable sh failed with exit code 3";
    let silent = credentials(plugin(&folder, script));
    assert_eq!(failure(&silent).await, format!("{failed}: no luck"));

    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    let listener = move |notice: Notice<'_>| hear.lock().unwrap().push(format!("{notice:?}"));
    let reported = Credentials::open(
        &config(plugin(&folder, script)),
        Some(Arc::new(listener)),
        CredentialPlugins::default(),
    )
    .unwrap();
    assert_eq!(failure(&reported).await, failed, "its words are reported once");
    assert_eq!(*heard.lock().unwrap(), ["Plugin(\"no luck\")"]);
}

#[tokio::test]
async fn missing_plugin_is_reported_with_its_hint() {
    let folder = TempDir::new().unwrap();
    let mut missing = plugin(&folder, "");
    let exec = missing.exec.as_mut().unwrap();
    exec.command = Some("kdelta-no-such-plugin".into());
    exec.install_hint = Some("\u{1b}[1;31mget it\u{7}\nnow\u{1b}[0m\n".into());
    let message = failure(&credentials(missing)).await;
    let start = "getting credentials: exec: executable kdelta-no-such-plugin not found\n\nIt looks like";
    assert!(message.starts_with(start) && message.ends_with("\n\nget it\nnow"), "{message}");
}

#[tokio::test]
async fn plugin_receives_exec_info_and_the_configured_environment() {
    let folder = TempDir::new().unwrap();
    let script = format!(
        "echo \"$KUBERNETES_EXEC_INFO|$EXTRA|${{HOME-none}}\" > '{}/info'; {}",
        folder.path().display(),
        numbered("2999-01-01T00:00:00Z")
    );
    let mut user = plugin(&folder, &script);
    let exec = user.exec.as_mut().unwrap();
    exec.env = Some(vec![ExecVariable { name: "EXTRA".into(), value: "more".into() }]);
    credentials(user).current().await.unwrap();
    let reported = fs::read_to_string(folder.path().join("info")).unwrap();
    let (info, rest) = reported.trim_end().split_once('|').unwrap();
    assert!(rest.starts_with("more|") && rest != "more|none", "ours is inherited: {rest}");
    let info: Value = serde_json::from_str(info).unwrap();
    assert_eq!(info["spec"], json!({"interactive": false}));
}

#[tokio::test]
async fn interactive_plugin_is_not_run_without_a_terminal() {
    let folder = TempDir::new().unwrap();
    let mut user = plugin(&folder, "");
    user.exec.as_mut().unwrap().interactive_mode = Some("Always".into());
    let message = failure(&credentials(user)).await;
    let why = "exec plugin cannot support interactive mode: standard input is not a terminal";
    assert_eq!(message, format!("getting credentials: {why}"));
    assert_eq!(runs(&folder), 0);
}

#[tokio::test]
async fn interactive_plugin_has_exclusive_use_of_the_terminal() {
    let folder = TempDir::new().unwrap();
    let script = format!(
        "echo \"$KUBERNETES_EXEC_INFO\" > '{}/info'; {}",
        folder.path().display(),
        numbered("2999-01-01T00:00:00Z")
    );
    let mut config = config(plugin(&folder, &script)).with_terminal();
    let heard = Arc::new(Mutex::new(Vec::new()));
    for (mode, expected) in [
        ("Always", &["TerminalTaken", "TerminalReleased"][..]),
        ("IfAvailable", &["TerminalTaken", "TerminalReleased"]),
        ("Never", &[]),
    ] {
        config.user_mut().exec.as_mut().unwrap().interactive_mode = Some(mode.into());
        let hear = Arc::clone(&heard);
        let listener = move |notice: Notice<'_>| hear.lock().unwrap().push(format!("{notice:?}"));
        let credentials =
            Credentials::open(&config, Some(Arc::new(listener)), CredentialPlugins::default()).unwrap();
        credentials.current().await.unwrap();
        assert_eq!(std::mem::take(&mut *heard.lock().unwrap()), expected);
        let reported = fs::read_to_string(folder.path().join("info")).unwrap();
        let reported: Value = serde_json::from_str(&reported).unwrap();
        assert_eq!(reported["spec"], json!({"interactive": !expected.is_empty()}));
    }
}

#[test]
fn token_invalid_in_a_header_is_refused_without_showing_it() {
    let user = AuthInfo { token: Some("s3cret\nx".to_owned().into()), ..AuthInfo::default() };
    let error = Credentials::open(&config(user), None, CredentialPlugins::default()).err().unwrap();
    assert!(matches!(error, Error::Credentials(_)) && !error.to_string().contains("s3cret"), "{error}");
}

fn id_token(name: &str, expires: i64) -> String {
    format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(json!({"sub": name, "exp": expires}).to_string()))
}

const FAR: i64 = 32_000_000_000;

fn oidc(issuer: &str, settings: &[(&str, &str)]) -> AuthInfo {
    let always = [("idp-issuer-url", issuer), ("client-id", "kdelta")];
    let pairs = always.iter().chain(settings).map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    let provider = AuthProvider { name: "oidc".into(), config: pairs.collect() };
    AuthInfo { auth_provider: Some(provider), ..AuthInfo::default() }
}

/// An issuer whose token endpoint responds with this.
async fn issuer(code: u16, message: Value) -> TestServer {
    TestServer::start(move |head| {
        let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        if head.starts_with("GET /.well-known/openid-configuration ") {
            response(200, &json!({"token_endpoint": format!("http://{host}/token")}).to_string())
        } else {
            response(code, &message.to_string())
        }
    })
    .await
}

#[tokio::test]
async fn id_token_is_used_until_expiry_and_then_renewed() {
    let fresh = id_token("fresh", FAR);
    let server = issuer(200, json!({"id_token": fresh, "refresh_token": "next"})).await;
    let (good, old) = (id_token("good", FAR), id_token("old", 1_000_000_000));
    let settings = |token| [("id-token", token), ("refresh-token", "first")];

    let valid = credentials(oidc(&server.url, &settings(&good)));
    let first = valid.current().await.unwrap();
    assert_eq!((token(&first), server.requests().len()), (format!("Bearer {good}").as_str(), 0));
    let renewed = valid.replacement_for(&first).await.unwrap().unwrap();
    assert_eq!(token(&renewed), format!("Bearer {fresh}"));
    assert_eq!(token(&valid.current().await.unwrap()), format!("Bearer {fresh}"));
    assert_eq!(server.requests().len(), 2);

    let expired = credentials(oidc(&server.url, &settings(&old)));
    assert_eq!(token(&expired.current().await.unwrap()), format!("Bearer {fresh}"));
}

#[tokio::test]
async fn client_secret_is_sent_in_the_header_then_in_the_body() {
    let server = issuer(401, json!({"error": "invalid_client", "error_description": "who?"})).await;
    let settings = [("refresh-token", "s3cret-token"), ("client-secret", "s3cret")];
    let message = failure(&credentials(oidc(&server.url, &settings))).await;
    assert_eq!(message, "failed to refresh token: oauth2: \"invalid_client\" \"who?\"");
    let with_header = |head: &&String| head.contains("authorization: Basic a2RlbHRhOnMzY3JldA==");
    let posts: Vec<_> =
        server.requests().into_iter().filter(|head| head.starts_with("POST /token ")).collect();
    assert_eq!((posts.len(), posts.iter().filter(with_header).count()), (2, 1), "{posts:?}");

    let server = issuer(400, json!({"error": "invalid_grant"})).await;
    let message = failure(&credentials(oidc(&server.url, &settings))).await;
    assert_eq!(message, "failed to refresh token: oauth2: \"invalid_grant\" \"\"");
    assert_eq!(server.requests().len(), 2, "the client is known: its metadata is not requested again");
}

#[tokio::test]
async fn credentials_that_an_issuer_repeats_are_masked() {
    let message = "refresh-0123456789 of secret-0123456789";
    let server = issuer(400, json!({"error": message, "error_description": message})).await;
    let settings = [("refresh-token", "refresh-0123456789"), ("client-secret", "secret-0123456789")];
    let failure = failure(&credentials(oidc(&server.url, &settings))).await;
    assert_eq!(failure, r#"failed to refresh token: oauth2: "*** of ***" "*** of ***""#);
}

#[tokio::test]
async fn issuer_error_is_reported_without_other_content() {
    for (code, message, words) in [
        (200, json!({"access_token": "s3cret"}), "token response did not contain an id_token, either the"),
        (200, json!("s3cret"), "failed to refresh token: the issuer's response is not JSON"),
        (500, json!("s3cret"), "failed to refresh token: oauth2: \"500 Internal Server Error\" \"\""),
        (200, json!({"id_token": "s3cret"}), "ID Token is not a valid JWT"),
    ] {
        let server = issuer(code, message).await;
        let message = failure(&credentials(oidc(&server.url, &[("refresh-token", "r")]))).await;
        assert!(message.starts_with(words) && !message.contains("s3cret"), "{message}");
    }
    let unreachable = credentials(oidc("http://127.0.0.1:1", &[("refresh-token", "r")]));
    let message = failure(&unreachable).await;
    assert!(message.starts_with("oidc: the issuer 127.0.0.1 does not respond: "), "{message}");
}

#[tokio::test]
async fn id_token_without_refresh_token_is_used_alone() {
    let good = id_token("good", FAR);
    let valid = credentials(oidc("http://127.0.0.1:1", &[("id-token", &good)]));
    let first = valid.current().await.unwrap();
    assert!(valid.replacement_for(&first).await.unwrap().is_none());
    assert_eq!(token(&valid.current().await.unwrap()), format!("Bearer {good}"), "it is not forgotten");
    for (token, words) in [
        (id_token("old", 1), "No valid id-token, and cannot refresh without refresh-token"),
        ("s3cret".to_owned(), "ID Token is not a valid JWT"),
    ] {
        let message = failure(&credentials(oidc("http://127.0.0.1:1", &[("id-token", &token)]))).await;
        assert_eq!(message, words);
    }
}

#[test]
fn issuer_needs_a_url_and_a_client() {
    for (settings, words) in [
        (oidc("", &[]), "Must provide idp-issuer-url"),
        (oidc("https://i", &[("client-id", "")]), "Must provide client-id"),
        (oidc("file:///i", &[]), "idp-issuer-url is not a URL"),
        (
            oidc("https://i", &[("idp-certificate-authority-data", "!")]),
            "idp-certificate-authority: illegal base64 data",
        ),
        (
            oidc("https://i", &[("idp-certificate-authority-data", "eA==")]),
            "idp-certificate-authority: unable to parse bytes as PEM block",
        ),
    ] {
        assert_eq!(
            Credentials::open(&config(settings), None, CredentialPlugins::default())
                .err()
                .unwrap()
                .to_string(),
            words
        );
    }
}

/// A kubeconfig whose user has these tokens of that issuer, and its configuration.
fn kubeconfig(
    folder: &TempDir,
    issuer: &str,
    id_token: &str,
    refresh_token: &str,
) -> (PathBuf, ConfigOptions) {
    let text = format!(
        "# mine\ncurrent-context: a\ncontexts: [{{name: a, context: {{cluster: a, user: me}}}}]\n\
         clusters: [{{name: a, cluster: {{server: 'https://127.0.0.1:1'}}}}]\nusers:\n- name: me\n  user:\n    \
         auth-provider:\n      name: oidc\n      config:\n        client-id: kdelta # me\n        \
         id-token: {id_token}\n        idp-issuer-url: {issuer}\n        refresh-token: {refresh_token}\n"
    );
    let path = folder.path().join("config");
    fs::write(&path, text).unwrap();
    (path.clone(), ConfigOptions { kubeconfig: Some(path), ..ConfigOptions::default() })
}

fn opened(options: &ConfigOptions, listener: Option<NoticeListener>) -> Credentials {
    Credentials::open(&Config::load(options).unwrap(), listener, CredentialPlugins::default()).unwrap()
}

#[tokio::test]
async fn new_tokens_are_saved_in_the_kubeconfig_and_nothing_else_changes() {
    let (folder, fresh) = (TempDir::new().unwrap(), id_token("fresh", FAR));
    let server = issuer(200, json!({"id_token": fresh, "refresh_token": "next"})).await;
    let old = id_token("old", 1_000_000_000);
    let (path, options) = kubeconfig(&folder, &server.url, &old, "first");
    let before = fs::read_to_string(&path).unwrap();
    let both = [opened(&options, None), opened(&options, None)];
    for credentials in &both {
        assert_eq!(token(&credentials.current().await.unwrap()), format!("Bearer {fresh}"));
    }
    assert_eq!(server.requests().len(), 2, "contexts of one user have one log-in");
    let after = fs::read_to_string(&path).unwrap();
    assert_eq!(
        after,
        before.replace(&old, &fresh).replace("refresh-token: first", "refresh-token: \"next\"")
    );
}

#[tokio::test]
async fn tokens_saved_by_another_program_are_used_first() {
    let (folder, theirs) = (TempDir::new().unwrap(), id_token("theirs", FAR));
    let server = issuer(200, json!({"id_token": id_token("ours", FAR)})).await;
    let (_, options) = kubeconfig(&folder, &server.url, &id_token("old", FAR), "first");
    let credentials = opened(&options, None);
    let first = credentials.current().await.unwrap();
    kubeconfig(&folder, &server.url, &theirs, "second");
    let second = credentials.replacement_for(&first).await.unwrap().unwrap();
    assert_eq!((token(&second), server.requests().len()), (format!("Bearer {theirs}").as_str(), 0));
}

#[tokio::test]
async fn unwritable_kubeconfig_is_reported_once_and_tokens_are_used() {
    let (folder, fresh) = (TempDir::new().unwrap(), id_token("fresh", 1_000_000_000));
    let server = issuer(200, json!({"id_token": fresh, "refresh_token": "next"})).await;
    let (path, options) = kubeconfig(&folder, &server.url, &id_token("old", 1_000_000_000), "first");
    let before = fs::read_to_string(&path).unwrap();
    let mut mode = fs::metadata(&path).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(&path, mode).unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    let listener = move |notice: Notice<'_>| hear.lock().unwrap().push(format!("{notice:?}"));
    let credentials = opened(&options, Some(Arc::new(listener)));
    for _ in 0..2 {
        assert_eq!(token(&credentials.current().await.unwrap()), format!("Bearer {fresh}"));
    }
    assert_eq!(
        (server.requests().len(), fs::read_to_string(&path).unwrap()),
        (4, before),
        "both had expired"
    );
    let message = format!(
        "the new tokens of user \"me\" can't be kept in {}: permission denied; other programs will have to log in again",
        path.display()
    );
    assert_eq!(*heard.lock().unwrap(), [format!("{:?}", Notice::TokensNotSaved(&message))]);
}

/// Makes a file writable, or not.
fn set_writable(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn unsaved_refresh_token_is_saved_with_the_next_id_token() {
    let (folder, fresh) = (TempDir::new().unwrap(), id_token("fresh", 1_000_000_000));
    let rotates = std::sync::atomic::AtomicBool::new(true);
    let message = fresh.clone();
    let server = TestServer::start(move |head| {
        let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        if head.starts_with("GET ") {
            return response(200, &json!({"token_endpoint": format!("http://{host}/token")}).to_string());
        }
        // Only the first response has another refresh token.
        let first = rotates.swap(false, std::sync::atomic::Ordering::SeqCst);
        response(
            200,
            &json!({"id_token": message, "refresh_token": if first { "next" } else { "" }}).to_string(),
        )
    })
    .await;
    let (path, options) = kubeconfig(&folder, &server.url, &id_token("old", 1_000_000_000), "first");
    let credentials = opened(&options, None);
    set_writable(&path, 0o400);
    credentials.current().await.unwrap();
    let read = || fs::read_to_string(&path).unwrap();
    assert!(read().contains("refresh-token: first"), "it can't be written");
    set_writable(&path, 0o600);
    credentials.current().await.unwrap();
    assert!(read().contains(&fresh) && read().contains("refresh-token: \"next\""), "{}", read());
}

#[tokio::test]
async fn refresh_token_of_an_incomplete_response_is_kept() {
    for message in
        [json!({"id_token": "unreadable", "refresh_token": "next"}), json!({"refresh_token": "next"})]
    {
        let folder = TempDir::new().unwrap();
        let server = issuer(200, message.clone()).await;
        let old = id_token("old", 1_000_000_000);
        let (path, options) = kubeconfig(&folder, &server.url, &old, "first");
        assert!(opened(&options, None).current().await.is_err(), "{message}");
        let kept = fs::read_to_string(&path).unwrap();
        assert!(kept.contains("refresh-token: \"next\"") && kept.contains(&old), "{kept}");
    }
}

#[tokio::test]
async fn spared_refresh_token_is_not_used() {
    let (folder, fresh) = (TempDir::new().unwrap(), id_token("fresh", FAR));
    let server = issuer(200, json!({"id_token": fresh})).await;
    let (_, options) = kubeconfig(&folder, &server.url, &id_token("old", 1_000_000_000), "first");
    let spared = opened(&ConfigOptions { spare_refresh_tokens: true, ..options.clone() }, None);
    assert_eq!(failure(&spared).await, "No valid id-token, and the refresh-token is to be left unspent");
    assert!(server.requests().is_empty());
    let good = id_token("good", FAR);
    let (_, options) = kubeconfig(&folder, &server.url, &good, "first");
    let spared = opened(&ConfigOptions { spare_refresh_tokens: true, ..options }, None);
    let shown = spared.current().await.unwrap();
    assert_eq!(token(&shown), format!("Bearer {good}"));
    assert!(
        spared.replacement_for(&shown).await.unwrap().is_none(),
        "the server's refusal is the failure to tell of"
    );
    assert!(server.requests().is_empty());
}
