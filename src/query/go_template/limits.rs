//! Limits of a template's execution. They depend on the template and the object only, not on time or memory, so that
//! an execution that exceeds them fails everywhere.

/// The maximum depth of nested control structures and parentheses in the text.
pub(super) const MAX_SYNTAX_DEPTH: usize = 100;

/// The maximum depth of nested lists of nodes and pipelines during an execution: templates may call themselves.
pub(super) const MAX_DEPTH: usize = 1_000;

/// The maximum depth of the arrays and objects of a printed value.
pub(super) const MAX_VALUE_DEPTH: usize = 256;

/// The evaluated nodes and iterations, and the written bytes in units of [`BYTES_PER_STEP`].
pub(super) const MAX_STEPS: u64 = 100_000_000;

/// The written bytes that count as one step.
pub(super) const BYTES_PER_STEP: u64 = 64;

/// The bytes that one execution writes.
pub(super) const MAX_OUTPUT: usize = 1 << 30;

/// The bytes of all strings that functions return.
pub(super) const MAX_FUNCTION_TEXT: usize = 256 << 20;
