//! Splits a list into its elements as it arrives.

mod state;
#[cfg(test)]
mod tests;

use state::{Array, Member, State, begins_value};

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
