//! A loopback HTTP/1.1 server with scripted replies, byte by byte.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The request line and the headers.
    pub(crate) head: String,
}

impl Request {
    /// `PATH?QUERY`.
    pub(crate) fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// The path without the query.
    pub(crate) fn path(&self) -> &str {
        self.target().split('?').next().unwrap_or_default()
    }

    /// Returns whether the query has the parameter.
    pub(crate) fn has(&self, parameter: &str) -> bool {
        let query = self.target().split_once('?').map_or("", |(_, query)| query);
        query.split('&').any(|pair| pair.split('=').next() == Some(parameter))
    }

    /// Returns whether it lists or watches objects, as opposed to discovery.
    pub(crate) fn is_of_objects(&self) -> bool {
        self.path().matches('/').count() > 3 || self.path().starts_with("/api/v1/")
    }

    pub(crate) fn is_watch(&self) -> bool {
        self.has("watch")
    }
}

/// A scripted reply.
pub(crate) enum Reply {
    /// A head and a body on a connection that stays open for the next request.
    Bytes(Vec<u8>),
    /// The same, after which the connection closes.
    Last(Vec<u8>),
    /// No reply: the connection stays open until the client closes it.
    Silence,
    /// Pieces until the closure returns `None` or the client closes. The connection closes afterwards.
    Pieces(Box<dyn FnMut() -> Option<Vec<u8>> + Send>),
}

impl Reply {
    /// Returns a JSON response.
    pub(crate) fn json(code: u16, body: impl AsRef<str>) -> Self {
        Self::with_headers(code, "Content-Type: application/json\r\n", body.as_ref())
    }

    /// Returns the error page of an intermediary that is not a Kubernetes server.
    pub(crate) fn html(code: u16) -> Self {
        Self::with_headers(code, "Content-Type: text/html\r\n", "<html><body>Welcome</body></html>")
    }

    /// Returns a Status as a Kubernetes server words it.
    pub(crate) fn status(code: u16, reason: &str, message: &str) -> Self {
        Self::json(code, status(code, reason, message))
    }

    /// The same with a Retry-After header.
    pub(crate) fn retry_after(code: u16, seconds: u64, reason: &str, message: &str) -> Self {
        let headers = format!("Content-Type: application/json\r\nRetry-After: {seconds}\r\n");
        Self::with_headers(code, &headers, status(code, reason, message))
    }

    /// Returns a response with these header lines, each with its line end.
    pub(crate) fn with_headers(code: u16, headers: &str, body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let head = format!("HTTP/1.1 {code} Said\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        Self::Bytes([head.as_bytes(), body].concat())
    }
}

fn status(code: u16, reason: &str, message: &str) -> String {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "reason": reason, "message": message, "code": code,
    });
    status.to_string()
}

/// A server on a free loopback port; it accepts until it is dropped.
pub(crate) struct HostileServer {
    url: String,
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    /// Set on drop, and read by the accepting thread, which the drop wakes by a connection.
    is_closed: Arc<AtomicBool>,
}

