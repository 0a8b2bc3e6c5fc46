//! Frame writers and their cache of recently used prefixes.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::frame::{Form, SEAL, seal};
use super::prefix::Prefix;
use super::reader::decompress;
use super::sibling::SiblingBase;
use super::zstd::{Digested, Encoder};

/// A sibling frame larger than its text divided by this is discarded, and zstd compresses the text instead.
const SIBLING_RATIO: usize = 8;

/// Bounds of the cache of recent prefixes, in entries and in bytes. Lists arrive sorted by name, so siblings come in
/// runs, interleaved with live events. A sibling base occupies twice its text's length; one digested for zstd occupies
/// about 100 KB more.
const MAX_RECENT: usize = 64;
const MAX_RECENT_BYTES: usize = 1 << 20;

/// The frame buffer's retained capacity: one huge body must not keep its memory for ever.
const RETAINED_CAPACITY: usize = 1 << 20;

/// Idle writers, shared by all compressors: a program may have hundreds of stores, and a writer's cache occupies up to
/// a megabyte. A std mutex, held only to take or return a writer. Their number is bounded by the threads that ever
/// compressed at the same time.
static IDLE: Mutex<Vec<Writer>> = Mutex::new(Vec::new());

/// An encoder with its output buffer and the recently used prefixes.
pub(super) struct Writer {
    encoder: Encoder,
    frame: Vec<u8>,
    /// Most recently used last.
    recent: Vec<RecentPrefix>,
}

struct RecentPrefix {
    /// Weak: the cache keeps no base alive.
    prefix: Weak<Prefix>,
    text: PreparedText,
    /// Whether zstd has used the text before; a second use makes digesting worthwhile.
    was_used: bool,
}

/// A text prepared for compressing bodies against it.
enum PreparedText {
    /// Unprepared: zstd reads it each time.
    Plain(Vec<u8>),
    /// Digested for zstd, from the second use on: digesting costs as much as compressing two bodies.
    Digested(Digested),
    /// The base of a workload, also digested for zstd if some bodies were not similar enough.
    Sibling(SiblingBase, Option<Digested>),
}

impl Writer {
    /// Runs a closure with the most recently used idle writer, or with a new one.
    pub(super) fn with<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        let reused = idle().pop();
        let mut writer =
            reused.unwrap_or_else(|| Self { encoder: Encoder::new(), frame: Vec::new(), recent: Vec::new() });
        let result = work(&mut writer);
        idle().push(writer);
        result
    }

    /// Compresses a text by zstd with a prefix. Returns `None` only if zstd fails, for example without memory.
    pub(super) fn write(&mut self, text: &[u8], prefix: &Arc<Prefix>) -> Option<&[u8]> {
        self.make_most_recent(prefix)?;
        let Self { encoder, frame, recent } = self;
        recent.last_mut()?.compress(encoder, text, frame)?;
        seal(frame, Form::Zstd, text);
        Some(frame)
    }

    /// Encodes a text as a sibling of this base, or returns `None` if the two are not similar enough.
    pub(super) fn write_sibling(&mut self, text: &[u8], base: &Arc<Prefix>) -> Option<&[u8]> {
        self.make_most_recent(base)?;
        let Self { frame, recent, .. } = self;
        if !recent.last_mut()?.sibling()?.write(text, text.len() / SIBLING_RATIO, frame) {
            return None;
        }
        seal(frame, Form::Sibling, text);
        Some(frame)
    }

    /// Clears the frame buffer and makes a prefix the most recent one.
    fn make_most_recent(&mut self, prefix: &Arc<Prefix>) -> Option<()> {
        self.frame.clear();
        self.frame.shrink_to(RETAINED_CAPACITY);
        let is_it = |recent: &RecentPrefix| std::ptr::eq(recent.prefix.as_ptr(), Arc::as_ptr(prefix));
        match self.recent.iter().rposition(is_it) {
            Some(at) => self.recent[at..].rotate_left(1),
            None => self.add_recent(prefix, decompress(&[], prefix).ok()?),
        }
        Some(())
    }

    /// Adds a prefix with its text to the cache.
    pub(super) fn add_recent(&mut self, prefix: &Arc<Prefix>, text: Vec<u8>) {
        self.recent.retain(|recent| recent.prefix.strong_count() > 0);
        let new =
            RecentPrefix { prefix: Arc::downgrade(prefix), text: PreparedText::Plain(text), was_used: false };
        let (mut count, mut bytes) = (1, new.size());
        let fits = |recent: &&RecentPrefix| {
            (count, bytes) = (count + 1, bytes + recent.size());
            count <= MAX_RECENT && bytes <= MAX_RECENT_BYTES
        };
        let kept = self.recent.iter().rev().take_while(fits).count();
        self.recent.drain(..self.recent.len() - kept);
        self.recent.push(new);
    }
}

impl RecentPrefix {
    /// Returns the text indexed for siblings, unless it is already digested for zstd.
    fn sibling(&mut self) -> Option<&SiblingBase> {
        if let PreparedText::Plain(text) = &mut self.text {
            self.text = PreparedText::Sibling(SiblingBase::of(std::mem::take(text)), None);
        }
        if let PreparedText::Sibling(base, _) = &self.text { Some(base) } else { None }
    }

    /// Compresses a text by zstd.
    fn compress(&mut self, encoder: &mut Encoder, text: &[u8], frame: &mut Vec<u8>) -> Option<()> {
        if std::mem::replace(&mut self.was_used, true) {
            self.digest();
        }
        match &self.text {
            PreparedText::Digested(prefix) | PreparedText::Sibling(_, Some(prefix)) => {
                encoder.compress_digested(text, prefix, frame, SEAL)
            }
            PreparedText::Plain(prefix) => encoder.compress(text, prefix, frame, SEAL),
            PreparedText::Sibling(base, None) => encoder.compress(text, base.text(), frame, SEAL),
        }
    }

    fn digest(&mut self) {
        match &mut self.text {
            PreparedText::Plain(text) => {
                if let Some(digested) = Digested::new(text) {
                    self.text = PreparedText::Digested(digested);
                }
            }
            PreparedText::Sibling(base, digested @ None) => *digested = Digested::new(base.text()),
            PreparedText::Sibling(_, Some(_)) | PreparedText::Digested(_) => {}
        }
    }

    /// Returns the approximate memory that the text occupies, in bytes.
    fn size(&self) -> usize {
        match &self.text {
            PreparedText::Plain(text) => text.len(),
            PreparedText::Digested(digested) => digested.size(),
            PreparedText::Sibling(base, None) => base.size(),
            PreparedText::Sibling(base, Some(digested)) => base.size() + digested.size(),
        }
    }
}
