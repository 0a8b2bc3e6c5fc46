//! How the server is reached: through which proxy, under which name, in which protocol.

use std::time::Duration;

use rustls::pki_types::ServerName;

use super::proxy::Proxy;

/// A busy kube-apiserver sends an event sooner over a connection of its own, where no other of its tasks has to pass it on
/// (`docs/performance.md`). Each such connection costs both sides a handshake and some memory, so that many watches share.
const WATCHES_ALONE: usize = 8;

/// The way to a server.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) proxy: Option<Proxy>,
    /// The name that the server's certificate is checked against, and that is asked for, instead of the URL's host.
    pub(crate) server_name: Option<ServerName<'static>>,
    pub(crate) http1_only: bool,
    /// How many watches at a time have a connection of their own each, and speak HTTP/1.1.
    pub(crate) watches_alone: usize,
    /// How long a connection may be silent before the other side is asked whether it is there; `None` never asks.
    pub(crate) ping_after: Option<Duration>,
    /// How long its answer may take.
    pub(crate) ping_timeout: Duration,
}

impl Default for Way {
    fn default() -> Self {
        Self {
            proxy: None,
            server_name: None,
            http1_only: false,
            watches_alone: WATCHES_ALONE,
            ping_after: Some(Duration::from_secs(30)),
            ping_timeout: Duration::from_secs(15),
        }
    }
}

impl Way {
    /// The same with as many watches on connections of their own as this number says. What is none counts as absent.
    pub(crate) fn with_watches_alone(mut self, number: Option<&str>) -> Self {
        if let Some(number) = number.and_then(|text| text.parse().ok()) {
            self.watches_alone = number;
        }
        self
    }

    /// The same with the seconds that client-go's `HTTP2_READ_IDLE_TIMEOUT_SECONDS` and `HTTP2_PING_TIMEOUT_SECONDS`
    /// say. What is no number counts as absent; no seconds are no ping, and the usual time for an answer.
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
    fn so_many_watches_are_alone_as_a_number_says() {
        let alone = |text| Way::default().with_watches_alone(text).watches_alone;
        assert_eq!([None, Some("0"), Some("100"), Some("-1"), Some("all")].map(alone), [8, 0, 100, 8, 8]);
    }

    #[test]
    fn pings_are_what_client_gos_variables_say() {
        let pings = |after, timeout| {
            let way = Way::default().with_pings(after, timeout);
            (way.ping_after.map(|after| after.as_secs()), way.ping_timeout.as_secs())
        };
        assert_eq!(pings(None, None), (Some(30), 15));
        assert_eq!(pings(Some("5"), Some("2")), (Some(5), 2));
        assert_eq!(pings(Some("0"), Some("0")), (None, 15));
        assert_eq!(pings(Some("soon"), Some("-1")), (Some(30), 15));
    }
}
