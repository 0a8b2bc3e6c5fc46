//! Splits a list into its elements as it arrives.

use std::borrow::Cow;

use super::scan::ValueBuffer;
use super::{Fault, Limits, PLAIN_DEPTH, cut_off};
use crate::listwatch::Error;

/// Splits a list into parts as it arrives, whatever the order of its members.
#[derive(Debug)]
pub struct ListSplitter {
    state: State,
    value: ValueBuffer,
    offset: u64,
    seen_elements: bool,
    limits: Limits,
    /// The length of the last item.
    last: usize,
}

/// The next part of a list.
pub(crate) enum Next<'a, T> {
    /// An item that was decoded in place.
    Read(T),
    Piece(Piece<'a>),
}

/// A part of a list, as JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece<'a> {
    /// The list's own `metadata`, which may come after the items.
    Metadata(&'a [u8]),
    /// The list's `kind`.
    Kind(&'a [u8]),
    /// The list's `apiVersion`.
    ApiVersion(&'a [u8]),
    /// The `columnDefinitions` of a Table.
    Columns(&'a [u8]),
    /// One element of `items`.
    Item(&'a [u8]),
    /// One element of the `rows` of a Table.
    Row(&'a [u8]),
}

/// The expected position of the next byte that is not white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The opening brace of the list.
    Start,
    /// The first name, or the end of the list.
    FirstName,
    /// A name, after a comma.
    Name,
    /// The colon between a name and its value.
    Colon(Member),
    /// A member's value.
    Value(Member),
    /// A comma or the end of the list.
    AfterValue,
    /// The first element, or the end of the array.
    FirstElement(Array),
    /// An element, after a comma.
    Element(Array),
    /// A comma or the end of the array.
    AfterElement(Array),
    /// The end of the body.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Metadata,
    Kind,
    ApiVersion,
    Columns,
    Elements(Array),
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Array {
    Items,
    Rows,
}

/// The result of reading from the front of the input.
enum Step {
    /// Punctuation, a name, or a value that is skipped was read.
    Done,
    /// A value to return, or a part of it, is at the front.
    Take,
    /// The input is used up.
    NeedsInput,
}

impl ListSplitter {
    /// Returns a splitter at the start of a body.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let value = ValueBuffer::new(limits);
        Self { state: State::Start, value, offset: 0, seen_elements: false, limits, last: 0 }
    }

    /// Returns the next piece, or `None` when `input` is used up. Removes from the front of `input` what it has read.
    ///
    /// # Errors
    /// [`Error::Decode`] when the body is not a JSON object with an array of items (or rows), or a value exceeds the
    /// limits. Unknown members are skipped, not validated.
    pub fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Option<Piece<'s>>, Error> {
        if self.arrive(input)? { self.take(input) } else { Ok(None) }
    }

    /// Returns the next piece, and tries to decode items in place: `plain` receives all of `input` from the start of
    /// an item, without its end being known. It must return `None` unless a complete JSON value is there, else the
    /// value's end. Parts that `plain` drops need to be valid JSON only as far as that does not move the end. Finding
    /// an item's end before decoding it would take a quarter of the time.
    ///
    /// # Errors
    /// As [`ListSplitter::next`].
    pub(crate) fn read<'s, 'i: 's, T>(
        &'s mut self,
        input: &mut &'i [u8],
        plain: impl FnOnce(&[u8]) -> Option<(T, usize)>,
    ) -> Result<Option<Next<'s, T>>, Error> {
        if !self.arrive(input)? {
            return Ok(None);
        }
        if self.may_be_whole(input)
            && let Some((item, end)) = plain(input)
        {
            (self.last, *input) = (end, &input[end..]);
            self.offset += end as u64;
            self.state = State::AfterElement(Array::Items);
            return Ok(Some(Next::Read(item)));
        }
        Ok(self.take(input)?.map(Next::Piece))
    }

    /// Returns whether the next item is probably complete in `input`: it is assumed to be at most a quarter longer
    /// than the last one. Decoding an incomplete item would be wasted work.
    fn may_be_whole(&self, input: &[u8]) -> bool {
        matches!(self.state, State::FirstElement(Array::Items) | State::Element(Array::Items))
            && !self.value.is_inside()
            && self.limits.depth >= PLAIN_DEPTH
            && (self.last + self.last / 4..=self.limits.frame).contains(&input.len())
    }

    /// Reads up to a value to return, or into one, and returns whether there is any.
    fn arrive(&mut self, input: &mut &[u8]) -> Result<bool, Error> {
        loop {
            let given = input.len();
            let step = self.step(input);
            self.offset += (given - input.len()) as u64;
            match step.map_err(|fault| fault.at("list", self.offset))? {
                Step::Done => {}
                Step::Take => return Ok(true),
                Step::NeedsInput => return Ok(false),
            }
        }
    }

    /// Takes the available part of a piece.
    fn take<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Option<Piece<'s>>, Error> {
        let (given, start) = (input.len(), self.offset);
        let taken = self.value.take(input);
        self.offset += (given - input.len()) as u64;
        let Some(text) = taken.map_err(|fault| fault.at("list", start))? else { return Ok(None) };
        let (piece, state) = match self.state {
            State::Value(Member::Metadata) => (Piece::Metadata(text), State::AfterValue),
            State::Value(Member::Kind) => (Piece::Kind(text), State::AfterValue),
            State::Value(Member::ApiVersion) => (Piece::ApiVersion(text), State::AfterValue),
            State::FirstElement(Array::Items) | State::Element(Array::Items) => {
                self.last = text.len();
                (Piece::Item(text), State::AfterElement(Array::Items))
            }
            State::FirstElement(Array::Rows) | State::Element(Array::Rows) => {
                (Piece::Row(text), State::AfterElement(Array::Rows))
            }
            _ => (Piece::Columns(text), State::AfterValue),
        };
        self.state = state;
        Ok(Some(piece))
    }

    /// Ends the body.
    ///
    /// # Errors
    /// [`Error::Transport`] when the list is incomplete; [`Error::Decode`] when it had neither items nor rows.
    pub fn finish(&self) -> Result<(), Error> {
        match self.state {
            State::End if self.seen_elements => Ok(()),
            State::End => {
                Err(Error::Decode("the response is not a list: it has neither items nor rows".into()))
            }
            _ => Err(cut_off("list", self.offset)),
        }
    }

    /// Reads one token, or a value to skip, from the front of `input`.
    fn step(&mut self, input: &mut &[u8]) -> Result<Step, Fault> {
        let inside = self.value.is_inside();
        if !inside {
            *input = input.trim_ascii_start();
        }
        let Some(first) = input.first().copied() else { return Ok(Step::NeedsInput) };
        self.state = match (self.state, first) {
            (State::Start, b'{') => State::FirstName,
            (State::FirstName | State::AfterValue, b'}') if !inside => State::End,
            (State::AfterValue, b',') => State::Name,
            (State::Colon(member), b':') => State::Value(member),
            (State::FirstElement(_) | State::AfterElement(_), b']') if !inside => State::AfterValue,
            (State::AfterElement(array), b',') => State::Element(array),
            (State::Value(Member::Elements(array)), b'[') if !inside => State::FirstElement(array),
            (State::Value(Member::Elements(_)), other) if !inside && other != b'n' => {
                return Err(Fault::Expected("an array of items"));
            }
            (State::FirstName | State::Name, _) if inside || first == b'"' => return self.name(input),
            (State::Value(_) | State::FirstElement(_) | State::Element(_), _)
                if inside || begins_value(first) =>
            {
                return self.value(input);
            }
            (state, _) => return Err(Fault::Expected(state.wants())),
        };
        *input = &input[1..];
        Ok(Step::Done)
    }

    fn name(&mut self, input: &mut &[u8]) -> Result<Step, Fault> {
        let Some(name) = self.value.take(input)? else { return Ok(Step::NeedsInput) };
        let member = Member::named(name);
        if matches!(member, Member::Elements(_)) && std::mem::replace(&mut self.seen_elements, true) {
            return Err(Fault::TwoItemLists);
        }
        self.state = State::Colon(member);
        Ok(Step::Done)
    }

    fn value(&mut self, input: &mut &[u8]) -> Result<Step, Fault> {
        let ended = match self.state {
            State::Value(Member::Other) => self.value.skip(input)?,
            // Anything but an array must be null, as Go writes an empty one.
            State::Value(Member::Elements(_)) => match self.value.take(input)? {
                Some(b"null") => true,
                Some(_) => return Err(Fault::Expected("an array of items")),
                None => false,
            },
            _ => return Ok(Step::Take),
        };
        if !ended {
            return Ok(Step::NeedsInput);
        }
        self.state = State::AfterValue;
        Ok(Step::Done)
    }
}

