//! A client of one server: sends requests and renews the credentials that they carry.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::StatusCode;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use http::uri::Uri;
use percent_encoding::percent_decode_str;
use tokio::time;
use tower::BoxError;
use tracing::debug;

use super::{Request, Response};
use crate::client::connection::{IncomingResponse, LivenessCheck, unless_unresponsive};
use crate::client::connection_pool::ConnectionPool;
use crate::client::login::progress::LoginProgress;
use crate::client::login::{Credentials, RequestAuth};
use crate::client::notice::Listener;
use crate::client::redaction::Redaction;
use crate::client::silence::Silence;
use crate::client::warnings::Warnings;
use crate::client::{Notice, failure};
use crate::kubeconfig::Error;
use crate::kubeconfig::{Config, Proxy};
use crate::listwatch;
use crate::object::ApiResource;

/// The part of a refusal's body that is read: a Status has some hundred bytes, a proxy's error page may have any
/// size.
const REFUSAL_LIMIT: usize = 256 * 1024;

/// A client of one server, with its credentials. Cheap to clone; clones share connections and credentials.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    /// `host:port` for messages.
    authority: Arc<str>,
    /// Shared with the tasks that renew them.
    credentials: Arc<Credentials>,
    login_progress: LoginProgress,
    /// The connections with the client certificate of the last request. A std lock: held to read and replace them,
    /// never across an await.
    connection_pool: Mutex<Arc<ConnectionPool>>,
    warnings: Warnings,
    silence: Arc<Silence>,
    /// The credentials that were sent, which are masked in responses.
    redaction: Redaction,
    /// The resources whose watches do not deliver the initial state. A std lock, for a lookup; bounded by the number
    /// of the server's resources.
    no_watch_list: Mutex<HashSet<ApiResource>>,
    /// Bytes of bodies. Relaxed: a statistic.
    received: Arc<AtomicU64>,
    /// Whether the head of any response has arrived. Relaxed: nothing else is ordered by it.
    has_response: AtomicBool,
}

impl Client {
    /// Returns a client without connections. A credential plugin runs with the first request, not here.
    ///
    /// # Errors
    /// [`Error::Credentials`] and [`Error::Invalid`] for unreadable files and invalid certificates.
    pub fn new(config: &Config) -> Result<Self, Error> {
        Self::make(config, None)
    }

    /// Returns a client whose notices go to a listener.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_notices(
        config: &Config,
        report: impl Fn(Notice<'_>) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        Self::make(config, Some(Arc::new(report)))
    }

