//! The address of `--metrics`.

use std::fmt;
use std::net::SocketAddr;

use crate::args::Command;
use crate::settings::UsageError;

/// The address of a port alone: others on the network must be allowed in explicitly.
const LOOPBACK: &str = "127.0.0.1";

/// A host and a port to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListenAddress {
    /// An IP address, or a name.
    pub(crate) host: String,
    /// 0 selects a free port.
    pub(crate) port: u16,
}

impl ListenAddress {
    /// Reads `--metrics` of a command that watches.
    ///
    /// # Errors
    /// The command does not watch, or the address is malformed.
    pub(in crate::settings) fn of_metrics(command: &Command) -> Result<Option<Self>, UsageError> {
        match command.metrics() {
            (None, _) => Ok(None),
            (Some(_), false) => Err(UsageError::NeedsWatch("metrics")),
            (Some(text), true) => {
                let address = Self::parse(text);
                address.map(Some).ok_or_else(|| UsageError::MetricsAddress(text.to_owned()))
            }
        }
    }

    /// Parses `9090`, `:9090`, `0.0.0.0:9090`, `[::1]:9090` or `localhost:9090`.
    fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Some(Self { host: address.ip().to_string(), port: address.port() });
        }
        let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        if !host.chars().all(is_name) || !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let host = if host.is_empty() { LOOPBACK } else { host };
        Some(Self { host: host.to_owned(), port: port.parse().ok()? })
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_alone_is_of_the_loopback_address() {
        for (text, host, port) in [
            ("9090", LOOPBACK, 9090),
            (":9090", LOOPBACK, 9090),
            ("0", LOOPBACK, 0),
            ("0.0.0.0:80", "0.0.0.0", 80),
            ("[::1]:80", "::1", 80),
            ("localhost:80", "localhost", 80),
        ] {
            let expected = ListenAddress { host: host.to_owned(), port };
            assert_eq!(ListenAddress::parse(text), Some(expected), "{text}");
        }
        for text in
            ["", "x", "localhost", "65536", "-1", "+80", "::1", "::1:80", "a b:80", "http://x:80", "x:"]
        {
            assert_eq!(ListenAddress::parse(text), None, "{text}");
        }
    }
}
