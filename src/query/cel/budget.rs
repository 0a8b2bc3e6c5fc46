//! The limit on an evaluation: a count of steps, which is the same on each machine.

use super::error::CelError;

/// The steps of one evaluation.
const STEPS: u64 = 1_000_000;

/// The bytes of a string or of bytes read or made for the price of a step.
const BYTES_PER_STEP: usize = 16;

/// The bytes of stored text skipped for the price of a step.
const SKIPPED_BYTES_PER_STEP: usize = 64;

/// The deepest value that is compared or formatted; stored objects have fewer levels.
const MAX_DEPTH: u32 = 200;

/// The longest string that a function makes.
const MAX_LENGTH: usize = 1 << 20;

/// The steps that are left.
#[derive(Debug)]
pub(super) struct Budget {
    steps: u64,
    /// The levels of the values around the one that is being read.
    depth: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: STEPS, depth: 0 }
    }
}

impl Budget {
    /// Takes steps.
    pub(super) fn charge(&mut self, steps: u64) -> Result<(), CelError> {
        self.steps = self.steps.checked_sub(steps).ok_or(CelError::TooManySteps)?;
        Ok(())
    }

    /// Calls a function that reads a value one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, CelError>,
    ) -> Result<T, CelError> {
        if self.depth == MAX_DEPTH {
            return Err(CelError::TooManySteps);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Takes the steps for reading a string.
    pub(super) fn read(&mut self, bytes: usize) -> Result<(), CelError> {
        self.charge((bytes / BYTES_PER_STEP) as u64)
    }

    /// Takes the steps for skipping stored text.
    pub(super) fn skip(&mut self, bytes: usize) -> Result<(), CelError> {
        self.charge((bytes / SKIPPED_BYTES_PER_STEP) as u64)
    }

    /// Takes the steps for making a string.
    pub(super) fn allocate(&mut self, bytes: usize) -> Result<(), CelError> {
        check_length(bytes)?;
        self.read(bytes)
    }

    /// Returns the steps taken so far.
    #[cfg(test)]
    pub(super) fn taken(&self) -> u64 {
        STEPS - self.steps
    }
}

/// Checks the length of a string that is being made.
pub(super) fn check_length(bytes: usize) -> Result<(), CelError> {
    if bytes > MAX_LENGTH { Err(CelError::TooManySteps) } else { Ok(()) }
}
