//! The remaining budget of an execution: steps, output and text of functions.

use crate::query::go_template::limits::{BYTES_PER_STEP, MAX_FUNCTION_TEXT, MAX_OUTPUT, MAX_STEPS};

/// The remaining steps and bytes.
#[derive(Debug, Clone)]
pub(in crate::query::go_template) struct Budget {
    steps: u64,
    /// The bytes that may still be written.
    pub(super) output: usize,
    /// The bytes that functions may still return.
    pub(super) function_text: usize,
}

impl Budget {
    /// Returns the budget of one execution.
    pub(in crate::query::go_template) fn full() -> Self {
        Self { steps: MAX_STEPS, output: MAX_OUTPUT, function_text: MAX_FUNCTION_TEXT }
    }

    /// Returns a budget for tests.
    #[cfg(test)]
    pub(in crate::query::go_template) fn small(steps: u64, output: usize, function_text: usize) -> Self {
        Self { steps, output, function_text }
    }

    /// Takes one step, or returns false if none is left.
    pub(super) fn take_step(&mut self) -> bool {
        let is_left = self.steps > 0;
        self.steps = self.steps.saturating_sub(1);
        is_left
    }

    /// Takes the steps of written bytes. They may exceed what is left; then the next step fails.
    fn take_bytes(&mut self, bytes: usize) {
        self.steps = self.steps.saturating_sub(bytes as u64 / BYTES_PER_STEP);
    }

    pub(super) fn take_output(&mut self, bytes: usize) {
        self.output = self.output.saturating_sub(bytes);
        self.take_bytes(bytes);
    }

    pub(super) fn take_function_text(&mut self, bytes: usize) {
        self.function_text = self.function_text.saturating_sub(bytes);
        self.take_bytes(bytes);
    }
}
