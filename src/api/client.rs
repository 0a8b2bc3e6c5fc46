//! Sends requests to one server, and renews what it is known by.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Mutex as AsyncMutex;
use tracing::debug;

use super::config::Config;
use super::session::Session;
use super::warnings::Warnings;
use super::{Error, Request, Response, failure, status};
use crate::listwatch;
use crate::object::ApiResource;

/// The part of a refusal that is read: a Status is some hundred bytes, a proxy's error page may be anything.
const REFUSAL_LIMIT: usize = 256 * 1024;

/// A server, and who we are to it. Cheap to clone; clones share connections and credentials.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    /// `host:port` for messages.
    authority: Arc<str>,
    /// The way to the server; none before the first request when a plugin has to be run for it. An async lock, held
    /// while credentials are renewed: of many watches that find them expired, one asks and the others wait for it.
    session: AsyncMutex<Option<Arc<Session>>>,
    warnings: Warnings,
    /// The resources whose initial state does not come through a watch here. A std lock, for a look; bounded by what
    /// the server serves.
    no_watch_list: Mutex<HashSet<ApiResource>>,
}

impl Client {
    /// Makes a client; connects to nothing. A credential plugin is run with the first request, not here.
    ///
    /// # Errors
    /// [`Error::Credentials`] and [`Error::Invalid`] for files that can't be read and certificates that are none.
    pub fn new(config: &Config) -> Result<Self, Error> {
        Self::with_warnings(config, |_| {})
    }

    /// The same, and what the server warns of beside its answers, as of an API that is deprecated, is told: each text
    /// once.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_warnings(
        config: &Config,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let session = if config.has_plugin() { None } else { Some(Arc::new(Session::open(config, 0)?)) };
        let inner = Inner {
            authority: config.authority().into(),
            config: config.clone(),
            session: AsyncMutex::new(session),
            warnings: Warnings::new(Arc::new(tell)),
            no_watch_list: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// What this client was made from.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Sends a request and waits for the head of the answer. When the server no longer takes our credentials they
    /// are renewed, where they can be, and the request is sent once more. Dropping the future gives the request up.
    ///
    /// # Errors
    /// What the server refused or the network broke, by meaning. Credentials that can't be had are
    /// [`listwatch::Error::Unauthorized`] with an empty reason.
    pub async fn send(&self, request: &Request) -> Result<Response, listwatch::Error> {
        let session = self.session(None).await?;
        let refused = match self.attempt(&session, request).await {
            Err(error @ listwatch::Error::Unauthorized(_)) if self.inner.config.is_renewable() => error,
            Err(error @ listwatch::Error::Tls(_)) if session.renewable_certificate => error,
            other => return other,
        };
        debug!(error = %refused, "credentials refused, renewing them");
        let renewed = self.session(Some(session.generation)).await?;
        self.attempt(&renewed, request).await
    }

    /// The current session, or a new one in place of that of the refused generation.
    async fn session(&self, refused: Option<u64>) -> Result<Arc<Session>, listwatch::Error> {
        let mut current = self.inner.session.lock().await;
        if let Some(session) = current.as_ref()
            && refused != Some(session.generation)
        {
            return Ok(Arc::clone(session));
        }
        let generation = refused.map_or(0, |generation| generation + 1);
        let config = self.inner.config.clone();
        // On a thread of its own, since a plugin may wait for its user; awaited here, and bounded by the lock to one.
        let opened = tokio::task::spawn_blocking(move || Session::open(&config, generation)).await;
        let session = opened
            .map_err(|_| {
                Error::Credentials("getting credentials: the plugin's token can't be sent".to_owned())
            })
            .and_then(|session| session)
            .map_err(without_credentials)?;
        let session = Arc::new(session);
        *current = Some(Arc::clone(&session));
        Ok(session)
    }

    async fn attempt(&self, session: &Session, request: &Request) -> Result<Response, listwatch::Error> {
        let headers = session.credentials.headers().await.map_err(without_credentials)?;
        let (http, place) = session.lane().map_err(|error| listwatch::Error::Transport(error.to_string()))?;
        let url = self.url(request);
        let shown =
            url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let mut building =
            http.get(url).header(http::header::ACCEPT, request.accept.as_ref()).headers(headers);
        if let Some(timeout) = request.timeout {
            building = building.timeout(timeout);
        }
        let started = Instant::now();
        let again = building.try_clone();
        let answer = match (building.send().await, again) {
            // A connection that was idle, and that the server closed just when it was used again.
            (Err(error), Some(again)) if failure::closed_unanswered(&error) => again.send().await,
            (answer, _) => answer,
        };
        let answer = answer.map_err(|error| {
            let error = failure::before_answer(
                error,
                &self.inner.authority,
                self.inner.config.proxy_authority().as_deref(),
            );
            debug!(method = "GET", path = %shown, %error, elapsed = ?started.elapsed(), "no answer");
            error
        })?;
        let code = answer.status();
        debug!(method = "GET", path = %shown, status = code.as_u16(), version = ?answer.version(), elapsed = ?started.elapsed(), "answer");
        self.inner.warnings.of(answer.headers());
        let response = Response::new(answer, Arc::clone(&self.inner.authority), place);
        if code.is_success() {
            return Ok(response);
        }
        let retry_after =
            response.header("retry-after").and_then(|value| value.parse().ok()).map(Duration::from_secs);
        let body = response.prefix(REFUSAL_LIMIT).await;
        let misunderstood = failure::plain_to_tls(&body, &self.inner.authority);
        Err(misunderstood.unwrap_or_else(|| status::from_response(code.as_u16(), retry_after, &body)))
    }

    /// Whether nobody has found out yet that this server does not send the initial state of this resource through a
    /// watch.
    pub(super) fn supports_watch_list(&self, resource: &ApiResource) -> bool {
        !self.inner.no_watch_list.lock().unwrap_or_else(PoisonError::into_inner).contains(resource)
    }

    /// Remembers that it does not.
    pub(super) fn gives_up_watch_list(&self, resource: &ApiResource) {
        self.inner.no_watch_list.lock().unwrap_or_else(PoisonError::into_inner).insert(resource.clone());
    }

    fn url(&self, request: &Request) -> reqwest::Url {
        let mut url = self.inner.config.request_url();
        let path = format!("{}{}", url.path().trim_end_matches('/'), request.path);
        url.set_path(&path);
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        url
    }
}

/// Shows where it goes, never what it shows there.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("server", &self.inner.authority).finish_non_exhaustive()
    }
}

