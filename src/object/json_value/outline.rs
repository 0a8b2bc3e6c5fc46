//! The values of a compact JSON text, with the members of objects in the order in which they are printed.

use std::ops::Range;

use super::JsonValue;
use super::plain::{MAX_DIGITS, PlainStrings, plain_number};
use super::write::string;
use crate::object::json;

/// The nesting up to which texts have an outline: that of [`JsonValue::parse`] is higher.
pub(super) const MAX_NESTING: usize = 64;

/// The length of text for each value that room is reserved for. Objects of Kubernetes have fewer values.
const BYTES_PER_VALUE: usize = 16;

/// The values of one text, by their positions in it.
pub(super) struct Outline {
    /// The members or elements of each object or array are next to each other.
    nodes: Vec<Node>,
    /// The texts of values that are not printed as they are written.
    pub(super) encoded: Vec<u8>,
    /// The outermost value.
    pub(super) root: Node,
    /// The length of the printed text, if it starts at depth 0.
    pub(super) printed_len: usize,
    /// The number of its lines, without the first one.
    pub(super) line_breaks: usize,
}

/// A value, with the key before it if it is a member of an object.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// The first bytes of the key as a number in the same order, which is compared faster.
    prefix: u64,
    /// The start of the key with its quotes; that of the value if there is no key.
    start: u32,
    /// The start of the value. A colon precedes it if there is a key.
    value: u32,
    /// The range that the form states.
    from: u32,
    to: u32,
    pub(super) form: Form,
}

/// The printed form of a value.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// As it is written in this range of the text.
    Written,
    /// A range of [`Outline::encoded`].
    Encoded,
    /// An array with the nodes of a range, at least one.
    Array,
    /// An object with the nodes of a range, at least one.
    Object,
}

/// The form of a value, its range, and the end of the value in the text.
struct Value {
    form: Form,
    from: usize,
    to: usize,
    end: usize,
}

impl Node {
    /// Returns the key with its quotes and the colon; nothing if there is no key.
    #[inline(always)]
    pub(super) fn key(&self) -> Range<usize> {
        self.start as usize..self.value as usize
    }

    /// Returns the range that the form states.
    #[inline(always)]
    pub(super) fn range(&self) -> Range<usize> {
        self.from as usize..self.to as usize
    }

    /// Returns whether the key of a member precedes that of another one.
    #[inline(always)]
    fn is_before(&self, other: &Self, json: &[u8]) -> bool {
        self.prefix < other.prefix || self.prefix == other.prefix && self.name(json) < other.name(json)
    }

    /// Returns the key as written, without its quotes.
    fn name<'a>(&self, json: &'a [u8]) -> &'a [u8] {
        &json[self.start as usize + 1..self.value as usize - 2]
    }
}

impl Outline {
    /// Returns the outline of a whole text, or `None` for text that must be parsed: it is not compact, has an object with
    /// two equal keys or a key with an escape, is nested deeply, or is invalid.
    pub(super) fn of(json: &[u8]) -> Option<Self> {
        position(json.len())?;
        let is_text = json.is_ascii() || str::from_utf8(json).is_ok();
        let mut reader = Reader {
            json,
            strings: PlainStrings::default(),
            nodes: Vec::with_capacity(json.len() / BYTES_PER_VALUE),
            open: Vec::with_capacity(MAX_NESTING),
            encoded: Vec::new(),
            printed_len: 0,
            line_breaks: 0,
        };
        let root = reader.value(0, 0).filter(|value| is_text && value.end == json.len())?;
        let root = node(0, 0, 0, &root)?;
        Some(Self {
            nodes: reader.nodes,
            encoded: reader.encoded,
            root,
            printed_len: reader.printed_len,
            line_breaks: reader.line_breaks,
        })
    }

    /// Returns the node with a number.
    #[inline(always)]
    pub(super) fn node(&self, number: usize) -> &Node {
        &self.nodes[number]
    }
}

/// Reads one text. Its functions return `None` for text that must be parsed.
struct Reader<'a> {
    json: &'a [u8],
    strings: PlainStrings,
    nodes: Vec<Node>,
    /// The nodes of the enclosing arrays and objects, innermost last.
    open: Vec<Node>,
    encoded: Vec<u8>,
    printed_len: usize,
    line_breaks: usize,
}

