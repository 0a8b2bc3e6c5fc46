//! kubectl's nested errors, which decide the form of its messages.
//!
//! kubectl collects the errors of documents and of the items of lists in aggregates. It prints the errors of an aggregate
//! one per line, without `error: ` before them; a single error has that prefix unless an aggregate around it remains.

use crate::exit::Report;

/// An error, or several.
#[derive(Debug)]
pub(super) enum ErrorTree {
    Error(anyhow::Error),
    Aggregate(Vec<ErrorTree>),
}

impl ErrorTree {
    /// Returns the messages for the end of the command: those of the errors in the outermost aggregate with several.
    pub(super) fn messages(&self) -> Vec<String> {
        // The command removes one aggregate around a single error.
        let outermost = match self {
            Self::Aggregate(errors) => match errors.as_slice() {
                [only] => only,
                _ => self,
            },
            Self::Error(_) => self,
        };
        match outermost {
            Self::Error(error) => Report::of(error, "").messages,
            Self::Aggregate(errors) => errors.iter().flat_map(Self::message).collect(),
        }
    }

    /// Returns all errors in one aggregate.
    pub(super) fn flattened(self) -> Self {
        Self::Aggregate(self.into_errors().into_iter().map(Self::Error).collect())
    }

    /// Returns all errors in order.
    fn into_errors(self) -> Vec<anyhow::Error> {
        match self {
            Self::Error(error) => vec![error],
            Self::Aggregate(errors) => errors.into_iter().flat_map(Self::into_errors).collect(),
        }
    }

    /// Returns the message among others, in lines.
    fn message(&self) -> Vec<String> {
        match self {
            Self::Error(error) => {
                let mut lines = Report::of(error, "").messages;
                if lines.join("\n").strip_prefix("error: ") == Some(&plain(error)) {
                    lines[0].drain(.."error: ".len());
                }
                lines
            }
            Self::Aggregate(_) => vec![self.text()],
        }
    }

    /// Returns the text of all errors on one line. Equal ones are named once.
    fn text(&self) -> String {
        let mut texts: Vec<String> = Vec::new();
        self.visit(&mut |error| {
            let text = plain(error);
            if !texts.contains(&text) {
                texts.push(text);
            }
        });
        match texts.as_slice() {
            [only] => only.clone(),
            _ => format!("[{}]", texts.join(", ")),
        }
    }

    /// Visits all errors in order.
    pub(super) fn visit(&self, visit: &mut impl FnMut(&anyhow::Error)) {
        match self {
            Self::Error(error) => visit(error),
            Self::Aggregate(errors) => errors.iter().for_each(|error| error.visit(visit)),
        }
    }
}

/// Returns the text of an error without the prefixes for users.
fn plain(error: &anyhow::Error) -> String {
    error.root_cause().to_string()
}

#[cfg(test)]
mod tests {
    use kdelta::listwatch::{Error, Status};

    use super::*;

    fn missing(name: &str) -> ErrorTree {
        let message = format!("pods {name:?} not found");
        let status = Status { code: Some(404), reason: "NotFound".into(), message, ..Status::default() };
        ErrorTree::Error(Error::NotFound(status).into())
    }

    fn other(text: &str) -> ErrorTree {
        ErrorTree::Error(anyhow::Error::msg(text.to_owned()))
    }

    fn several(errors: Vec<ErrorTree>) -> ErrorTree {
        ErrorTree::Aggregate(errors)
    }

    // Taken from kubectl.
    #[test]
    fn prefix_depends_on_aggregates() {
        assert_eq!(other("a").messages(), ["error: a"]);
        assert_eq!(several(vec![other("a")]).messages(), ["error: a"]);
        assert_eq!(several(vec![several(vec![other("a")])]).messages(), ["a"]);
        assert_eq!(several(vec![other("a"), other("a")]).messages(), ["a", "a"]);
        let not_found = r#"Error from server (NotFound): pods "x" not found"#;
        assert_eq!(several(vec![several(vec![missing("x")])]).messages(), [not_found]);
        assert_eq!(several(vec![missing("x"), other("b")]).messages(), [not_found, "b"]);
    }

    #[test]
    fn nested_aggregates_share_a_line() {
        let list = || several(vec![other("a"), missing("x"), other("a")]);
        assert_eq!(several(vec![list(), other("b")]).messages(), [r#"[a, pods "x" not found]"#, "b"]);
        assert_eq!(
            several(vec![several(vec![several(vec![missing("x")])])]).messages(),
            [r#"pods "x" not found"#]
        );
        let flattened = several(vec![list(), other("b")]).flattened();
        let lines = ["a", r#"Error from server (NotFound): pods "x" not found"#, "a", "b"];
        assert_eq!(flattened.messages(), lines);
        assert_eq!(several(vec![several(vec![missing("x")])]).flattened().messages(), lines[1..2]);
    }
}
