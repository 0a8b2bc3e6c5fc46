//! The templates of `-o jsonpath=…`, `-o go-template=…` and `-o custom-columns=…`, with kubectl's rules and errors.

use std::fs;

use kdelta::object::{JsonPath, JsonPathError};
use kdelta::query::{
    CustomColumns, CustomColumnsError, GoTemplate, JqFilter, JqSyntaxError, TemplateError as GoTemplateError,
};

use crate::args::TemplateArgs;
use crate::system_words::system_words;

/// A parsed template. It lives as long as the process, which has one command line: executions borrow it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Template {
    /// `-o jsonpath=` and `-o jsonpath-file=`, with the text of the template.
    JsonPath(&'static JsonPath, &'static str),
    /// `-o jsonpath-as-json=`, with the text of the template.
    JsonPathAsJson(&'static JsonPath, &'static str),
    /// `-o go-template=`, `-o template=` and their files.
    Go(&'static GoTemplate),
    /// `-o custom-columns=` and `-o custom-columns-file=`.
    Columns(&'static CustomColumns),
    /// `-o jq=` and `-o jq-file=`.
    Jq(Jq),
}

/// A jq expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jq {
    pub(crate) expression: &'static JqFilter,
    /// The expression for each item of a list, if that is enough.
    pub(crate) per_item: Option<&'static JqFilter>,
    /// Whether strings are printed without quotes.
    pub(crate) raw: bool,
}

/// A template that can't be used. The messages are kubectl's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    #[error("template format specified but no template given")]
    NoTemplate,
    #[error("custom-columns format specified but no custom columns given")]
    NoColumns,
    #[error("error reading --template {file}, open {file}: {reason}")]
    ReadTemplate { file: String, reason: String },
    #[error("error reading template {file}, open {file}: {reason}")]
    ReadColumns { file: String, reason: String },
    #[error("error parsing jsonpath {text}, {error}")]
    JsonPath { text: String, error: JsonPathError },
    #[error("error parsing jq {text}: {error}")]
    Jq { text: String, error: JqSyntaxError },
    #[error(transparent)]
    Go(#[from] GoTemplateError),
    #[error(transparent)]
    Columns(#[from] CustomColumnsError),
}

/// Templates are equal if they are the same one.
impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::JsonPath(a, _), Self::JsonPath(b, _))
            | (Self::JsonPathAsJson(a, _), Self::JsonPathAsJson(b, _)) => std::ptr::eq(*a, *b),
            (Self::Go(a), Self::Go(b)) => std::ptr::eq(*a, *b),
            (Self::Columns(a), Self::Columns(b)) => std::ptr::eq(*a, *b),
            (Self::Jq(a), Self::Jq(b)) => std::ptr::eq(a.expression, b.expression),
            _ => false,
        }
    }
}

impl Eq for Template {}

impl Template {
    /// Returns the name of the format.
    pub(super) fn format(self) -> &'static str {
        match self {
            Self::JsonPath(..) => "jsonpath",
            Self::JsonPathAsJson(..) => "jsonpath-as-json",
            Self::Go(_) => "go-template",
            Self::Columns(_) => "custom-columns",
            Self::Jq(_) => "jq",
        }
    }

    pub(super) fn is_jq(self) -> bool {
        matches!(self, Self::Jq(_))
    }
}

/// Reads the template of `-o` or `--template`; `None` for the other formats. As in kubectl, `--template` alone is a Go
/// template, and the value of `--template` counts where `-o` has none.
pub(in crate::settings) fn read(
    output: &str,
    args: &TemplateArgs,
    no_headers: bool,
    raw_output: bool,
) -> Result<Option<Template>, TemplateError> {
    let given = args.template.as_deref().unwrap_or_default();
    let output = if output.is_empty() && !given.is_empty() { "go-template" } else { output };
    let (name, text) = match output.split_once('=') {
        Some((name, text)) if given.is_empty() => (name, text),
        _ => (output, given),
    };
    let is_columns = matches!(name, "custom-columns" | "custom-columns-file");
    let is_template = is_columns
        || matches!(
            name,
            "jq" | "jq-file"
                | "jsonpath"
                | "jsonpath-file"
                | "jsonpath-as-json"
                | "go-template"
                | "template"
                | "go-template-file"
                | "templatefile"
        );
    match () {
        () if !is_template => return Ok(None),
        () if text.is_empty() && is_columns => return Err(TemplateError::NoColumns),
        () if text.is_empty() => return Err(TemplateError::NoTemplate),
        () => {}
    }
    let allows_missing = args.allow_missing_template_keys;
    let file = |text: &str| {
        let failure = |error| {
            let (file, reason) = (text.to_owned(), system_words(&error));
            if is_columns {
                TemplateError::ReadColumns { file, reason }
            } else {
                TemplateError::ReadTemplate { file, reason }
            }
        };
        fs::read(text).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(failure)
    };
    Ok(Some(match name {
        "custom-columns" => Template::Columns(keep(CustomColumns::parse(text, no_headers)?)),
        "jq" => jq(text, raw_output)?,
        "jq-file" => jq(&file(text)?, raw_output)?,
        "custom-columns-file" => Template::Columns(keep(CustomColumns::from_template(&file(text)?)?)),
        "jsonpath" => json_path(text, allows_missing, Template::JsonPath)?,
        "jsonpath-file" => json_path(&file(text)?, allows_missing, Template::JsonPath)?,
        "jsonpath-as-json" => json_path(text, allows_missing, Template::JsonPathAsJson)?,
        "go-template" | "template" => go_template(text, allows_missing)?,
        _ => go_template(&file(text)?, allows_missing)?,
    }))
}

