//! Compressors, and the texts that they have ready.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use zstd::zstd_safe::{CCtx, CDict, SafeResult, compress_bound};

use super::prefix::Prefix;
use super::reader::unpack;
use super::sum::sum;

/// Of zstd's levels the one with the best ratio at its price; 2 and 3 gained nothing against a sibling, -1 and -3 save
/// two microseconds of six and take half as much space again.
const LEVEL: i32 = 1;

/// Texts that are at hand. Lists come sorted by name, so siblings come in runs, and a few runs may be interleaved by
/// live events. A text that is digested takes about 85 KB.
const AT_HAND: usize = 12;

/// What the buffer keeps allocated: a giant is not paid for for ever.
const KEPT_CAPACITY: usize = 1 << 20;

/// Compressors that nobody uses at this moment. A program may have hundreds of stores, and what a compressor keeps
/// ready would cost each some hundred kilobytes: so all packers share them. A std mutex, held to take one or give it
/// back. There are as many as ever packed at once, which is one for each thread at most.
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
}

/// What a body is to be written against.
enum Text {
    /// As it is: no preparation, and the compressor reads it each time.
    Plain(Vec<u8>),
    /// Made ready, from the second use on: that costs as much as to write two bodies.
    Digested(CDict<'static>),
}

impl Writer {
    /// Does something with the compressor that was used last, of those that are idle.
    pub(super) fn with<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut writer =
            taken.unwrap_or_else(|| Self { context: CCtx::create(), frame: Vec::new(), at_hand: Vec::new() });
        let answer = work(&mut writer);
        idle().push(writer);
        answer
    }

    /// The frame of a text that is written against another, with the sum of the text behind it. Nothing only if zstd
    /// itself fails, as without memory.
    pub(super) fn write(&mut self, text: &[u8], against: &Arc<Prefix>) -> Option<&[u8]> {
        let is_it = |at_hand: &AtHand| std::ptr::eq(at_hand.of.as_ptr(), Arc::as_ptr(against));
        match self.at_hand.iter().position(is_it) {
            Some(at) => {
                self.at_hand[at..].rotate_left(1);
                self.at_hand.last_mut()?.digest();
            }
            None => self.put_at_hand(against, unpack(&[], against).ok()?),
        }
        let Self { context, frame, at_hand } = self;
        frame.clear();
        frame.shrink_to(KEPT_CAPACITY);
        frame.reserve(compress_bound(text.len()) + size_of::<u32>());
        let written: SafeResult = match &at_hand.last()?.text {
            Text::Plain(prefix) => context.compress_using_dict(frame, text, prefix, LEVEL),
            Text::Digested(prefix) => context.compress_using_cdict(frame, text, prefix),
        };
        written.ok()?;
        frame.extend_from_slice(&sum(text).to_le_bytes());
        Some(frame)
    }

    /// Has the text of a prefix ready.
    pub(super) fn put_at_hand(&mut self, prefix: &Arc<Prefix>, text: Vec<u8>) {
        self.at_hand.retain(|at_hand| at_hand.of.strong_count() > 0);
        if self.at_hand.len() == AT_HAND {
            self.at_hand.remove(0);
        }
        self.at_hand.push(AtHand { of: Arc::downgrade(prefix), text: Text::Plain(text) });
    }
}

impl AtHand {
    fn digest(&mut self) {
        if let Text::Plain(text) = &self.text
            && let Some(digested) = CDict::try_create(text, LEVEL)
        {
            self.text = Text::Digested(digested);
        }
    }
}