    fn make(config: &Config, listener: Option<Listener>) -> Result<Self, Error> {
        let connection_pool = ConnectionPool::open(config)?;
        let redaction = Redaction::default();
        if let Some(proxy) = &config.connection_options().proxy {
            redaction.add_proxy(proxy);
        }
        let inner = Inner {
            authority: config.authority().into(),
            config: config.clone(),
            credentials: Arc::new(Credentials::open(config, listener.clone())?),
            login_progress: LoginProgress::default(),
            connection_pool: Mutex::new(Arc::new(connection_pool)),
            silence: Arc::new(Silence::new(config.authority().into(), listener.clone())),
            warnings: Warnings::new(listener, redaction.clone()),
            redaction,
            no_watch_list: Mutex::default(),
            received: Arc::default(),
            has_response: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the client's configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Sends a request and waits for the head of the response. When the server refuses the credentials, they are
    /// renewed if possible, and the request is sent once more. Dropping the future drops the request, but not a
    /// credential plugin that runs for it: the next request waits for the same run.
    ///
    /// # Errors
    /// The server's refusal or the network's failure, by meaning. Credentials that can't be obtained are
    /// [`listwatch::Error::Unauthorized`] with an empty reason.
    pub async fn send(&self, request: &Request) -> Result<Response, listwatch::Error> {
        let credentials = Arc::clone(&self.inner.credentials);
        let auth = self
            .login_outcome(Box::pin(async move { credentials.current().await }))
            .await
            .map_err(|error| self.inner.redaction.error(login_error(error)))?;
        let began = Instant::now();
        // Boxed: a list awaits two of them at a time, and would be as large as both.
        let refused = match Box::pin(self.attempt(&auth, request)).await {
            Err(error @ listwatch::Error::Unauthorized(_)) => error,
            // The refusal of a server that requires a valid client certificate.
            Err(error) if auth.identity().is_some() && failure::is_remote_alert(&error) => error,
            other => return other,
        };
        // The time for renewing the credentials does not count against the server's.
        let left = request.timeout.map(|timeout| timeout.saturating_sub(began.elapsed()));
        let credentials = Arc::clone(&self.inner.credentials);
        let fresh =
            self.login_outcome(Box::pin(async move { credentials.replacement_for(&auth).await })).await;
        match fresh.map_err(|error| self.inner.redaction.error(login_error(error)))? {
            None => Err(refused),
            Some(fresh) => {
                debug!(error = %refused, "credentials refused, trying others");
                Box::pin(self.attempt(&fresh, &request.clone().timeout(left))).await
            }
        }
    }

    /// Returns the outcome of work on the credentials. If a plugin or an issuer provides them, the work runs in a
    /// task of its own.
    async fn login_outcome<T: Send + 'static>(
        &self,
        work: BoxFuture<'static, Result<T, Error>>,
    ) -> Result<T, Error> {
        if self.inner.credentials.are_external() {
            return self.inner.login_progress.outcome(work).await;
        }
        work.await
    }

    /// Returns the total time that requests have waited for credentials of a plugin or an issuer: a plugin that
    /// prompts the user may take minutes, during which the server is not at fault.
    pub(crate) fn external_wait(&self) -> Duration {
        self.inner.login_progress.waited()
    }

    /// Returns the connections with this certificate. Connections that they replace are no longer used, and their
    /// watches end.
    fn connection_pool(&self, auth: &RequestAuth) -> Arc<ConnectionPool> {
        let mut connection_pool = self.inner.connection_pool.lock().unwrap_or_else(PoisonError::into_inner);
        if !connection_pool.serves(auth.identity()) {
            let next = Arc::new(connection_pool.with_identity(auth.identity().cloned()));
            std::mem::replace(&mut *connection_pool, next).retire();
        }
        Arc::clone(&connection_pool)
    }

    async fn attempt(&self, auth: &RequestAuth, request: &Request) -> Result<Response, listwatch::Error> {
        let connection_pool = self.connection_pool(auth);
        let mut http_request =
            http::Request::get(self.uri(request)?).body(Bytes::new()).map_err(invalid_request)?;
        *http_request.headers_mut() = self.inner.credentials.headers(auth);
        // Before the request is sent: the server can't repeat it earlier.
        if let Some(header) = http_request.headers().get(AUTHORIZATION) {
            self.inner.redaction.add_header(header);
        }
        http_request
            .headers_mut()
            .insert(ACCEPT, HeaderValue::try_from(&*request.accept).map_err(invalid_request)?);
        let path = http_request.uri().path_and_query().cloned();
        // A continue token is the server's text.
        let shown = path.as_ref().map(|path| self.inner.redaction.apply(path.as_str()));
        let shown = shown.as_deref();
        let started = Instant::now();
        let mut liveness_check =
            if request.is_watch() { self.liveness_check(&connection_pool) } else { None };
        let exchange = self.exchange(&connection_pool, request, &http_request, &mut liveness_check);
        let exchanged = self.inner.silence.before_head(&request.path, request.timeout, exchange).await;
        let (response, permit) = exchanged.inspect_err(|error| {
            debug!(method = "GET", path = shown, %error, elapsed = ?started.elapsed(), "no answer");
        })?;
        self.inner.has_response.store(true, Ordering::Relaxed);
        let version = response.head.version;
        // HTTP/2 has pings.
        let liveness_check = liveness_check.filter(|_| version < http::Version::HTTP_2);
        let retired = connection_pool.retired();
        let received = Arc::clone(&self.inner.received);
        let response = Response::new(
            response,
            Arc::clone(&self.inner.authority),
            permit,
            retired,
            received,
            self.inner.redaction.clone(),
        );
        // Silence is normal in a watch.
        let is_list = !request.is_watch();
        let silence = is_list.then(|| self.inner.silence.of_body(&request.path, request.timeout)).flatten();
        let response = response.with_liveness_check(liveness_check).with_silence(silence);
        let code = response.status();
        debug!(method = "GET", path = shown, status = code.as_u16(), ?version, elapsed = ?started.elapsed(), "answer");
        self.inner.warnings.of(response.headers());
        if code.is_success() {
            self.inner.credentials.accepted(auth);
            // A refusal may come from a proxy in front of the server.
            if request.is_watch() {
                connection_pool.liveness.watch_responded();
            }
            return Ok(response);
        }
        let proxy = self.inner.config.connection_options().proxy.as_ref().map(Proxy::authority);
        if let Some(refusal) = proxy.and_then(|proxy| failure::of_proxy(code, proxy)) {
            return Err(refusal);
        }
        let retry_after =
            response.header("retry-after").and_then(|value| value.parse().ok()).map(Duration::from_secs);
        let body = response.prefix(REFUSAL_LIMIT).await;
        if is_authenticated(code) {
            self.inner.credentials.accepted(auth);
        }
        let misunderstood = failure::plain_to_tls(&body, &self.inner.authority);
        Err(misunderstood.unwrap_or_else(|| {
            failure::of_response(code.as_u16(), retry_after, &body, &self.inner.redaction)
        }))
    }

    /// Sends the request over a connection with capacity, and waits for the head of the response. Returns it with the
    /// permit for the connection.
    async fn exchange(
        &self,
        connection_pool: &ConnectionPool,
        request: &Request,
        http_request: &http::Request<Bytes>,
        liveness_check: &mut Option<LivenessCheck>,
    ) -> Result<(IncomingResponse, Arc<()>), listwatch::Error> {
        let began = time::Instant::now();
        let sending = async {
            let mut own = if request.is_watch() { connection_pool.dedicated_transport() } else { None };
            loop {
                let is_own = own.is_some();
                let (http, permit) = own.take().unwrap_or_else(|| connection_pool.transport());
                match http.send(http_request.clone(), request.timeout).await {
                    Err(error) if is_own && failure::is_other_protocol(&*error) => {
                        connection_pool.disable_dedicated();
                    }
                    sent => return Ok::<_, BoxError>((sent?, permit)),
                }
            }
        };
        let authority = &self.inner.authority;
        let Some(sent) = unless_unresponsive(liveness_check, began, sending).await else {
            return Err(failure::silence(authority, began.elapsed()));
        };
        let proxy = self.inner.config.connection_options().proxy.as_ref().map(Proxy::authority);
        sent.map_err(|error| self.inner.redaction.error(failure::before_answer(&*error, authority, proxy)))
    }

    /// Returns the liveness check for the server of a watch. Its probe carries no token: a refusal is a response as
    /// well, and the token of the watch's start may have expired.
    fn liveness_check(&self, connection_pool: &ConnectionPool) -> Option<LivenessCheck> {
        let options = self.inner.config.connection_options();
        let question = http::Request::get(self.uri(&Request::new("/livez")).ok()?).body(Bytes::new()).ok()?;
        let liveness = Arc::clone(&connection_pool.liveness);
        Some(LivenessCheck::new(
            connection_pool.transport().0,
            question,
            liveness,
            options.ping_after?,
            options.ping_timeout,
        ))
    }

    /// Reports a long wait before a request is repeated. The error is masked already.
    pub(super) fn notify_wait(&self, path: &str, error: &listwatch::Error, after: Duration) {
        if after > Duration::from_secs(2) {
            let (server, reason) = (&*self.inner.authority, &*error.to_string());
            self.inner.warnings.notify(Notice::Retrying { server, path, reason, after });
        }
    }

    /// Reports names of the server's discovery that can't be used.
    pub(super) fn report_unusable_names(&self, count: usize, example: &str) {
        let example = &self.inner.redaction.apply(example);
        self.inner.warnings.notify(Notice::UnusableNames { count, example });
    }

    /// Returns the credentials that this client sends, in order to mask them in texts that come from the server. Errors and
    /// notices of this client are masked already.
    #[must_use]
    pub fn redaction(&self) -> &Redaction {
        &self.inner.redaction
    }

    /// Returns whether the server has responded to any request, if only with a refusal.
    pub(super) fn has_response(&self) -> bool {
        self.inner.has_response.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes of all response bodies so far, after decompression.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.inner.received.load(Ordering::Relaxed)
    }

    /// Returns whether watches of this resource are still expected to deliver the initial state.
    pub(super) fn supports_watch_list(&self, resource: &ApiResource) -> bool {
        !self.inner.no_watch_list.lock().unwrap_or_else(PoisonError::into_inner).contains(resource)
    }

    /// Records that watches of this resource do not deliver the initial state.
    pub(super) fn disable_watch_list(&self, resource: &ApiResource) {
        self.inner.no_watch_list.lock().unwrap_or_else(PoisonError::into_inner).insert(resource.clone());
    }

    fn uri(&self, request: &Request) -> Result<Uri, listwatch::Error> {
        let mut url = self.inner.config.url().clone();
        let path = format!("{}{}", url.path().trim_end_matches('/'), request.path);
        url.set_path(&path);
        if !stays_below(&request.path, &path, url.path()) {
            let message =
                format!("the request can't be sent: its path {:?} leaves that of the server", request.path);
            return Err(listwatch::Error::Invalid(listwatch::Status {
                message,
                ..listwatch::Status::default()
            }));
        }
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        url.as_str().parse().map_err(invalid_request)
    }
}

/// Returns whether a path stays below the server's: the URL contains the whole path, which the URL parser shortens at
/// dot segments, and decoding it yields no further dot segments.
fn stays_below(below: &str, path: &str, in_url: &str) -> bool {
    let is_dots = |segment: &[u8]| matches!(segment, b"." | b"..");
    let decoded: Vec<u8> = percent_decode_str(below).collect();
    below.starts_with('/')
        && percent_decode_str(in_url).eq(percent_decode_str(path))
        && !decoded.split(|byte| *byte == b'/').any(is_dots)
}

/// Returns the error of a request that can't be encoded.
fn invalid_request(error: impl Into<http::Error>) -> listwatch::Error {
    let message = format!("the request can't be sent: {}", error.into());
    listwatch::Error::Invalid(listwatch::Status { message, ..listwatch::Status::default() })
}

/// Shows the server's URL, never a credential.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.inner.authority).finish_non_exhaustive()
    }
}

