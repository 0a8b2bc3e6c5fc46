//! The limit of steps: it depends on template and value only, so that an expression fails everywhere or nowhere.

use super::error::JsonPathError;
use crate::object::JsonValue;

/// The steps that every value is granted, enough for any sensible template on one object.
const BASE: u64 = 2_000_000;
/// The steps that each node of the value adds if the base is not enough.
const PER_NODE: u64 = 32;
/// The bytes of text that count as one step.
const BYTES_PER_STEP: usize = 64;
/// The maximum depth of nested ranges; each level takes stack.
const MAX_RANGES: u32 = 64;

/// The steps taken and allowed.
pub(super) struct Budget<'v> {
    steps: u64,
    limit: u64,
    ranges: u32,
    /// The value whose size is not yet part of the limit. Measured only when the base is used up.
    value: Option<&'v JsonValue<'v>>,
}

impl<'v> Budget<'v> {
    pub(super) fn new(value: &'v JsonValue<'v>) -> Self {
        Self { steps: 0, limit: BASE, ranges: 0, value: Some(value) }
    }

    /// Counts visited nodes and produced values.
    pub(super) fn charge(&mut self, steps: usize) -> Result<(), JsonPathError> {
        self.steps = self.steps.saturating_add(steps as u64);
        if self.steps <= self.limit {
            return Ok(());
        }
        if let Some(value) = self.value.take() {
            self.limit = self.limit.max(weight(value).saturating_mul(PER_NODE));
        }
        if self.steps <= self.limit { Ok(()) } else { Err(JsonPathError::TooManySteps { limit: self.limit }) }
    }

    /// Counts printed text.
    pub(super) fn charge_bytes(&mut self, bytes: usize) -> Result<(), JsonPathError> {
        self.charge(bytes / BYTES_PER_STEP)
    }

    pub(super) fn enter_range(&mut self) -> Result<(), JsonPathError> {
        self.ranges += 1;
        if self.ranges > MAX_RANGES {
            return Err(JsonPathError::Evaluation(format!("ranges are nested more than {MAX_RANGES} times")));
        }
        Ok(())
    }

    pub(super) fn leave_range(&mut self) {
        self.ranges -= 1;
    }
}

/// Counts the nodes of a value, with long texts as several.
fn weight(value: &JsonValue<'_>) -> u64 {
    let text = |length: usize| 1 + (length / BYTES_PER_STEP) as u64;
    match value {
        JsonValue::Text(value) => text(value.len()),
        JsonValue::Raw(json) => text(json.len()),
        JsonValue::Array(items) => 1 + items.iter().map(weight).sum::<u64>(),
        JsonValue::Object(members) => {
            1 + members.iter().map(|(key, member)| text(key.len()) + weight(member)).sum::<u64>()
        }
        _ => 1,
    }
}
