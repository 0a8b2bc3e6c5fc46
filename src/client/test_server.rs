//! The HTTP/1.1 server of unit tests, which responds from a closure and records the requests, and a certificate.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The self-signed certificate of `kdelta.test`, valid until 2126.
pub(crate) const SELF_SIGNED: &str = include_str!("../kubeconfig/testdata/self_signed.pem");

/// A server on a free port of loopback, until it is dropped.
pub(crate) struct TestServer {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl TestServer {
    /// Starts a server. The closure receives the head of each request and returns the whole response.
    pub(crate) async fn start<A: Into<Vec<u8>> + 'static>(
        respond: impl Fn(&str) -> A + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (respond, kept) = (Arc::new(respond), Arc::clone(&requests));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&respond), Arc::clone(&kept)));
            }
        });
        Self { url, requests, task }
    }

    /// Returns the heads of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve<A: Into<Vec<u8>>>(
    mut stream: TcpStream,
    respond: Arc<impl Fn(&str) -> A>,
    kept: Arc<Mutex<Vec<String>>>,
) {
    let mut head = Vec::new();
    while let Ok(byte) = stream.read_u8().await {
        head.push(byte);
        if head.ends_with(b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&head).into_owned();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            let mut body = vec![0; length.unwrap_or_default()];
            if stream.read_exact(&mut body).await.is_err() {
                return;
            }
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(text.clone());
            let response = respond(&text).into();
            if stream.write_all(&response).await.is_err() {
                return;
            }
            head.clear();
        }
    }
}

/// Polls for the effect of another process. Panics after a time limit.
pub(crate) async fn eventually<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_mins(1), "timed out: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Formats a response with a JSON body.
pub(crate) fn json(code: u16, body: &str) -> String {
    with_headers(code, "Content-Type: application/json\r\n", body)
}

/// Formats a response with a body and more header lines, each with its line end.
pub(crate) fn with_headers(code: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {code} Said\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}
