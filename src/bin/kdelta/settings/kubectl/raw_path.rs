//! The value of `--raw`: a path of the server with its query, by the rules of Go's `net/url`.

use std::fmt::Write;

use crate::args::{GetArgs, ObjectArgs};
use crate::settings::UsageError;

/// The path and query of a request. A host in the value is ignored, as in kubectl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawPath {
    /// The path below the server's URL, escaped, with its leading `/`.
    pub(crate) path: String,
    /// The parameters, not escaped, sorted by name.
    pub(crate) query: Vec<(String, String)>,
}

impl RawPath {
    /// Reads `get --raw` with a value that is not empty. As in kubectl, some flags are refused, and others are ignored.
    pub(in crate::settings) fn read(text: &str, args: &GetArgs) -> Result<Self, UsageError> {
        let ObjectArgs { select, print, flow, .. } = &args.objects;
        let is_given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        match () {
            () if !select.resources.is_empty() => return Err(UsageError::WordsWithRaw),
            () if args.watch || flow.watch_only || select.selector.iter().any(|text| !text.is_empty()) => {
                return Err(UsageError::FlagsWithRaw);
            }
            () if is_given(&print.output) => return Err(UsageError::OutputWithRaw),
            () => {}
        }
        let path = Self::parse(text)?;
        if flow.output_watch_events { Err(UsageError::OutputWatchEvents) } else { Ok(path) }
    }

    fn parse(text: &str) -> Result<Self, UsageError> {
        let wrong = |reason: String| UsageError::RawPath { text: text.to_owned(), reason };
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err(wrong("net/url: invalid control character in URL".to_owned()));
        }
        let (scheme, rest) = split_scheme(text).map_err(|reason| wrong(reason.to_owned()))?;
        let without_fragment = rest.split('#').next().unwrap_or_default();
        let (path, query) = without_fragment.split_once('?').unwrap_or((without_fragment, ""));
        if !rest.starts_with('/') && scheme.is_none() && text != "*" {
            return Err(wrong("invalid URI for request".to_owned()));
        }
        let path = match path.strip_prefix("//") {
            // kubectl parses the value a second time, and then everything up to the next slash is a host.
            Some(after) if scheme.is_some() || !rest.starts_with("///") => {
                let (host, path) = after.split_at(after.find('/').unwrap_or(after.len()));
                if host.starts_with('[') && !host.contains(']') {
                    return Err(wrong("missing ']' in host".to_owned()));
                }
                path
            }
            // What follows another scheme than that of a server is no path.
            _ if scheme.is_some() && !path.starts_with('/') => "",
            _ => path,
        };
        let decoded = unescape(path, false)
            .map_err(|escape| wrong(format!("invalid URL escape {}", kdelta::object::go_quote(escape))))?;
        Ok(Self { path: escaped(&clean(&decoded)), query: parameters(query) })
    }
}

/// Splits `scheme:rest`. A text without a scheme has none.
fn split_scheme(text: &str) -> Result<(Option<&str>, &str), &'static str> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme"),
            b':' => return Ok((Some(&text[..at]), &text[at + 1..])),
            _ => break,
        }
    }
    Ok((None, text))
}

/// Replaces the escapes of a path, or of a part of a query, in which `+` is a space.
///
/// # Errors
/// Returns the first invalid escape.
fn unescape(text: &str, is_query: bool) -> Result<Vec<u8>, &str> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '%' => {
                let digits =
                    rest.get(1..3).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let end = rest.char_indices().nth(3).map_or(rest.len(), |(end, _)| end);
                decoded.push(byte.ok_or(&rest[..end])?);
                3
            }
            '+' if is_query => {
                decoded.push(b' ');
                1
            }
            other => {
                decoded.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                other.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    Ok(decoded)
}

/// Removes empty segments and dot segments from a path, and keeps a slash at its end.
fn clean(path: &[u8]) -> Vec<u8> {
    let mut segments: Vec<&[u8]> = Vec::new();
    for segment in path.split(|byte| *byte == b'/') {
        match segment {
            b"" | b"." => {}
            b".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    let mut clean = vec![b'/'];
    clean.extend(segments.join(&b'/'));
    if path.len() > 1 && path.ends_with(b"/") && clean.len() > 1 {
        clean.push(b'/');
    }
    clean
}

/// Escapes a path.
fn escaped(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => text.push(char::from(*byte)),
            b'-' | b'_' | b'.' | b'~' | b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'@' => {
                text.push(char::from(*byte));
            }
            // Writing to a String can't fail.
            byte => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

/// Returns the parameters of a query. Malformed ones are ignored, as in Go.
fn parameters(query: &str) -> Vec<(String, String)> {
    let text =
        |text: &str| unescape(text, true).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let pairs = query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';'));
    let mut parameters: Vec<(String, String)> = pairs
        .filter_map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((text(name)?, text(value)?))
        })
        .collect();
    // Stable: the values of one name keep their order.
    parameters.sort_by(|(one, _), (other, _)| one.cmp(other));
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<String, String> {
        let RawPath { path, query } = RawPath::parse(text).map_err(|error| error.to_string())?;
        let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Ok(if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) })
    }

    #[test]
    fn paths_are_those_that_kubectl_requests() {
        for (text, path) in [
            ("/version", "/version"),
            ("/version/", "/version/"),
            ("/", "/"),
            ("/a//b/./c/../d", "/a/b/d"),
            ("/../../version", "/version"),
            ("/a b/\u{e9}", "/a%20b/%C3%A9"),
            ("/a%2Fb%2e%2e/", "/a/b../"),
            ("/a/%2e%2e/b", "/b"),
            ("/a?b=1#c", "/a?b=1"),
            ("/a#b?c=1", "/a"),
            ("/a?b=x+y&a=%26&b=2&c;d&e=%zz&f", "/a?a=&&b=x y&b=2&f="),
            ("https://example.com/version?x=1", "/version?x=1"),
            ("https://example.com", "/"),
            ("https:/version", "/version"),
            ("//version", "/"),
            ("//host/version", "/version"),
            ("///version", "/version"),
            ("mailto:a", "/"),
            ("*", "/%2A"),
        ] {
            assert_eq!(parsed(text), Ok(path.to_owned()), "{text}");
        }
    }

    #[test]
    fn other_values_have_kubectls_errors() {
        for (text, reason) in [
            ("nope", "invalid URI for request"),
            ("?x", "invalid URI for request"),
            (":x", "missing protocol scheme"),
            ("/%zz", "invalid URL escape \"%zz\""),
            ("/%4", "invalid URL escape \"%4\""),
            ("http://[::1", "missing ']' in host"),
            ("/a\u{7f}", "net/url: invalid control character in URL"),
        ] {
            let quoted = kdelta::object::go_quote(text);
            let expected = format!("--raw must be a valid URL path: parse {quoted}: {reason}");
            assert_eq!(parsed(text), Err(expected), "{text}");
        }
    }
}
