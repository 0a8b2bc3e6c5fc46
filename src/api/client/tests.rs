//! Tests of requests and their errors.

use http::StatusCode;

use super::send::is_authenticated;
use super::*;
use crate::api::Request;
use crate::client::test_server::{TestServer, json, with_headers};
use crate::kubeconfig::ConfigOptions;

fn client(server: &str) -> Client {
    Client::new(&Config::for_server(server).unwrap()).unwrap()
}

#[tokio::test]
async fn request_has_path_prefix_query_and_user_agent() {
    let server = TestServer::start(|_| json(200, "{}")).await;
    let request = Request::new("/api/v1/pods")
        .query("labelSelector", "app in (a, b)")
        .query("limit", "5")
        .accept("application/json;as=Table");
    let response = client(&format!("{}/k8s/c-1/", server.url)).send(&request).await.unwrap();
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.body(10).await.unwrap(), "{}");
    let http_request = server.requests().concat();
    assert!(
        http_request
            .starts_with("GET /k8s/c-1/api/v1/pods?labelSelector=app+in+%28a%2C+b%29&limit=5 HTTP/1.1\r\n"),
        "{http_request}"
    );
    assert!(
        http_request.contains(&format!("user-agent: kdelta/{} (", env!("CARGO_PKG_VERSION"))),
        "{http_request}"
    );
    assert!(http_request.contains("accept: application/json;as=Table\r\n"), "{http_request}");
    assert!(http_request.contains("accept-encoding: gzip\r\n"), "{http_request}");
}

#[tokio::test]
async fn path_outside_the_servers_is_not_sent() {
    let server = TestServer::start(|_| json(200, "{}")).await;
    let client = client(&format!("{}/base", server.url));
    for path in [
        "/../x",
        "/a/../../x",
        "/./x",
        "/a/%2e%2e/%2e%2E/x",
        "/a/..%2f..%2fx",
        "/a\\..\\..\\x",
        "/.\t./x",
        "/\n../x",
        "x",
        "",
        "//a/..",
    ] {
        let error = client.send(&Request::new(path)).await.err();
        assert!(matches!(error, Some(listwatch::Error::Invalid(_))), "{path:?}: {error:?}");
    }
    assert!(server.requests().is_empty(), "{:?}", server.requests());
    client.send(&Request::new("//127.0.0.1:1/a/b..c/...")).await.unwrap();
    assert!(server.requests().concat().starts_with("GET /base//127.0.0.1:1/a/b..c/... HTTP/1.1\r\n"));
}

/// Returns a response with a compressed body.
fn compressed(coding: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn gzipped(text: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut out, text).unwrap();
    out.finish().unwrap()
}

#[tokio::test]
async fn compressed_bodies_are_decompressed_and_others_unchanged() {
    let text = "[1]".repeat(100_000);
    for (coding, body, expected) in [
        ("gzip", gzipped(text.as_bytes()), &*text),
        ("GZIP", gzipped(b"{}"), "{}"),
        ("x-gzip", gzipped(b"{}"), "{}"),
        ("gzip", [gzipped(b"{"), gzipped(b"}")].concat(), "{}"),
        ("gzip", gzipped(b""), ""),
        ("gzip", Vec::new(), ""),
        ("identity", b"{}".to_vec(), "{}"),
    ] {
        let server = TestServer::start(move |_| compressed(coding, &body)).await;
        let response = client(&server.url).send(&Request::new("/")).await.unwrap();
        assert_eq!(response.header("content-encoding").is_some(), coding == "identity");
        assert!(response.body(1 << 20).await.unwrap() == expected, "{coding}: {} bytes", expected.len());
    }
}

#[tokio::test]
async fn corrupted_and_truncated_bodies_differ() {
    let whole = gzipped(b"{}");
    for (body, expected) in [
        (b"{}".to_vec(), "is damaged: "),
        ([&whole, &b"{}"[..]].concat(), "is damaged: "),
        (whole[..20].to_vec(), " broke: the response ended in the middle"),
    ] {
        let server = TestServer::start(move |_| compressed("gzip", &body)).await;
        let response = client(&server.url).send(&Request::new("/")).await.unwrap();
        let error = response.body(1 << 20).await.unwrap_err();
        assert!(matches!(error, listwatch::Error::Transport(_)), "{error:?}");
        let reported = error.to_string();
        assert!(reported.contains(expected) && reported.contains("gzip data"), "{reported}");
    }
}

#[tokio::test]
async fn disabled_compression_is_not_requested() {
    let server = TestServer::start(|_| json(200, "{}")).await;
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("config");
    let cluster = format!("{{name: k, cluster: {{server: '{}', disable-compression: true}}}}", server.url);
    let context = "{name: c, context: {cluster: k}}";
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{cluster}]\ncontexts: [{context}]\n"
    );
    std::fs::write(&kubeconfig, text).unwrap();
    let options = ConfigOptions { kubeconfig: Some(kubeconfig), ..ConfigOptions::default() };
    let client = Client::new(&Config::load(&options).unwrap()).unwrap();
    assert_eq!(client.send(&Request::new("/")).await.unwrap().body(10).await.unwrap(), "{}");
    assert!(!server.requests().concat().contains("accept-encoding"), "{:?}", server.requests());
}