impl HostileServer {
    /// Starts a server that replies to every request with the closure's result.
    pub(crate) fn start(reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let is_closed = Arc::new(AtomicBool::new(false));
        let (reply, kept, closed) = (Arc::new(reply), Arc::clone(&requests), Arc::clone(&is_closed));
        // One thread per connection, which ends when the client closes it: the client is a child process that ends.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if closed.load(Ordering::SeqCst) {
                    return;
                }
                let (reply, kept) = (Arc::clone(&reply), Arc::clone(&kept));
                thread::spawn(move || serve(stream, &*reply, &kept));
            }
        });
        Self { url: format!("http://127.0.0.1:{port}"), port, requests, is_closed }
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the requests for objects so far.
    pub(crate) fn object_requests(&self) -> Vec<Request> {
        self.requests().into_iter().filter(Request::is_of_objects).collect()
    }

    /// Returns the reply of a correct server of `pods` and `configmaps` in the core group and `deployments` in `apps`:
    /// lists are empty, and watches have no events.
    pub(crate) fn honest(request: &Request) -> Reply {
        let names = |plural: &str, kind: &str, short: &str| {
            serde_json::json!({
                "resource": plural, "responseKind": {"group": "", "version": "", "kind": kind},
                "scope": "Namespaced", "singularResource": kind.to_lowercase(), "shortNames": [short],
                "verbs": ["get", "list", "watch"],
            })
        };
        let groups = |group: &str, resources: Vec<serde_json::Value>| {
            serde_json::json!({
                "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
                "items": [{"metadata": {"name": group}, "versions": [{"version": "v1", "resources": resources}]}],
            })
        };
        let aggregated = |body: serde_json::Value| {
            let form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
            Reply::with_headers(200, &format!("Content-Type: {form}\r\n"), body.to_string())
        };
        match request.path() {
            "/api" => aggregated(groups(
                "",
                vec![names("pods", "Pod", "po"), names("configmaps", "ConfigMap", "cm")],
            )),
            "/apis" => aggregated(groups("apps", vec![names("deployments", "Deployment", "deploy")])),
            "/version" => Reply::json(200, r#"{"major":"1","minor":"36","gitVersion":"v1.36.0"}"#),
            "/livez" => Reply::with_headers(200, "", "ok"),
            _ if request.is_watch() => {
                let mut pieces = vec![
                    watch_head(),
                    chunk(
                        &serde_json::json!({"type": "BOOKMARK", "object": {
                            "kind": "Pod", "apiVersion": "v1", "metadata": {
                                "resourceVersion": "7",
                                "annotations": {"k8s.io/initial-events-end": "true"},
                            },
                        }})
                        .to_string(),
                    ),
                ];
                pieces.reverse();
                // Then it stays open.
                Reply::Pieces(Box::new(move || pieces.pop().or_else(|| Some(nothing_for(TICK)))))
            }
            _ if request.is_of_objects() => Reply::json(
                200,
                r#"{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}"#,
            ),
            _ => Reply::status(404, "NotFound", "the server could not find the requested resource"),
        }
    }
}

/// The interval at which an idle watch checks whether its client has closed.
const TICK: Duration = Duration::from_millis(200);

/// Waits and sends nothing.
fn nothing_for(time: Duration) -> Vec<u8> {
    // The interval at which the writer finds that the client has closed.
    thread::sleep(time);
    Vec::new()
}

/// Waits a moment, and sends nothing: for a watch that stays open.
pub(crate) fn idle() -> Vec<u8> {
    nothing_for(TICK)
}

/// Returns the head of a chunked response.
pub(crate) fn watch_head() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()
}

/// Returns one chunk of a body with one line.
pub(crate) fn chunk(line: &str) -> Vec<u8> {
    format!("{:x}\r\n{line}\n\r\n", line.len() + 1).into_bytes()
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::SeqCst);
        let _wakes = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

fn serve(stream: TcpStream, reply: &(dyn Fn(&Request) -> Reply + Send + Sync), kept: &Mutex<Vec<Request>>) {
    let Ok(reading) = stream.try_clone() else { return };
    let (mut reader, mut writer) = (BufReader::new(reading), stream);
    while let Some(request) = read(&mut reader) {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let goes_on = match reply(&request) {
            Reply::Bytes(bytes) => writer.write_all(&bytes).is_ok(),
            Reply::Last(bytes) => {
                let _sent = writer.write_all(&bytes);
                false
            }
            Reply::Silence => {
                // The client sends nothing more before it closes.
                let _ended = reader.fill_buf();
                false
            }
            Reply::Pieces(mut next) => {
                while let Some(piece) = next() {
                    if writer.write_all(&piece).is_err() || is_closed(&writer) {
                        break;
                    }
                }
                false
            }
        };
        if !goes_on {
            break;
        }
    }
    let _ended = writer.shutdown(Shutdown::Both);
}

/// Returns whether the client has closed its side.
fn is_closed(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return true;
    }
    let closed = matches!(stream.peek(&mut [0]), Ok(0));
    stream.set_nonblocking(false).is_err() || closed
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut head = String::new();
    loop {
        let before = head.len();
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
        if head[before..].trim_end().is_empty() {
            return Some(Request { head });
        }
    }
}
