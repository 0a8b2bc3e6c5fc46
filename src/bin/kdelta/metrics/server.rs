//! The HTTP server of metrics and health. It bounds connections, their time and the size of requests: no client can hold up
//! another one, nor the command.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::Metrics;
use super::response::respond;
use crate::system_words::system_words;

/// The maximum number of open connections. A further one closes the oldest: a client that does nothing must not keep others
/// out.
const MAX_CONNECTIONS: usize = 32;

/// The time limit of a connection, which carries one request.
const CONNECTION_TIME: Duration = Duration::from_secs(10);

/// The time limit for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(5);

/// The maximum size of the head of a request.
const HEAD_SIZE: usize = 16 * 1024;

/// The maximum number of header lines.
const MAX_HEADERS: usize = 64;

/// The pause after a connection could not be accepted, for example because the process has no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The address of the metrics can't be used.
#[derive(Debug, thiserror::Error)]
#[error("can't serve metrics on {host}:{port}: {}", system_words(error))]
pub(crate) struct ListenError {
    host: String,
    port: u16,
    error: io::Error,
}

/// A listener that is not served yet.
pub(crate) struct MetricsServer {
    listener: TcpListener,
    address: SocketAddr,
}

impl MetricsServer {
    /// Listens on an address; port 0 selects a free one.
    ///
    /// # Errors
    /// The address is in use, or not of this machine.
    pub(crate) async fn bind(host: &str, port: u16) -> Result<Self, ListenError> {
        let bound = TcpListener::bind((host, port)).await;
        let bound = bound.and_then(|listener| Ok((listener.local_addr()?, listener)));
        match bound {
            Ok((address, listener)) => Ok(Self { listener, address }),
            Err(error) => Err(ListenError { host: host.to_owned(), port, error }),
        }
    }

    /// Returns the address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the future is dropped, which closes the listener and all connections.
    pub(crate) async fn serve(self, metrics: Metrics) {
        let mut connections = JoinSet::new();
        let mut open: VecDeque<AbortHandle> = VecDeque::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        open.retain(|connection| !connection.is_finished());
                        if open.len() >= MAX_CONNECTIONS && let Some(oldest) = open.pop_front() {
                            oldest.abort();
                        }
                        open.push_back(connections.spawn(connection(stream, metrics.clone())));
                    }
                    Err(_) => sleep(ACCEPT_PAUSE).await,
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }
}

