//! Decodes the texts of objects along their chains.

use std::collections::HashMap;
use std::ops::Range;

use super::chains::{Chains, SegmentLog};
use super::parallel;
use super::segment_file::{PayloadBytes, Segment};
use super::state_files::StateFiles;
use crate::object::ApiResource;
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::frame::{FrameContext, read_frame};
use crate::recording::payload::split_version;
use crate::recording::segment::WholeTextReader;
use crate::recording::type_log::{LogEntry, Payload};

/// Creates a value from the number of a chain, the object's own version, if it differs from the one in the columns,
/// and its text. Returns `None` for an invalid text.
type Make<'a, T> = dyn Fn(usize, Option<&str>, Vec<u8>) -> Option<T> + Sync + 'a;

/// Receives the same arguments as [`Make`].
type ReceiveText<'a> = dyn FnMut(usize, Option<&str>, Vec<u8>) -> Option<()> + 'a;

/// The number of objects that justify another thread.
const OBJECTS_PER_THREAD: usize = 1000;

/// The number of objects that are decoded at a time where little memory matters more than time.
const OBJECTS_AT_A_TIME: usize = 256;

/// The text of an object, and its version in the columns.
#[derive(Debug, Default, Clone)]
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    pub(super) version: u64,
}

impl Chains {
    /// Decodes the text of each chain, and returns the values that `make` creates, in no particular order.
    pub(super) fn decode<T: Send>(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
        make: &Make<'_, T>,
    ) -> Result<Vec<T>, FileError> {
        let threads = (self.objects.len() / OBJECTS_PER_THREAD).clamp(1, files.threads);
        // Chains from the keyframe come first, and neighbours share blocks.
        let of_keyframe = self.objects.partition_point(|chain| chain.is_of_keyframe);
        let part = |at: usize| {
            let share =
                |start: usize, count: usize| start + count * at / threads..start + count * (at + 1) / threads;
            [share(0, of_keyframe), share(of_keyframe, self.objects.len() - of_keyframe)]
        };
        let parts = parallel::map_on(threads, 0..threads, |at| {
            let part = part(at);
            let mut decoded = Vec::with_capacity(part.iter().map(Range::len).sum());
            self.decode_part(files, resource, &part, make, &mut |value| decoded.push(value))?;
            Ok::<_, FileError>(decoded)
        });
        let mut all = Vec::with_capacity(self.objects.len());
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }

    /// Returns ranges of few chains, which are decoded one after the other so that few texts are in memory.
    pub(super) fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let of_keyframe = self.objects.partition_point(|chain| chain.is_of_keyframe);
        [0..of_keyframe, of_keyframe..self.objects.len()].into_iter().flat_map(|range| {
            let end = range.end;
            range.step_by(OBJECTS_AT_A_TIME).map(move |start| start..end.min(start + OBJECTS_AT_A_TIME))
        })
    }

    /// Decodes the texts of a range of chains on this thread, and passes each value that `make` creates to `receive`.
    pub(super) fn decode_each<T>(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
        part: Range<usize>,
        make: &Make<'_, T>,
        receive: &mut dyn FnMut(T),
    ) -> Result<(), FileError> {
        self.decode_part(files, resource, &[part, 0..0], make, receive)
    }

    fn decode_part<T>(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
        part: &[Range<usize>; 2],
        make: &Make<'_, T>,
        receive: &mut dyn FnMut(T),
    ) -> Result<(), FileError> {
        let numbers = || part.iter().flat_map(Range::clone);
        let mut texts: HashMap<usize, Text> = HashMap::new();
        self.decode_keyframe(files, resource, numbers(), &mut texts, &mut |chain, own, text| {
            receive(make(chain, own, text)?);
            Some(())
        })?;
        let mut steps: Vec<Vec<(u32, usize, bool)>> = self.logs.iter().map(|_| Vec::new()).collect();
        for number in numbers() {
            let chain = &self.objects[number];
            for (at, (segment, entry)) in chain.steps.iter().enumerate() {
                steps[*segment as usize].push((*entry, number, at + 1 == chain.steps.len()));
            }
        }
        let mut scratch = Vec::new();
        for ((segment, log), mut steps) in files.segments.iter().zip(&self.logs).zip(steps) {
            let Some(log) = log else { continue };
            steps.sort_unstable();
            let mut bodies = Bodies::new(segment, resource, log);
            for (entry, chain, is_last) in steps {
                let base = texts.remove(&chain).unwrap_or_default();
                let own = bodies.decode(entry, &base.bytes, base.version, &mut scratch)?;
                // The next text is written into the memory of this base.
                let bytes = std::mem::replace(&mut scratch, base.bytes);
                if is_last {
                    let object = make(chain, own.as_deref(), bytes);
                    receive(object.ok_or_else(|| bodies.invalid(entry, "a text is not that of its object"))?);
                } else {
                    texts.insert(chain, Text { bytes, version: bodies.version(entry) });
                }
            }
        }
        Ok(())
    }

    fn decode_keyframe(
        &self,
        files: &StateFiles,
        resource: &ApiResource,
        numbers: impl Iterator<Item = usize>,
        texts: &mut HashMap<usize, Text>,
        receive: &mut ReceiveText<'_>,
    ) -> Result<(), FileError> {
        let Some(keyframe) = &files.keyframe else { return Ok(()) };
        let mut chain_of = vec![None; self.keyframe.objects.len()];
        for number in numbers {
            if let Some(base) = self.objects[number].base {
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
                let bytes = bytes.to_vec();
                if self.objects[chain].steps.is_empty() {
                    is_valid &= receive(chain, own, bytes).is_some();
                } else {
                    let version = self.keyframe.objects[at].version;
                    texts.insert(chain, Text { bytes, version });
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
    whole_texts: WholeTextReader,
    /// The first entry of the block whose whole text was not read yet.
    next_whole: usize,
}

impl<'a> Bodies<'a> {
    pub(super) fn new(segment: &'a Segment, resource: &'a ApiResource, log: &'a SegmentLog) -> Self {
        Self { segment, resource, log, block: None, whole_texts: WholeTextReader::default(), next_whole: 0 }
    }

    /// Returns the time and the version of an entry; `None` if they were not read.
    #[inline(always)]
    pub(super) fn context(&self, entry: &LogEntry) -> Option<FrameContext<'static>> {
        let (received, version) = self.log.times.of(entry.index)?;
        Some(FrameContext::new(version, received))
    }

    pub(super) fn invalid(&self, entry: u32, what: &str) -> FileError {
        let block = self.log.log.entries[entry as usize].body.block;
        self.segment.invalid(self.resource, Payload::Bodies, block, what)
    }

    /// Returns the version of an entry in the columns.
    pub(super) fn version(&self, number: u32) -> u64 {
        self.log.times.of(self.log.log.entries[number as usize].index).unwrap_or_default().1
    }

    /// Writes the text of an entry, given the previous text of its object. Returns the object's own version if the
    /// entry has one.
    pub(super) fn decode(
        &mut self,
        number: u32,
        base: &[u8],
        base_version: u64,
        text: &mut Vec<u8>,
    ) -> Result<Option<String>, FileError> {
        let entry = self.log.log.entries[number as usize];
        let block = entry.body.block;
        if self.block.as_ref().is_none_or(|(loaded, _)| *loaded != block) {
            self.block = Some((block, self.segment.payload(self.resource, Payload::Bodies, block)?));
            self.whole_texts = WholeTextReader::default();
            let before =
                self.log.log.entries[..number as usize].iter().rposition(|entry| entry.body.block != block);
            self.next_whole = before.map_or(0, |last| last + 1);
        }
        text.clear();
        let mut own = None;
        let decoded = self.decode_in_block(number as usize, &entry, (base, base_version), text, &mut own);
        decoded.ok_or_else(|| self.invalid(number, "a text can't be decoded"))?;
        Ok(own)
    }

    fn decode_in_block(
        &mut self,
        number: usize,
        entry: &LogEntry,
        (base, base_version): (&[u8], u64),
        text: &mut Vec<u8>,
        own: &mut Option<String>,
    ) -> Option<()> {
        let (_, payload) = self.block.as_ref()?;
        let context = self.context(entry)?;
        let (own_version, frame) = split_version(entry.body.of(payload)?, entry.flags)?;
        *own = own_version.map(str::to_owned);
        if !entry.flags.has(Flags::WHOLE) {
            read_frame(frame, base, base_version, &context, text)?;
        } else if self.segment.has_chained_whole_texts() {
            // Entries are decoded in order: the whole texts before this one were read already or are read now.
            if number < self.next_whole {
                return None;
            }
            for at in self.next_whole..=number {
                let entry = &self.log.log.entries[at];
                if entry.flags.has(Flags::WHOLE) {
                    let object = self.log.log.ends.partition_point(|end| *end as usize <= at);
                    let (_, frame) = split_version(entry.body.of(payload)?, entry.flags)?;
                    let context = self.context(entry)?;
                    let whole = self.whole_texts.read(frame, self.log.log.names.get(object).0, context)?;
                    if at == number {
                        text.extend_from_slice(whole);
                    }
                }
            }
            self.next_whole = number + 1;
        } else {
            text.extend_from_slice(frame);
        }
        Some(())
    }
}