#[tokio::test]
async fn body_over_the_limit_is_an_error() {
    let server = TestServer::start(|_| json(200, "0123456789")).await;
    let response = client(&server.url).send(&Request::new("/")).await.unwrap();
    let error = response.body(9).await.unwrap_err();
    assert!(matches!(error, listwatch::Error::Decode(_)), "{error:?}");
}

#[tokio::test]
async fn refusal_has_meaning_and_retry_after() {
    let server = TestServer::start(|_| with_headers(429, "Retry-After: 7\r\n", "slow down")).await;
    let error = client(&server.url).send(&Request::new("/")).await.err().unwrap();
    assert!(matches!(error, listwatch::Error::TooManyRequests { .. }), "{error:?}");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn server_warnings_are_reported() {
    let server =
        TestServer::start(|_| with_headers(200, "Warning: 299 - \"v1 X is deprecated\"\r\n", "{}")).await;
    let (report, reported) = std::sync::mpsc::channel();
    let config = Config::for_server(&server.url).unwrap();
    let client = Client::with_options(
        &config,
        ClientOptions::default()
            .notices(Some(Arc::new(move |notice: Notice<'_>| report.send(format!("{notice:?}")).unwrap()))),
    );
    let client = client.unwrap();
    for _ in 0..2 {
        client.send(&Request::new("/")).await.unwrap();
    }
    assert_eq!(reported.try_iter().collect::<Vec<_>>(), ["Warning(\"v1 X is deprecated\")"]);
}

#[tokio::test]
async fn plain_request_to_a_tls_server_is_reported() {
    let server =
        TestServer::start(|_| with_headers(400, "", "Client sent an HTTP request to an HTTPS server.\n"))
            .await;
    let error = client(&server.url).send(&Request::new("/")).await.err().unwrap();
    assert!(matches!(error, listwatch::Error::Tls(_)) && error.to_string().contains("https://"), "{error}");
}

#[tokio::test]
async fn refused_connection_has_kubectls_message() {
    let error = client("http://127.0.0.1:1").send(&Request::new("/")).await.err().unwrap();
    assert!(matches!(error, listwatch::Error::Refused(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?"
    );
}

#[tokio::test]
async fn https_to_a_plain_server_is_a_tls_error() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ =
                tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let error = client(&format!("https://{address}")).send(&Request::new("/")).await.err().unwrap();
    assert!(matches!(error, listwatch::Error::Tls(_)), "{error:?}");
    assert!(error.to_string().contains("plain HTTP response"), "{error}");
    task.abort();
}

#[tokio::test]
async fn slow_response_is_a_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let request = Request::new("/").timeout(Some(Duration::from_millis(20)));
    let error = client(&format!("http://{address}")).send(&request).await.err().unwrap();
    assert!(matches!(error, listwatch::Error::Timeout(_)), "{error:?}");
    drop(listener);
}

#[tokio::test]
async fn truncated_body_is_a_transport_error() {
    let server = TestServer::start(|_| {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nXX".to_owned()
    })
    .await;
    let mut response = client(&server.url).send(&Request::new("/")).await.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "abc");
    let error = response.chunk().await.unwrap_err();
    assert!(matches!(error, listwatch::Error::Transport(_)), "{error:?}");
}

#[tokio::test]
async fn debug_of_client_and_config_shows_no_credentials() {
    let client = client("http://user:s3cret@127.0.0.1:1");
    let shown = format!("{client:?} {:?}", client.config());
    assert!(!shown.contains("s3cret") && shown.contains("127.0.0.1:1"), "{shown}");
}

#[tokio::test]
async fn request_on_a_closed_connection_is_sent_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        // Each connection serves one response without announcing its end, and closes with the next request.
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut request).await;
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, json(200, "{}").as_bytes()).await;
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut request).await;
        }
    });
    let client = client(&format!("http://{address}"));
    for _ in 0..3 {
        assert_eq!(client.send(&Request::new("/")).await.unwrap().body(10).await.unwrap(), "{}");
    }
    task.abort();
}

/// HTTP/1.1 has no pings, so TCP keep-alive detects a lost peer. The user timeout that shortens the probing is
/// not visible from outside.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn silent_connection_is_probed_by_tcp_keep_alive() {
    let server = TestServer::start(|_| json(200, "{}")).await;
    let port: u16 = server.url.rsplit(':').next().unwrap().parse().unwrap();
    let response = client(&server.url).send(&Request::new("/")).await.unwrap();
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let to_server = format!("0100007F:{port:04X}");
    let ours = sockets.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    // Established (01): an earlier server on the same port may have left a closed connection.
    let mut ours: Vec<_> = ours.filter(|fields| fields[2] == to_server && fields[3] == "01").collect();
    // A table that changes while it is read shows some lines twice.
    ours.dedup_by_key(|fields| fields[1]);
    let [socket] = &ours[..] else { panic!("one connection: {ours:?}") };
    // The active timer and its remaining time in hundredths of a second: 02 is the keep-alive timer.
    let (timer, left) = socket[5].split_once(':').unwrap();
    let left = u64::from_str_radix(left, 16).unwrap();
    assert!(timer == "02" && left <= 3000, "{socket:?}");
    drop(response);
}

