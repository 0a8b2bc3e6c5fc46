//! Those who write frames, and the texts that they have ready.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use zstd::zstd_safe::{CCtx, CDict, SafeResult, compress_bound};

use super::frame::{Form, SEAL, seal};
use super::prefix::Prefix;
use super::reader::unpack;
use super::sibling::Sibling;

/// Of zstd's levels the one with the best ratio at its price.
const LEVEL: i32 = 1;

/// A frame that would be larger than this part of its text is not that of a sibling, and zstd's to write.
const ALIKE: usize = 8;

/// Texts that are at hand, and the bytes that they take. Lists come sorted by name, so siblings come in runs, and runs
/// are interleaved by live events. A sibling's text takes twice its length so; one that is digested for zstd some 100 KB
/// more.
const AT_HAND: usize = 64;
const AT_HAND_BYTES: usize = 1 << 20;

/// What the buffer keeps allocated: a giant is not paid for for ever.
const KEPT_CAPACITY: usize = 1 << 20;

/// Writers that nobody uses at this moment. A program may have hundreds of stores, and what a writer keeps ready would
/// cost each up to a megabyte: so all packers share them. A std mutex, held to take one or give it back. There
/// are as many as ever packed at once, which is one for each thread at most.
static IDLE: Mutex<Vec<Writer>> = Mutex::new(Vec::new());

/// A compressor with its buffer, and the texts used last.
pub(super) struct Writer {
    context: CCtx<'static>,
    frame: Vec<u8>,
    /// The most recent last.
    at_hand: Vec<AtHand>,
}

struct AtHand {
    /// Weak: to be at hand keeps no base alive.
    of: Weak<Prefix>,
    text: Text,
    /// zstd has had it before: it is worth digesting.
    used: bool,
}

/// What a body is to be written against.
enum Text {
    /// As it is: no preparation, and zstd reads it each time.
    Plain(Vec<u8>),
    /// Made ready for zstd, from the second use on: that costs as much as to write two bodies.
    Digested(CDict<'static>),
    /// The base of a workload, and the same made ready for zstd, where bodies were not that much alike.
    Sibling(Sibling, Option<CDict<'static>>),
}

impl Writer {
    /// Does something with the writer that was used last, of those that are idle.
    pub(super) fn with<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut writer =
            taken.unwrap_or_else(|| Self { context: CCtx::create(), frame: Vec::new(), at_hand: Vec::new() });
        let answer = work(&mut writer);
        idle().push(writer);
        answer
    }

    /// The frame of a text by zstd, written against another. Nothing only if zstd itself fails, as without memory.
    pub(super) fn write(&mut self, text: &[u8], against: &Arc<Prefix>) -> Option<&[u8]> {
        self.bring_to_hand(against)?;
        let Self { context, frame, at_hand } = self;
        frame.reserve(compress_bound(text.len()) + SEAL);
        at_hand.last_mut()?.compress(context, text, frame).ok()?;
        seal(frame, Form::Zstd, text);
        Some(frame)
    }

    /// The frame of a text as a sibling of this base. Nothing where they are not that much alike.
    pub(super) fn write_sibling(&mut self, text: &[u8], base: &Arc<Prefix>) -> Option<&[u8]> {
        self.bring_to_hand(base)?;
        let Self { frame, at_hand, .. } = self;
        if !at_hand.last_mut()?.sibling()?.write(text, text.len() / ALIKE, frame) {
            return None;
        }
        seal(frame, Form::Sibling, text);
        Some(frame)
    }

    /// Makes a text the last of those at hand, and room for a frame.
    fn bring_to_hand(&mut self, prefix: &Arc<Prefix>) -> Option<()> {
        self.frame.clear();
        self.frame.shrink_to(KEPT_CAPACITY);
        let is_it = |at_hand: &AtHand| std::ptr::eq(at_hand.of.as_ptr(), Arc::as_ptr(prefix));
        match self.at_hand.iter().rposition(is_it) {
            Some(at) => self.at_hand[at..].rotate_left(1),
            None => self.put_at_hand(prefix, unpack(&[], prefix).ok()?),
        }
        Some(())
    }

    /// Has the text of a prefix ready.
    pub(super) fn put_at_hand(&mut self, prefix: &Arc<Prefix>, text: Vec<u8>) {
        self.at_hand.retain(|at_hand| at_hand.of.strong_count() > 0);
        let new = AtHand { of: Arc::downgrade(prefix), text: Text::Plain(text), used: false };
        let (mut count, mut bytes) = (1, new.size());
        let fits = |at_hand: &&AtHand| {
            (count, bytes) = (count + 1, bytes + at_hand.size());
            count <= AT_HAND && bytes <= AT_HAND_BYTES
        };
        let kept = self.at_hand.iter().rev().take_while(fits).count();
        self.at_hand.drain(..self.at_hand.len() - kept);
        self.at_hand.push(new);
    }
}

impl AtHand {
    /// Ready for siblings, unless it has been made ready for zstd alone.
    fn sibling(&mut self) -> Option<&Sibling> {
        if let Text::Plain(text) = &mut self.text {
            self.text = Text::Sibling(Sibling::of(std::mem::take(text)), None);
        }
        if let Text::Sibling(base, _) = &self.text { Some(base) } else { None }
    }

    /// By zstd.
    fn compress(&mut self, context: &mut CCtx<'_>, text: &[u8], frame: &mut Vec<u8>) -> SafeResult {
        if std::mem::replace(&mut self.used, true) {
            self.digest();
        }
        match &self.text {
            Text::Digested(prefix) | Text::Sibling(_, Some(prefix)) => {
                context.compress_using_cdict(frame, text, prefix)
            }
            Text::Plain(prefix) => context.compress_using_dict(frame, text, prefix, LEVEL),
            Text::Sibling(base, None) => context.compress_using_dict(frame, text, base.text(), LEVEL),
        }
    }

    fn digest(&mut self) {
        match &mut self.text {
            Text::Plain(text) => {
                if let Some(digested) = CDict::try_create(text, LEVEL) {
                    self.text = Text::Digested(digested);
                }
            }
            Text::Sibling(base, digested @ None) => *digested = CDict::try_create(base.text(), LEVEL),
            Text::Sibling(_, Some(_)) | Text::Digested(_) => {}
        }
    }

    /// About the bytes it takes.
    fn size(&self) -> usize {
        match &self.text {
            Text::Plain(text) => text.len(),
            Text::Digested(digested) => digested.sizeof(),
            Text::Sibling(base, None) => base.size(),
            Text::Sibling(base, Some(digested)) => base.size() + digested.sizeof(),
        }
    }
}
