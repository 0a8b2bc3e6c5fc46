use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

use http::header::{AUTHORIZATION, HeaderValue};

use super::*;
use crate::client::connection::{Transport, tls};
use crate::client::test_server::{TestServer, with_headers};
use crate::kubeconfig::ConnectionOptions;

/// Collects the messages of these targets.
struct Collector {
    targets: &'static [&'static str],
    lines: Arc<Mutex<Vec<String>>>,
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.targets.contains(&metadata.target())
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        struct Message(String);
        impl Visit for Message {
            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                if field.name() == "message" {
                    self.0 = format!("{value:?}");
                }
            }
        }
        let mut message = Message(String::new());
        event.record(&mut message);
        self.lines.lock().unwrap().push(message.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// Sends a request with the token `s3cr3t-token` and returns the log, with each time replaced.
fn logged(targets: &'static [&'static str], path: &str, response: impl Into<Vec<u8>>) -> Vec<String> {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let collector = Collector { targets, lines: Arc::clone(&lines) };
    let response: Vec<u8> = response.into();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = tracing::subscriber::with_default(collector, || {
        runtime.block_on(async move {
            let server = TestServer::start(move |_| response.clone()).await;
            let (authorization, redaction) =
                (HeaderValue::from_static("Bearer s3cr3t-token"), Redaction::default());
            redaction.add_header(&authorization);
            let log = RequestLog::new(redaction);
            let http = Transport::new(&ConnectionOptions::default(), tls::unused().unwrap(), true, log);
            let request = Request::get(format!("{}{path}", server.url)).header(AUTHORIZATION, authorization);
            if let Ok(mut response) = http.send(request.body(Bytes::new()).unwrap(), None).await {
                while let Ok(Some(_)) = response.chunk().await {}
            }
            server.url.clone()
        })
    });
    let lines = std::mem::take(&mut *lines.lock().unwrap());
    let line = |line: String| match line.split_once(" in ") {
        Some((head, rest)) if rest.ends_with(" milliseconds") => format!("{head} in N milliseconds"),
        _ => line,
    };
    lines.into_iter().map(|text| line(text.replace(&server, "http://server"))).collect()
}

const ALL: &[&str] = &[REQUESTS, REQUEST_HEADERS, RESPONSE, BODY];

fn agent() -> String {
    format!("kdelta/{} ({}/{})", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH)
}

const PODS: &str = "/api/v1/pods?limit=2";

fn body(text: &str) -> String {
    with_headers(200, "Content-Type: application/json\r\nSet-Cookie: id=s3cr3t-session\r\n", text)
}

#[test]
fn each_target_adds_its_detail() {
    let head = "GET http://server/api/v1/pods?limit=2 200 OK in N milliseconds".to_owned();
    assert_eq!(logged(&[REQUESTS], PODS, body("{}")), std::slice::from_ref(&head));
    let request = format!(
        "GET http://server/api/v1/pods?limit=2\nAccept-Encoding: gzip\nAuthorization: Bearer <masked>\nUser-Agent: {}",
        agent()
    );
    assert_eq!(logged(&[REQUESTS, REQUEST_HEADERS], PODS, body("{}")), [request.clone(), head.clone()]);
    let response = "GET http://server/api/v1/pods?limit=2 HTTP/1.1 200 OK\nContent-Length: 2\nContent-Type: application/json\nSet-Cookie: <masked>".to_owned();
    let shown = "GET http://server/api/v1/pods?limit=2 body, 2 bytes:\n{}".to_owned();
    let expected = [request.clone(), head.clone(), response.clone(), shown.clone()];
    assert_eq!(logged(&[REQUESTS, REQUEST_HEADERS, RESPONSE], PODS, body("{}")), expected);
    let command = format!(
        "curl -v -XGET --compressed -H 'Authorization: Bearer <masked>' -H 'User-Agent: {}' 'http://server/api/v1/pods?limit=2'",
        agent()
    );
    assert_eq!(logged(ALL, PODS, body("{}")), [request, command, head, response, shown]);
    assert_eq!(logged(&[], PODS, body("{}")), [""; 0]);
}

