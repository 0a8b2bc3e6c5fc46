//! Splits lists and watches in Protocol Buffers into items as bytes arrive.
//!
//! The body is an envelope (`k8s\0`, then a message whose field 2 is the list) around a message with the list's own
//! metadata in field 1 and an item in each field 2. Both are read field by field: unknown fields are skipped,
//! whatever length they claim, and no memory is reserved for bytes that have not arrived.

use super::{Fault, Limits, cut_off};
use crate::listwatch::Error;
use crate::wire::protobuf::MAGIC;

const WHAT: &str = "list";
/// The field of the envelope that holds the type of the list.
const TYPE_META: u64 = 1;
/// The field of the envelope that holds the list.
const LIST: u64 = 2;
/// The field of a list that holds its metadata, and the field that holds an item.
const METADATA: u64 = 1;
const ITEM: u64 = 2;
/// The capacity above which a buffer is shrunk after a larger item.
const KEPT_CAPACITY: usize = 64 * 1024;

/// A part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProtobufPiece<'a> {
    /// The `TypeMeta` of the list, if the envelope has it before the list.
    TypeMeta(&'a [u8]),
    /// The list's own metadata.
    Metadata(&'a [u8]),
    /// One item.
    Item(&'a [u8]),
}

/// Splits a list into its items.
#[derive(Debug)]
pub(crate) struct ProtobufListSplitter {
    step: Step,
    /// The bytes that remain of the list, while inside it.
    left: Option<u64>,
    /// Whether the envelope contained a list.
    found: bool,
    limit: usize,
    /// The start of an item that a cut went through.
    partial: Vec<u8>,
    /// Whether `partial` holds an item that has been returned.
    is_consumed: bool,
    offset: u64,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// The number of bytes of the magic that have arrived.
    Magic(usize),
    /// Reads a field's number and type.
    Tag(Varint),
    /// Reads the length of that field.
    Length(u64, Varint),
    /// Reads a number that is skipped.
    Number(Varint),
    /// The remaining bytes to skip.
    Skip(u64),
    /// The remaining bytes of that part.
    Take(Part, usize),
}

/// A part that is returned.
#[derive(Debug, Clone, Copy)]
enum Part {
    TypeMeta,
    Metadata,
    Item,
}

/// A number that is being read.
#[derive(Debug, Clone, Copy, Default)]
struct Varint {
    value: u64,
    shift: u32,
}

impl Varint {
    /// Adds the next byte and returns the number once it is complete.
    fn push(&mut self, byte: u8) -> Result<Option<u64>, Fault> {
        let bits = u64::from(byte & 0x7f);
        if self.shift > 63 || (self.shift == 63 && bits > 1) {
            return Err(Fault::Expected("a number of at most 64 bits"));
        }
        self.value |= bits << self.shift;
        self.shift += 7;
        Ok((byte & 0x80 == 0).then_some(self.value))
    }
}

impl ProtobufListSplitter {
    /// Returns a splitter at the start of a body.
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            step: Step::Magic(0),
            left: None,
            found: false,
            limit: limits.frame,
            partial: Vec::new(),
            is_consumed: false,
            offset: 0,
        }
    }

    /// Returns the next part, or `None` when `input` is used up. Removes from the front of `input` what it has read.
    ///
    /// # Errors
    /// [`Error::Decode`] when the body is not such a list, or an item exceeds the limits; the rest is then unusable.
    pub(crate) fn next<'s, 'i: 's>(
        &'s mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<ProtobufPiece<'s>>, Error> {
        if self.is_consumed {
            self.partial.clear();
            self.partial.shrink_to(KEPT_CAPACITY);
            self.is_consumed = false;
        }
        loop {
            if self.left == Some(0) && matches!(self.step, Step::Tag(Varint { shift: 0, .. })) {
                self.left = None;
            }
            let Step::Take(taken, left) = self.step else {
                if input.is_empty() {
                    return Ok(None);
                }
                self.advance(input).map_err(|fault| fault.at(WHAT, self.offset))?;
                continue;
            };
            let (part, rest) = input.split_at(left.min(input.len()));
            *input = rest;
            self.offset += part.len() as u64;
            if part.len() < left {
                self.partial.extend_from_slice(part);
                self.step = Step::Take(taken, left - part.len());
                return Ok(None);
            }
            self.step = Step::Tag(Varint::default());
            let whole = if self.partial.is_empty() {
                part
            } else {
                self.partial.extend_from_slice(part);
                self.is_consumed = true;
                &self.partial
            };
            return Ok(Some(match taken {
                Part::TypeMeta => ProtobufPiece::TypeMeta(whole),
                Part::Metadata => ProtobufPiece::Metadata(whole),
                Part::Item => ProtobufPiece::Item(whole),
            }));
        }
    }

    /// Reads one byte outside of the parts, or skips as much as possible. `input` must not be empty.
    fn advance(&mut self, input: &mut &[u8]) -> Result<(), Fault> {
        if let Step::Skip(left) = self.step {
            let skipped = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
            *input = &input[skipped..];
            self.offset += skipped as u64;
            self.skip(left - skipped as u64);
            return Ok(());
        }
        let byte = input[0];
        *input = &input[1..];
        self.offset += 1;
        match self.step {
            Step::Magic(at) if MAGIC[at] != byte => {
                return Err(Fault::Expected("the first bytes of a message of Kubernetes"));
            }
            Step::Magic(at) if at + 1 < MAGIC.len() => self.step = Step::Magic(at + 1),
            Step::Magic(_) => self.step = Step::Tag(Varint::default()),
            Step::Tag(mut tag) => {
                self.use_up(1)?;
                self.step = match tag.push(byte)? {
                    None => Step::Tag(tag),
                    Some(tag) => self.field(tag)?,
                };
            }
            Step::Number(mut number) => {
                self.use_up(1)?;
                self.step = match number.push(byte)? {
                    None => Step::Number(number),
                    Some(_) => Step::Tag(Varint::default()),
                };
            }
            Step::Length(field, mut length) => {
                self.use_up(1)?;
                match length.push(byte)? {
                    None => self.step = Step::Length(field, length),
                    Some(length) => self.start(field, length)?,
                }
            }
            Step::Skip(_) | Step::Take(..) => {}
        }
        Ok(())
    }

    /// Returns the step that follows a tag.
    fn field(&mut self, tag: u64) -> Result<Step, Fault> {
        Ok(match tag & 7 {
            0 => Step::Number(Varint::default()),
            2 => Step::Length(tag >> 3, Varint::default()),
            fixed @ (1 | 5) => {
                let length = if fixed == 1 { 8 } else { 4 };
                self.use_up(length)?;
                Step::Skip(length)
            }
            _ => return Err(Fault::Expected("a field of a known type")),
        })
    }

    /// Starts a field of that length.
    fn start(&mut self, field: u64, length: u64) -> Result<(), Fault> {
        match (self.left, field) {
            (None, LIST) if self.found => return Err(Fault::TwoItemLists),
            (None, LIST) => {
                self.found = true;
                self.left = Some(length);
                self.step = Step::Tag(Varint::default());
            }
            (None, TYPE_META) if !self.found => self.take(Part::TypeMeta, length)?,
            (Some(_), METADATA) => self.take(Part::Metadata, length)?,
            (Some(_), ITEM) => self.take(Part::Item, length)?,
            _ => {
                self.use_up(length)?;
                self.skip(length);
            }
        }
        Ok(())
    }

    /// Starts a part of that length.
    fn take(&mut self, part: Part, length: u64) -> Result<(), Fault> {
        self.use_up(length)?;
        let length = usize::try_from(length).ok().filter(|length| *length <= self.limit);
        self.step = Step::Take(part, length.ok_or(Fault::TooLong(self.limit))?);
        Ok(())
    }

    fn skip(&mut self, left: u64) {
        self.step = if left == 0 { Step::Tag(Varint::default()) } else { Step::Skip(left) };
    }

    /// Counts these bytes against the rest of the list, if inside it.
    fn use_up(&mut self, bytes: u64) -> Result<(), Fault> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(bytes).ok_or(Fault::Expected("the end of the list"))?;
        }
        Ok(())
    }

    /// Ends the body.
    ///
    /// # Errors
    /// [`Error::Transport`] when the list is incomplete.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let between = matches!(self.step, Step::Tag(Varint { shift: 0, .. }));
        let ended = self.found && between && self.left.is_none();
        if ended { Ok(()) } else { Err(cut_off(WHAT, self.offset)) }
    }
}

