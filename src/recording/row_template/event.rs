//! The fields of events, from which the cells of their rows are composed.

use std::borrow::Cow;

/// The member of an event and the member within it, or "" for the value itself. Templates refer to these by number.
const FIELDS: [(&str, &str); 24] = [
    ("metadata", "name"),
    ("metadata", "creationTimestamp"),
    ("type", ""),
    ("reason", ""),
    ("message", ""),
    ("note", ""),
    ("involvedObject", "name"),
    ("involvedObject", "fieldPath"),
    ("regarding", "name"),
    ("regarding", "fieldPath"),
    ("source", "component"),
    ("source", "host"),
    ("reportingComponent", ""),
    ("reportingController", ""),
    ("reportingInstance", ""),
    ("firstTimestamp", ""),
    ("lastTimestamp", ""),
    ("eventTime", ""),
    ("series", "lastObservedTime"),
    ("deprecatedFirstTimestamp", ""),
    ("deprecatedLastTimestamp", ""),
    ("count", ""),
    ("series", "count"),
    ("deprecatedCount", ""),
];

/// The field that "Age" is counted from.
pub(super) const CREATION: usize = 1;

/// The fields that "Last Seen" and "First Seen" are counted from, in the server's order.
pub(super) const LAST_SEEN: [usize; 6] = [18, 16, 20, 15, 19, 17];
pub(super) const FIRST_SEEN: [usize; 3] = [15, 19, 17];

/// Values shorter than this are only recognized as a whole cell.
const MIN_PIECE: usize = 3;

/// A part of a cell.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(&'a str),
    /// The value of the field with this number.
    Field(usize),
}

/// The values of the fields of one event.
pub(super) struct EventFields<'a>([Option<Cow<'a, str>>; FIELDS.len()]);

impl<'a> EventFields<'a> {
    /// Reads the fields of a compact JSON text.
    pub(super) fn of(json: &'a [u8]) -> Self {
        let mut fields = Self([const { None }; FIELDS.len()]);
        let mut keys: [&[u8]; 2] = [b"", b""];
        let (mut depth, mut at) = (0usize, 0);
        while let Some(byte) = json.get(at) {
            match byte {
                b'{' | b'[' => {
                    depth += 1;
                    if let Some(key) = keys.get_mut(depth - 1) {
                        *key = b"";
                    }
                    at += 1;
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    at += 1;
                }
                b'"' => {
                    let Some(length) = string_len(&json[at + 1..]) else { break };
                    let text = &json[at + 1..at + 1 + length];
                    at += length + 2;
                    if json.get(at) != Some(&b':') {
                        fields.insert(depth, keys, text);
                    } else if let Some(key) = depth.checked_sub(1).and_then(|level| keys.get_mut(level)) {
                        *key = text;
                    }
                }
                b'0'..=b'9' | b'-' => {
                    let length =
                        json[at..].iter().take_while(|byte| !matches!(byte, b',' | b'}' | b']')).count();
                    fields.insert(depth, keys, &json[at..at + length]);
                    at += length;
                }
                _ => at += 1,
            }
        }
        fields
    }

    fn insert(&mut self, depth: usize, keys: [&[u8]; 2], value: &'a [u8]) {
        let is_at = |(first, second): &(&str, &str)| match depth {
            1 => first.as_bytes() == keys[0] && second.is_empty(),
            2 => first.as_bytes() == keys[0] && second.as_bytes() == keys[1] && !second.is_empty(),
            _ => false,
        };
        let Some(number) = FIELDS.iter().position(is_at) else { return };
        self.0[number] = if value.contains(&b'\\') {
            let quoted = [b"\"", value, b"\""].concat();
            serde_json::from_slice::<String>(&quoted).ok().map(Cow::Owned)
        } else {
            str::from_utf8(value).ok().map(Cow::Borrowed)
        };
    }

    /// Returns the value of a field.
    pub(super) fn get(&self, number: usize) -> Option<&str> {
        self.0.get(number)?.as_deref()
    }

    /// Splits a cell into values of fields and other texts.
    pub(super) fn pieces<'b>(&self, cell: &'b str) -> Vec<Piece<'b>> {
        let is_value = |value: &str| value == cell;
        if let Some(number) = (0..FIELDS.len()).find(|number| self.get(*number).is_some_and(is_value)) {
            return vec![Piece::Field(number)];
        }
        let mut pieces = Vec::new();
        let (mut start, mut at) = (0, 0);
        while at < cell.len() {
            let found = self.longest(&cell[at..]);
            if let Some((number, length)) = found {
                if start < at {
                    pieces.push(Piece::Text(&cell[start..at]));
                }
                pieces.push(Piece::Field(number));
                at += length;
                start = at;
            } else {
                at += cell[at..].chars().next().map_or(1, char::len_utf8);
            }
        }
        if start < at {
            pieces.push(Piece::Text(&cell[start..at]));
        }
        pieces
    }

    /// Returns the number and the length of the longest value at the front of a text.
    fn longest(&self, text: &str) -> Option<(usize, usize)> {
        let of = |number: usize| Some((number, self.get(number)?.len()));
        let all = (0..FIELDS.len()).filter_map(of).filter(|(number, length)| {
            *length >= MIN_PIECE && self.get(*number).is_some_and(|value| text.starts_with(value))
        });
        // The first of equally long ones, so that events of one kind have the same template.
        all.rev().max_by_key(|(_, length)| *length)
    }
}

/// Returns the length of a string up to its closing quote.
fn string_len(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', rest.get(at..)?)?;
        if rest[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_consist_of_fields() {
        let json = br#"{"kind":"Event","metadata":{"name":"web.17","labels":{"name":"x"}},"involvedObject":{"kind":"Pod","name":"web","x":["a"]},"reason":"Pulled","message":"Image \"a\" of web","count":3,"related":[{"name":"y"}],"source":{"component":"kubelet","host":"node-1"}}"#;
        let fields = EventFields::of(json);
        for (number, value) in
            [(0, "web.17"), (3, "Pulled"), (4, "Image \"a\" of web"), (6, "web"), (21, "3")]
        {
            assert_eq!(fields.get(number), Some(value), "{:?}", FIELDS[number]);
        }
        assert_eq!(fields.get(2), None);
        assert_eq!(fields.pieces("pod/web"), [Piece::Text("pod/"), Piece::Field(6)]);
        assert_eq!(fields.pieces("3"), [Piece::Field(21)]);
        assert_eq!(fields.pieces("kubelet, node-1"), [Piece::Field(10), Piece::Text(", "), Piece::Field(11)]);
        assert_eq!(fields.pieces("ü"), [Piece::Text("ü")]);
        assert_eq!(fields.pieces(""), []);
    }

    #[test]
    fn any_bytes_have_fields_without_a_panic() {
        for json in [&b"\""[..], b"{\"a", b"\\", b"{\"reason\":\"\\", b"}}]{\"reason\":-", b"[[[[1]]]]]]]"] {
            EventFields::of(json);
        }
    }
}
