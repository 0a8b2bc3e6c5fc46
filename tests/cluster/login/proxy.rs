//! Servers behind proxies: those of a kubeconfig, and those of the environment by Go's rules.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{DemoServer, Forward, OnServer, TestEnv};

const ME: Option<(&str, &str)> = Some(("me", "s3cr3t"));
const DEFAULT: [&str; 5] = ["get", "ns", "default", "-o", "name"];

/// Returns a cluster whose name only a proxy resolves.
fn hidden(port: u16, proxy_url: Option<&str>) -> Value {
    json!({
        "server": format!("https://api.kdelta.test:{port}"), "tls-server-name": "localhost",
        "proxy-url": proxy_url,
    })
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn each_proxy_type_resolves_names_and_takes_a_password() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let target = format!("api.kdelta.test:{}", testbed.port());
    for (scheme, proxy) in
        [("http", Forward::http(ME)), ("https", Forward::https(ME, testbed)), ("socks5", Forward::socks5(ME))]
    {
        let call = |login: &str, more: &str| {
            let url = format!("{scheme}://{login}{}", proxy.address());
            let config = env.kubeconfig_with(testbed, hidden(testbed.port(), Some(&url)), json!({}));
            env.kdelta(&[&DEFAULT[..], &[more]].concat()).env("KUBECONFIG", &config)
        };
        let done = call("me:s3cr3t@", "-v=9").finish();
        assert_eq!(
            (done.code, done.stdout.as_str()),
            (0, "namespace/default\n"),
            "{scheme}: {}",
            done.stderr
        );
        assert!(done.stderr.contains("HTTP/2.0") && !done.stderr.contains("s3cr3t"), "{}", done.stderr);
        let sent_requests = proxy.requests();
        assert!(
            !sent_requests.is_empty()
                && sent_requests.iter().all(|line| *line == format!("CONNECT {target} as me"))
        );
        let done = call("me:s3cr3t@", "-v=9").env("DISABLE_HTTP2", "1").finish();
        assert!(done.code == 0 && done.stderr.contains("HTTP/1.1"), "{}", done.stderr);

        for (login, by_socks) in [
            ("me:wr0ng@", "username/password authentication failed"),
            ("", "no acceptable authentication methods"),
        ] {
            let error = call(login, "-v=0").finish().failure(1);
            let address = proxy.address();
            let why = match scheme {
                "socks5" => format!("socks connect tcp {address}->{target}: {by_socks}"),
                _ => format!(
                    "proxyconnect tcp: the proxy {address} responded: 407 Proxy Authentication Required"
                ),
            };
            assert_eq!(error, format!("Unable to connect to the server: {why}\n"), "{scheme}");
        }
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn proxy_failures_name_the_proxy() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let error_of = |cluster: Value, environment: &str| {
        let config = env.kubeconfig_with(testbed, cluster, json!({}));
        let call = env.kdelta(&DEFAULT).env("KUBECONFIG", &config).env("HTTPS_PROXY", environment);
        let error = call.finish().failure(1);
        error.strip_prefix("Unable to connect to the server: ").unwrap_or(&error).trim_end().to_owned()
    };
    let port = testbed.port();
    let mut proxy = Forward::http(None);
    let address = proxy.address();
    let url = format!("http://{address}");
    // A privileged port without a listener.
    let nowhere = error_of(hidden(1, Some(&url)), "");
    assert_eq!(nowhere, format!("proxyconnect tcp: the proxy {address} responded: 502 Bad Gateway"));
    let secure = error_of(hidden(port, Some(&format!("https://{address}"))), "");
    assert_eq!(secure, "proxyconnect tcp: tls: the server gave a plain HTTP response to an HTTPS client");
    proxy.cut();
    let refused = format!("dial tcp {address}: connect: connection refused");
    assert_eq!(error_of(hidden(port, Some(&url)), ""), format!("proxyconnect tcp: {refused}"));
    assert_eq!(error_of(hidden(port, None), &url), format!("proxyconnect tcp: {refused}"));
    assert_eq!(
        error_of(hidden(port, Some(&format!("socks5://{address}"))), ""),
        format!("socks connect tcp {address}->api.kdelta.test:{port}: {refused}")
    );
    let unknown = error_of(hidden(port, Some("http://proxy.invalid:3128")), "");
    assert!(unknown.starts_with("proxyconnect tcp: dial tcp: lookup proxy.invalid: "), "{unknown}");
    let strange = error_of(hidden(port, Some("ftp://me:s3cr3t@proxy")), "");
    assert_eq!(
        strange,
        "error: invalid 'proxy-url' \"ftp://proxy\" for cluster \"test\": unsupported scheme \"ftp\", must be \
         http, https, or socks5"
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn proxy_variables_follow_go_and_the_clusters_proxy_wins() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let named = Forward::http(None);
    let in_environment = Forward::http(ME);
    let url = format!("http://me:s3cr3t@{}", in_environment.address());
    let call = |cluster: Value, environment: &[(&str, &str)]| {
        let config = env.kubeconfig_with(testbed, cluster, json!({}));
        let call = env.kdelta(&DEFAULT).env("KUBECONFIG", &config);
        environment.iter().fold(call, |call, (name, value)| call.env(name, value)).finish()
    };
    let target = format!("CONNECT api.kdelta.test:{}", testbed.port());
    for name in ["HTTPS_PROXY", "https_proxy"] {
        call(hidden(testbed.port(), None), &[(name, &url), ("NO_PROXY", "kdelta.tes,other.test")])
            .quiet_success();
    }
    let sent_requests = in_environment.requests();
    assert!(
        sent_requests.len() >= 2 && sent_requests.iter().all(|line| *line == format!("{target} as me")),
        "{sent_requests:?}"
    );
    for none in [("NO_PROXY", ".kdelta.test"), ("no_proxy", "x, api.kdelta.test"), ("NO_PROXY", "*")] {
        let direct = call(hidden(testbed.port(), None), &[("HTTPS_PROXY", &url), none]).failure(1);
        assert!(
            direct.starts_with("Unable to connect to the server: dial tcp: lookup api.kdelta.test: "),
            "{none:?}: {direct}"
        );
    }
    let direct =
        call(hidden(testbed.port(), None), &[("HTTPS_PROXY", "no url"), ("NO_PROXY", "*")]).failure(1);
    assert!(
        direct.starts_with("Unable to connect to the server: dial tcp: lookup "),
        "what is not used: {direct}"
    );
    // Neither another scheme nor this machine uses the proxy.
    call(hidden(testbed.port(), None), &[("HTTP_PROXY", &url)]).failure(1);
    call(json!({}), &[("HTTPS_PROXY", &url)]).quiet_success();
    assert_eq!(in_environment.requests(), sent_requests);

    let by_cluster = hidden(testbed.port(), Some(&format!("http://{}", named.address())));
    call(by_cluster, &[("HTTPS_PROXY", &url), ("NO_PROXY", "*")]).quiet_success();
    assert!(named.requests().iter().all(|line| *line == target) && !named.requests().is_empty());
}

#[test]
fn http_proxy_forwards_plain_requests() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &[]);
    let (_, port) = demo.url.rsplit_once(':').expect("a port");
    let proxy = Forward::http(ME);
    let call = |login: &str| {
        let cluster = json!({
            "server": format!("http://localhost:{port}"),
            "proxy-url": format!("http://{login}@{}", proxy.address()),
        });
        let config = json!({
            "current-context": "c", "clusters": [{"name": "c", "cluster": cluster}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": ""}}],
        });
        env.kdelta(&DEFAULT).env("KUBECONFIG", env.file("config", &config.to_string())).finish()
    };
    assert_eq!(call("me:s3cr3t").quiet_success(), "namespace/default\n");
    let sent_requests = proxy.requests();
    let url = format!("GET http://localhost:{port}/");
    assert!(
        sent_requests.iter().all(|line| line.starts_with(&url) && line.ends_with(" as me")),
        "{sent_requests:?}"
    );
    let error = call("me:wr0ng").failure(1);
    let address = proxy.address();
    assert_eq!(
        error,
        format!(
            "Unable to connect to the server: the proxy {address} responded: 407 Proxy Authentication Required\n"
        )
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watch_resumes_when_its_proxy_returns() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    for (scheme, mut proxy) in [("http", Forward::http(None)), ("socks5", Forward::socks5(None))] {
        let url = format!("{scheme}://{}", proxy.address());
        let config = env.kubeconfig_with(testbed, hidden(testbed.port(), Some(&url)), json!({}));
        let words = ["watch", "cm", "-n", &namespace, "-o", "json"];
        let running = env.kdelta(&words).env("KUBECONFIG", &config).start();
        running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
        proxy.cut();
        let how = if scheme == "http" { "proxyconnect tcp" } else { "socks connect tcp" };
        running.stderr.find("the proxy is gone", |line| {
            line.contains("lost: ") && line.contains(how) && line.contains("connection refused")
        });
        api.create_config_map(&namespace, &format!("meanwhile-{scheme}"), &json!({}));
        proxy.reopen();
        let lines = running.stdout.json_until("what happened meanwhile", |line| line["type"] == "ADDED");
        let name = lines.last().map(|line| line["name"].clone());
        assert_eq!(name, Some(json!(format!("meanwhile-{scheme}"))));
        assert!(proxy.requests().len() >= 2, "{:?}", proxy.requests());
    }
}

/// The default takes 45 seconds.
#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn ping_variables_set_the_time_until_a_silent_connection_is_closed() {
    let OnServer { env, testbed, namespace, .. } = TestEnv::on_server();
    let proxy = Forward::http(None);
    let url = format!("http://{}", proxy.address());
    let config = env.kubeconfig_with(testbed, hidden(testbed.port(), Some(&url)), json!({}));
    let call =
        env.kdelta(&["watch", "cm", "-n", &namespace, "-o", "json", "-v=9"]).env("KUBECONFIG", &config);
    let call = call.env("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1").env("HTTP2_PING_TIMEOUT_SECONDS", "1");
    let running = call.start();
    running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    running.stderr.find("a successful probe", |line| {
        line.contains("probed a silent server") && line.contains("has_responded=true")
    });
    let silent = Instant::now();
    proxy.fall_silent();
    let lost = running.stderr.find("the silence is noticed", |line| line.contains("lost: "));
    assert!(silent.elapsed() < Duration::from_secs(30), "{lost}");
}
