//! Semantic versions.

use std::cmp::Ordering;

/// A version; its build metadata does not count.
#[derive(Debug, Clone)]
pub(in crate::query::cel) struct SemanticVersion {
    pub(in crate::query::cel) numbers: [u64; 3],
    /// The parts of the pre-release.
    pre: Vec<PrePart>,
}

/// A part of a pre-release. Numbers are before texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PrePart {
    Number(u64),
    Text(String),
}

impl SemanticVersion {
    /// Parses a version. A tolerant parse accepts a `v`, missing numbers and zeros before numbers.
    pub(in crate::query::cel) fn parse(text: &str, is_tolerant: bool) -> Option<Self> {
        if is_tolerant { Self::parse_strict(&normalized(text)?) } else { Self::parse_strict(text) }
    }

    fn parse_strict(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let (major, minor, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, pre) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
        let is_word = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        if !build.is_none_or(|build| build.split('.').all(is_word)) {
            return None;
        }
        let numbers = [strict_number(major)?, strict_number(minor)?, strict_number(patch)?];
        let pre_part = |part: &str| {
            if part.bytes().all(|byte| byte.is_ascii_digit()) {
                strict_number(part).map(PrePart::Number)
            } else {
                is_word(part).then(|| PrePart::Text(part.to_owned()))
            }
        };
        let pre = pre.map(|pre| pre.split('.').map(pre_part).collect::<Option<Vec<_>>>());
        let pre = match pre {
            Some(parts) => parts?,
            None => Vec::new(),
        };
        Some(Self { numbers, pre })
    }

    /// Compares by precedence.
    pub(in crate::query::cel) fn cmp(&self, other: &Self) -> Ordering {
        // A version without a pre-release is after its pre-releases.
        let is_release = |version: &Self| version.pre.is_empty();
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| is_release(self).cmp(&is_release(other)))
            .then_with(|| self.pre.cmp(&other.pre))
    }
}

/// Parses a number without a zero before it.
fn strict_number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && (text.len() == 1 || !text.starts_with('0'))).then(|| text.parse().ok())?
}

/// Returns a version in the strict form.
fn normalized(text: &str) -> Option<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text
        .splitn(3, '.')
        .map(|part| {
            if part.len() <= 1 {
                return part.to_owned();
            }
            let trimmed = part.trim_start_matches('0');
            let has_digit = trimmed.starts_with(|first: char| first.is_ascii_digit());
            if has_digit { trimmed.to_owned() } else { format!("0{trimmed}") }
        })
        .collect();
    if parts.len() < 3 {
        if parts.last()?.contains(['+', '-']) {
            return None;
        }
        parts.resize(3, "0".to_owned());
    }
    Some(parts.join("."))
}
