//! Sends a request: obtains the credentials, sends it over a connection with capacity, and maps refusals to errors.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::StatusCode;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use tokio::time;
use tower::BoxError;
use tracing::debug;

use super::Client;
use super::request_url::{invalid_request, request_url};
use crate::api::{Request, Response};
use crate::client::connection::{IncomingResponse, LivenessCheck, unless_unresponsive};
use crate::client::connection_pool::ConnectionPool;
use crate::client::failure;
use crate::client::login::RequestAuth;
use crate::client::silence::WaitLimits;
use crate::kubeconfig::{Error, Proxy};
use crate::listwatch;

/// The part of a refusal's body that is read: a Status has some hundred bytes, a proxy's error page may have any
/// size.
const REFUSAL_LIMIT: usize = 256 * 1024;

impl Client {
    /// Sends a request and waits for the head of the response. When the server refuses the credentials, they are
    /// renewed if possible, and the request is sent once more. Dropping the future drops the request, but not a
    /// credential plugin that runs for it: the next request waits for the same run.
    ///
    /// # Errors
    /// The server's refusal or the network's failure, by meaning. Credentials that can't be obtained are
    /// [`listwatch::Error::Unauthorized`] without a code.
    pub async fn send(&self, request: &Request) -> Result<Response, listwatch::Error> {
        let credentials = Arc::clone(&self.inner.credentials);
        let auth = self
            .login_outcome(Box::pin(async move { credentials.current().await }))
            .await
            .map_err(|error| self.inner.redaction.error(login_error(&error)))?;
        let began = Instant::now();
        // Boxed: a list awaits two of them at a time, and would be as large as both.
        let refused = match Box::pin(self.attempt(&auth, request)).await {
            Err(error @ listwatch::Error::Unauthorized(_)) => error,
            // The refusal of a server that requires a valid client certificate.
            Err(error @ listwatch::Error::TlsAlert(_)) if auth.identity().is_some() => error,
            other => return other,
        };
        // The time for renewing the credentials does not count against the server's.
        let remaining = request.timeout.map(|timeout| timeout.saturating_sub(began.elapsed()));
        let credentials = Arc::clone(&self.inner.credentials);
        let fresh =
            self.login_outcome(Box::pin(async move { credentials.replacement_for(&auth).await })).await;
        match fresh.map_err(|error| self.inner.redaction.error(login_error(&error)))? {
            None => Err(refused),
            Some(fresh) => {
                debug!(error = %refused, "credentials refused, trying others");
                Box::pin(self.attempt(&fresh, &request.clone().timeout(remaining))).await
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

    /// Returns the request with the credentials, which are masked in texts from now on: the server can't repeat them
    /// earlier.
    fn http_request(
        &self,
        auth: &RequestAuth,
        request: &Request,
    ) -> Result<http::Request<Bytes>, listwatch::Error> {
        let mut http_request = http::Request::get(request_url(self.inner.config.url(), request)?)
            .body(Bytes::new())
            .map_err(invalid_request)?;
        let accept = HeaderValue::try_from(&*request.accept).map_err(invalid_request)?;
        let headers = http_request.headers_mut();
        *headers = self.inner.credentials.headers(auth);
        if let Some(header) = headers.get(AUTHORIZATION) {
            self.inner.redaction.add_header(header);
        }
        headers.insert(ACCEPT, accept);
        Ok(http_request)
    }

    /// Sends a request once, with these credentials, and waits for the head of the response.
    async fn attempt(&self, auth: &RequestAuth, request: &Request) -> Result<Response, listwatch::Error> {
        let connection_pool = self.connection_pool(auth);
        let http_request = self.http_request(auth, request)?;
        self.inner.sent.fetch_add(1, Ordering::Relaxed);
        let requested_at = time::Instant::now();
        let limits = WaitLimits { response: request.timeout, silence: request.silence_limit };
        let mut liveness_check =
            if request.is_watch() { self.liveness_check(&connection_pool) } else { None };
        let exchange = self.exchange(&connection_pool, request, &http_request, &mut liveness_check);
        let (response, permit) = self.inner.silence.before_head(&request.path, limits, exchange).await?;
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
        // Silence is normal in a watch, but not before the end of its initial state.
        let is_reported = !request.is_watch() || request.has_initial_state();
        let silence =
            is_reported.then(|| self.inner.silence.of_body(&request.path, requested_at, limits)).flatten();
        let response = response.with_liveness_check(liveness_check).with_silence(silence);
        let code = response.status();
        self.inner.warnings.of(response.headers());
        if code.is_success() {
            self.inner.credentials.accepted(auth);
            // A refusal may come from a proxy in front of the server.
            if request.is_watch() {
                connection_pool.liveness.watch_responded();
            }
            return Ok(response);
        }
        Err(self.refusal(response, auth).await)
    }

    /// Reads a response with an error code. An accepted credential is recorded even if the request was refused.
    async fn refusal(&self, response: Response, auth: &RequestAuth) -> listwatch::Error {
        let code = response.status();
        let proxy = self.inner.config.connection_options().proxy.as_ref().map(Proxy::authority);
        if let Some(refusal) = proxy.and_then(|proxy| failure::of_proxy(code, proxy)) {
            return refusal;
        }
        let retry_after =
            response.header("retry-after").and_then(|value| value.parse().ok()).map(Duration::from_secs);
        let body = response.prefix(REFUSAL_LIMIT).await;
        if is_authenticated(code) {
            self.inner.credentials.accepted(auth);
        }
        failure::plain_to_tls(&body, &self.inner.authority)
            .unwrap_or_else(|| failure::of_response(code.as_u16(), retry_after, &body, &self.inner.redaction))
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
            let mut dedicated = if request.is_watch() { connection_pool.dedicated_transport() } else { None };
            loop {
                let is_dedicated = dedicated.is_some();
                let (http, permit) = dedicated.take().unwrap_or_else(|| connection_pool.transport());
                match http.send(http_request.clone(), request.timeout).await {
                    Err(error) if is_dedicated && failure::is_other_protocol(&*error) => {
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
        sent.map_err(|error| self.inner.redaction.error(failure::before_response(&*error, authority, proxy)))
    }

    /// Returns the liveness check for the server of a watch. Its probe carries no token: a refusal is a response as
    /// well, and the token of the watch's start may have expired.
    fn liveness_check(&self, connection_pool: &ConnectionPool) -> Option<LivenessCheck> {
        let options = self.inner.config.connection_options();
        let probe = http::Request::get(request_url(self.inner.config.url(), &Request::new("/livez")).ok()?)
            .body(Bytes::new())
            .ok()?;
        let liveness = Arc::clone(&connection_pool.liveness);
        Some(LivenessCheck::new(
            connection_pool.transport().0,
            probe,
            liveness,
            options.ping_after?,
            options.ping_timeout,
        ))
    }
}

/// Converts a failure to obtain credentials to the error of a server that requires them, with kubectl's message.
fn login_error(error: &Error) -> listwatch::Error {
    let message = format!("Unable to connect to the server: {error}");
    listwatch::Error::Unauthorized(listwatch::Status { message, ..listwatch::Status::default() })
}

/// Returns whether a server with this refusal has accepted the credentials: authentication precedes authorization.
pub(super) fn is_authenticated(code: StatusCode) -> bool {
    matches!(code.as_u16(), 403 | 404 | 409 | 410 | 429)
}
