//! Manifests: the objects that files, folders, standard input, URLs and kustomizations describe.
//!
//! Their texts are bounded in size and depth, regardless of their author. kubectl's rules decide which files are read, where a
//! document ends, and which errors are reported.

mod described;
mod documents;
mod download;
mod glob;
mod json_syntax;
mod kustomize;
mod limits;
mod members;
mod metadata_types;
mod sources;
mod text;
mod yaml;
mod yaml_scalar;

pub(crate) use described::{Described, Document};
pub(crate) use sources::Sources;

use std::ffi::OsStr;

use described::DescriptionError;
use documents::Documents;
use download::DownloadError;
use kustomize::{Built, KustomizeError};
use sources::Source;
use text::ReadError;

/// kubectl's name for standard input.
const STANDARD_INPUT: &str = "STDIN";

/// Why a source or a document describes no object. The messages are kubectl's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("error parsing {source_name}: {reason}")]
    Parse { source_name: String, reason: String },
    #[error("unable to decode {}: {reason}", kdelta::object::go_quote(.source_name))]
    Decode { source_name: String, reason: String },
    #[error("*unstructured.Unstructured is not a list: no Items field in this object")]
    NestedList,
    /// The file can't be opened.
    #[error("{0}")]
    Open(String),
    /// The server of a URL can't be reached. In kubectl the message has no `error: ` before it.
    #[error("{0}")]
    Unreachable(String),
    #[error("{0}")]
    Download(String),
    #[error("{0}")]
    Kustomize(String),
}

/// A document of a source, or an error in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The source as kubectl names it in messages.
    pub(crate) source: String,
    pub(crate) found: Result<Document, ManifestError>,
}

/// All documents of the sources of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifests {
    pub(crate) entries: Vec<Entry>,
    /// Whether a single object is printed without a list around it.
    pub(crate) is_single: bool,
}

impl Manifests {
    /// Reads all sources, one after the other. `note` receives the lines that the builder of a kustomization prints.
    pub(crate) async fn read(sources: &Sources, note: impl Fn(&str)) -> Self {
        let mut entries = Vec::new();
        for source in &sources.found {
            let name = match source {
                Source::StandardInput => STANDARD_INPUT,
                Source::Url { shown: name, .. } | Source::File(name) | Source::Kustomization(name) => name,
            };
            match text_of(source, name, &sources.search_path, &note).await {
                Ok(text) => add_documents(name, &text, &mut entries),
                Err(error) => entries.push(Entry { source: name.to_owned(), found: Err(error) }),
            }
        }
        Self { entries, is_single: sources.is_single() }
    }
}

/// Returns the text of a source.
async fn text_of(
    source: &Source,
    name: &str,
    search_path: &OsStr,
    note: impl Fn(&str),
) -> Result<String, ManifestError> {
    let unread = |error: ReadError| match error {
        ReadError::Open { .. } => ManifestError::Open(error.to_string()),
        error => ManifestError::Parse { source_name: name.to_owned(), reason: error.to_string() },
    };
    match source {
        Source::StandardInput => blocking(text::of_standard_input).await.map_err(unread),
        Source::File(path) => {
            let path = path.clone();
            blocking(move || text::of_file(&path)).await.map_err(unread)
        }
        Source::Url { url, shown } => download::text(url, shown).await.map_err(|error| match error {
            DownloadError::Unreachable(message) => ManifestError::Unreachable(message),
            error => ManifestError::Download(error.to_string()),
        }),
        Source::Kustomization(folder) => {
            let Built { text, messages } = kustomize::build(folder, search_path)
                .await
                .map_err(|error: KustomizeError| ManifestError::Kustomize(error.to_string()))?;
            for message in &messages {
                note(message);
            }
            Ok(text)
        }
    }
}

/// Runs a read on a thread that may wait.
async fn blocking(
    read: impl FnOnce() -> Result<String, ReadError> + Send + 'static,
) -> Result<String, ReadError> {
    let ended = tokio::task::spawn_blocking(read).await;
    // The only other end is a panic.
    ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// Adds the documents of a text, each decoded.
fn add_documents(name: &str, text: &str, entries: &mut Vec<Entry>) {
    for document in Documents::of(text) {
        let source_name = || name.to_owned();
        let found = match document {
            Ok(document) => Document::read(&document).map_err(|error| match error {
                DescriptionError::Undecodable(reason) => {
                    ManifestError::Decode { source_name: source_name(), reason }
                }
                DescriptionError::NestedList => ManifestError::NestedList,
            }),
            Err(error) => Err(ManifestError::Parse { source_name: source_name(), reason: error.to_string() }),
        };
        entries.push(Entry { source: source_name(), found });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> Vec<String> {
        let mut entries = Vec::new();
        add_documents("x.yaml", text, &mut entries);
        let title = |entry: Entry| match entry.found {
            Ok(Document::Object(object)) => object.name,
            Ok(Document::List { items, .. }) => format!("{} items", items.len()),
            Err(error) => error.to_string(),
        };
        entries.into_iter().map(title).collect()
    }

    #[test]
    fn errors_keep_the_place_of_their_document() {
        let pod = |name: &str| format!("kind: Pod\nmetadata: {{name: {name}}}\n");
        let text = format!("{}---\ntext\n---\n{}---\nkind: List\nitems: []\n---\na: [\n", pod("a"), pod("b"));
        let titles = titles(&text);
        assert_eq!(titles[0], "a");
        assert_eq!(
            titles[1],
            "unable to decode \"x.yaml\": json: cannot unmarshal string into Go value of type unstructured.detector"
        );
        assert_eq!(&titles[2..4], ["b", "0 items"]);
        assert!(titles[4].starts_with("error parsing x.yaml: error converting YAML to JSON: yaml: line "));
        assert_eq!(titles.len(), 5);
    }
}
