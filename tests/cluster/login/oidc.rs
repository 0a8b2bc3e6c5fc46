//! Tokens of an `OpenID` Connect issuer, which the server verifies with the issuer's keys.

use std::fs;

use serde_json::{Value, json};

use crate::cluster::kubectl;
use crate::support::{OnServer, Proxy, TestEnv, config_maps};

const UNAUTHORIZED: &str = "error: You must be logged in to the server (Unauthorized)\n";

fn user(on: &OnServer, settings: &[(&str, &str)]) -> Value {
    let mut config = json!({
        "idp-issuer-url": on.testbed.issuer(), "client-id": "kdelta",
        "client-secret": on.testbed.client_secret(), "idp-certificate-authority": on.testbed.ca_file(),
    });
    for (name, value) in settings {
        config[name] = json!(value);
    }
    json!({"auth-provider": {"name": "oidc", "config": config}})
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn valid_token_is_accepted_without_contacting_its_issuer() {
    let on = TestEnv::on_server();
    let (token, _) = on.issue("reader", 600);
    let settings = [("id-token", token.as_str()), ("idp-issuer-url", "https://127.0.0.1:1")];
    assert_eq!(on.ask_as(&user(&on, &settings), &[&token]), Ok(String::new()));
    let (stranger, _) = on.issue("stranger", 600);
    let error = on.ask_as(&user(&on, &[("id-token", &stranger)]), &[]).expect_err("no rights");
    assert!(error.contains("(Forbidden): namespaces \"default\" is forbidden: User \"stranger\""), "{error}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn token_with_a_wrong_signature_is_rejected() {
    let on = TestEnv::on_server();
    let (token, _) = on.issue("reader", 600);
    let (signed, signature) = token.rsplit_once('.').expect("a token");
    let forged = format!("{signed}.{}", signature.chars().rev().collect::<String>());
    assert_eq!(on.ask_as(&user(&on, &[("id-token", &forged)]), &[&forged]), Err(UNAUTHORIZED.into()));
    let (_, refresh) = on.issue("reader", 600);
    let settings = [("id-token", forged.as_str()), ("refresh-token", refresh.as_str())];
    let config = on.env.login(on.testbed, on.testbed.server(), &user(&on, &settings));
    assert_eq!(on.ask_with(&config, &[], &[]), Ok(String::new()), "refused once, it is renewed");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn valid_token_is_accepted_with_an_untrusted_issuer() {
    let on = TestEnv::on_server();
    let (token, refresh) = on.issue("reader", 600);
    let settings =
        [("id-token", token.as_str()), ("refresh-token", &refresh), ("idp-certificate-authority", "")];
    let config = on.env.login(on.testbed, on.testbed.server(), &user(&on, &settings));
    let call = on.env.kdelta(&["get", "ns", "default", "-o", "name"]).env("KUBECONFIG", config);
    let call = call.env("SSL_CERT_FILE", "/no/such/file").env("SSL_CERT_DIR", "/no/such/folder");
    assert_eq!(call.finish().quiet_success(), "namespace/default\n");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn expired_token_is_refreshed_and_saved_for_the_next_run() {
    let on = TestEnv::on_server();
    let (expired, _) = on.issue("reader", -60);
    let (_, good) = on.issue("reader", 600);
    let secret = on.testbed.client_secret();
    let settings = [("id-token", expired.as_str()), ("refresh-token", good.as_str())];
    let config = on.env.login(on.testbed, on.testbed.server(), &user(&on, &settings));
    let read = || fs::read_to_string(&config).expect("the kubeconfig");
    let before = read();
    assert_eq!(on.ask_with(&config, &[], &[]), Ok(String::new()));
    let kept: Value = serde_json::from_str(&read()).expect("JSON, as before");
    let tokens = &kept["users"][0]["user"]["auth-provider"]["config"];
    let token = |name: &str| tokens[name].as_str().unwrap_or_else(|| panic!("{name}")).to_owned();
    let (id, refresh) = (token("id-token"), token("refresh-token"));
    assert_eq!(read(), before.replace(&expired, &id).replace(&good, &refresh), "and nothing else");
    assert!(id != expired && refresh != good);
    // A refresh token is single-use: this login uses the saved one.
    assert_eq!(on.ask_with(&config, &[], &[&id, &refresh, secret]), Ok(String::new()));
    assert_eq!(read(), before.replace(&expired, &id).replace(&good, &refresh), "nothing was to be renewed");
    let mut command = kubectl(config.to_str().expect("UTF-8"), &["get", "ns", "default", "-o", "name"]);
    let output = command.env("HOME", on.env.home()).output().expect("kubectl runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "namespace/default\n", "{output:?}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn completion_uses_no_refresh_token_and_prints_nothing() {
    let on = TestEnv::on_server();
    let (expired, _) = on.issue("reader", -60);
    let (good, refresh) = on.issue("reader", 600);
    let complete = |id_token: &str| {
        let settings = [("id-token", id_token), ("refresh-token", refresh.as_str())];
        let config = on.env.login(on.testbed, on.testbed.server(), &user(&on, &settings));
        let call = on.env.kdelta(&["__complete", "get", "ns", "defaul"]).env("KUBECONFIG", &config);
        (config, call.finish().quiet_success())
    };
    assert_eq!(complete(&good).1, "default\n:4\n");
    let (config, printed) = complete(&expired);
    assert_eq!(printed, ":4\n");
    assert_eq!(on.ask_with(&config, &[], &[]), Ok(String::new()), "the refresh token is still good");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn failures_to_save_or_refresh_tokens_are_reported() {
    let on = TestEnv::on_server();
    let (expired, refresh) = on.issue("reader", -60);
    let (_, good) = on.issue("reader", 600);
    let settings = [("id-token", expired.as_str()), ("refresh-token", good.as_str())];
    let config = on.env.login(on.testbed, on.testbed.server(), &user(&on, &settings));
    fs::write(config.with_added_extension("lock"), "").expect("a lock");
    let printed = on.ask_with(&config, &[], &[]).expect("it is let in");
    let start = format!("Warning: the new tokens of user \"me\" can't be kept in {}: ", config.display());
    assert!(
        printed.starts_with(&start) && printed.ends_with("; other programs will have to log in again\n"),
        "{printed}"
    );
    // The first refresh token was used, and the issuer's new ID token is expired as well.
    let unable = "Unable to connect to the server: ";
    assert_eq!(
        on.ask_with(&config, &[], &[&expired, &good]),
        Err(format!(
            "{unable}failed to refresh token: oauth2: \"invalid_grant\" \
             \"the refresh token is not known or was used\"\n"
        ))
    );
    fs::remove_file(config.with_added_extension("lock")).expect("the lock");
    let useless = user(&on, &[("refresh-token", &refresh)]);
    assert_eq!(on.ask_as(&useless, &[]), Err(UNAUTHORIZED.into()));
    assert_eq!(
        on.ask_as(&user(&on, &[("id-token", &expired)]), &[&expired]),
        Err(format!("{unable}No valid id-token, and cannot refresh without refresh-token\n"))
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn wrong_issuer_is_reported() {
    let on = TestEnv::on_server();
    let unable = "Unable to connect to the server: ";
    let (_, refresh) = on.issue("reader", 600);
    let printed = |settings: &[(&str, &str)]| {
        let settings = [&[("refresh-token", refresh.as_str())], settings].concat();
        on.ask_as(&user(&on, &settings), &[&refresh]).expect_err("it can't be right")
    };
    let error = printed(&[("client-secret", "wr0ng")]);
    assert_eq!(error, format!("{unable}failed to refresh token: oauth2: \"invalid_client\" \"\"\n"));
    let stranger = on.env.certificate(on.testbed, "stranger", &["--stranger"]).0;
    let error = printed(&[("idp-certificate-authority", stranger.to_str().expect("UTF-8"))]);
    let untrusted = "certificate signed by unknown authority";
    assert!(error.starts_with(unable) && error.contains(untrusted), "{error}");
    let error = printed(&[("idp-issuer-url", on.testbed.server())]);
    assert!(error.starts_with(&format!("{unable}oidc: failed to query metadata endpoint 4")), "{error}");
    assert_eq!(printed(&[("client-id", "")]), "error: Must provide client-id\n");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watch_continues_with_repeatedly_refreshed_tokens() {
    let on = TestEnv::on_server();
    let OnServer { env, testbed, api, namespace } = &on;
    let (_, refresh) = on.issue("reader", 2);
    let mut proxy = Proxy::before(testbed.port());
    let server = format!("https://127.0.0.1:{}", proxy.port());
    let config = env.login(testbed, &server, &user(&on, &[("refresh-token", &refresh)]));
    let words = ["watch", "cm", "-n", namespace, "-o", "name"];
    api.create(&config_maps(namespace), &json!({"metadata": {"name": "number-0"}}));
    let watch = env.kdelta(&words).env("KUBECONFIG", config).start();
    watch.stdout.find("the initial state", |line| line == "configmap/number-0\n");
    for number in 1..4 {
        // Tokens are valid for two seconds, so most retries after a cut need another one.
        let start = std::time::Instant::now();
        crate::support::eventually("the token expires", || (start.elapsed().as_secs() >= 3).then_some(()));
        proxy.cut();
        proxy.reopen();
        let name = format!("number-{number}");
        api.create(&config_maps(namespace), &json!({"metadata": {"name": name}}));
        watch.stdout.find("what came after the cut", |line| line == format!("configmap/{name}\n"));
    }
}
