//! The named formats of strings.

use super::url::is_url;
use crate::object::{is_dns_label, is_dns_subdomain};
use crate::query::cel::time_text::parse_timestamp;

/// A format of strings that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::query::cel) enum NamedFormat {
    Label,
    Subdomain,
    /// A label of RFC 1035, which begins with a letter.
    OldLabel,
    QualifiedName,
    LabelPrefix,
    SubdomainPrefix,
    OldLabelPrefix,
    LabelValue,
    Uri,
    Uuid,
    Byte,
    Date,
    DateTime,
}

impl NamedFormat {
    pub(in crate::query::cel) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Label => is_dns_label(text),
            Self::Subdomain => is_dns_subdomain(text),
            Self::OldLabel => is_old_label(text),
            Self::QualifiedName => is_qualified_name(text),
            Self::LabelPrefix => is_dns_label(&masked(text)),
            Self::SubdomainPrefix => is_dns_subdomain(&masked(text)),
            Self::OldLabelPrefix => is_old_label(&masked(text)),
            Self::LabelValue => text.is_empty() || is_label_value(text),
            Self::Uri => is_url(text),
            Self::Uuid => is_uuid(text),
            Self::Byte => is_base64(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
        }
    }

    pub(in crate::query::cel) fn problem(self) -> &'static str {
        match self {
            Self::Label | Self::LabelPrefix => "is no DNS label",
            Self::Subdomain | Self::SubdomainPrefix => "is no DNS subdomain",
            Self::OldLabel | Self::OldLabelPrefix => "is no DNS-1035 label",
            Self::QualifiedName => "is no qualified name",
            Self::LabelValue => "is no value of a label",
            Self::Uri => "is no URI",
            Self::Uuid => "does not match the UUID format",
            Self::Byte => "invalid base64",
            Self::Date => "invalid date",
            Self::DateTime => "invalid datetime",
        }
    }
}

/// Replaces the dash that may end a prefix, and the character before it.
fn masked(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut masked = rest.to_owned();
            masked.pop();
            masked.push('a');
            masked
        }
        _ => text.to_owned(),
    }
}

fn is_old_label(text: &str) -> bool {
    is_dns_label(text) && text.starts_with(|first: char| first.is_ascii_lowercase())
}

fn is_label_value(text: &str) -> bool {
    let is_edge = |byte: &u8| byte.is_ascii_alphanumeric();
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && bytes.first().is_some_and(is_edge)
        && bytes.last().is_some_and(is_edge)
        && bytes.iter().all(|byte| is_edge(byte) || matches!(byte, b'-' | b'_' | b'.'))
}

fn is_qualified_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_label_value(name),
        None => is_label_value(text),
    }
}

/// Whether a text is a UUID; its dashes may be missing.
fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (at, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        match rest.get(..length) {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => rest = &rest[length..],
            _ => return false,
        }
    }
    rest.is_empty()
}

fn is_base64(text: &str) -> bool {
    let padding = text.len() - text.trim_end_matches('=').len();
    let digits = &text[..text.len() - padding];
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !digits.is_empty() && text.len().is_multiple_of(4) && padding <= 2 && digits.bytes().all(is_digit)
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && (text.starts_with("0000") || parse_timestamp(&format!("{text}T00:00:00Z")).is_some())
}

/// Whether a text is a date and a time of day, in either case of letters.
fn is_date_time(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let bytes = time.as_bytes();
    let field = |at: usize, limit: &str| {
        time.get(at..at + 2).is_some_and(|digits| is_digits(digits) && digits <= limit)
    };
    let is_time = field(0, "23")
        && bytes.get(2) == Some(&b':')
        && field(3, "59")
        && bytes.get(5) == Some(&b':')
        && field(6, "59");
    is_date(date) && is_time && time.get(8..).is_some_and(is_fraction_and_zone)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is `.5z`, `+01:00`; any character may stand for the point.
fn is_fraction_and_zone(rest: &str) -> bool {
    let is_zone = |zone: &str| {
        zone == "z"
            || zone.strip_prefix(['+', '-']).and_then(|digits| digits.split_once(':')).is_some_and(
                |(hours, minutes)| [hours, minutes].iter().all(|part| part.len() == 2 && is_digits(part)),
            )
    };
    if is_zone(rest) {
        return true;
    }
    let mut chars = rest.chars();
    chars.next();
    let behind = chars.as_str();
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && is_zone(&behind[digits..])
}
