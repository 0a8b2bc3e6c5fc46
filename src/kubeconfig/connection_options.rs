//! The options of the connections to a server: proxy, server name, protocol and liveness checks.

use std::time::Duration;

use rustls::pki_types::ServerName;

use super::proxy::Proxy;

/// A busy kube-apiserver sends an event sooner over a connection of its own, where none of its other tasks has to
/// forward it (`docs/performance.md`). Each such connection costs both sides a handshake and memory, so further
/// watches share.
const DEDICATED_WATCHES: usize = 8;

/// The options of the connections to one server.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionOptions {
    pub(crate) proxy: Option<Proxy>,
    /// The name that is requested (SNI) and that the server's certificate is verified against, instead of the URL's
    /// host.
    pub(crate) server_name: Option<ServerName<'static>>,
    pub(crate) http1_only: bool,
    /// The maximum number of watches with a dedicated connection, which speaks HTTP/1.1.
    pub(crate) dedicated_watches: usize,
    /// The silence on a connection after which the server is pinged; `None` disables pings.
    pub(crate) ping_after: Option<Duration>,
    /// The maximum time for the response to a ping.
    pub(crate) ping_timeout: Duration,
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        Self {
            proxy: None,
            server_name: None,
            http1_only: false,
            dedicated_watches: DEDICATED_WATCHES,
            ping_after: Some(Duration::from_secs(30)),
            ping_timeout: Duration::from_secs(15),
        }
    }
}

impl ConnectionOptions {
    /// Sets the maximum number of dedicated watch connections. Text that is not a number is ignored.
    pub(crate) fn with_dedicated_watches(mut self, number: Option<&str>) -> Self {
        if let Some(number) = number.and_then(|text| text.parse().ok()) {
            self.dedicated_watches = number;
        }
        self
    }

    /// Sets the seconds of client-go's `HTTP2_READ_IDLE_TIMEOUT_SECONDS` and `HTTP2_PING_TIMEOUT_SECONDS`. Text that
    /// is not a number is ignored. Zero disables pings, or keeps the default timeout.
    pub(crate) fn with_pings(mut self, after: Option<&str>, timeout: Option<&str>) -> Self {
        let seconds = |text: Option<&str>| text?.parse::<i64>().ok();
        let duration =
            |seconds| u64::try_from(seconds).ok().map(Duration::from_secs).filter(|d| !d.is_zero());
        if let Some(after) = seconds(after) {
            self.ping_after = duration(after);
        }
        if let Some(timeout) = seconds(timeout).and_then(duration) {
            self.ping_timeout = timeout;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dedicated_watches_are_parsed() {
        let alone = |text| ConnectionOptions::default().with_dedicated_watches(text).dedicated_watches;
        assert_eq!([None, Some("0"), Some("100"), Some("-1"), Some("all")].map(alone), [8, 0, 100, 8, 8]);
    }

    #[test]
    fn ping_times_are_parsed_as_in_client_go() {
        let pings = |after, timeout| {
            let connection_options = ConnectionOptions::default().with_pings(after, timeout);
            (
                connection_options.ping_after.map(|after| after.as_secs()),
                connection_options.ping_timeout.as_secs(),
            )
        };
        assert_eq!(pings(None, None), (Some(30), 15));
        assert_eq!(pings(Some("5"), Some("2")), (Some(5), 2));
        assert_eq!(pings(Some("0"), Some("0")), (None, 15));
        assert_eq!(pings(Some("soon"), Some("-1")), (Some(30), 15));
    }
}
