//! The keys of objects, in groups, and filters that report whether a group may have a key.

use super::bytes::{Cursor, put_number};

/// The number of names in a group.
pub(in crate::recording) const GROUP: usize = 256;

/// The longest key. Those of Kubernetes have at most a few hundred bytes.
pub(in crate::recording) const MAX_KEY: usize = 4 << 10;

/// The length of all keys of a type in a file, in relation to that of the file: keys that differ little take few bytes.
const MAX_TEXT_RATIO: usize = 256;
const MAX_SHORT_TEXT: usize = 1 << 20;

/// The number of possible hash values for each name in a filter: about one in 64 groups is read needlessly.
const SPREAD: u64 = 64;

/// Returns the namespace and the name in a key with this length of the namespace.
pub(in crate::recording) fn split_key(key: &str, namespace_len: u16) -> (&str, &str) {
    let (namespace, name) = key.split_at_checked(namespace_len.into()).unwrap_or(("", key));
    (namespace, name.strip_prefix('/').filter(|_| namespace_len > 0).unwrap_or(name))
}

/// Keys of objects (`namespace/name`) with the length of the namespace, in one allocation.
#[derive(Debug, Default)]
pub(in crate::recording) struct Names {
    text: String,
    /// The end of each key in `text`, and the length of its namespace.
    ends: Vec<(usize, u16)>,
}

impl Names {
    pub(in crate::recording) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Reserves the memory of that many names, but for their text.
    pub(in crate::recording) fn reserve(&mut self, count: usize) {
        self.ends.reserve_exact(count);
    }

    pub(in crate::recording) fn push(&mut self, key: &str, namespace_len: u16) {
        self.text.push_str(key);
        self.ends.push((self.text.len(), namespace_len));
    }

    /// Keeps the first names.
    pub(in crate::recording) fn truncate(&mut self, count: usize) {
        self.ends.truncate(count);
        self.text.truncate(self.ends.last().map_or(0, |(end, _)| *end));
    }

    /// Returns a key and the length of its namespace.
    pub(in crate::recording) fn get(&self, at: usize) -> (&str, u16) {
        let start = if at == 0 { 0 } else { self.ends[at - 1].0 };
        let (end, namespace_len) = self.ends[at];
        (&self.text[start..end], namespace_len)
    }

    /// Appends a range of the names, each as its difference from the previous one: first the lengths of the
    /// prefixes that they share with it, then those of the suffixes, those of the namespaces, and the suffixes.
    /// Similar numbers next to each other compress well.
    pub(in crate::recording) fn put(&self, range: std::ops::Range<usize>, out: &mut Vec<u8>) {
        let mut previous = "";
        let mut rests: Vec<&str> = Vec::with_capacity(range.len());
        for at in range.clone() {
            let (key, _) = self.get(at);
            let mut shared = key.bytes().zip(previous.bytes()).take_while(|(a, b)| a == b).count();
            while !key.is_char_boundary(shared) {
                shared -= 1;
            }
            put_number(out, shared as u64);
            rests.push(&key[shared..]);
            previous = key;
        }
        for rest in &rests {
            put_number(out, rest.len() as u64);
        }
        for at in range {
            put_number(out, self.get(at).1.into());
        }
        for rest in &rests {
            out.extend_from_slice(rest.as_bytes());
        }
    }

