//! The values of a body that was parsed, which are not parsed again where the object's next body has them too.

use std::ops::Range;

use super::envelope::Envelope;
use super::fast_parser::{parse_fast_with, skip_member};

/// The shortest value that is compared. Parsing a shorter one takes no longer.
const MIN_COMPARED: usize = 256;

/// The large arrays and objects among the members of a body that was parsed, by their ranges.
#[derive(Debug, Default)]
pub(crate) struct KnownValues(Vec<Range<usize>>);

impl KnownValues {
    /// Parses a body as [`parse_fast`](super::fast_parser::parse_fast) does, and replaces these values, which must be those of
    /// the body `before`, with those of this one. Values of `before` are skipped.
    pub(super) fn parse<'a>(
        &mut self,
        json: &'a [u8],
        before: &[u8],
        kept: bool,
    ) -> Option<(Envelope<'a>, usize)> {
        let known = std::mem::take(&mut self.0);
        let values = || known.iter().filter_map(|range| before.get(range.clone()));
        parse_fast_with(json, kept, |name, at| {
            let rest = json.get(at..)?;
            let is_plain = !name.contains(&b'\\');
            let end = match values().find(|value| is_plain && rest.starts_with(value)) {
                Some(value) => at + value.len(),
                None => skip_member(json, name, at)?,
            };
            if end - at >= MIN_COMPARED && matches!(rest.first(), Some(b'{' | b'[')) {
                self.0.push(at..end);
            }
            Some(end)
        })
    }
}
