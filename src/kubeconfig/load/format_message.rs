//! The message for a file that is not a kubeconfig: the problem and its line, without any text of the file.

use std::borrow::Cow;

use serde_saphyr::{DefaultMessageFormatter, Localizer, Location, MessageFormatter};

use crate::kubeconfig::file_format::FormatError;

/// Returns the message of a parser, in which texts of the file are left out: they may be credentials.
pub(super) fn message(error: &FormatError) -> String {
    match error {
        FormatError::Yaml(error) => {
            let problem = redact(&error.without_snippet().render_with_formatter(&WithoutLocation));
            match error.location() {
                Some(location) => format!("yaml: line {}: {problem}", location.line()),
                None => format!("yaml: {problem}"),
            }
        }
        FormatError::Type { place, error } => format!("json: {place}: {}", redact(&error.to_string())),
    }
}

/// Formats the problem alone: the message begins with its line, as in kubectl.
struct WithoutLocation;

impl MessageFormatter for WithoutLocation {
    fn localizer(&self) -> &dyn Localizer {
        self
    }

    fn format_message<'a>(&self, error: &'a serde_saphyr::Error) -> Cow<'a, str> {
        DefaultMessageFormatter.format_message(error)
    }
}

impl Localizer for WithoutLocation {
    fn attach_location<'a>(&self, base: Cow<'a, str>, _: Location) -> Cow<'a, str> {
        base
    }

    fn alias_defined_at(&self, _: Location) -> String {
        String::new()
    }

    fn alias_used_at(&self, _: Location) -> String {
        String::new()
    }
}

/// Returns the first line of a parser's message without quoted texts, which may be values of the file.
fn redact(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let mut out = String::with_capacity(message.len());
    let mut chars = message.chars();
    while let Some(char) = chars.next() {
        out.push(char);
        if char == '"' || char == '`' {
            while let Some(inner) = chars.next() {
                match inner {
                    '\\' => drop(chars.next()),
                    end if end == char => break,
                    _ => {}
                }
            }
            out.push('…');
            out.push(char);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubeconfig::file_format::Kubeconfig;

    #[test]
    fn message_has_one_location_and_no_text_of_the_file() {
        for (text, expected) in [
            ("a: b\nusers: [", "yaml: line "),
            ("a: &a b\nusers:\n- user: {token: *s3cret}", "yaml: line 3: "),
            ("users: [{name: u, user: {token: 12345678}}]", "json: users[0]: "),
        ] {
            let message = Kubeconfig::from_yaml(text).err().map(|error| message(&error)).expect("an error");
            assert!(message.starts_with(expected), "{message}");
            assert!(message.matches("line").count() <= 1, "{message}");
            assert!(!message.contains("12345678") && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn parser_message_is_redacted() {
        assert_eq!(
            redact(r#"invalid type: string "s3\"cret", expected a sequence at line 3"#),
            r#"invalid type: string "…", expected a sequence at line 3"#
        );
        assert_eq!(
            redact("invalid type: integer `123456`, expected a map"),
            "invalid type: integer `…`, expected a map"
        );
        assert_eq!(redact("expected a map\nsnippet"), "expected a map");
        assert_eq!(redact("open \"end"), "open \"…\"");
    }
}