/// Splits a watch into its events, each of which is preceded by its length in four bytes.
#[derive(Debug)]
pub(crate) struct ProtobufWatchSplitter {
    /// The number of length bytes that have arrived, and their value so far.
    head: (usize, u32),
    limit: usize,
    /// The start of an event that a cut went through.
    partial: Vec<u8>,
    /// Whether `partial` holds an event that has been returned.
    is_consumed: bool,
    offset: u64,
}

impl ProtobufWatchSplitter {
    const HEAD: usize = 4;

    /// Returns a splitter at the start of a stream.
    pub(crate) fn new(limits: Limits) -> Self {
        Self { head: (0, 0), limit: limits.frame, partial: Vec::new(), is_consumed: false, offset: 0 }
    }

    /// Returns the next event, or `None` when `input` is used up. Removes from the front of `input` what it has read.
    ///
    /// # Errors
    /// [`Error::Decode`] when an event exceeds the limit; the rest of the stream is then unusable.
    pub(crate) fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Option<&'s [u8]>, Error> {
        if self.is_consumed {
            self.partial.clear();
            self.partial.shrink_to(KEPT_CAPACITY);
            self.is_consumed = false;
        }
        while self.head.0 < Self::HEAD {
            let Some((byte, rest)) = input.split_first() else { return Ok(None) };
            *input = rest;
            self.offset += 1;
            self.head = (self.head.0 + 1, self.head.1 << 8 | u32::from(*byte));
        }
        let length = usize::try_from(self.head.1).ok().filter(|length| *length <= self.limit);
        let length = length.ok_or_else(|| Fault::TooLong(self.limit).at("watch stream", self.offset))?;
        let (part, rest) = input.split_at((length - self.partial.len()).min(input.len()));
        *input = rest;
        self.offset += part.len() as u64;
        if self.partial.len() + part.len() < length {
            self.partial.extend_from_slice(part);
            return Ok(None);
        }
        self.head = (0, 0);
        if self.partial.is_empty() {
            return Ok(Some(part));
        }
        self.partial.extend_from_slice(part);
        self.is_consumed = true;
        Ok(Some(&self.partial))
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// [`Error::Transport`] when it ended inside an event.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let between = self.head.0 == 0;
        if between { Ok(()) } else { Err(cut_off("watch event", self.offset)) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::frames::testing::cut;
    use crate::wire::protobuf::testing::field;

    /// Encodes a list of these items in its envelope.
    fn body(items: &[Vec<u8>]) -> Vec<u8> {
        let mut list = field(1, b"\x12\x011");
        for item in items {
            list.extend(field(2, item));
        }
        // Fields of each type that the API may add.
        list.extend([3 << 3, 0x96, 0x01, 4 << 3 | 5, 1, 2, 3, 4, 5 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8]);
        let envelope = [field(1, b"type"), field(2, &list), field(3, b""), field(4, b"")];
        [&MAGIC[..], &envelope.concat()].concat()
    }

    fn items(body: &[u8], cuts: &[usize], limits: Limits) -> Result<Vec<Vec<u8>>, Error> {
        let mut splitter = ProtobufListSplitter::new(limits);
        let mut items = Vec::new();
        for mut chunk in cut(body, cuts) {
            while let Some(part) = splitter.next(&mut chunk)? {
                match part {
                    ProtobufPiece::TypeMeta(type_meta) => assert_eq!(type_meta, b"type"),
                    ProtobufPiece::Metadata(metadata) => assert_eq!(metadata, b"\x12\x011"),
                    ProtobufPiece::Item(item) => items.push(item.to_vec()),
                }
            }
            assert!(chunk.is_empty(), "a chunk was left over");
        }
        splitter.finish()?;
        Ok(items)
    }

    fn events(body: &[u8], cuts: &[usize]) -> Result<Vec<Vec<u8>>, Error> {
        let mut splitter = ProtobufWatchSplitter::new(Limits { frame: 300, depth: 1 });
        let mut events = Vec::new();
        for mut chunk in cut(body, cuts) {
            while let Some(event) = splitter.next(&mut chunk)? {
                events.push(event.to_vec());
            }
            assert!(chunk.is_empty(), "a chunk was left over");
        }
        splitter.finish()?;
        Ok(events)
    }

    proptest! {
        #[test]
        fn items_do_not_depend_on_cuts(
            expected in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..6),
            cuts in prop::collection::vec(0usize..2000, 0..20),
        ) {
            let found = items(&body(&expected), &cuts, Limits::default()).expect("items");
            prop_assert_eq!(&found, &expected);
            let framed = |event: &Vec<u8>| [&u32::try_from(event.len()).expect("short").to_be_bytes()[..], event].concat();
            let stream: Vec<u8> = expected.iter().flat_map(framed).collect();
            prop_assert_eq!(events(&stream, &cuts).expect("events"), expected);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>, at in 0usize..60, byte: u8, cuts in prop::collection::vec(0usize..60, 0..9)) {
            let mut broken = body(&[b"one".to_vec(), b"another".to_vec()]);
            let at = at % broken.len();
            broken[at] = byte;
            let split = |body: &[u8]| {
                let mut splitter = ProtobufListSplitter::new(Limits::default());
                for mut chunk in cut(body, &cuts) {
                    while let Ok(Some(_)) = splitter.next(&mut chunk) {}
                }
                let _ = splitter.finish();
            };
            split(&broken);
            split(&[&MAGIC[..], &bytes].concat());
            let _ = events(&bytes, &cuts);
        }
    }

