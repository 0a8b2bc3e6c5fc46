//! The proxy of a connection: that of the configuration, else the environment's by the rules that Go programs share
//! (`httpproxy`).

mod no_proxy;

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::HeaderValue;
use percent_encoding::percent_decode_str;
use url::Url;

use self::no_proxy::NoProxy;
use crate::kubeconfig::Secret;

/// The protocol of the connection to a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http,
    /// HTTP over TLS.
    Https,
    Socks5,
}

/// A proxy and the credentials for it.
#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) protocol: Protocol,
    /// The host, an IPv6 address in brackets, and the port.
    authority: String,
    login: Option<(String, Secret)>,
}

/// The proxy settings of the environment: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, or the same in lower case.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct EnvironmentProxies {
    /// The proxy for servers without TLS; it may hold a password.
    pub http: Option<Secret>,
    /// The proxy for servers with TLS; it may hold a password.
    pub https: Option<Secret>,
    /// The servers that are reached without a proxy.
    pub no_proxy: Option<String>,
}

setters!(EnvironmentProxies {
    http: Option<Secret>,
    https: Option<Secret>,
    no_proxy: Option<String>,
});

impl EnvironmentProxies {
    /// Returns the proxy for this server, if there is one. As in Go, an invalid URL counts as no proxy.
    ///
    /// # Errors
    /// The proxy's protocol is not supported.
    pub(crate) fn for_server(&self, server: &Url) -> Result<Option<Proxy>, String> {
        let text = if server.scheme() == "https" { &self.https } else { &self.http };
        let Some(text) = text.as_ref().map(Secret::expose).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let no_proxy = NoProxy::parse(self.no_proxy.as_deref().unwrap_or_default());
        let (host, port) = (server.host_str().unwrap_or_default(), server.port_or_known_default());
        if no_proxy.matches(host, port.unwrap_or_default()) {
            return Ok(None);
        }
        let url = Url::parse(text).ok().filter(Url::has_host);
        let Some(url) = url.or_else(|| Url::parse(&format!("http://{text}")).ok()) else { return Ok(None) };
        let protocol = match url.scheme() {
            "socks5h" => Some(Protocol::Socks5),
            scheme => protocol(scheme),
        };
        protocol.map(|protocol| Some(Proxy::new(protocol, &url))).ok_or_else(|| unsupported(&url))
    }
}

impl Proxy {
    /// Parses a `proxy-url`.
    ///
    /// # Errors
    /// The problem in kubectl's words, without the password.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).map_err(|error| error.to_string())?;
        let protocol = protocol(url.scheme()).ok_or_else(|| unsupported(&url))?;
        Ok(Self::new(protocol, &url))
    }

    fn new(protocol: Protocol, url: &Url) -> Self {
        let port = url.port_or_known_default().unwrap_or(1080);
        let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let has_login = !url.username().is_empty() || url.password().is_some();
        let password = Secret::new(plain(url.password().unwrap_or_default()));
        Self {
            protocol,
            authority: format!("{}:{port}", url.host_str().unwrap_or_default()),
            login: has_login.then(|| (plain(url.username()), password)),
        }
    }

    /// Returns the host, an IPv6 address in brackets, and the port.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns user and password.
    pub(crate) fn login(&self) -> Option<(&str, &str)> {
        self.login.as_ref().map(|(user, password)| (user.as_str(), password.expose()))
    }

    /// Returns the `Proxy-Authorization` header, marked as sensitive so that no log shows it.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.login()?;
        let mut header =
            HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
                .ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}

/// Shows the protocol and address, not the credentials.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({})", self.protocol, self.authority)
    }
}

fn protocol(scheme: &str) -> Option<Protocol> {
    match scheme {
        "http" => Some(Protocol::Http),
        "https" => Some(Protocol::Https),
        "socks5" => Some(Protocol::Socks5),
        _ => None,
    }
}

fn unsupported(url: &Url) -> String {
    format!("unsupported scheme {:?}, must be http, https, or socks5", url.scheme())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn for_server(proxies: &EnvironmentProxies, server: &str) -> Option<String> {
        let found = proxies.for_server(&Url::parse(server).unwrap());
        found.unwrap().map(|proxy| format!("{proxy:?}"))
    }

    #[test]
    fn environment_has_a_proxy_per_scheme_and_common_exceptions() {
        let proxies = EnvironmentProxies {
            http: Some(Secret::new("plain:3128")),
            https: Some(Secret::new("https://user:s3cret@secure")),
            no_proxy: Some("inner.example, 10.0.0.0/8".into()),
        };
        assert_eq!(for_server(&proxies, "http://h").as_deref(), Some("Http(plain:3128)"));
        assert_eq!(for_server(&proxies, "https://h").as_deref(), Some("Https(secure:443)"));
        for direct in ["https://a.inner.example:6443", "http://10.1.2.3", "https://127.0.0.2:6443"] {
            assert_eq!(for_server(&proxies, direct), None, "{direct}");
        }
    }

    #[test]
    fn invalid_environment_proxy_is_ignored_and_unknown_scheme_is_an_error() {
        let proxies =
            |text: &str| EnvironmentProxies { https: Some(Secret::new(text)), ..Default::default() };
        assert_eq!(for_server(&proxies(""), "https://h"), None);
        assert_eq!(for_server(&proxies("a b"), "https://h"), None);
        assert_eq!(for_server(&proxies("socks5h://p"), "https://h").as_deref(), Some("Socks5(p:1080)"));
        let error = proxies("ftp://p").for_server(&Url::parse("https://h").unwrap()).unwrap_err();
        assert_eq!(error, "unsupported scheme \"ftp\", must be http, https, or socks5");
    }

    #[test]
    fn user_and_password_are_unescaped_and_never_shown() {
        let proxy = Proxy::parse("http://us%40er:s3%3Acret@[::1]:3128/path").unwrap();
        assert_eq!(proxy.login(), Some(("us@er", "s3:cret")));
        assert_eq!(proxy.authority(), "[::1]:3128");
        let header = proxy.authorization().unwrap();
        assert_eq!(header, format!("Basic {}", BASE64_STANDARD.encode("us@er:s3:cret")));
        assert!(!format!("{proxy:?} {header:?}").contains("cret"));
        assert!(Proxy::parse("http://p").unwrap().authorization().is_none());
        assert_eq!(Proxy::parse("http://user@p").unwrap().login(), Some(("user", "")));
    }
}
