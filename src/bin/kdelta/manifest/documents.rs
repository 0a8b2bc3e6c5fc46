//! The documents of a text: a stream of JSON values, or YAML documents.
//!
//! The rules are kubectl's. A text that begins with a brace is read as JSON; where that fails before the third value,
//! the rest is read as YAML. YAML documents are separated by lines that begin with `---`.

use serde_json::Value;

use super::json_syntax::{JsonError, is_space, value_end};
use super::yaml;

/// Why a text can't be read on. The messages are kubectl's, except for those of the YAML parser.
#[derive(Debug, thiserror::Error)]
pub(super) enum DocumentError {
    #[error("json: offset {offset}: {message}")]
    JsonAt { offset: usize, message: String },
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error("invalid Yaml document separator: {0}")]
    Separator(String),
    #[error("error converting YAML to JSON: {0}")]
    Yaml(#[from] yaml::YamlError),
}

/// Iterates over the documents of a text, each as JSON text. Empty documents are left out. Nothing follows an error.
pub(super) struct Documents<'a> {
    text: &'a str,
    at: usize,
    form: Form,
    /// The number of JSON values so far.
    values: usize,
}

enum Form {
    Json,
    Yaml,
    End,
}

impl<'a> Documents<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let form = if text.trim_start().starts_with('{') { Form::Json } else { Form::Yaml };
        Self { text, at: 0, form, values: 0 }
    }

    /// Returns the next JSON value, or the next YAML document where the text is not JSON.
    fn next_value(&mut self) -> Option<Result<String, DocumentError>> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        while bytes.get(self.at).copied().is_some_and(is_space) {
            self.at += 1;
        }
        if self.at == bytes.len() {
            return None;
        }
        let error = match value_end(bytes, self.at) {
            Ok(end) => {
                self.values += 1;
                let value = &self.text[self.at..end];
                self.at = end;
                return Some(Ok(value.to_owned()));
            }
            Err(error) => error,
        };
        if self.values > 1 {
            return Some(Err(error.into()));
        }
        self.form = Form::Yaml;
        // The rest of the line after a value is no part of the YAML document.
        let gap = &self.text[start..self.at];
        self.at = start + gap.find('\n').map_or(gap.len(), |end| end + 1);
        match self.next_document()? {
            Ok(Value::Null) => self.next_yaml(),
            Ok(document) => Some(Ok(go_json(&document))),
            Err(_) => Some(Err(match error {
                JsonError::Syntax { offset, message } => DocumentError::JsonAt { offset, message },
                JsonError::UnexpectedEnd => error.into(),
            })),
        }
    }

    /// Returns the next YAML document that is not empty.
    fn next_yaml(&mut self) -> Option<Result<String, DocumentError>> {
        loop {
            match self.next_document()? {
                Ok(Value::Null) => {}
                Ok(document) => return Some(Ok(go_json(&document))),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Returns the next YAML document.
    fn next_document(&mut self) -> Option<Result<Value, DocumentError>> {
        Some(self.next_yaml_text()?.and_then(|text| Ok(yaml::to_json(&text)?)))
    }

    /// Returns the text up to the next separator.
    fn next_yaml_text(&mut self) -> Option<Result<String, DocumentError>> {
        let mut document = String::new();
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let line = rest[..end].trim_end_matches('\n');
            let line = line.strip_suffix('\r').unwrap_or(line);
            self.at += end;
            if let Some(after) = line.strip_prefix("---") {
                let after = after.trim();
                if !after.is_empty() && !after.starts_with('#') {
                    return Some(Err(DocumentError::Separator(after.to_owned())));
                }
                if !document.is_empty() {
                    return Some(Ok(document));
                }
            }
            // A separator before any line stays in its document, so that the lines of errors are right.
            document.push_str(line);
            document.push('\n');
        }
        (!document.is_empty()).then_some(Ok(document))
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<String, DocumentError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match self.form {
            Form::Json => self.next_value(),
            Form::Yaml => self.next_yaml(),
            Form::End => None,
        };
        if !matches!(next, Some(Ok(_))) {
            self.form = Form::End;
        }
        next
    }
}

/// Returns compact JSON with the escapes of Go's encoder.
fn go_json(value: &Value) -> String {
    // These characters occur in strings only.
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_comes_to_an_end(text in "[ab1é\\[\\]{}:,&*#'\"!<>|\\- \n]{0,60}", prefix in "(|\\{\"a\":1\\} )") {
            let text = prefix + &text;
            let found: Vec<_> = Documents::of(&text).take(200).collect();
            prop_assert!(found.len() < 200, "{}", found.len());
            for document in found.iter().flatten() {
                prop_assert!(serde_json::from_str::<Value>(document).is_ok(), "{document}");
            }
        }
    }

    fn documents(text: &str) -> Vec<String> {
        Documents::of(text)
            .map(|document| document.unwrap_or_else(|error| format!("error: {error}")))
            .collect()
    }

    #[test]
    fn yaml_documents_are_separated_by_lines() {
        assert_eq!(documents("a: 1\n---\nb: <\n"), [r#"{"a":1}"#, r#"{"b":"\u003c"}"#]);
        assert_eq!(
            documents("---\na: 1\n--- # next\n---\n# empty\n---   \r\nb: 2\r\n"),
            [r#"{"a":1}"#, r#"{"b":2}"#]
        );
        assert_eq!(documents("text"), ["\"text\""]);
        assert!(documents("").is_empty() && documents("\n# none\n---\n").is_empty());
        assert_eq!(documents("a: 1\n--- x\nb: 2\n"), ["error: invalid Yaml document separator: x"]);
        let broken = documents("a: 1\n---\nb: [\n---\nc: 3\n");
        assert_eq!(broken[0], r#"{"a":1}"#);
        assert!(broken[1].starts_with("error: error converting YAML to JSON: yaml: line "), "{broken:?}");
        assert_eq!(broken.len(), 2, "nothing follows an error");
    }

    #[test]
    fn json_values_follow_each_other() {
        let text = "\n{\"a\": 1}{\"b\":2}\n {\"c\":3}\n";
        assert_eq!(documents(text), [r#"{"a": 1}"#, r#"{"b":2}"#, r#"{"c":3}"#]);
        assert_eq!(documents(r#"{"a": 1} 5"#), [r#"{"a": 1}"#, "5"]);
    }

    #[test]
    fn yaml_may_begin_as_json() {
        assert_eq!(documents("{a: 1}\n---\n{\"b\": 2}\n"), [r#"{"a":1}"#, r#"{"b":2}"#]);
        assert_eq!(documents("{\"a\": 1}\n---\nb: 2\n"), [r#"{"a": 1}"#, r#"{"b":2}"#]);
        let offset =
            "error: json: offset 12: invalid character '}' looking for beginning of object key string";
        assert_eq!(
            documents("{\"a\": 1}\n{\"b\": ]}"),
            [r#"{"a": 1}"#, "error: json: offset 16: invalid character ']' looking for beginning of value"]
        );
        assert_eq!(documents("{\"a\": \"b\", ]"), [offset.replace("'}'", "']'")]);
        assert_eq!(documents("{\"a\": "), ["error: unexpected EOF"]);
        assert_eq!(
            documents("{}{}x"),
            ["{}", "{}", "error: invalid character 'x' looking for beginning of value"]
        );
    }
}
