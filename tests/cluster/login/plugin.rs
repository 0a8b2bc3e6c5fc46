//! Credential plugins: tokens and certificates, renewed and rejected, and the plugins' input.

use std::path::Path;

use serde_json::{Value, json};

use crate::cluster::kubectl;
use crate::support::{OnServer, Plugin, Proxy, ServiceAccount, TestEnv, config_maps, eventually};

const UNAUTHORIZED: &str = "error: You must be logged in to the server (Unauthorized)\n";
/// The text that the plugin prints for its user in each run.
const GREETING: &str = "asked politely\n";

fn certificate(pair: &(impl AsRef<Path>, impl AsRef<Path>)) -> Value {
    let read = |path: &Path| std::fs::read_to_string(path).expect("a file of the test");
    json!({"clientCertificateData": read(pair.0.as_ref()), "clientKeyData": read(pair.1.as_ref())})
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn plugin_token_takes_one_run_and_a_rejected_one_takes_two() {
    let on = TestEnv::on_server();
    let token = on.testbed.token("reader");
    for version in ["v1", "v1beta1"] {
        let plugin = Plugin::new(&on.env, version, &json!({"token": token}));
        let before = plugin.runs();
        assert_eq!(on.ask_as(&plugin.user(version), &[]), Ok(GREETING.into()));
        assert_eq!(plugin.runs() - before, 1);
        plugin.set_output(version, &json!({"token": "wr0ng"}));
        let before = plugin.runs();
        let error = on.ask_as(&plugin.user(version), &[]).expect_err("it is wrong");
        assert_eq!(error, format!("{GREETING}{GREETING}{UNAUTHORIZED}"));
        assert_eq!(plugin.runs() - before, 2);
    }
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": token}));
    assert!(on.ask_as(&plugin.user("v1"), &[token, "arg-s3cret"]).is_ok());
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn plugin_certificate_takes_one_run_with_or_without_a_token() {
    let on = TestEnv::on_server();
    for form in ["sec1", "pkcs8", "pkcs1"] {
        let mut status = certificate(&on.env.certificate(on.testbed, form, &["--form", form]));
        let plugin = Plugin::new(&on.env, "v1", &status);
        let before = plugin.runs();
        assert_eq!(on.ask_as(&plugin.user("v1"), &[]), Ok(GREETING.into()), "{form}");
        status["token"] = json!(on.testbed.token("reader"));
        plugin.set_output("v1", &status);
        assert_eq!(on.ask_as(&plugin.user("v1"), &[]), Ok(GREETING.into()), "{form}");
        assert_eq!(plugin.runs() - before, 2);
        assert!(on.ask_as(&plugin.user("v1"), &["PRIVATE KEY", on.testbed.token("reader")]).is_ok());
    }
    let stranger = certificate(&on.env.certificate(on.testbed, "stranger", &["--stranger"]));
    let plugin = Plugin::new(&on.env, "v1", &stranger);
    let error = on.ask_as(&plugin.user("v1"), &[]).expect_err("the server does not know the certificate");
    assert_eq!(error, format!("{GREETING}{GREETING}{UNAUTHORIZED}"));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn untrusted_server_does_not_rerun_the_plugin() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let plugin = Plugin::new(&env, "v1", &certificate(&env.certificate(testbed, "good", &[])));
    let mut user = plugin.user("v1");
    user["token"] = Value::Null;
    let config = env.kubeconfig_with(testbed, json!({"certificate-authority": null}), user);
    let error = env.kdelta(&["get", "ns"]).env("KUBECONFIG", config).finish().failure(1);
    assert!(error.contains("tls: failed to verify certificate: x509: "), "{error}");
    assert_eq!(plugin.runs(), 1);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn many_watches_with_a_revoked_token_cause_one_plugin_run() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let account = ServiceAccount::new(&api, &namespace);
    let (old, new) = (account.token("old"), account.token("new"));
    let plugin = Plugin::new(&env, "v1", &json!({"token": old}));
    let mut proxy = Proxy::before(testbed.port());
    let server = format!("https://127.0.0.1:{}", proxy.port());
    let config = env.login(testbed, &server, &plugin.user("v1"));
    let words = ["watch", "cm,sa,pods,services,endpoints,secrets", "-n", &namespace, "-o", "json"];
    let watch = env.kdelta(&words).env("KUBECONFIG", config).start();
    let mut synced = 0;
    watch.stdout.json_until("all are synced", |line| {
        synced += usize::from(line["type"] == "SYNCED");
        synced == 6
    });
    assert_eq!(plugin.runs(), 1);
    plugin.set_output("v1", &json!({"token": new}));
    account.revoke("old", &old);
    proxy.cut();
    proxy.reopen();
    for (kind, path) in
        [("ConfigMap", "configmaps"), ("Secret", "secrets"), ("ServiceAccount", "serviceaccounts")]
    {
        let path = format!("/api/v1/namespaces/{namespace}/{path}");
        api.create(&path, &json!({"metadata": {"name": "later"}}));
        let is_it = |line: &Value| line["kind"] == kind && line["name"] == "later";
        watch.stdout.json_until("what came after the rotation", is_it);
    }
    assert_eq!(plugin.runs(), 2);
}

/// Returns the time this many seconds from now.
fn soon(seconds: i64) -> String {
    (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds)).to_string()
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn contexts_with_the_same_user_share_a_login() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let plugin = Plugin::new(&env, "v1", &json!({"token": testbed.token("reader")}));
    let config = env.login(testbed, testbed.server(), &plugin.user("v1"));
    let text = std::fs::read_to_string(&config).expect("the kubeconfig");
    let mut several: Value = serde_json::from_str(&text).expect("JSON");
    let context = several["contexts"][0]["context"].clone();
    several["contexts"] = (1..9).map(|n| json!({"name": format!("c{n}"), "context": context})).collect();
    let config = env.file("several.kubeconfig", &several.to_string());
    let words = ["get", "ns", "default", "--all-contexts", "--no-headers"];
    let printed = env.kdelta(&words).env("KUBECONFIG", config).finish();
    assert_eq!(
        (printed.stdout.matches(" default ").count(), printed.stderr.as_str()),
        (8, GREETING),
        "{}",
        printed.stdout
    );
    assert_eq!(plugin.runs(), 1);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watch_renews_credentials_before_they_expire() {
    let on = TestEnv::on_server();
    let OnServer { env, testbed, api, namespace } = &on;
    let account = ServiceAccount::new(api, namespace);
    // Valid for longer than declared: none is rejected, and only the clock causes a renewal.
    let status = |number: i32| {
        let mut status = json!({"token": account.token(&format!("t{number}"))});
        if number % 2 == 1 {
            status = certificate(&env.certificate(testbed, &format!("c{number}"), &[]));
        }
        status["expirationTimestamp"] = json!(soon(4));
        status
    };
    let plugin = Plugin::new(env, "v1", &status(0));
    let mut proxy = Proxy::before(testbed.port());
    let server = format!("https://127.0.0.1:{}", proxy.port());
    let config = env.login(testbed, &server, &plugin.user("v1"));
    api.create(&config_maps(namespace), &json!({"metadata": {"name": "number-0"}}));
    let words = ["watch", "cm", "-n", namespace, "-o", "name", "-v=6"];
    let watch = env.kdelta(&words).env("KUBECONFIG", config).start();
    watch.stdout.find("the initial state", |line| line == "configmap/number-0\n");
    for number in 1..4 {
        let start = std::time::Instant::now();
        eventually("it expires", || (start.elapsed().as_secs() >= 4).then_some(()));
        let before = plugin.runs();
        plugin.set_output("v1", &status(number));
        proxy.cut();
        proxy.reopen();
        let name = format!("number-{number}");
        api.create(&config_maps(namespace), &json!({"metadata": {"name": name}}));
        watch.stdout.find("what came after the cut", |line| line == format!("configmap/{name}\n"));
        assert!(plugin.runs() > before, "{number}");
    }
    watch.signal("INT");
    let printed = watch.stderr.drain();
    assert!(printed.contains(" 200 OK in ") && !printed.contains(" 401 "), "{printed}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watch_reconnects_with_a_renewed_certificate() {
    let on = TestEnv::on_server();
    let OnServer { env, testbed, api, namespace } = &on;
    let old = env.certificate(testbed, "old", &["--life", "8s"]);
    let plugin = Plugin::new(env, "v1", &certificate(&old));
    let mut proxy = Proxy::before(testbed.port());
    let server = format!("https://127.0.0.1:{}", proxy.port());
    let config = env.login(testbed, &server, &plugin.user("v1"));
    api.create(&config_maps(namespace), &json!({"metadata": {"name": "first"}}));
    let words = ["watch", "cm", "-n", namespace, "-o", "name"];
    let watch = env.kdelta(&words).env("KUBECONFIG", config).start();
    watch.stdout.find("the initial state", |line| line == "configmap/first\n");
    let files = json!({"client-certificate": old.0, "client-key": old.1});
    let direct = env.login(testbed, testbed.server(), &files);
    eventually("it expires", || on.ask_with(&direct, &[], &[]).err());
    plugin.set_output("v1", &certificate(&env.certificate(testbed, "new", &[])));
    proxy.cut();
    proxy.reopen();
    api.create(&config_maps(namespace), &json!({"metadata": {"name": "later"}}));
    watch.stdout.find("what came after the renewal", |line| line == "configmap/later\n");
    assert_eq!(plugin.runs(), 2);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn plugin_failure_shows_its_stderr_only() {
    let on = TestEnv::on_server();
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": "s3cret-token"}));
    let user = plugin.user("v1");
    on.env.file(
        "ending",
        "cat output
printf 'no luck\\nask \\033[31mmother\\n' >&2\nexit 7\n",
    );
    let before = plugin.runs();
    let error = on.ask_as(&user, &[]).expect_err("it fails");
    let failed =
        "Unable to connect to the server: getting credentials: exec: executable sh failed with exit code 7";
    assert_eq!(error, format!("{GREETING}no luck\nask ^[[31mmother\n{failed}\n"));
    assert_eq!(plugin.runs() - before, 1);
    let _same = on.ask_as(&user, &["s3cret-token", "arg-s3cret"]).expect_err("it fails");

    on.env.file("ending", "");
    for (status, why) in [
        (json!({}), "exec plugin didn't return a token or cert/key pair"),
        (json!({"clientKeyData": "s3cret"}), "exec plugin returned only certificate or key, not both"),
    ] {
        plugin.set_output("v1", &status);
        let error = on.ask_as(&user, &["s3cret"]).expect_err("the output is incomplete");
        assert_eq!(error, format!("{GREETING}Unable to connect to the server: getting credentials: {why}\n"));
    }
    plugin.set_output("v1beta1", &json!({"token": "s3cret"}));
    let error = on.ask_as(&user, &["s3cret"]).expect_err("it speaks another language");
    let version = |version| format!("version client.authentication.k8s.io/{version}");
    let why = format!("API {}, plugin returned {}\n", version("v1"), version("v1beta1"));
    assert!(error.ends_with(&format!("exec plugin is configured to use {why}")), "{error}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn interactive_plugin_is_not_run_without_a_terminal() {
    let on = TestEnv::on_server();
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": on.testbed.token("reader")}));
    let mut user = plugin.user("v1");
    user["exec"]["interactiveMode"] = json!("Always");
    let why = "exec plugin cannot support interactive mode: standard input is not a terminal";
    let printed = on.ask_as(&user, &[]);
    assert_eq!(printed, Err(format!("Unable to connect to the server: getting credentials: {why}\n")));
    assert_eq!(plugin.runs(), 0);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn plugin_gets_the_same_cluster_info_as_from_kubectl() {
    let on = TestEnv::on_server();
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": on.testbed.token("reader")}));
    let audience =
        json!([{"name": "client.authentication.k8s.io/exec", "extension": {"audience": ["x", 1]}}]);
    let secure = json!({
        "server": on.testbed.server(), "certificate-authority": on.testbed.ca_file(),
        "tls-server-name": "localhost", "disable-compression": true, "extensions": audience,
    });
    let insecure = json!({"server": format!("{}/", on.testbed.server()), "insecure-skip-tls-verify": true});
    for (cluster, version) in [(&secure, "v1"), (&secure, "v1beta1"), (&insecure, "v1")] {
        plugin.set_output(version, &json!({"token": on.testbed.token("reader")}));
        let config = on.env.login_to(cluster, &plugin.user(version));
        assert_eq!(on.ask_with(&config, &[], &[]), Ok(GREETING.into()));
        let input = plugin.last_input();
        assert_eq!(input["apiVersion"], format!("client.authentication.k8s.io/{version}"));
        assert_eq!(input["spec"]["interactive"], false);
        let mut command = kubectl(config.to_str().expect("UTF-8"), &["get", "ns", "default"]);
        let output = command.env("HOME", on.env.home()).stdin(std::process::Stdio::null()).output();
        let output = output.expect("kubectl runs");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(input, plugin.last_input(), "as kubectl");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn missing_plugin_is_reported_like_kubectl() {
    let on = TestEnv::on_server();
    let user = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "kdelta-no-such-plugin",
        "interactiveMode": "Never", "installHint": "get it from the cellar",
    }});
    let config = on.env.login(on.testbed, on.testbed.server(), &user);
    let error = on.ask_with(&config, &[], &[]).expect_err("it is missing");
    // Every message indents its further lines, so that no text forges a line of its own; kubectl does not.
    let unindented = |line: &str| format!("{}\n", line.strip_prefix("    ").unwrap_or(line));
    let error: String = error.lines().map(unindented).collect();
    let start = "Unable to connect to the server: getting credentials: exec: executable kdelta-no-such-plugin not found";
    assert!(error.starts_with(start) && error.ends_with("\n\nget it from the cellar\n"), "{error}");
    let mut command = kubectl(config.to_str().expect("UTF-8"), &["get", "ns", "default"]);
    let output = command.env("HOME", on.env.home()).output().expect("kubectl runs");
    let theirs = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(theirs.contains(error.trim_end()), "ours: {error}\ntheirs: {theirs}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn plugin_in_a_relative_path_entry_fails_like_kubectl() {
    let on = TestEnv::on_server();
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": on.testbed.token("reader")}));
    std::fs::create_dir(on.env.home().join("bin")).expect("a folder");
    // Links to the shell: see [`Plugin::new`] for why the script itself is not executed.
    for link in ["kdelta-plugin", "bin/kdelta-plugin"] {
        #[cfg(unix)]
        std::os::unix::fs::symlink("/bin/sh", on.env.home().join(link)).expect("a link");
    }
    let mut user = plugin.user("v1");
    user["exec"]["command"] = json!("kdelta-plugin");
    let config = on.env.login(on.testbed, on.testbed.server(), &user);
    let config = config.to_str().expect("UTF-8");
    let system = std::env::var("PATH").expect("a path");
    let run = |mut command: std::process::Command, path: &str| {
        let path = format!("{path}:{system}");
        command.env("HOME", on.env.home()).env("PATH", path).current_dir(on.env.home());
        command.stdin(std::process::Stdio::null()).output().expect("it runs")
    };
    let words = ["get", "ns", "default", "-o", "name"];
    let ours = |path: &str| run(on.env.kdelta(&words).env("KUBECONFIG", config).into_command(), path);
    for (path, entry) in [("bin", "bin"), (".", "."), ("", "")] {
        let output = ours(path);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let start =
            "Unable to connect to the server: getting credentials: exec: executable kdelta-plugin not found";
        assert!(output.status.code() == Some(1) && error.starts_with(start), "{path:?}: {output:?}");
        assert!(error.contains(&format!("relative entry {entry:?}")), "{error}");
        let output = run(kubectl(config, &["get", "ns", "default"]), path);
        let theirs = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(theirs.contains(start) && !output.status.success(), "{path:?}: {theirs}");
    }
    assert_eq!(plugin.runs(), 0);
    let absolute = on.env.home().join("bin");
    let output = ours(absolute.to_str().expect("UTF-8"));
    assert_eq!((output.status.code(), plugin.runs()), (Some(0), 1), "{output:?}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn plugin_command_is_relative_to_its_kubeconfig() {
    let on = TestEnv::on_server();
    let plugin = Plugin::new(&on.env, "v1", &json!({"token": on.testbed.token("reader")}));
    let mut user = plugin.user("v1");
    // A link to the shell: see [`Plugin::new`] for why the script itself is not executed.
    #[cfg(unix)]
    std::os::unix::fs::symlink("/bin/sh", on.env.home().join("shell")).expect("a link");
    user["exec"]["command"] = json!("./shell");
    let config = on.env.login(on.testbed, on.testbed.server(), &user);
    let words = ["get", "ns", "default", "-o", "name"];
    let mut command = on.env.kdelta(&words).env("KUBECONFIG", config).into_command();
    let output = command.current_dir("/").output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "namespace/default\n", "{output:?}");
}
