//! Decodes the texts of a keyframe's objects.

use super::objects::{KeyframeObject, KeyframeObjects};
use super::read::Keyframe;
use crate::object::ApiResource;
use crate::recording::files::FileError;
use crate::recording::flags::Flags;
use crate::recording::frame::{FrameContext, read_frame};
use crate::recording::payload::split_version;
use crate::recording::segment::{BODIES, BlockRef, WholeTextReader};

/// The texts of the objects of one type. They are read in ascending order of the objects.
pub(super) struct Texts<'a> {
    keyframe: &'a Keyframe,
    all: &'a KeyframeObjects,
    blocks: &'a [BlockRef],
    /// The number of the block that is loaded, and its payload.
    loaded: Option<(usize, Vec<u8>)>,
    /// The first object of that block whose whole text was not read yet.
    next: usize,
    whole: WholeTextReader,
    /// The texts of the base, and the last one that was decoded against them.
    base: Option<Box<Self>>,
    text: Vec<u8>,
}

impl Keyframe {
    /// Reads the texts of the objects for which `wanted` returns true, and passes each to `receive` with the number
    /// of its object and the object's own version, if it differs from the one in the columns.
    pub(in crate::recording) fn bodies(
        &self,
        resource: &ApiResource,
        all: &KeyframeObjects,
        wanted: impl Fn(usize) -> bool,
        mut receive: impl FnMut(usize, Option<&str>, &[u8]),
    ) -> Result<(), FileError> {
        let Some(mut texts) = Texts::of(self, resource, all) else { return Ok(()) };
        for number in (0..all.objects.len()).filter(|number| wanted(*number)) {
            let (own, text) = texts.read(number)?;
            receive(number, own, text);
        }
        Ok(())
    }
}

impl<'a> Texts<'a> {
    /// Returns the texts of the objects of a type, if there are any.
    pub(super) fn of(
        keyframe: &'a Keyframe,
        resource: &ApiResource,
        all: &'a KeyframeObjects,
    ) -> Option<Self> {
        let blocks = &keyframe.of_type(resource)?.bodies;
        let base = match (keyframe.base(), all.base()) {
            (Some(base), Some(objects)) => Some(Box::new(Self::of(base, resource, objects)?)),
            _ => None,
        };
        let (whole, text) = Default::default();
        Some(Self { keyframe, all, blocks, loaded: None, next: 0, whole, base, text })
    }

    /// Returns the own version of an object, if it differs from the one in the columns, and its text. The number must be
    /// higher than in the previous call.
    ///
    /// # Errors
    /// The file, or its base, is damaged or can't be read. The texts of other blocks may be readable.
    pub(super) fn read(&mut self, number: usize) -> Result<(Option<&str>, &[u8]), FileError> {
        let object = self.all.objects[number];
        let block_number = object.body.block as usize;
        let block = self.blocks.get(block_number).ok_or_else(|| self.keyframe.invalid_names())?;
        if self.loaded.as_ref().is_none_or(|(loaded, _)| *loaded != block_number) {
            if !self.begins(block.first as usize, block_number) {
                return Err(self.keyframe.invalid_names());
            }
            self.loaded = Some((block_number, self.keyframe.block(BODIES, block)?));
            (self.next, self.whole) = (block.first as usize, WholeTextReader::default());
        }
        let decoded = match object.base() {
            Some(base) => self.decode_against(&object, base)?,
            None => self.decode_whole(number),
        };
        if decoded.is_none() {
            self.loaded = None;
        }
        let invalid = || self.keyframe.invalid_text(block);
        let (_, payload) = self.loaded.as_ref().ok_or_else(invalid)?;
        let (own, _) = frame_of(&object, payload).ok_or_else(invalid)?;
        Ok((own, if object.base().is_some() { &self.text } else { self.whole.text() }))
    }

    /// Whether the texts of a block begin with that of an object.
    fn begins(&self, number: usize, block: usize) -> bool {
        let is_in = |number: usize| {
            self.all.objects.get(number).is_some_and(|object| object.body.block as usize == block)
        };
        is_in(number) && number.checked_sub(1).is_none_or(|before| !is_in(before))
    }

    /// Decodes a text that is a frame against the text of an object of the base. Returns `None` if it is damaged.
    fn decode_against(&mut self, object: &KeyframeObject, base: usize) -> Result<Option<()>, FileError> {
        let (Some(of_base), Some((_, payload))) = (&mut self.base, &self.loaded) else { return Ok(None) };
        let base_version = of_base.all.objects[base].version;
        let (_, base) = of_base.read(base)?;
        self.text.clear();
        let context = FrameContext::new(object.version, self.keyframe.header().first_time);
        Ok(frame_of(object, payload)
            .and_then(|(_, frame)| read_frame(frame, base, base_version, &context, &mut self.text)))
    }

    /// Decodes the whole texts of the block up to that of this object. Returns `None` if one is damaged.
    fn decode_whole(&mut self, number: usize) -> Option<()> {
        let (_, payload) = self.loaded.as_ref()?;
        if number < self.next {
            return None;
        }
        for at in self.next..=number {
            let object = &self.all.objects[at];
            if object.base().is_none() {
                let (_, frame) = frame_of(object, payload)?;
                let context = FrameContext::new(object.version, self.keyframe.header().first_time);
                self.whole.read(frame, self.all.names.get(at).0, context)?;
            }
        }
        self.next = number + 1;
        Some(())
    }
}

/// Returns the own version of an object, if there is one, and its frame in the payload of its block.
fn frame_of<'a>(object: &KeyframeObject, payload: &'a [u8]) -> Option<(Option<&'a str>, &'a [u8])> {
    let flags = if object.has_own_version { Flags::OWN_VERSION } else { 0 };
    split_version(object.body.of(payload)?, Flags::from_number(flags.into())?)
}
