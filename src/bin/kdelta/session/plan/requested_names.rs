//! The object names and name patterns that are requested of one type.

use std::sync::Arc;

use super::name_patterns::NamePatterns;
use crate::settings::Pattern;

/// The names of a type's requested objects. Without any, the whole collection is requested.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct RequestedNames {
    pub(super) names: Vec<String>,
    pub(super) patterns: Option<Arc<NamePatterns>>,
}

impl RequestedNames {
    pub(in crate::session) fn new(names: Vec<String>, patterns: Vec<Pattern>) -> Self {
        let patterns = (!patterns.is_empty()).then(|| Arc::new(NamePatterns::new(patterns, names.clone())));
        Self { names, patterns }
    }

    /// Whether the whole collection is requested.
    pub(super) fn is_collection(&self) -> bool {
        self.names.is_empty() && self.patterns.is_none()
    }
}
