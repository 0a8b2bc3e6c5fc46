//! Client certificates: inline and in files, with each key format, and renewed.

use std::io::Write;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion};

use crate::support::{OnServer, Plugin, Proxy, TestEnv, Testbed, config_maps, eventually, server_keys};

const UNAUTHORIZED: &str = "error: You must be logged in to the server (Unauthorized)\n";

fn files(pair: &(impl AsRef<Path>, impl AsRef<Path>)) -> Value {
    json!({"client-certificate": pair.0.as_ref(), "client-key": pair.1.as_ref()})
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn certificate_is_accepted_with_each_key_format() {
    let on = TestEnv::on_server();
    for form in ["sec1", "pkcs8", "pkcs1"] {
        let pair = on.env.certificate(on.testbed, form, &["--form", form]);
        assert_eq!(on.ask_as(&files(&pair), &["PRIVATE KEY"]), Ok(String::new()), "{form}");
        let read = |path: &Path| STANDARD.encode(std::fs::read(path).expect("a file of the test"));
        let (certificate, key) = (read(&pair.0), read(&pair.1));
        let data = json!({"client-certificate-data": certificate, "client-key-data": key});
        assert_eq!(on.ask_as(&data, &[&key]), Ok(String::new()), "{form}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn version_one_certificate_is_accepted_from_files_data_and_a_plugin() {
    let on = TestEnv::on_server();
    for form in ["sec1", "pkcs1"] {
        let pair = on.env.certificate(on.testbed, form, &["--v1", "--form", form]);
        assert_eq!(on.ask_as(&files(&pair), &["PRIVATE KEY"]), Ok(String::new()), "{form}");
        let read = |path: &Path| std::fs::read_to_string(path).expect("a file of the test");
        let (certificate, key) = (read(&pair.0), read(&pair.1));
        let encoded = |text: &str| STANDARD.encode(text);
        let data =
            json!({"client-certificate-data": encoded(&certificate), "client-key-data": encoded(&key)});
        assert_eq!(on.ask_as(&data, &[]), Ok(String::new()), "{form}");
        let status = json!({"clientCertificateData": certificate, "clientKeyData": key});
        let plugin = Plugin::new(&on.env, "v1", &status);
        assert!(on.ask_as(&plugin.user("v1"), &[]).is_ok(), "{form}");
    }
    let stranger = on.env.certificate(on.testbed, "stranger", &["--v1", "--stranger"]);
    assert_eq!(on.ask_as(&files(&stranger), &[]), Err(UNAUTHORIZED.into()));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn certificate_of_an_unknown_authority_is_rejected() {
    let on = TestEnv::on_server();
    let stranger = on.env.certificate(on.testbed, "stranger", &["--stranger"]);
    assert_eq!(on.ask_as(&files(&stranger), &["PRIVATE KEY"]), Err(UNAUTHORIZED.into()));
    let expired = on.env.certificate(on.testbed, "expired", &["--life", "-1m"]);
    assert_eq!(on.ask_as(&files(&expired), &[]), Err(UNAUTHORIZED.into()));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn unusable_certificate_fails_before_any_request() {
    let on = TestEnv::on_server();
    let (one, other) = (on.env.certificate(on.testbed, "a", &[]), on.env.certificate(on.testbed, "b", &[]));
    let unusable = "error: unable to use the client certificate: ";
    let result_of = |pair: (&Path, &Path)| on.ask_as(&files(&pair), &[]);
    assert_eq!(
        result_of((&one.0, &other.1)),
        Err(format!("{unusable}tls: private key does not match public key\n"))
    );
    let none = on.env.file("none", "nothing\n");
    let no_pem = |what| Err(format!("{unusable}tls: failed to find any PEM data in {what} input\n"));
    assert_eq!(result_of((&none, &one.1)), no_pem("certificate"));
    assert_eq!(result_of((&one.0, &none)), no_pem("key"));
    let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let error = result_of((&one.0, &on.env.file("locked", locked))).expect_err("it is locked");
    assert!(error.contains("the private key is encrypted, which is not supported"), "{error}");
    let error = result_of((&one.0, Path::new("/no/such/key"))).expect_err("it is not there");
    assert!(error.contains("unable to read client-key /no/such/key for me due to open"), "{error}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watch_reconnects_with_a_replaced_certificate_file() {
    let on = TestEnv::on_server();
    let OnServer { env, testbed, api, namespace } = &on;
    let pair = env.certificate(testbed, "mine", &["--life", "8s"]);
    let mut proxy = Proxy::before(testbed.port());
    let config = env.login(testbed, &format!("https://127.0.0.1:{}", proxy.port()), &files(&pair));
    let words = ["watch", "cm", "-n", namespace, "-o", "name"];
    api.create(&config_maps(namespace), &json!({"metadata": {"name": "first"}}));
    let watch = env.kdelta(&words).env("KUBECONFIG", config).start();
    watch.stdout.find("the initial state", |line| line == "configmap/first\n");
    let direct = env.login(testbed, testbed.server(), &files(&pair));
    eventually("it expires", || on.ask_with(&direct, &[], &[]).err());
    env.certificate(testbed, "mine", &[]);
    proxy.cut();
    proxy.reopen();
    api.create(&config_maps(namespace), &json!({"metadata": {"name": "later"}}));
    watch.stdout.find("what came after the renewal", |line| line == "configmap/later\n");
}

/// A server that requires a certificate of the testbed's authority and responds with 404; it ends with the test.
struct Strict {
    port: u16,
    /// Set at the end, to tell the test's own connection from one that a client opens and closes.
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Strict {
    fn new(testbed: &Testbed, version: &'static SupportedProtocolVersion, protocol: &[u8]) -> Self {
        let (certificate, key) = server_keys(testbed);
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_file(testbed.ca_file()).expect("an authority");
        roots.add(authority).expect("an authority");
        let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).build().expect("a verifier");
        let config = ServerConfig::builder_with_protocol_versions(&[version]);
        let config = config.with_client_cert_verifier(verifier).with_single_cert(vec![certificate], key);
        let mut config = config.expect("a key of its certificate");
        config.alpn_protocols = vec![protocol.to_vec()];
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let thread = thread::spawn(move || {
            for mut stream in listener.incoming().map(|stream| stream.expect("a client")) {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                let mut connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
                // One thread per connection: a silent client must not block the next one. It ends with the connection,
                // which the client closes at its end at the latest.
                thread::spawn(move || {
                    while connection.is_handshaking() && connection.complete_io(&mut stream).is_ok() {}
                    while connection.wants_write() && connection.write_tls(&mut stream).is_ok() {}
                    let _sent = (stream.flush(), stream.shutdown(Shutdown::Write));
                    // Reads until the client has received the alert: closing early would send a reset instead.
                    let _read = std::io::copy(&mut stream, &mut std::io::sink());
                });
            }
        });
        Self { port, over, thread: Some(thread) }
    }
}

impl Drop for Strict {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        let _ended = self.thread.take().map(thread::JoinHandle::join);
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn missing_client_certificate_is_one_error_in_each_http_and_tls_version() {
    let on = TestEnv::on_server();
    let stranger = on.env.certificate(on.testbed, "stranger", &["--stranger"]);
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for protocol in ["h2", "http/1.1"] {
            let server = Strict::new(on.testbed, version, protocol.as_bytes());
            let url = format!("https://127.0.0.1:{}", server.port);
            let result_of = |user: &Value| {
                let config = on.env.login(on.testbed, &url, user);
                on.ask_with(&config, &[], &[]).expect_err("the server rejects the certificate")
            };
            let unable = "Unable to connect to the server: remote error: tls:";
            let expected = "certificate required: the server wants a client certificate";
            assert_eq!(
                result_of(&json!({"token": "t"})),
                format!("{unable} {expected}\n"),
                "{protocol} {version:?}"
            );
            let reported = result_of(&files(&stranger));
            let why = "error decrypting message: the server does not take the client certificate";
            assert_eq!(reported, format!("{unable} {why}\n"), "{protocol} {version:?}");
        }
    }
}
