//! Decodes the texts of objects along their chains.

use std::collections::HashMap;

use super::chains::{Chains, SegmentLog};
use super::cut::Cut;
use super::segment_file::{PayloadBytes, Segment};
use crate::object::ApiResource;
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::frame::{FrameContext, read_frame};
use crate::recording::log::{LogEntry, Payload};
use crate::recording::payload::split_version;
use crate::recording::segment::Siblings;

/// Receives the number of a chain, the object's own version and its text.
type ReceiveText<'a> = dyn FnMut(usize, Option<&str>, &[u8]) -> Option<()> + 'a;

/// The text of an object, and its version in the columns.
#[derive(Debug, Default, Clone)]
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    pub(super) version: u64,
}

impl Chains {
    /// Decodes the text of each chain, and passes it to `receive` with the number of the chain and the object's own version,
    /// if that is another than the one of the columns. `receive` returns `None` for a text that can't be right.
    pub(super) fn decode(
        &self,
        cut: &Cut,
        resource: &ApiResource,
        receive: &mut ReceiveText<'_>,
    ) -> Result<(), FileError> {
        let mut texts: HashMap<usize, Text> = HashMap::new();
        self.decode_keyframe(cut, resource, &mut texts, receive)?;
        let mut steps: Vec<Vec<(u32, usize, bool)>> = self.logs.iter().map(|_| Vec::new()).collect();
        for (number, chain) in self.objects.iter().enumerate() {
            for (at, (segment, entry)) in chain.steps.iter().enumerate() {
                steps[*segment as usize].push((*entry, number, at + 1 == chain.steps.len()));
            }
        }
        let mut scratch = Vec::new();
        for ((segment, log), mut steps) in cut.segments.iter().zip(&self.logs).zip(steps) {
            let Some(log) = log else { continue };
            steps.sort_unstable();
            let mut bodies = Bodies::new(segment, resource, log);
            for (entry, chain, is_last) in steps {
                let mut text = texts.remove(&chain).unwrap_or_default();
                let own = bodies.decode(entry, &mut text, &mut scratch)?;
                if !is_last {
                    texts.insert(chain, text);
                    continue;
                }
                let received = receive(chain, own.as_deref(), &text.bytes);
                received.ok_or_else(|| bodies.invalid(entry, "a text is not that of its object"))?;
            }
        }
        Ok(())
    }

    fn decode_keyframe(
        &self,
        cut: &Cut,
        resource: &ApiResource,
        texts: &mut HashMap<usize, Text>,
        receive: &mut ReceiveText<'_>,
    ) -> Result<(), FileError> {
        let Some(keyframe) = &cut.keyframe else { return Ok(()) };
        let mut chain_of = vec![None; self.keyframe.objects.len()];
        for (number, chain) in self.objects.iter().enumerate() {
            if let Some(base) = chain.base {
                chain_of[base as usize] = Some(number);
            }
        }
        let mut is_valid = true;
        keyframe.bodies(
            resource,
            &self.keyframe,
            |at| chain_of[at].is_some(),
            |at, own, bytes| {
                let Some(chain) = chain_of[at] else { return };
                if self.objects[chain].steps.is_empty() {
                    is_valid &= receive(chain, own, bytes).is_some();
                } else {
                    let version = self.keyframe.objects[at].version;
                    texts.insert(chain, Text { bytes: bytes.to_vec(), version });
                }
            },
        )?;
        if is_valid { Ok(()) } else { Err(keyframe.invalid_object()) }
    }
}

/// Decodes bodies of one type and segment. Reading them in the order of the log reads each block once.
pub(super) struct Bodies<'a> {
    segment: &'a Segment,
    resource: &'a ApiResource,
    log: &'a SegmentLog,
    block: Option<(u32, PayloadBytes<'a>)>,
    siblings: Siblings,
    /// The first entry of the block whose whole text was not read yet.
    next_sibling: usize,
}

impl<'a> Bodies<'a> {
    pub(super) fn new(segment: &'a Segment, resource: &'a ApiResource, log: &'a SegmentLog) -> Self {
        Self { segment, resource, log, block: None, siblings: Siblings::default(), next_sibling: 0 }
    }

    pub(super) fn context(&self, entry: &LogEntry) -> FrameContext {
        let at = entry.index as usize;
        FrameContext { version: self.log.timeline.versions[at], received: self.log.timeline.received[at] }
    }

    pub(super) fn invalid(&self, entry: u32, what: &str) -> FileError {
        let block = self.log.log.entries[entry as usize].body.block;
        self.segment.invalid(self.resource, Payload::Bodies, block, what)
    }

    /// Replaces the previous text of an object by that of an entry, and returns the object's own version if the entry has
    /// one.
    pub(super) fn decode(
        &mut self,
        number: u32,
        text: &mut Text,
        scratch: &mut Vec<u8>,
    ) -> Result<Option<String>, FileError> {
        let entry = self.log.log.entries[number as usize];
        let block = entry.body.block;
        if self.block.as_ref().is_none_or(|(loaded, _)| *loaded != block) {
            self.block = Some((block, self.segment.payload(self.resource, Payload::Bodies, block)?));
            self.siblings = Siblings::default();
            let before =
                self.log.log.entries[..number as usize].iter().rposition(|entry| entry.body.block != block);
            self.next_sibling = before.map_or(0, |last| last + 1);
        }
        let mut own = None;
        let decoded = self.decode_in_block(number as usize, &entry, text, scratch, &mut own);
        decoded.map(|()| own).ok_or_else(|| self.invalid(number, "a text can't be decoded"))
    }

    fn decode_in_block(
        &mut self,
        number: usize,
        entry: &LogEntry,
        text: &mut Text,
        scratch: &mut Vec<u8>,
        own: &mut Option<String>,
    ) -> Option<()> {
        let (_, payload) = self.block.as_ref()?;
        let context = self.context(entry);
        let (own_version, frame) = split_version(entry.body.of(payload)?, entry.flags)?;
        *own = own_version.map(str::to_owned);
        if !entry.flags.has(Flags::WHOLE) {
            scratch.clear();
            read_frame(frame, &text.bytes, text.version, &context, scratch)?;
            std::mem::swap(&mut text.bytes, scratch);
        } else if self.segment.has_siblings() {
            text.bytes.clear();
            // Entries are read in order, so that the siblings up to this one were read or are read now.
            if number < self.next_sibling {
                return None;
            }
            for at in self.next_sibling..=number {
                let sibling = &self.log.log.entries[at];
                if sibling.flags.has(Flags::WHOLE) {
                    let object = self.log.log.ends.partition_point(|end| *end as usize <= at);
                    let (_, frame) = split_version(sibling.body.of(payload)?, sibling.flags)?;
                    let context = self.context(sibling);
                    let whole = self.siblings.read(frame, self.log.log.names.get(object).0, context)?;
                    if at == number {
                        text.bytes.extend_from_slice(whole);
                    }
                }
            }
            self.next_sibling = number + 1;
        } else {
            text.bytes.clear();
            text.bytes.extend_from_slice(frame);
        }
        text.version = context.version;
        Some(())
    }
}