    #[test]
    fn incomplete_body_is_cut_off_and_other_bodies_are_refused() {
        let whole = body(&[b"one".to_vec()]);
        // A body may end between two fields after the list; no item is lost.
        let list_ends = whole.len() - 4;
        for end in 0..list_ends {
            let error = items(&whole[..end], &[], Limits::default()).expect_err("cut off");
            assert!(matches!(error, Error::Transport(_)), "{end}: {error:?}");
        }
        for wrong in [
            b"{\"kind\":\"PodList\"}".to_vec(),
            [&MAGIC[..], b"\x13"].concat(),
            [&MAGIC[..], &[0x12, 3, 0x12, 9, 0, 0]].concat(),
            [&MAGIC[..], &[0x12, 0, 0x12, 0]].concat(),
            [&MAGIC[..], &[0xff; 11]].concat(),
        ] {
            let error = items(&wrong, &[], Limits::default()).expect_err("no list");
            assert!(matches!(error, Error::Decode(_)), "{wrong:?}: {error:?}");
        }
    }

    #[test]
    fn oversized_item_is_refused_by_its_length() {
        let limits = Limits { frame: 10, depth: 1 };
        let whole = body(&[vec![b'x'; 11]]);
        let start = whole.iter().position(|byte| *byte == b'x').expect("the item");
        let error = items(&whole[..start], &[], limits).expect_err("too long");
        assert!(matches!(error, Error::Decode(_)), "{error:?}");
        let error = events(&[0, 0, 1, 45], &[]).expect_err("too long");
        assert!(matches!(error, Error::Decode(_)), "{error:?}");
        assert!(matches!(events(&[0, 0, 0, 2, 1], &[]), Err(Error::Transport(_))));
    }
}
