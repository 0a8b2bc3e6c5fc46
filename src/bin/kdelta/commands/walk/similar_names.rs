//! The hint about existing names that are similar to a missing one.

use kdelta::listwatch::Error;

use crate::commands::reporter::Reporter;
use crate::exit::Hint;
use crate::session::{Part, Session};

/// Attaches a hint to the error of a named object: similar objects, or similar namespaces if its namespace does not
/// exist. Only terminals show hints, so no other output waits for one.
pub(in crate::commands) async fn with_similar_names(
    session: &Session,
    reporter: &Reporter,
    part: &Part,
    error: Error,
) -> anyhow::Error {
    let similar = match &error {
        Error::NotFound(status) if reporter.messages().has_reader() => match &status.name {
            Some(name) => session.similar_objects(part, name).await,
            None => Vec::new(),
        },
        _ => Vec::new(),
    };
    let error = anyhow::Error::new(error);
    if similar.is_empty() {
        return error;
    }
    error.context(Hint(format!("did you mean {}?", similar.join(" or "))))
}
