//! The index of the 8-byte words in the source of a frame, which finds matches.

/// The length of a word. Shorter matches cost as much as they save.
pub(super) const WORD: usize = 8;

/// The number of candidates that are compared: in the text, and in the base after the cursor. Before the cursor,
/// only the last one is.
const NEAR: usize = 4;

/// The number of links that are followed for one word.
const MAX_LINKS: usize = 256;

/// The positions of each word: those in the text, the last one first, then those in the base, in order.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The first position of each hash plus 1; 0 for none.
    heads: Vec<u32>,
    /// For each position, the next position with the same hash plus 1; 0 for none.
    links: Vec<u32>,
    bits: u32,
}

impl Index {
    /// Clears the index and adds the words of a base.
    pub(super) fn reset(&mut self, base: &[u8], text_len: usize) {
        self.bits = usize::BITS - (base.len() + text_len).leading_zeros();
        self.bits = self.bits.clamp(8, 20);
        self.heads.clear();
        self.heads.resize(1 << self.bits, 0);
        self.links.clear();
        self.links.resize(base.len() + text_len, 0);
        for (at, word) in base.windows(WORD).enumerate().rev() {
            self.add(at, word);
        }
    }

    /// Adds the word at a position, which becomes the first one of its hash.
    pub(super) fn add(&mut self, at: usize, word: &[u8]) {
        let slot = self.slot(word);
        self.links[at] = self.heads[slot];
        self.heads[slot] = u32::try_from(at + 1).unwrap_or_default();
    }

    /// Passes the positions where a word may be to `receive`: the last ones in the text, and those in the base that
    /// are near the cursor.
    pub(super) fn positions(
        &self,
        word: &[u8],
        base_len: usize,
        cursor: usize,
        mut receive: impl FnMut(usize),
    ) {
        let mut next = self.heads[self.slot(word)];
        let (mut of_text, mut after) = (0, 0);
        let mut before = None;
        for _ in 0..MAX_LINKS {
            let Some(at) = (next as usize).checked_sub(1) else { break };
            next = self.links[at];
            if at >= base_len {
                of_text += 1;
                if of_text <= NEAR {
                    receive(at);
                }
            } else if at < cursor {
                before = Some(at);
            } else {
                receive(at);
                after += 1;
                if after == NEAR {
                    break;
                }
            }
        }
        before.into_iter().for_each(receive);
    }

    fn slot(&self, word: &[u8]) -> usize {
        let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        usize::try_from(word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.bits)).unwrap_or_default()
    }
}