impl Reader<'_> {
    /// Reads the value at a position and returns its end.
    #[inline(always)]
    fn value(&mut self, at: usize, nesting: usize) -> Option<Value> {
        match *self.json.get(at)? {
            b'"' => match self.strings.end(self.json, at) {
                Some(end) => Some(self.written(at, end)),
                None => self.text(at),
            },
            b'{' if self.json.get(at + 1) == Some(&b'}') => Some(self.written(at, at + 2)),
            b'[' if self.json.get(at + 1) == Some(&b']') => Some(self.written(at, at + 2)),
            b'{' => self.container::<b'}'>(at, nesting),
            b'[' => self.container::<b']'>(at, nesting),
            _ => match plain_number(self.json, at) {
                Some(end) => Some(self.written(at, end)),
                None => self.scalar(at),
            },
        }
    }

    #[inline(always)]
    fn written(&mut self, at: usize, end: usize) -> Value {
        self.printed_len += end - at;
        Value { form: Form::Written, from: at, to: end, end }
    }

    /// Reads the object or array at a position, which ends with `CLOSE` and is not empty.
    fn container<const CLOSE: u8>(&mut self, at: usize, nesting: usize) -> Option<Value> {
        if nesting >= MAX_NESTING {
            return None;
        }
        let base = self.open.len();
        let mut start = at + 1;
        let end = loop {
            let (mut value, mut prefix) = (start, 0);
            if CLOSE == b'}' {
                let key_end = self.strings.end(self.json, start)?;
                if self.json.get(key_end) != Some(&b':') {
                    return None;
                }
                value = key_end + 1;
                prefix = prefix_of(self.json, start + 1, key_end - start - 2);
                // The blank after the colon.
                self.printed_len += value - start + 1;
            }
            let inner = self.value(value, nesting + 1)?;
            self.open.push(node(prefix, start, value, &inner)?);
            match *self.json.get(inner.end)? {
                b',' => start = inner.end + 1,
                byte if byte == CLOSE => break inner.end + 1,
                _ => return None,
            }
        };
        // Before each value are a bracket or a comma, a line break and blanks; before the last bracket are a line break and
        // blanks.
        let count = self.open.len() - base;
        self.printed_len += (2 + 4 * (nesting + 1)) * count + 2 + 4 * nesting;
        self.line_breaks += count + 1;
        if CLOSE == b'}' {
            sort(&mut self.open[base..], self.json)?;
        }
        let from = self.nodes.len();
        self.nodes.extend_from_slice(&self.open[base..]);
        self.open.truncate(base);
        let form = if CLOSE == b'}' { Form::Object } else { Form::Array };
        Some(Value { form, from, to: self.nodes.len(), end })
    }

    /// Reads a string in which a character has or needs an escape.
    #[cold]
    fn text(&mut self, at: usize) -> Option<Value> {
        let end = json::value(self.json, at)?;
        let JsonValue::Text(text) = JsonValue::parse(&self.json[at..end]) else { return None };
        Some(self.encode(end, |out| string(&text, out)))
    }

    /// Reads a number or literal, which is printed as it is written unless it may be a float.
    fn scalar(&mut self, at: usize) -> Option<Value> {
        let end = json::value(self.json, at)?;
        let text = &self.json[at..end];
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let is_literal = text[0].is_ascii_lowercase();
        let is_integer = digits.len() <= MAX_DIGITS && digits.iter().all(u8::is_ascii_digit) && text != b"-0";
        if is_literal || is_integer {
            return Some(self.written(at, end));
        }
        match JsonValue::parse(text) {
            JsonValue::Raw(_) => None,
            number => Some(self.encode(end, |out| number.write_indented(0, out))),
        }
    }

    /// Adds the printed form of the value that ends at a position.
    fn encode(&mut self, end: usize, write: impl FnOnce(&mut Vec<u8>)) -> Value {
        let start = self.encoded.len();
        write(&mut self.encoded);
        self.printed_len += self.encoded.len() - start;
        Value { form: Form::Encoded, from: start, to: self.encoded.len(), end }
    }
}

/// Returns the node of a value; `None` in a text of more than 4 GiB.
#[inline(always)]
fn node(prefix: u64, start: usize, value: usize, inner: &Value) -> Option<Node> {
    let [start, value] = [position(start)?, position(value)?];
    Some(Node {
        prefix,
        start,
        value,
        from: position(inner.from)?,
        to: position(inner.to)?,
        form: inner.form,
    })
}

/// Sorts the members of an object by their keys, which must differ.
#[inline(always)]
fn sort(members: &mut [Node], json: &[u8]) -> Option<()> {
    let is_sorted = |members: &[Node]| members.is_sorted_by(|one, next| one.is_before(next, json));
    if is_sorted(members) {
        return Some(());
    }
    members.sort_unstable_by(|one, other| {
        one.prefix.cmp(&other.prefix).then_with(|| one.name(json).cmp(other.name(json)))
    });
    is_sorted(members).then_some(())
}

/// Returns a position as a node has it.
#[inline(always)]
fn position(at: usize) -> Option<u32> {
    u32::try_from(at).ok()
}

/// For each number of bytes, the bits of that many first bytes.
const FIRST_BYTES: [u64; 9] = {
    let mut bits = [0; 9];
    let mut count = 1;
    while count <= 8 {
        bits[count] = bits[count - 1] >> 8 | 0xff << 56;
        count += 1;
    }
    bits
};

/// Returns the first eight bytes of a key as a number. A shorter key has zeros after it, which no plain key contains.
#[inline(always)]
fn prefix_of(json: &[u8], at: usize, len: usize) -> u64 {
    let bytes = json[at..].first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; 8];
        let key = &json[at..at + len.min(8)];
        bytes[..key.len()].copy_from_slice(key);
        bytes
    });
    u64::from_be_bytes(bytes) & FIRST_BYTES[len.min(8)]
}
