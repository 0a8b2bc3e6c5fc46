//! URLs, as Go's `net/url` parses them.

/// A URL. Two are equal if their texts are.
#[derive(Debug, Clone)]
pub(in crate::query::cel) struct Url {
    text: String,
    pub(in crate::query::cel) scheme: String,
    /// The host with the port.
    pub(in crate::query::cel) host: String,
    /// The path as written.
    path: String,
    pub(in crate::query::cel) query: String,
}

impl PartialEq for Url {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Whether a text is an absolute URL or an absolute path.
pub(in crate::query::cel) fn is_url(text: &str) -> bool {
    parse(text).is_some()
}

impl Url {
    pub(in crate::query::cel) fn parse(text: &str) -> Option<Self> {
        // The first parse takes a fragment as a part of the path or the query.
        parse(text)?;
        let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
        unescaped(fragment, Part::Fragment)?;
        let mut url = if before.is_empty() { return None } else { parse(before)? };
        text.clone_into(&mut url.text);
        Some(url)
    }

    pub(in crate::query::cel) fn host_and_port(&self) -> (&str, &str) {
        let (host, port) = match self.host.rfind(':') {
            Some(at) if is_optional_port(&self.host[at..]) => (&self.host[..at], &self.host[at + 1..]),
            _ => (&*self.host, ""),
        };
        let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        (inside.unwrap_or(host), port)
    }

    pub(in crate::query::cel) fn escaped_path(&self) -> String {
        let is_escaped = self.path.bytes().all(|byte| {
            matches!(byte, b'!' | b'\'' | b'(' | b')' | b'*' | b'[' | b']' | b'%') || is_path_byte(byte)
        });
        if is_escaped || self.path == "*" {
            return self.path.clone();
        }
        let mut escaped = String::new();
        for byte in unescaped(&self.path, Part::Path).unwrap_or_default() {
            if is_path_byte(byte) {
                escaped.push(char::from(byte));
            } else {
                let digit = |number: u8| char::from_digit(u32::from(number), 16).unwrap_or_default();
                escaped.push('%');
                escaped.extend([byte >> 4, byte & 15].map(digit).map(|digit| digit.to_ascii_uppercase()));
            }
        }
        escaped
    }
}

/// Whether Go writes a byte of a path as it is.
fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'_' | b'.' | b'~' | b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'@'
        )
}

/// Parses as Go's `ParseRequestURI`.
fn parse(text: &str) -> Option<Url> {
    if text.is_empty() || text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return None;
    }
    let mut url = Url {
        text: text.to_owned(),
        scheme: String::new(),
        host: String::new(),
        path: String::new(),
        query: String::new(),
    };
    if text == "*" {
        text.clone_into(&mut url.path);
        return Some(url);
    }
    let (scheme, rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    query.clone_into(&mut url.query);
    if !rest.starts_with('/') {
        // An opaque URL such as mailto:x.
        return (!scheme.is_empty()).then_some(url);
    }
    let mut path = rest;
    if !scheme.is_empty()
        && let Some(behind) = rest.strip_prefix("//")
    {
        let end = behind.find('/').unwrap_or(behind.len());
        path = &behind[end..];
        url.host = parse_authority(&url.scheme, &behind[..end])?;
    }
    unescaped(path, Part::Path)?;
    path.clone_into(&mut url.path);
    Some(url)
}

/// Splits `scheme:`; the scheme is empty if there is none. `None` if it is missing before the colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return None,
            b':' => return Some((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

/// Returns the host with its port, if the authority is valid.
fn parse_authority(scheme: &str, authority: &str) -> Option<String> {
    let host = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let is_valid = |byte: u8| {
                byte.is_ascii_alphanumeric()
                    || matches!(
                        byte,
                        b'-' | b'.'
                            | b'_'
                            | b':'
                            | b'~'
                            | b'!'
                            | b'$'
                            | b'&'
                            | b'\''
                            | b'('
                            | b')'
                            | b'*'
                            | b'+'
                    )
                    || matches!(byte, b',' | b';' | b'=' | b'%' | b'@')
            };
            if !user.bytes().all(is_valid) {
                return None;
            }
            unescaped(user, Part::Path)?;
            host
        }
        None => authority,
    };
    parse_host(scheme, host)
}

fn parse_host(scheme: &str, host: &str) -> Option<String> {
    if let Some(bracket) = host.rfind('[') {
        let inside = if bracket == 0 { &host[1..] } else { return None };
        let (address, port) = inside.rsplit_once(']')?;
        if !is_optional_port(port) {
            return None;
        }
        let (without_zone, zone) = address.split_once("%25").unwrap_or((address, ""));
        without_zone.parse::<std::net::Ipv6Addr>().ok()?;
        let zone = String::from_utf8(unescaped(zone, Part::Zone)?).ok()?;
        let zone = if zone.is_empty() { zone } else { format!("%{zone}") };
        return Some(format!("[{without_zone}{zone}]{port}"));
    }
    if let Some(first) = host.find(':') {
        // Only URLs of other schemes have colons before that of the port.
        let is_strict = matches!(scheme, "http" | "https");
        let colon = if is_strict { first } else { host.rfind(':').unwrap_or(first) };
        if !is_optional_port(&host[colon..]) {
            return None;
        }
    }
    String::from_utf8(unescaped(host, Part::Host)?).ok()
}

/// Whether a text is empty, or a colon and digits.
fn is_optional_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The part of a URL that a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Query,
    Fragment,
    Host,
    Zone,
}

/// Replaces the escapes; `None` if one is invalid.
fn unescaped(text: &str, part: Part) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'%' => {
                let digits = text.get(at + 1..at + 3)?;
                if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                    return None;
                }
                let code = u8::from_str_radix(digits, 16).ok()?;
                // A host escapes only bytes that are not ASCII.
                if part == Part::Host && code < 0x80 && digits != "25" {
                    return None;
                }
                plain.push(code);
                at += 3;
                continue;
            }
            b'+' if part == Part::Query => plain.push(b' '),
            byte if matches!(part, Part::Host | Part::Zone) && *byte < 0x80 && !is_host_byte(*byte) => {
                return None;
            }
            byte => plain.push(*byte),
        }
        at += 1;
    }
    Some(plain)
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':')
        || matches!(byte, b'[' | b']' | b'<' | b'>' | b'"' | b'-' | b'_' | b'.' | b'~')
}

/// Returns the valid pairs of a query.
pub(in crate::query::cel) fn pairs(query: &str) -> Vec<(String, String)> {
    let text = |escaped: &str| {
        unescaped(escaped, Part::Query).map(|plain| String::from_utf8_lossy(&plain).into_owned())
    };
    query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.contains(';'))
        .filter_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((text(key)?, text(value)?))
        })
        .collect()
}