#[test]
fn beginning_of_a_body_ends_before_a_cut_credential() {
    let text = format!("{}s3cr3t-token and more", "x".repeat(1018));
    let lines = logged(&[REQUESTS, RESPONSE], PODS, body(&text));
    let shown = format!(
        "GET http://server/api/v1/pods?limit=2 body, the first 1024 of {} bytes:\n{}",
        text.len(),
        "x".repeat(1018)
    );
    assert_eq!(lines.last(), Some(&shown));
    let whole = logged(ALL, PODS, body(&text));
    let expected = format!(
        "GET http://server/api/v1/pods?limit=2 body, {} bytes:\n{}*** and more",
        text.len(),
        "x".repeat(1018)
    );
    assert_eq!(whole.last(), Some(&expected));
}

#[test]
fn whole_body_is_bounded() {
    let text = "y".repeat((1 << 20) + 5);
    let lines = logged(ALL, PODS, body(&text));
    let last = lines.last().unwrap();
    assert!(last.contains("body, the first 1048576 of 1048581 bytes:\ny"), "{}", &last[..100]);
    assert!(last.len() < (1 << 20) + 100);
}

#[test]
fn bodies_with_credentials_are_not_shown() {
    let secrets = "/api/v1/namespaces/shop/secrets";
    let lines = logged(ALL, secrets, body(r#"{"data":{"a":"czNjcjN0"}}"#));
    let expected = "GET http://server/api/v1/namespaces/shop/secrets body not shown: it may hold credentials";
    assert_eq!(lines.last().unwrap(), expected);
    assert!(!lines.join("\n").contains("czNjcjN0"));
    let refused = logged(ALL, secrets, with_headers(403, "", "no s3cr3t-token"));
    assert!(refused.last().unwrap().ends_with(" body, 15 bytes:\nno ***"), "{refused:?}");
}

#[test]
fn each_event_of_a_watch_is_logged_as_it_ends() {
    let watch = "/api/v1/pods?watch=true";
    let events =
        format!("{{\"type\":\"ADDED\"}}\n{{\"x\":\"{}\"}}\n{{\"type\":\"DELETED\"}}\n", "z".repeat(2000));
    let title = "GET http://server/api/v1/pods?watch=true";
    let all = logged(&[BODY, RESPONSE, REQUESTS], watch, body(&events));
    let all: Vec<_> = all.iter().filter(|line| line.contains(" event, ")).collect();
    assert_eq!(all.len(), 3);
    assert_eq!(*all[0], format!("{title} event, 17 bytes:\n{{\"type\":\"ADDED\"}}\n"));
    let beginning = logged(&[REQUESTS, RESPONSE], watch, body(&events));
    let rest: Vec<_> = beginning[2..].iter().map(|line| line.lines().next().unwrap()).collect();
    assert_eq!(
        rest,
        [
            format!("{title} event, 17 bytes:"),
            format!("{title} event, the first 1007 of 2009 bytes:"),
            format!("{title} further events are not shown")
        ]
    );
}

#[test]
fn binary_body_is_shown_as_a_dump_without_credentials() {
    let binary =
        |text: &str| with_headers(200, "Content-Type: application/vnd.kubernetes.protobuf\r\n", text);
    let lines = logged(ALL, PODS, binary("k8s\0ab"));
    assert!(lines.last().unwrap().ends_with("  |k8s.ab|"), "{lines:?}");
    let lines = logged(ALL, PODS, binary("k8s\0s3cr3t-token"));
    assert!(lines.last().unwrap().ends_with("(it repeats a credential)"), "{lines:?}");
}

#[test]
fn request_without_a_response_is_logged() {
    let lines = logged(&[REQUESTS], PODS, "no HTTP");
    assert!(lines[0].starts_with("GET http://server/api/v1/pods?limit=2 failed in "), "{lines:?}");
    let log = RequestLog::default();
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let collector = Collector { targets: &[REQUESTS], lines: Arc::clone(&lines) };
    tracing::subscriber::with_default(collector, || {
        drop(log.begin(&Request::get("http://h/x").body(Bytes::new()).unwrap()));
    });
    assert!(lines.lock().unwrap()[0].starts_with("GET http://h/x given up after "));
}