/// Converts a failure to obtain credentials to the error of a server that requires them.
fn login_error(error: Error) -> listwatch::Error {
    let message = match error {
        Error::Credentials(why) => format!("Unable to connect to the server: {why}"),
        other => other.to_string(),
    };
    listwatch::Error::Unauthorized(listwatch::Status { message, ..listwatch::Status::default() })
}

/// Returns whether a server with this refusal has accepted the credentials: authentication precedes authorization.
fn is_authenticated(code: StatusCode) -> bool {
    matches!(code.as_u16(), 403 | 404 | 409 | 410 | 429)
}

#[cfg(test)]
mod tests {
    use super::*;
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
            http_request.starts_with(
                "GET /k8s/c-1/api/v1/pods?labelSelector=app+in+%28a%2C+b%29&limit=5 HTTP/1.1\r\n"
            ),
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

    /// A compressed response.
    fn compressed(coding: &str, body: &[u8]) -> Vec<u8> {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
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
        for (coding, body, wanted) in [
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
            assert!(response.body(1 << 20).await.unwrap() == wanted, "{coding}: {} bytes", wanted.len());
        }
    }

    #[tokio::test]
    async fn corrupted_and_truncated_bodies_differ() {
        let whole = gzipped(b"{}");
        for (body, wanted) in [
            (b"{}".to_vec(), "is damaged: "),
            ([&whole, &b"{}"[..]].concat(), "is damaged: "),
            (whole[..20].to_vec(), " broke: the response ended in the middle"),
        ] {
            let server = TestServer::start(move |_| compressed("gzip", &body)).await;
            let response = client(&server.url).send(&Request::new("/")).await.unwrap();
            let error = response.body(1 << 20).await.unwrap_err();
            assert!(matches!(error, listwatch::Error::Transport(_)), "{error:?}");
            let reported = error.to_string();
            assert!(reported.contains(wanted) && reported.contains("gzip data"), "{reported}");
        }
    }

