//! Verification of the server: authorities, names, and insecure mode.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::{fs, thread};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustls::server::Acceptor;
use rustls::{ServerConfig, StreamOwned};
use serde_json::{Value, json};

use crate::support::{Forward, OnServer, TestEnv, Testbed, server_tls};

const DEFAULT: [&str; 5] = ["get", "ns", "default", "-o", "name"];

/// An authority that signed none of the certificates.
const OTHER_AUTHORITY: &str = include_str!("../../../src/kubeconfig/testdata/self_signed.pem");

/// Returns stdout or the error of a call with these cluster fields and flags.
fn outcome(env: &TestEnv, testbed: &Testbed, cluster: Value, flags: &[&str]) -> Result<String, String> {
    let config = env.kubeconfig_with(testbed, cluster, json!({}));
    let done = env.kdelta(&[&DEFAULT[..], flags].concat()).env("KUBECONFIG", &config).finish();
    if done.code == 0 {
        assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("namespace/default\n", ""));
        return Ok(done.stdout);
    }
    let error = done.failure(1);
    let why = error.strip_prefix("Unable to connect to the server: ").unwrap_or(&error);
    assert_eq!(why.lines().count(), 1, "{why}");
    Err(why.trim_end().to_owned())
}

fn unverified(why: &str) -> Result<String, String> {
    Err(format!("tls: failed to verify certificate: x509: {why}"))
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn server_certificate_is_trusted_by_authority_or_itself() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let ca = fs::read_to_string(testbed.ca_file()).expect("the authority");
    let own = fs::read_to_string(testbed.state().join("apiserver.crt")).expect("the server's certificate");
    let data = |pem: &str| json!({"certificate-authority": null, "certificate-authority-data": BASE64_STANDARD.encode(pem)});
    let garbage = "-----BEGIN CERTIFICATE-----\nMAAA\n-----END CERTIFICATE-----\n";
    let bundles = [format!("{OTHER_AUTHORITY}{own}"), format!("{garbage}{own}{OTHER_AUTHORITY}{ca}")];
    for pem in [&ca, &own].into_iter().chain(&bundles) {
        outcome(&env, testbed, data(pem), &[]).expect("trusted");
    }
    let unknown = unverified("certificate signed by unknown authority");
    assert_eq!(outcome(&env, testbed, data(OTHER_AUTHORITY), &[]), unknown);
    // Without authorities, the system's are used.
    assert_eq!(outcome(&env, testbed, json!({"certificate-authority": null}), &[]), unknown);
    let config = env.kubeconfig_with(testbed, json!({"certificate-authority": null}), json!({}));
    let call = env.kdelta(&DEFAULT).env("KUBECONFIG", &config).env("SSL_CERT_FILE", testbed.ca_file());
    assert_eq!(call.finish().quiet_success(), "namespace/default\n");
    let other = env.file("other.crt", OTHER_AUTHORITY);
    assert_eq!(outcome(&env, testbed, json!({"certificate-authority": "other.crt"}), &[]), unknown);

    // A flag overrides the trust settings of the file.
    let (other, ca_file) = (other.to_str().expect("UTF-8"), testbed.ca_file());
    let insecure = json!({"certificate-authority": null, "insecure-skip-tls-verify": true});
    assert_eq!(outcome(&env, testbed, data(&ca), &["--certificate-authority", other]), unknown);
    assert_eq!(outcome(&env, testbed, insecure.clone(), &["--certificate-authority", other]), unknown);
    outcome(&env, testbed, data(OTHER_AUTHORITY), &["--certificate-authority", ca_file]).expect("trusted");
    outcome(&env, testbed, insecure, &["--tls-server-name", "wrong.example"]).expect("never looked at");
    outcome(&env, testbed, data(OTHER_AUTHORITY), &["--insecure-skip-tls-verify"]).expect("never looked at");
    let both = outcome(&env, testbed, json!({"insecure-skip-tls-verify": true}), &[]).expect_err("both");
    assert!(both.contains("specifying a root certificates file with the insecure flag is not allowed"));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn tls_server_name_is_verified_directly_and_behind_each_proxy() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let port = testbed.port();
    let not_named = unverified("certificate is valid for localhost, not wrong.example");
    let not_at = unverified("certificate is valid for 127.0.0.1, ::1, not 10.9.9.9");
    let by_proxy = unverified("certificate is valid for localhost, not api.kdelta.test").map(|_| ());
    let http = Forward::http(None);
    let socks = Forward::socks5(None);
    let https = Forward::https(None, testbed);
    let proxies = [
        Value::Null,
        json!(format!("http://{}", http.address())),
        json!(format!("socks5://{}", socks.address())),
        json!(format!("https://{}", https.address())),
    ];
    for proxy in proxies {
        for (host, name, expected) in [
            ("127.0.0.1", "localhost", Ok(())),
            ("localhost", "127.0.0.1", Ok(())),
            ("127.0.0.1", "::1", Ok(())),
            ("127.0.0.1", "wrong.example", not_named.clone().map(|_| ())),
            ("localhost", "10.9.9.9", not_at.clone().map(|_| ())),
            // Names that only the proxies resolve; without a TLS server name the host name is verified.
            ("api.kdelta.test", "", by_proxy.clone()),
        ] {
            if host == "api.kdelta.test" && proxy.is_null() {
                continue;
            }
            let cluster = json!({
                "server": format!("https://{host}:{port}"), "proxy-url": proxy, "tls-server-name": name,
            });
            assert_eq!(
                outcome(&env, testbed, cluster, &[]).map(|_| ()),
                expected,
                "{host} as {name:?} by {proxy}"
            );
        }
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn server_flag_discards_the_files_tls_server_name() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let cluster = || json!({"server": "https://gone.invalid", "tls-server-name": "wrong.example"});
    let server = testbed.server();
    outcome(&env, testbed, cluster(), &["--server", server]).expect("its own name");
    let named = ["--server", server, "--tls-server-name", "other.example"];
    assert_eq!(
        outcome(&env, testbed, cluster(), &named),
        unverified("certificate is valid for localhost, not other.example")
    );
}

/// Starts a server that responds to one request with 404, and returns the requested TLS name and the head of the
/// request. It ignores connections closed before a request.
fn listener(testbed: &Testbed) -> (u16, thread::JoinHandle<(Option<String>, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let config = Arc::new(server_tls(testbed));
    let answering = thread::spawn(move || {
        listener.incoming().find_map(|stream| respond(stream.ok()?, Arc::clone(&config))).expect("a client")
    });
    (port, answering)
}

/// Responds to the request of a connection; returns `None` if there is none.
fn respond(mut stream: TcpStream, config: Arc<ServerConfig>) -> Option<(Option<String>, String)> {
    let mut acceptor = Acceptor::default();
    let hello = loop {
        if acceptor.read_tls(&mut stream).ok()? == 0 {
            return None;
        }
        if let Some(hello) = acceptor.accept().ok()? {
            break hello;
        }
    };
    let name = hello.client_hello().server_name().map(str::to_owned);
    let connection = hello.into_connection(config).expect("a connection");
    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let response = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.get_mut().write_all(response).expect("a client that reads");
    Some((name, head))
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn tls_server_name_sets_sni_but_not_the_host_header() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    for (host, name, asked_for) in [
        ("127.0.0.1", "localhost", Some("localhost")),
        ("localhost", "127.0.0.1", None),
        ("localhost", "", Some("localhost")),
    ] {
        let (port, answering) = listener(testbed);
        let cluster = json!({"server": format!("https://{host}:{port}"), "tls-server-name": name});
        let config = env.kubeconfig_with(testbed, cluster, json!({}));
        let call = env.kdelta(&DEFAULT).env("KUBECONFIG", &config).env("DISABLE_HTTP2", "1");
        let _error = call.finish().failure(1);
        let (name, head) = answering.join().expect("a request");
        assert_eq!(name.as_deref(), asked_for);
        assert!(head.contains(&format!("host: {host}:{port}\r\n")), "{head}");
    }
}