    /// Takes a number of names from a file of that length. The names of small files are limited in number and length.
    pub(in crate::recording) fn take(
        &mut self,
        count: usize,
        cursor: &mut Cursor<'_>,
        file_len: u64,
    ) -> Option<()> {
        let file_len = usize::try_from(file_len).unwrap_or(usize::MAX);
        let max_text = file_len.saturating_mul(MAX_TEXT_RATIO).saturating_add(MAX_SHORT_TEXT);
        if count > GROUP {
            return None;
        }
        let mut numbers = vec![0; 3 * count];
        cursor.take_numbers(&mut numbers)?;
        let (shared, others) = numbers.split_at(count);
        let (rests, namespaces) = others.split_at(count);
        let mut previous = self.text.len()..self.text.len();
        for ((shared, rest), namespace_len) in shared.iter().zip(rests).zip(namespaces) {
            let (shared, rest) = (usize::try_from(*shared).ok()?, usize::try_from(*rest).ok()?);
            let rest = str::from_utf8(cursor.take_bytes(rest)?).ok()?;
            let namespace_len = u16::try_from(*namespace_len).ok()?;
            let start = self.text.len();
            let front = previous.start.checked_add(shared).filter(|end| *end <= previous.end)?;
            if !self.text.is_char_boundary(front) {
                return None;
            }
            self.text.extend_from_within(previous.start..front);
            self.text.push_str(rest);
            let length = self.text.len() - start;
            if usize::from(namespace_len) > length || length > MAX_KEY || self.text.len() > max_text {
                return None;
            }
            self.ends.push((self.text.len(), namespace_len));
            previous = start..self.text.len();
        }
        Some(())
    }

    /// Appends the filter of a range: sorted hashes, as differences.
    pub(in crate::recording) fn put_filter(&self, range: std::ops::Range<usize>, out: &mut Vec<u8>) {
        let count = range.len() as u64;
        let mut hashes: Vec<u64> = range.map(|at| hash(self.get(at).0, count)).collect();
        hashes.sort_unstable();
        put_number(out, count);
        let mut previous = 0;
        for hash in hashes {
            put_number(out, hash - previous);
            previous = hash;
        }
    }
}

/// Takes a filter and returns whether its group may have the key.
pub(in crate::recording) fn take_filter(cursor: &mut Cursor<'_>, key: &str) -> Option<bool> {
    let count = cursor.take_number()?;
    let wanted = hash(key, count);
    let mut value = 0u64;
    let mut is_in = false;
    for _ in 0..count {
        value = value.checked_add(cursor.take_number()?)?;
        is_in |= value == wanted;
    }
    Some(is_in)
}

/// Returns the hash of a key, below `count` times [`SPREAD`].
fn hash(key: &str, count: u64) -> u64 {
    let sum = u64::from(crc32fast::hash(key.as_bytes()));
    (sum * (count.min(u64::from(u32::MAX) / SPREAD) * SPREAD)) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends names that each repeat the previous one and a byte.
    fn growing_names(count: usize) -> Vec<u8> {
        let mut out = Vec::new();
        (0..count).for_each(|at| put_number(&mut out, at as u64));
        (0..count).for_each(|_| put_number(&mut out, 1));
        (0..count).for_each(|_| put_number(&mut out, 0));
        out.resize(out.len() + count, b'a');
        out
    }

    #[test]
    fn names_of_small_files_are_few_and_short() {
        let group = growing_names(GROUP);
        let mut names = Names::default();
        names.take(GROUP, &mut Cursor::new(&group), 1000).expect("a group");
        assert_eq!(names.get(GROUP - 1).0.len(), GROUP);
        let mut groups = 1;
        while names.take(GROUP, &mut Cursor::new(&group), 1000).is_some() {
            groups += 1;
        }
        // A megabyte and 256 bytes for each byte of the file.
        assert_eq!(groups, ((1 << 20) + 256 * 1000) / (GROUP * (GROUP + 1) / 2));
        let too_many = growing_names(GROUP + 1);
        assert!(Names::default().take(GROUP + 1, &mut Cursor::new(&too_many), 1000).is_none());
        let mut long = Vec::new();
        for number in [0, MAX_KEY as u64 + 1, 0] {
            put_number(&mut long, number);
        }
        long.resize(long.len() + MAX_KEY + 1, b'a');
        assert!(Names::default().take(1, &mut Cursor::new(&long), 1 << 20).is_none());
    }
}
