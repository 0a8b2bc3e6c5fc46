//! Bearer tokens, inline and in files, and passwords.

use std::fs;

use serde_json::json;

use crate::support::{OnServer, Proxy, ServiceAccount, TestEnv, config_maps};

const UNAUTHORIZED: &str = "error: You must be logged in to the server (Unauthorized)\n";

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn token_is_accepted_and_a_wrong_one_rejected() {
    let on = TestEnv::on_server();
    let token = on.testbed.token("reader");
    assert_eq!(on.ask_as(&json!({"token": token}), &[token]), Ok(String::new()));
    assert_eq!(on.ask_as(&json!({"token": "wr0ng"}), &["wr0ng"]), Err(UNAUTHORIZED.into()));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn token_file_takes_precedence_over_a_token() {
    let on = TestEnv::on_server();
    let token = on.testbed.token("reader");
    let file = on.env.file("token", &format!("{token}\n"));
    // The path is relative to the kubeconfig.
    assert_eq!(on.ask_as(&json!({"tokenFile": "token"}), &[token]), Ok(String::new()));
    assert_eq!(on.ask_as(&json!({"tokenFile": file, "token": "wr0ng"}), &[]), Ok(String::new()));
    on.env.file("token", "wr0ng");
    assert_eq!(on.ask_as(&json!({"tokenFile": file, "token": token}), &["wr0ng"]), Err(UNAUTHORIZED.into()));
    assert_eq!(
        on.ask_as(&json!({"tokenFile": "/no/such/file", "token": token}), &[token]),
        Ok(String::new())
    );
    on.env.file("token", "\n");
    let error = on.ask_as(&json!({"tokenFile": file}), &[]).expect_err("it is empty");
    assert!(error.starts_with("error: read empty token from file "), "{error}");
    let error = on.ask_as(&json!({"tokenFile": "/no/such/file"}), &[]).expect_err("it is not there");
    let why = "open /no/such/file: no such file or directory\n";
    assert_eq!(error, format!("error: failed to read token file \"/no/such/file\": {why}"));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watch_reconnects_with_a_replaced_token_file() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let account = ServiceAccount::new(&api, &namespace);
    let (old, new) = (account.token("old"), account.token("new"));
    let file = env.file("token", &old);
    let mut proxy = Proxy::before(testbed.port());
    let server = format!("https://127.0.0.1:{}", proxy.port());
    let config = env.login(testbed, &server, &json!({"tokenFile": file}));
    let words = ["watch", "cm,sa", "-n", &namespace, "-o", "name", "-v=9"];
    let watch = env.kdelta(&words).env("KUBECONFIG", config).start();
    watch.stdout.find("the initial state", |line| line == "serviceaccount/me\n");
    fs::write(&file, &new).expect("a file of the test");
    account.revoke("old", &old);
    proxy.cut();
    proxy.reopen();
    api.create(&config_maps(&namespace), &json!({"metadata": {"name": "later"}}));
    watch.stdout.find("what came after the rotation", |line| line == "configmap/later\n");
    let renewed = watch.stderr.find("a renewal", |line| {
        assert!(!line.contains(&old) && !line.contains(&new), "{line}");
        line.contains("credentials refused")
    });
    assert!(renewed.contains("Unauthorized"), "{renewed}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn password_is_accepted_and_a_wrong_one_rejected() {
    let on = TestEnv::on_server();
    let password = on.testbed.password();
    let at_front = |user| on.env.login(on.testbed, on.testbed.front(), &user);
    let right = at_front(json!({"username": "reader", "password": password}));
    assert_eq!(on.ask_with(&right, &[], &[password]), Ok(String::new()));
    let wrong = at_front(json!({"username": "reader", "password": "wr0ng"}));
    assert_eq!(on.ask_with(&wrong, &[], &["wr0ng"]), Err(UNAUTHORIZED.into()));
    assert_eq!(on.ask_with(&wrong, &["--password", password], &[password]), Ok(String::new()));

    let anonymous = at_front(json!({}));
    let flags = ["--username", "reader", "--password", password];
    assert_eq!(on.ask_with(&anonymous, &flags, &[password]), Ok(String::new()));
    let wrong_flags = ["--username", "reader", "--password", "wr0ng"];
    assert_eq!(on.ask_with(&anonymous, &wrong_flags, &["wr0ng"]), Err(UNAUTHORIZED.into()));
    let both = [&flags[..], &["--token", "t"]].concat();
    let error = on.ask_with(&anonymous, &both, &[password]).expect_err("two ways");
    assert_eq!(
        error,
        "error: more than one authentication method found for me; \
         found [token basicAuth], only one is allowed\n"
    );
}
