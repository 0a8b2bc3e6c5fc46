//! The indices of `--by`, as index functions of an Indexer.

mod expression_errors;
#[cfg(test)]
mod tests;

pub(crate) use expression_errors::ExpressionErrors;

use std::sync::Arc;

use kdelta::object::{FieldPath, PathError};
use kdelta::store::{IndexFunc, Indexers, index_funcs};

use crate::settings::{By, CelIndex, IndexName};

/// Returns the function of an index. An object for which the expression of an index has no result has no value, and is
/// recorded.
///
/// # Errors
/// The path of a `field:` index can't be parsed.
pub(crate) fn index_function(
    name: &IndexName,
    errors: &Arc<ExpressionErrors>,
) -> Result<IndexFunc, PathError> {
    Ok(match name {
        IndexName::Namespace => index_funcs::namespace(),
        IndexName::Name => index_funcs::name(),
        IndexName::Label(key) => index_funcs::label(key),
        IndexName::Annotation(key) => index_funcs::annotation(key),
        IndexName::Owner => index_funcs::owner(),
        IndexName::Node => index_funcs::node(),
        IndexName::Image => index_funcs::image(),
        IndexName::Field(path) => index_funcs::field(FieldPath::parse(path)?),
        IndexName::Cel(index) => expression_values(index, errors),
    })
}

/// Returns the function of an index of the results of an expression.
fn expression_values(index: &CelIndex, errors: &Arc<ExpressionErrors>) -> IndexFunc {
    let (values, errors) = (Arc::clone(index.values()), Arc::clone(errors));
    IndexFunc::new(move |object, visit| {
        if let Err(error) = values.visit(&object.json(), visit) {
            errors.add("--by cel", error, object);
        }
        Ok(())
    })
}

/// Whether an index reads more of an object than its metadata.
pub(crate) fn needs_body(name: &IndexName) -> bool {
    match name {
        IndexName::Node | IndexName::Image => true,
        IndexName::Field(path) => path_needs_body(path),
        IndexName::Cel(index) => index.needs_body(),
        IndexName::Namespace
        | IndexName::Name
        | IndexName::Label(_)
        | IndexName::Annotation(_)
        | IndexName::Owner => false,
    }
}

/// Whether a path leads out of the metadata. A path that can't be parsed is reported elsewhere.
pub(crate) fn path_needs_body(path: &str) -> bool {
    let Ok(path) = FieldPath::parse(path) else { return false };
    // Each member of an object includes the metadata.
    let is_each = path.cursor().member("metadata").is_some() && path.cursor().member("spec").is_some();
    is_each || path.cursor().member("metadata").is_none()
}

/// Returns the indexers of the conditions, each under the name given by the user.
///
/// # Errors
/// As [`index_function`].
pub(crate) fn indexers(by: &[By], errors: &Arc<ExpressionErrors>) -> Result<Indexers, PathError> {
    by.iter().map(|by| Ok((by.index.to_string(), index_function(&by.index, errors)?))).collect()
}
