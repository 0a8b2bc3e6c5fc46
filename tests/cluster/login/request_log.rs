//! The log of requests on a real server: each `-v` level, and no credential at the highest one.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::{Forward, OnServer, Plugin, TestEnv};

/// Runs a command with `-v=9` and returns its log. Fails the test if the log contains a secret, or if the request was
/// not logged.
#[track_caller]
fn log_of(on: &OnServer, config: &Path, words: &[&str], secrets: &[&str]) -> String {
    let done = on.env.kdelta(&[words, &["-v=9"]].concat()).env("KUBECONFIG", config).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    for secret in secrets {
        assert!(secret.len() > 3 && !done.stderr.contains(secret), "{secret} in {}", done.stderr);
    }
    assert!(done.stderr.contains("curl -v -XGET"), "{}", done.stderr);
    done.stderr
}

const DEFAULT: [&str; 5] = ["get", "ns", "default", "-o", "yaml"];

fn user_log(on: &OnServer, user: &Value, secrets: &[&str]) -> String {
    log_of(on, &on.env.login(on.testbed, on.testbed.server(), user), &DEFAULT, secrets)
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn each_level_adds_a_detail() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let stderr = |level: &str| {
        let words = ["get", "ns", "default", "-o", "json", level];
        let done = env.kdelta_on(testbed, &words).finish();
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stderr
    };
    let url = format!("GET {}/api/v1/namespaces/default", testbed.server());
    let details = [
        format!("{url} 200 OK in "),
        "\n    Authorization: Bearer <masked>\n".to_owned(),
        format!("{url} HTTP/2.0 200 OK\n"),
        "\n    Audit-Id: ".to_owned(),
        format!("{url} body, "),
        "\n    {\"kind\":\"Namespace\"".to_owned(),
        format!("-H 'Authorization: Bearer <masked>' -H 'User-Agent: kdelta/{} ", env!("CARGO_PKG_VERSION")),
    ];
    for (level, count) in [("-v=5", 0), ("-v=6", 1), ("-v=7", 2), ("-v=8", 6), ("-v=9", 7)] {
        let log = stderr(level);
        for (number, detail) in details.iter().enumerate() {
            assert_eq!(log.contains(detail), number < count, "{level}: {detail} in {log}");
        }
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn tokens_passwords_and_keys_are_masked() {
    let on = TestEnv::on_server();
    let token = on.testbed.token("reader");
    let masked = "Authorization: Bearer <masked>";
    assert!(user_log(&on, &json!({"token": token}), &[token]).contains(masked));
    let file = on.env.file("token", token);
    assert!(user_log(&on, &json!({"tokenFile": file}), &[token]).contains(masked));
    let admin = on.testbed.token("admin");
    let log =
        user_log(&on, &json!({"token": admin, "as": "jane", "as-groups": ["system:masters"]}), &[admin]);
    assert!(log.contains("Impersonate-User: jane"), "{log}");

    let password = on.testbed.password();
    let encoded = STANDARD.encode(format!("reader:{password}"));
    let basic =
        on.env.login(on.testbed, on.testbed.front(), &json!({"username": "reader", "password": password}));
    assert!(log_of(&on, &basic, &DEFAULT, &[password, &encoded]).contains("Authorization: Basic <masked>"));

    let pair: (PathBuf, PathBuf) = on.env.certificate(on.testbed, "mine", &[]);
    let key = fs::read_to_string(&pair.1).expect("a key");
    let line = key.lines().nth(1).expect("a line of the key");
    let certificate =
        user_log(&on, &json!({"client-certificate": pair.0, "client-key": pair.1}), &["PRIVATE KEY", line]);
    assert!(!certificate.contains("Authorization"), "{certificate}");
    let data = |path: &Path| STANDARD.encode(fs::read(path).expect("a file"));
    let inline = json!({"client-certificate-data": data(&pair.0), "client-key-data": data(&pair.1)});
    user_log(&on, &inline, &["PRIVATE KEY", line, &data(&pair.1)]);
    let read = |path: &Path| fs::read_to_string(path).expect("a file");
    let plugin =
        Plugin::new(&on.env, "v1", &json!({"clientCertificateData": read(&pair.0), "clientKeyData": key}));
    user_log(&on, &plugin.user("v1"), &["PRIVATE KEY", line, "arg-s3cret"]);
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": token}));
    assert!(user_log(&on, &plugin.user("v1"), &[token, "arg-s3cret"]).contains(masked));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn issuer_is_logged_without_tokens() {
    let on = TestEnv::on_server();
    let (expired, _) = on.issue("reader", -60);
    let (_, refresh) = on.issue("reader", 600);
    let secret = on.testbed.client_secret();
    let user = json!({"auth-provider": {"name": "oidc", "config": {
        "idp-issuer-url": on.testbed.issuer(), "client-id": "kdelta", "client-secret": secret,
        "idp-certificate-authority": on.testbed.ca_file(), "id-token": expired, "refresh-token": refresh,
    }}});
    let config = on.env.login(on.testbed, on.testbed.server(), &user);
    let encoded = STANDARD.encode(format!("kdelta:{secret}"));
    let log = log_of(&on, &config, &DEFAULT, &[&expired, &refresh, secret, &encoded]);
    let kept: Value = serde_json::from_str(&fs::read_to_string(&config).expect("it")).expect("JSON");
    let tokens = &kept["users"][0]["user"]["auth-provider"]["config"];
    for name in ["id-token", "refresh-token"] {
        let new = tokens[name].as_str().expect("a token");
        assert!(!log.contains(new), "{new} in {log}");
    }
    assert!(log.contains(&format!("POST {}/token 200 OK in ", on.testbed.issuer())), "{log}");
    assert!(log.contains("/token body not shown: it may hold credentials"), "{log}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn password_of_a_proxy_is_masked() {
    let on = TestEnv::on_server();
    let proxy = Forward::http(Some(("me", "s3cr3t-proxy")));
    let cluster = json!({
        "server": on.testbed.server(), "certificate-authority": on.testbed.ca_file(),
        "proxy-url": format!("http://me:s3cr3t-proxy@{}", proxy.address()),
    });
    let token = on.testbed.token("reader");
    let config = on.env.login_to(&cluster, &json!({"token": token}));
    log_of(&on, &config, &DEFAULT, &[token, "s3cr3t-proxy", &STANDARD.encode("me:s3cr3t-proxy")]);
    assert!(!proxy.requests().is_empty());
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn data_of_secrets_is_not_logged() {
    let on = TestEnv::on_server();
    let OnServer { env, testbed, api, namespace } = &on;
    let metadata = json!({"name": "db", "annotations": {"copy": "s3cr3t-copy"}});
    let secret = json!({"metadata": metadata, "stringData": {"password": "s3cr3t-data"}});
    api.create(&format!("/api/v1/namespaces/{namespace}/secrets"), &secret);
    let hidden = ["s3cr3t-copy", "s3cr3t-data", &STANDARD.encode("s3cr3t-data")];
    for words in [
        &["get", "secrets", "-n", namespace][..],
        &["get", "secrets", "-n", namespace, "--show-labels"],
        &["get", "secret", "db", "-n", namespace, "-o", "name"],
        &["get", "secrets", "-n", namespace, "--by", "name=db", "-o", "name"],
        &["watch", "secrets", "-n", namespace, "-o", "name", "--until-synced"],
        &["index", "secrets", "-n", namespace, "--by", "field:data.password"],
    ] {
        let done = env.kdelta_on(testbed, &[words, &["-v=9"]].concat()).finish();
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(done.stderr.contains("body not shown: it may hold credentials"), "{}", done.stderr);
        for text in &hidden {
            assert!(!done.stderr.contains(text), "{words:?}: {text} in {}", done.stderr);
        }
    }
}
