//! `NO_PROXY`: the servers that are reached without a proxy, by the rules of Go's `httpproxy`.

use std::net::IpAddr;

use ipnet::IpNet;

/// The entries of a `NO_PROXY`.
pub(super) struct NoProxy(Vec<Entry>);

enum Entry {
    /// `*`: every server.
    Any,
    /// `10.0.0.0/8`.
    Network(IpNet),
    /// `10.0.0.1`, `10.0.0.1:6443`.
    Address(IpAddr, Option<u16>),
    /// A name, which includes its subdomains.
    Name {
        /// The name with a leading dot.
        suffix: String,
        /// `example.com` includes itself; `.example.com` and `*.example.com` only their subdomains.
        includes_name: bool,
        port: Option<u16>,
    },
}

impl NoProxy {
    /// Parses a list separated by commas; invalid entries are skipped.
    pub(super) fn parse(text: &str) -> Self {
        Self(text.split(',').filter_map(|entry| Entry::parse(&entry.trim().to_lowercase())).collect())
    }

    /// Returns whether this server is reached without a proxy. Loopback servers always are. The host of an IPv6
    /// address may be in brackets.
    pub(super) fn matches(&self, host: &str, port: u16) -> bool {
        let host = without_brackets(host).to_lowercase();
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
            return true;
        }
        self.0.iter().any(|entry| entry.matches(&host, address, port))
    }
}

impl Entry {
    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        if let Ok(network) = text.parse() {
            return Some(Self::Network(network));
        }
        let (host, port) = match text.rsplit_once(':') {
            // An IPv6 address has more colons, and a port only after brackets.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, Some(port.parse().ok()?))
            }
            _ => (text, None),
        };
        let host = without_brackets(host);
        if let Ok(address) = host.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical(), port));
        }
        let below = host.strip_prefix("*.").or_else(|| host.strip_prefix('.'));
        let name = below.unwrap_or(host);
        (!name.is_empty()).then(|| Self::Name {
            suffix: format!(".{name}"),
            includes_name: below.is_none(),
            port,
        })
    }

    fn matches(&self, host: &str, address: Option<IpAddr>, at: u16) -> bool {
        match self {
            Self::Any => true,
            Self::Network(network) => address.is_some_and(|address| network.contains(&address)),
            Self::Address(own, port) => address == Some(*own) && port.is_none_or(|port| port == at),
            Self::Name { suffix, includes_name, port } => {
                (host.ends_with(suffix) || (*includes_name && host == &suffix[1..]))
                    && port.is_none_or(|port| port == at)
            }
        }
    }
}

fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of Go's own tests of `UseProxy`, negated.
    #[test]
    fn servers_match_as_in_go() {
        let list = "foobar.com, .barbaz.net, *.wildcard.io, 192.168.1.1, 192.168.1.2:81, 192.168.1.3:80, \
                    10.0.0.0/30, 2001:db8::52:0:1, [2001:db8::52:0:2]:443, [2001:db8::52:0:3]:80, \
                    2002:db8:a::45/64, port.com:80, , :80";
        let no_proxy = NoProxy::parse(list);
        for (host, port, direct) in [
            ("localhost", 80, true),
            ("127.0.0.1", 80, true),
            ("127.0.0.2", 80, true),
            ("[::1]", 80, true),
            ("::ffff:127.0.0.1", 80, true),
            ("[::2]", 80, false),
            ("192.168.1.1", 80, true),
            ("192.168.1.2", 80, false),
            ("192.168.1.2", 81, true),
            ("192.168.1.3", 80, true),
            ("192.168.1.4", 80, false),
            ("10.0.0.2", 80, true),
            ("10.0.0.5", 80, false),
            ("[2001:db8::52:0:1]", 80, true),
            ("[2001:db8::52:0:2]", 443, true),
            ("[2001:db8::52:0:2]", 80, false),
            ("2002:db8:a::123", 80, true),
            ("fe80::424b:c8be:1643:a1b6", 80, false),
            ("barbaz.net", 80, false),
            ("www.barbaz.net", 80, true),
            ("wildcard.io", 80, false),
            ("www.wildcard.io", 80, true),
            ("foobar.com", 80, true),
            ("www.FOOBAR.com", 80, true),
            ("foofoobar.com", 80, false),
            ("baz.com", 80, false),
            ("localhost.net", 80, false),
            ("local.localhost", 80, false),
            ("barbarbaz.net", 80, false),
            ("port.com", 80, true),
            ("port.com", 443, false),
        ] {
            assert_eq!(no_proxy.matches(host, port), direct, "{host}:{port}");
        }
    }

    #[test]
    fn star_matches_everything_and_empty_list_nothing() {
        assert!(NoProxy::parse("a.example, *").matches("b.example", 443));
        assert!(!NoProxy::parse("").matches("b.example", 443));
    }
}