impl State {
    /// Describes the expected token for messages.
    fn wants(self) -> &'static str {
        match self {
            Self::Start => "a JSON object, as every response of a Kubernetes API is",
            Self::FirstName => "a name or }",
            Self::Name => "a name",
            Self::Colon(_) => "a colon",
            Self::Value(_) | Self::Element(_) => "a value",
            Self::AfterValue => "a comma or }",
            Self::FirstElement(_) => "a value or ]",
            Self::AfterElement(_) => "a comma or ]",
            Self::End => "nothing more",
        }
    }
}

impl Member {
    /// Returns the member with this name, given as a JSON string.
    fn named(json: &[u8]) -> Self {
        let name = match &json[1..json.len() - 1] {
            plain if !plain.contains(&b'\\') => Cow::Borrowed(plain),
            _ => Cow::Owned(serde_json::from_slice::<String>(json).unwrap_or_default().into_bytes()),
        };
        match &*name {
            b"metadata" => Self::Metadata,
            b"kind" => Self::Kind,
            b"apiVersion" => Self::ApiVersion,
            b"columnDefinitions" => Self::Columns,
            b"items" => Self::Elements(Array::Items),
            b"rows" => Self::Elements(Array::Rows),
            _ => Self::Other,
        }
    }
}

/// Returns whether a JSON value may begin with this byte, as far as a splitter needs to know.
fn begins_value(byte: u8) -> bool {
    !matches!(byte, b',' | b':' | b'}' | b']')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::wire::frames::testing::{cut, document, text};

    /// The parts of a list: its pieces by name, and its elements.
    #[derive(Debug, Default, PartialEq)]
    struct Parts {
        members: Vec<(&'static str, Value)>,
        items: Vec<Value>,
        rows: Vec<Value>,
    }

    fn parts(body: &[u8], cuts: &[usize]) -> Result<Parts, Error> {
        let parse = |json: &[u8]| serde_json::from_slice::<Value>(json).expect("a whole value");
        let mut parts = Parts::default();
        pieces(body, cuts, |piece| match piece {
            Piece::Metadata(json) => parts.members.push(("metadata", parse(json))),
            Piece::Kind(json) => parts.members.push(("kind", parse(json))),
            Piece::ApiVersion(json) => parts.members.push(("apiVersion", parse(json))),
            Piece::Columns(json) => parts.members.push(("columnDefinitions", parse(json))),
            Piece::Item(json) => parts.items.push(parse(json)),
            Piece::Row(json) => parts.rows.push(parse(json)),
        })?;
        parts.members.sort_by_key(|(name, _)| *name);
        Ok(parts)
    }

    fn pieces(body: &[u8], cuts: &[usize], mut seen: impl FnMut(Piece<'_>)) -> Result<(), Error> {
        let mut splitter = ListSplitter::new(Limits::default());
        for mut chunk in cut(body, cuts) {
            while let Some(piece) = splitter.next(&mut chunk)? {
                seen(piece);
            }
            assert!(chunk.is_empty(), "a chunk was left over");
        }
        splitter.finish()
    }

    /// Returns the pieces and the final result. With `plainly`, items of plain JSON are decoded in place.
    fn read(body: &[u8], cuts: &[usize], limits: Limits, plainly: bool) -> (Vec<Vec<u8>>, Option<String>) {
        let mut splitter = ListSplitter::new(limits);
        let mut read = Vec::new();
        let plain = |front: &[u8]| {
            let mut values = serde_json::Deserializer::from_slice(front).into_iter::<serde::de::IgnoredAny>();
            let is_one = plainly && front[0] == b'{' && values.next().is_some_and(|value| value.is_ok());
            is_one.then(|| (front[..values.byte_offset()].to_vec(), values.byte_offset()))
        };
        for mut chunk in cut(body, cuts) {
            loop {
                match splitter.read(&mut chunk, plain) {
                    Ok(Some(Next::Read(item))) => read.push(item),
                    Ok(Some(Next::Piece(
                        Piece::Metadata(text)
                        | Piece::Kind(text)
                        | Piece::ApiVersion(text)
                        | Piece::Columns(text)
                        | Piece::Item(text)
                        | Piece::Row(text),
                    ))) => read.push(text.to_vec()),
                    Ok(None) => break,
                    Err(error) => return (read, Some(error.to_string())),
                }
            }
            assert!(chunk.is_empty(), "a chunk was left over");
        }
        (read, splitter.finish().err().map(|error| error.to_string()))
    }

    const NAMES: [&str; 7] =
        ["items", "metadata", "kind", "apiVersion", "status", "columnDefinitions", "zeta"];

    /// Formats an object with these members in this order; `serde_json` itself would sort them.
    fn object(members: &[(&str, &Value)], pretty: bool) -> String {
        let gap = if pretty { "\n\t " } else { "" };
        let members: Vec<_> = members
            .iter()
            .map(|(name, value)| format!("{gap}\"{name}\"{gap}:{gap}{}{gap}", text(value, pretty)))
            .collect();
        format!("{gap}{{{}}}{gap}", members.join(","))
    }

    proptest! {
        #[test]
        fn elements_do_not_depend_on_cuts(
            items in prop::collection::vec(document(), 0..6),
            others in prop::collection::vec(document(), 6),
            order in Just(NAMES.to_vec()).prop_shuffle(),
            table: bool,
            pretty: bool,
            cuts in prop::collection::vec(0usize..4000, 0..20),
        ) {
            let elements = Value::from(items.clone());
            let mut rest = others.iter();
            let members: Vec<_> = order
                .iter()
                .map(|name| match *name {
                    "items" if table => ("rows", &elements),
                    "items" => ("items", &elements),
                    name => (name, rest.next().expect("enough")),
                })
                .collect();
            let found = parts(object(&members, pretty).as_bytes(), &cuts).expect("a list");
            prop_assert_eq!(if table { &found.rows } else { &found.items }, &items);
            for (name, value) in members {
                if ["metadata", "kind", "apiVersion", "columnDefinitions"].contains(&name) {
                    prop_assert!(found.members.iter().any(|member| member == &(name, value.clone())));
                }
            }
        }

        #[test]
        fn items_decoded_in_place_equal_scanned_items(
            items in prop::collection::vec(document(), 0..8),
            pretty: bool,
            lost in prop::option::of(any::<prop::sample::Index>()),
            cuts in prop::collection::vec(0usize..2000, 0..20),
        ) {
            let mut body = object(&[("metadata", &Value::from("m")), ("items", &Value::from(items))], pretty);
            if let Some(lost) = lost {
                let at = lost.index(body.len());
                let at = (0..=at).rev().find(|at| body.is_char_boundary(*at)).unwrap_or_default();
                body.remove(at);
            }
            let limits = Limits { frame: 300, ..Limits::default() };
            let expected = read(body.as_bytes(), &cuts, limits, false);
            prop_assert_eq!(read(body.as_bytes(), &cuts, limits, true), expected);
            let whole = read(body.as_bytes(), &[], limits, true);
            prop_assert_eq!(whole, read(body.as_bytes(), &[], limits, false));
        }

        #[test]
        fn arbitrary_bytes_never_panic(
            body: Vec<u8>,
            near in "\\{\"items\":\\[[{}\\[\\]\",:\\\\a1 ]{0,40}",
            cuts in prop::collection::vec(0usize..100, 0..9),
        ) {
            let _ = pieces(&body, &cuts, |_| ());
            let _ = pieces(near.as_bytes(), &cuts, |_| ());
        }
    }

    #[test]
    fn small_items_are_decoded_in_place_around_a_cut_item() {
        let mut splitter = ListSplitter::new(Limits::default());
        let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(10_000));
        let body = format!(r#"{{"items":[{large},{{"b":1}},{large},{{"b":2}},{{"b":3}}]}}"#);
        let mut read = Vec::new();
        for mut chunk in body.as_bytes().chunks(15_000) {
            while let Some(next) = splitter
                .read(&mut chunk, |front| {
                    let mut values =
                        serde_json::Deserializer::from_slice(front).into_iter::<serde::de::IgnoredAny>();
                    values.next()?.ok()?;
                    Some(((), values.byte_offset()))
                })
                .expect("a list")
            {
                read.push(matches!(next, Next::Read(())));
            }
        }
        // The second item is not tried: another one of that length would not be complete. Nor is the third, which is
        // cut.
        assert_eq!(read, [true, false, false, false, true]);
    }

    #[test]
    fn every_cut_of_a_small_list_gives_the_same_parts() {
        let body = br#"{"}":0,"kind":"PodList","items":[{"a":"\\\"]}"}, 12 ,null,"x",[[]]],"it\u0065ms2":{"items":[1]},"metadata":{"continue":"t"}}"#;
        let whole = parts(body, &[]).expect("a list");
        assert_eq!(whole.items.len(), 5);
        for at in 0..body.len() {
            assert_eq!(parts(body, &[at]).expect("a list"), whole, "cut at {at}");
            assert_eq!(parts(body, &[at, at + 1]).expect("a list"), whole, "cut around {at}");
        }
    }

    #[test]
    fn element_within_a_chunk_is_borrowed() {
        let body = br#"{"items":[{"a":1}]}"#;
        pieces(body, &[], |piece| match piece {
            Piece::Item(item) => assert_eq!(item.as_ptr(), body[10..].as_ptr()),
            other => panic!("{other:?}"),
        })
        .expect("a list");
    }

    #[test]
    fn list_with_null_or_empty_items_is_empty() {
        for body in
            [r#"{"items":null}"#, r#"{"items":[]}"#, r#"{ "it\u0065ms" : [ ] }"#, r#"{"rows":null,"a":1}"#]
        {
            for at in 0..body.len() {
                assert_eq!(parts(body.as_bytes(), &[at]).expect(body), Parts::default());
            }
        }
    }

    #[test]
    fn other_bodies_are_not_lists() {
        for body in
            ["", "{}", r#"{"kind":"Status","metadata":{}}"#, "404 page not found", "<html>", "[1]", "null"]
        {
            let error = parts(body.as_bytes(), &[]).expect_err(body);
            assert!(matches!(error, Error::Decode(_)) != body.is_empty(), "{body}: {error}");
            assert!(!error.to_string().contains("html"), "{error}");
        }
    }

    #[test]
    fn broken_lists_are_refused_with_their_position() {
        for (body, place) in [
            (r#"{"items":[1 2]}"#, 12),
            (r#"{"items":[1,]}"#, 12),
            (r#"{"items":[,1]}"#, 10),
            (r#"{"items":{"a":1}}"#, 9),
            (r#"{"items":"secret"}"#, 9),
            (r#"{"items" [1]}"#, 9),
            ("{items:[]}", 1),
            (r#"{"items":[]}}"#, 12),
            (r#"{"items":[]} secret"#, 13),
            (r#"{"items":[],}"#, 12),
            (r#"{"a":,"items":[]}"#, 5),
            (r#"{"items":[],"items":[1]}"#, 19),
        ] {
            let error = parts(body.as_bytes(), &[]).expect_err(body).to_string();
            assert!(error.contains(&format!("byte {place}:")), "{body}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn incomplete_list_is_an_error() {
        let body = br#"{"items":[{"a":1},{"b":"x"}],"metadata":{}}"#;
        for end in 0..body.len() {
            assert!(matches!(parts(&body[..end], &[]), Err(Error::Transport(_))), "{end}");
        }
    }

    #[test]
    fn limits_apply_to_elements_but_not_to_skipped_members() {
        let run = |body: &str, size: usize| {
            let mut splitter = ListSplitter::new(Limits { frame: 20, depth: 2 });
            for mut chunk in body.as_bytes().chunks(size) {
                while splitter.next(&mut chunk)?.is_some() {}
            }
            splitter.finish()
        };
        for size in [1, 7, 100] {
            let skipped = format!(r#"{{"other":"{}","items":[]}}"#, "x".repeat(15));
            run(&skipped, size).expect("a list");
            for body in [r#"{"items":["0123456789abcdefghij"]}"#, r#"{"items":[[[[1]]]]}"#] {
                assert!(matches!(run(body, size), Err(Error::Decode(_))), "{body} {size}");
            }
        }
    }
}