/// Serves one request.
async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, metrics: Metrics) {
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let response = respond(&metrics, request.method(), request.uri());
        async move { Ok::<_, Infallible>(response) }
    });
    let mut protocol = http1::Builder::new();
    protocol
        .keep_alive(false)
        .max_buf_size(HEAD_SIZE)
        .max_headers(MAX_HEADERS)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME);
    // An error is the client's, which gets a response where HTTP has one.
    let _ended = timeout(CONNECTION_TIME, protocol.serve_connection(TokioIo::new(stream), service)).await;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::clock::TokioClock;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    /// Serves metrics on a free port.
    async fn serve() -> (SocketAddr, JoinSet<()>) {
        let server = MetricsServer::bind("127.0.0.1", 0).await.expect("a port");
        let address = server.address();
        let mut serving = JoinSet::new();
        serving.spawn(server.serve(Metrics::new(Arc::new(TokioClock))));
        (address, serving)
    }

    /// Sends bytes and returns everything up to the end of the connection.
    async fn exchange(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        // The server may close before it has read everything.
        let _ = stream.write_all(request).await;
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response).await;
        String::from_utf8_lossy(&response).into_owned()
    }

    async fn request(address: SocketAddr, line: &str) -> String {
        exchange(address, format!("{line} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await
    }

    #[tokio::test]
    async fn paths_and_methods_have_their_status() {
        let (address, _serving) = serve().await;
        for (line, status, contains) in [
            ("GET /metrics", 200, "\nprocess_start_time_seconds "),
            ("GET /metrics?x=y", 200, "text/plain; version=0.0.4"),
            ("GET /healthz", 200, "\r\n\r\nok\n"),
            ("GET /readyz", 503, "\r\n\r\nnot ready\nthe initial state is incomplete\n"),
            ("GET /readyz?max-behind=0.5", 503, "not ready"),
            ("GET /readyz?max-behind=x", 400, "max-behind must be a number of seconds"),
            ("GET /readyz?max-behind=-1", 400, "max-behind"),
            ("GET /readyz?max-behind=1e300", 400, "max-behind"),
            ("GET /", 200, "/metrics\n/healthz\n/readyz\n"),
            ("GET /metricsx", 404, "not found"),
            ("GET /../etc/passwd", 404, "not found"),
            ("POST /metrics", 405, "allow: GET, HEAD"),
            ("DELETE /healthz", 405, "allow: GET, HEAD"),
        ] {
            let response = request(address, line).await;
            assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {response}");
            assert!(response.contains(contains), "{line}: {response}");
        }
        let head = request(address, "HEAD /healthz").await;
        assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
        assert!(head.contains("content-length: 3"), "{head}");
    }

    #[tokio::test]
    async fn garbage_ends_its_own_connection_only() {
        let (address, _serving) = serve().await;
        let long = [b"GET /".as_slice(), &vec![b'a'; 100_000], b" HTTP/1.1\r\n\r\n"].concat();
        let headers = "x: y\r\n".repeat(1000);
        let many = format!("GET /metrics HTTP/1.1\r\n{headers}\r\n");
        let mut random = fastrand::Rng::with_seed(21);
        let noise: Vec<Vec<u8>> =
            (0..50).map(|_| (0..random.usize(1..3000)).map(|_| random.u8(..)).collect()).collect();
        let fixed: [&[u8]; 6] = [
            &long,
            many.as_bytes(),
            b"\r\n\r\n\r\n",
            b"GET\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00",
            b"GET /metrics HTTP/9.9\r\n\r\n",
        ];
        for bytes in noise.iter().map(Vec::as_slice).chain(fixed) {
            // Ends the line of noise that has none.
            let bytes = [bytes, b"\r\n\r\n"].concat();
            let response = exchange(address, &bytes).await;
            assert!(!response.starts_with("HTTP/1.1 200"), "{response}");
        }
        assert!(request(address, "GET /healthz").await.starts_with("HTTP/1.1 200 "));
    }

    #[tokio::test]
    async fn silent_clients_keep_no_other_out() {
        let (address, _serving) = serve().await;
        let mut silent = Vec::new();
        for _ in 0..MAX_CONNECTIONS * 2 {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            stream.write_all(b"GET /metrics HT").await.expect("a part of a request");
            silent.push(stream);
        }
        assert!(request(address, "GET /healthz").await.starts_with("HTTP/1.1 200 "));
        let mut byte = [0];
        // The oldest was closed for a later one; on some systems with a reset.
        assert!(!matches!(silent[0].read(&mut byte).await, Ok(1..)), "the oldest is closed");
    }

    #[tokio::test(start_paused = true)]
    async fn silent_client_is_disconnected() {
        let (client, server) = tokio::io::duplex(1024);
        let (mut reader, mut writer) = tokio::io::split(client);
        writer.write_all(b"GET /metrics HTTP/1.1\r\n").await.expect("room");
        let began = tokio::time::Instant::now();
        connection(server, Metrics::new(Arc::new(TokioClock))).await;
        assert!(began.elapsed() <= CONNECTION_TIME, "{:?}", began.elapsed());
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).await.expect("the end");
    }

    #[tokio::test]
    async fn used_address_is_an_error_and_the_end_frees_it() {
        let (address, mut serving) = serve().await;
        let error = MetricsServer::bind("127.0.0.1", address.port()).await.err().expect("it is in use");
        let expected = format!("can't serve metrics on {address}: address already in use");
        assert_eq!(error.to_string(), expected);
        serving.shutdown().await;
        assert!(TcpStream::connect(address).await.is_err(), "nothing listens");
        assert!(MetricsServer::bind("127.0.0.1", address.port()).await.is_ok());
    }
}