    #[tokio::test]
    async fn disabled_compression_is_not_requested() {
        let server = TestServer::start(|_| json(200, "{}")).await;
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("config");
        let cluster =
            format!("{{name: k, cluster: {{server: '{}', disable-compression: true}}}}", server.url);
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
        let client = Client::with_notices(&config, move |notice| report.send(format!("{notice:?}")).unwrap());
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
        assert!(
            matches!(error, listwatch::Error::Tls(_)) && error.to_string().contains("https://"),
            "{error}"
        );
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
                let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n")
                    .await;
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
        // Established (01): a connection that is over may be left of an earlier server on the same port.
        let mut ours: Vec<_> = ours.filter(|fields| fields[2] == to_server && fields[3] == "01").collect();
        // A table that changes while it is read shows some lines twice.
        ours.dedup_by_key(|fields| fields[1]);
        let [socket] = &ours[..] else { panic!("one connection: {ours:?}") };
        // The active timer and its rest in hundredths of a second: 02 is that of the probes.
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
            TestServer::start(
                |head| {
                    if head.contains("Bearer new") { json(200, "{}") } else { json(401, "{}") }
                },
            )
            .await;
        let mut config = Config::for_server(&server.url).unwrap();
        config.user_mut().token_file = Some(path.to_str().unwrap().into());
        let client = Client::new(&config).unwrap();
        let error = client.send(&Request::new("/")).await.err().unwrap();
        assert!(matches!(error, listwatch::Error::Unauthorized(_)), "{error:?}");
        assert_eq!(server.requests().len(), 1, "the same token would be refused again");
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
            ConnectionPool::open(&Config::for_server("http://127.0.0.1:1").unwrap()).unwrap();
        let places: Vec<_> = (0..81).map(|_| connection_pool.transport().1).collect();
        assert!(Arc::ptr_eq(&places[0], &places[79]) && !Arc::ptr_eq(&places[0], &places[80]));
        drop(places);
        assert_eq!(Arc::strong_count(&connection_pool.transport().1), 2, "what was left is taken again");
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
        let http_request = std::sync::atomic::AtomicUsize::new(0);
        let server = TestServer::start(move |head| match () {
            () if head.contains("/livez") && http_request.fetch_add(1, Ordering::Relaxed) < 3 => {
                json(200, "ok")
            }
            () if head.contains("/refused") => json(503, "{}"),
            () if head.contains("/begun") => "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_owned(),
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
        let mut begun = client.send(&watch("/begun")).await.unwrap();
        assert_eq!(begun.chunk().await.unwrap().as_deref(), Some(&b"{"[..]));
        let silent = begun.chunk().await.err().unwrap().to_string();
        assert!(silent.contains("nothing was heard of it"), "{silent}");
        let never_begun = client.send(&watch("/never")).await.err().unwrap().to_string();
        assert!(never_begun.contains("nothing was heard of it"), "{never_begun}");
        // A proxy in front of the server may have refused that: it says nothing about the server.
        assert!(client.send(&watch("/refused")).await.is_err());
        let never_begun = tokio::time::timeout(Duration::from_mins(1), client.send(&watch("/never"))).await;
        assert!(never_begun.is_ok_and(|refused| refused.is_err()), "it is still judged by its silence");
        let (questions, watches): (Vec<_>, Vec<_>) =
            server.requests().into_iter().partition(|head| head.contains("/livez"));
        assert!(questions.iter().all(|head| !head.contains("somebody")), "{questions:?}");
        assert!(watches.iter().all(|head| head.contains("somebody")), "{watches:?}");
    }
}
