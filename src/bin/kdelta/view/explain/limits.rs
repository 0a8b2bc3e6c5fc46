//! The limits of an explanation: hostile schemas must not exhaust stack, time or memory.

use super::ExplainError;

/// The maximum nesting of schemas, with references followed. Kubernetes' own schemas reach about 40.
pub(super) const MAX_DEPTH: usize = 200;
/// The maximum length of the text. The longest one of Kubernetes has less than 1 MiB.
const MAX_LENGTH: usize = 64 << 20;
/// The maximum number of visited schemas: some produce no text. Kubernetes' own kinds need at most some thousand.
const MAX_VISITS: usize = 400_000;

/// Counts the visited schemas of one explanation.
#[derive(Debug, Default)]
pub(super) struct Visits(usize);

impl Visits {
    /// Counts a visit at this depth and checks all limits.
    pub(super) fn enter(&mut self, depth: usize, text: &str) -> Result<(), ExplainError> {
        self.0 += 1;
        match () {
            () if depth > MAX_DEPTH => Err(ExplainError::TooDeep),
            () if self.0 > MAX_VISITS || text.len() > MAX_LENGTH => Err(ExplainError::TooLong),
            () => Ok(()),
        }
    }
}