/// Credentials that can't be had, in the words of the seam: as if the server had asked for them.
fn without_credentials(error: Error) -> listwatch::Error {
    let message = match error {
        Error::Credentials(why) => format!("Unable to connect to the server: {why}"),
        other => other.to_string(),
    };
    listwatch::Error::Unauthorized(listwatch::Status { message, ..listwatch::Status::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::test_server::{TestServer, json, with_headers};

    fn client(server: &str) -> Client {
        Client::new(&Config::for_server(server).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_request_arrives_with_path_prefix_query_and_our_name() {
        let server = TestServer::start(|_| json(200, "{}")).await;
        let request = Request::new("/api/v1/pods")
            .query("labelSelector", "app in (a, b)")
            .query("limit", "5")
            .accept("application/json;as=Table");
        let answer = client(&format!("{}/k8s/c-1/", server.url)).send(&request).await.unwrap();
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.body(10).await.unwrap(), "{}");
        let asked = server.asked().concat();
        assert!(
            asked.starts_with(
                "GET /k8s/c-1/api/v1/pods?labelSelector=app+in+%28a%2C+b%29&limit=5 HTTP/1.1\r\n"
            ),
            "{asked}"
        );
        assert!(asked.contains(&format!("user-agent: kdelta/{} (", env!("CARGO_PKG_VERSION"))), "{asked}");
        assert!(asked.contains("accept: application/json;as=Table\r\n"), "{asked}");
        assert!(asked.contains("accept-encoding: gzip\r\n"), "{asked}");
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_an_error() {
        let server = TestServer::start(|_| json(200, "0123456789")).await;
        let answer = client(&server.url).send(&Request::new("/")).await.unwrap();
        let error = answer.body(9).await.unwrap_err();
        assert!(matches!(error, listwatch::Error::Decode(_)), "{error:?}");
    }

    #[tokio::test]
    async fn a_refusal_carries_meaning_and_retry_after() {
        let server = TestServer::start(|_| with_headers(429, "Retry-After: 7\r\n", "slow down")).await;
        let error = client(&server.url).send(&Request::new("/")).await.err().unwrap();
        assert!(matches!(error, listwatch::Error::TooManyRequests { .. }), "{error:?}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    }

    #[tokio::test]
    async fn what_a_server_warns_of_is_told() {
        let server =
            TestServer::start(|_| with_headers(200, "Warning: 299 - \"v1 X is deprecated\"\r\n", "{}")).await;
        let (tell, told) = std::sync::mpsc::channel();
        let config = Config::for_server(&server.url).unwrap();
        let client = Client::with_warnings(&config, move |text| tell.send(text.to_owned()).unwrap()).unwrap();
        for _ in 0..2 {
            client.send(&Request::new("/")).await.unwrap();
        }
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["v1 X is deprecated"]);
    }

    #[tokio::test]
    async fn a_plain_request_to_a_tls_server_is_told_as_such() {
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
    async fn nobody_listening_is_told_in_kubectls_words() {
        let error = client("http://127.0.0.1:1").send(&Request::new("/")).await.err().unwrap();
        assert!(matches!(error, listwatch::Error::Refused(_)), "{error:?}");
        assert_eq!(
            error.to_string(),
            "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?"
        );
    }

    #[tokio::test]
    async fn https_spoken_to_a_plain_server_is_a_tls_error() {
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
        assert!(error.to_string().contains("plain HTTP answer"), "{error}");
        task.abort();
    }

    #[tokio::test]
    async fn an_answer_that_takes_longer_than_allowed_is_a_timeout() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let request = Request::new("/").timeout(Some(Duration::from_millis(20)));
        let error = client(&format!("http://{address}")).send(&request).await.err().unwrap();
        assert!(matches!(error, listwatch::Error::Timeout(_)), "{error:?}");
        drop(listener);
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_a_transport_error() {
        let server = TestServer::start(|_| {
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nXX".to_owned()
        })
        .await;
        let mut answer = client(&server.url).send(&Request::new("/")).await.unwrap();
        assert_eq!(answer.chunk().await.unwrap().unwrap(), "abc");
        let error = answer.chunk().await.unwrap_err();
        assert!(matches!(error, listwatch::Error::Transport(_)), "{error:?}");
    }

    #[tokio::test]
    async fn debug_of_client_and_config_shows_no_credentials() {
        let client = client("http://user:s3cret@127.0.0.1:1");
        let shown = format!("{client:?} {:?}", client.config());
        assert!(!shown.contains("s3cret") && shown.contains("127.0.0.1:1"), "{shown}");
    }

    #[tokio::test]
    async fn a_request_on_a_connection_that_the_server_just_closed_is_sent_again() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            // Each connection is good for one answer, which does not say so, and closes with the next request.
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

    /// What else finds a peer that is gone: HTTP/1.1 has no pings. The user timeout that ends the probing early can't be
    /// seen from outside.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_silent_connection_is_probed_by_the_system() {
        let server = TestServer::start(|_| json(200, "{}")).await;
        let port: u16 = server.url.rsplit(':').next().unwrap().parse().unwrap();
        let answer = client(&server.url).send(&Request::new("/")).await.unwrap();
        let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let to_server = format!("0100007F:{port:04X}");
        let ours = sockets.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let ours: Vec<_> = ours.filter(|fields| fields[2] == to_server).collect();
        let [socket] = &ours[..] else { panic!("one connection: {ours:?}") };
        // Which timer runs, and for how many hundredths of a second more: 02 is that of the probes.
        let (timer, left) = socket[5].split_once(':').unwrap();
        let left = u64::from_str_radix(left, 16).unwrap();
        assert!(timer == "02" && left <= 3000, "{socket:?}");
        drop(answer);
    }

    #[tokio::test]
    async fn refused_credentials_are_renewed_once_and_the_request_is_sent_again() {
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
        config.kube_mut().auth_info.token_file = Some(path.to_str().unwrap().into());
        let client = Client::new(&config).unwrap();
        let error = client.send(&Request::new("/")).await.err().unwrap();
        assert!(matches!(error, listwatch::Error::Unauthorized(_)), "{error:?}");
        assert_eq!(server.asked().len(), 2);
        std::fs::write(&path, "new").unwrap();
        assert!(client.send(&Request::new("/")).await.is_ok());
        assert!(client.send(&Request::new("/")).await.is_ok());
        assert_eq!(server.asked().len(), 2 + 2 + 1, "the renewed token stays");
    }

    #[tokio::test]
    async fn a_fixed_token_that_is_refused_is_not_sent_again() {
        let server = TestServer::start(|_| json(401, "{}")).await;
        let mut config = Config::for_server(&server.url).unwrap();
        config.kube_mut().auth_info.token = Some("t".to_owned().into());
        let error = Client::new(&config).unwrap().send(&Request::new("/")).await.err().unwrap();
        assert!(matches!(error, listwatch::Error::Unauthorized(_)), "{error:?}");
        assert_eq!(server.asked().len(), 1);
    }

    #[tokio::test]
    async fn more_streams_than_one_connection_takes_get_another_one() {
        let session = Session::open(&Config::for_server("http://127.0.0.1:1").unwrap(), 0).unwrap();
        let places: Vec<_> = (0..81).map(|_| session.lane().unwrap().1).collect();
        assert!(Arc::ptr_eq(&places[0], &places[79]) && !Arc::ptr_eq(&places[0], &places[80]));
        drop(places);
        assert_eq!(Arc::strong_count(&session.lane().unwrap().1), 2, "what was left is taken again");
    }
}