fn json_path(
    text: &str,
    allows_missing: bool,
    template: impl FnOnce(&'static JsonPath, &'static str) -> Template,
) -> Result<Template, TemplateError> {
    let failure = |error| TemplateError::JsonPath { text: text.to_owned(), error };
    let path = JsonPath::parse(text).map_err(failure)?.allow_missing_keys(allows_missing);
    Ok(template(keep(path), Box::leak(Box::from(text))))
}

fn go_template(text: &str, allows_missing: bool) -> Result<Template, TemplateError> {
    Ok(Template::Go(keep(GoTemplate::parse(text)?.allow_missing_keys(allows_missing))))
}

fn jq(text: &str, raw: bool) -> Result<Template, TemplateError> {
    let failure = |error| TemplateError::Jq { text: text.trim_end().to_owned(), error };
    let expression = JqFilter::parse(text).map_err(failure)?;
    let per_item: Option<&'static JqFilter> = expression.per_item().map(keep);
    Ok(Template::Jq(Jq { expression: keep(expression), per_item, raw }))
}

/// Keeps a template for the rest of the process.
fn keep<T>(template: T) -> &'static T {
    Box::leak(Box::new(template))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn read_words(words: &[&str]) -> Result<Option<Template>, String> {
        let words = [&["kdelta", "get", "pods"], words].concat();
        let Command::Get(args) = Cli::try_parse_from(words).expect("valid arguments").command else {
            panic!("get")
        };
        let print = &args.objects.print;
        let output = print.output.as_deref().unwrap_or_default();
        read(output, &print.template, print.no_headers, print.raw_output).map_err(|error| error.to_string())
    }

    #[test]
    fn formats_and_templates_are_combined_as_in_kubectl() {
        for (words, format) in [
            (&["-o", "jsonpath={.x}"][..], "jsonpath"),
            (&["-o", "jsonpath", "--template", "{.x}"], "jsonpath"),
            (&["-o", "jsonpath-as-json={.x}"], "jsonpath-as-json"),
            (&["--template", "{{.x}}"], "go-template"),
            (&["-o", "template={{.x}}"], "go-template"),
            (&["-o", "custom-columns=A:.x,B:.y=z"], "custom-columns"),
            (&["-o", "jq=.x == 1"], "jq"),
            (&["-o", "jq", "--template", ".x"], "jq"),
        ] {
            assert_eq!(
                read_words(words).expect("a template").map(Template::format),
                Some(format),
                "{words:?}"
            );
        }
        for words in [&["-o", "json"][..], &[], &["-o", "jsonpath={.x}", "--template", "{.y}"]] {
            assert_eq!(read_words(words), Ok(None), "{words:?}");
        }
    }

    #[test]
    fn unusable_templates_have_kubectls_errors() {
        for (words, error) in [
            (&["-o", "jsonpath="][..], "template format specified but no template given"),
            (&["-o", "go-template"], "template format specified but no template given"),
            (&["-o", "custom-columns="], "custom-columns format specified but no custom columns given"),
            (&["-o", "jq="], "template format specified but no template given"),
            (
                &["-o", "jq=.x | foo(1)"],
                "error parsing jq .x | foo(1): line 1, column 6: undefined filter foo/1",
            ),
            (
                &["-o", "jq-file=no/file"],
                "error reading --template no/file, open no/file: no such file or directory",
            ),
            (&["-o", "jsonpath={.x"], "error parsing jsonpath {.x, unclosed action"),
            (
                &["-o", "jsonpath-file=no/file"],
                "error reading --template no/file, open no/file: no such file or directory",
            ),
            (
                &["-o", "custom-columns-file=no/file"],
                "error reading template no/file, open no/file: no such file or directory",
            ),
        ] {
            assert_eq!(read_words(words), Err(error.to_owned()), "{words:?}");
        }
    }
}