#[tokio::test]
async fn refused_credentials_are_renewed_once_and_the_request_repeated() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "old").unwrap();
    let server =
        TestServer::start(|head| if head.contains("Bearer new") { json(200, "{}") } else { json(401, "{}") })
            .await;
    let mut config = Config::for_server(&server.url).unwrap();
    config.user_mut().token_file = Some(path.to_str().unwrap().into());
    let client = Client::new(&config).unwrap();
    let error = client.send(&Request::new("/")).await.err().unwrap();
    assert!(matches!(error, listwatch::Error::Unauthorized(_)), "{error:?}");
    assert_eq!(server.requests().len(), 1, "the same token would be rejected again");
    std::fs::write(&path, "new").unwrap();
    assert!(client.send(&Request::new("/")).await.is_ok());
    assert!(client.send(&Request::new("/")).await.is_ok());
    assert_eq!(server.requests().len(), 1 + 2 + 1, "the renewed token stays");
}

#[tokio::test]
async fn refused_fixed_token_is_not_sent_again() {
    let server = TestServer::start(|_| json(401, "{}")).await;
    let mut config = Config::for_server(&server.url).unwrap();
    config.user_mut().token = Some("t".to_owned().into());
    let error = Client::new(&config).unwrap().send(&Request::new("/")).await.err().unwrap();
    assert!(matches!(error, listwatch::Error::Unauthorized(_)), "{error:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn excess_streams_get_another_connection() {
    let connection_pool =
        ConnectionPool::open(&Config::for_server("http://127.0.0.1:1").unwrap(), None, Redaction::default())
            .unwrap();
    let permits: Vec<_> = (0..81).map(|_| connection_pool.transport().1).collect();
    assert!(Arc::ptr_eq(&permits[0], &permits[79]) && !Arc::ptr_eq(&permits[0], &permits[80]));
    drop(permits);
    assert_eq!(
        Arc::strong_count(&connection_pool.transport().1),
        2,
        "a connection without requests is used again"
    );
}

#[test]
fn refused_request_counts_as_accepted_credentials() {
    for (code, expected) in
        [(401, false), (403, true), (404, true), (410, true), (429, true), (500, false), (503, false)]
    {
        assert_eq!(is_authenticated(StatusCode::from_u16(code).unwrap()), expected, "{code}");
    }
}

/// A server with silent watches that responds to three probes.
#[tokio::test]
async fn silent_watch_ends_when_probes_without_credentials_fail() {
    let probes = std::sync::atomic::AtomicUsize::new(0);
    let server = TestServer::start(move |head| match () {
        () if head.contains("/livez") && probes.fetch_add(1, Ordering::Relaxed) < 3 => json(200, "ok"),
        () if head.contains("/refused") => json(503, "{}"),
        () if head.contains("/started") => "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_owned(),
        () => String::new(),
    })
    .await;
    let options = ConfigOptions {
        server: Some(server.url.clone()),
        as_user: Some("somebody".to_owned()),
        ..ConfigOptions::default()
    };
    let config = Config::load(&options).unwrap();
    let config = config.with_pings(Duration::from_millis(100), Duration::from_millis(500));
    let client = Client::new(&config).unwrap();
    let watch = |path| Request::new(path).query("watch", "true");
    let mut started = client.send(&watch("/started")).await.unwrap();
    assert_eq!(started.chunk().await.unwrap().as_deref(), Some(&b"{"[..]));
    let silent = started.chunk().await.err().unwrap().to_string();
    assert!(silent.contains("nothing was heard of it"), "{silent}");
    let never_started = client.send(&watch("/never")).await.err().unwrap().to_string();
    assert!(never_started.contains("nothing was heard of it"), "{never_started}");
    // A refused request does not prove that the server works: a proxy in front of it may have responded.
    assert!(client.send(&watch("/refused")).await.is_err());
    let never_started = tokio::time::timeout(Duration::from_mins(1), client.send(&watch("/never"))).await;
    assert!(
        never_started.is_ok_and(|refused| refused.is_err()),
        "a refused request does not end the liveness check"
    );
    let (probes, watches): (Vec<_>, Vec<_>) =
        server.requests().into_iter().partition(|head| head.contains("/livez"));
    assert!(probes.iter().all(|head| !head.contains("somebody")), "{probes:?}");
    assert!(watches.iter().all(|head| head.contains("somebody")), "{watches:?}");
}
