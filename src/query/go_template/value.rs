//! The values of an execution, with Go's types.

use std::ops::Range;
use std::sync::Arc;

use crate::object::{JsonValue, format_json_float};

/// A value as Go's `reflect.Value` holds it.
#[derive(Debug, Clone)]
pub(super) struct Value<'a> {
    pub(super) data: Data<'a>,
    /// Whether the static type is `interface {}`, as of a member of a map or an element of a slice.
    pub(super) is_interface: bool,
}

/// The content of a value.
#[derive(Debug, Clone)]
pub(super) enum Data<'a> {
    /// A nil interface, or no value at all if the static type is no interface.
    Nil,
    Bool(bool),
    /// Go's `int`, of literals and lengths.
    Int(i64),
    /// Go's `int64`, of JSON.
    Int64(i64),
    /// An element of a string.
    Byte(u8),
    Float(f64),
    Complex(f64, f64),
    Text(Text<'a>),
    List(List<'a>),
    /// Members in the order of their keys.
    Map(&'a [(std::borrow::Cow<'a, str>, JsonValue<'a>)]),
    /// JSON that was not parsed.
    Raw(&'a [u8]),
}

/// A slice of an array.
#[derive(Debug, Clone, Copy)]
pub(super) struct List<'a> {
    /// The elements up to the capacity.
    pub(super) elements: &'a [JsonValue<'a>],
    pub(super) len: usize,
}

impl<'a> List<'a> {
    pub(super) fn items(self) -> &'a [JsonValue<'a>] {
        &self.elements[..self.len]
    }
}

/// A string, possibly of invalid UTF-8. Cloning copies no text.
#[derive(Debug, Clone)]
pub(super) enum Text<'a> {
    /// Of the object or the template.
    Borrowed(&'a [u8]),
    /// The result of a function.
    Shared(Arc<Vec<u8>>, Range<usize>),
}

impl Text<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes, range) => &bytes[range.clone()],
        }
    }

    /// Returns a part of the string; `range` must be inside it.
    pub(super) fn slice(&self, range: Range<usize>) -> Self {
        match self {
            Self::Borrowed(bytes) => Self::Borrowed(&bytes[range]),
            Self::Shared(bytes, whole) => {
                Self::Shared(Arc::clone(bytes), whole.start + range.start..whole.start + range.end)
            }
        }
    }
}

impl<'a> Value<'a> {
    /// No value: a missing key.
    pub(super) const MISSING: Self = Self::of(Data::Nil);

    pub(super) const fn of(data: Data<'a>) -> Self {
        Self { data, is_interface: false }
    }

    pub(super) fn borrowed(text: &'a [u8]) -> Self {
        Self::of(Data::Text(Text::Borrowed(text)))
    }

    pub(super) fn owned(text: Vec<u8>) -> Self {
        let range = 0..text.len();
        Self::of(Data::Text(Text::Shared(Arc::new(text), range)))
    }

    pub(super) fn length(length: usize) -> Self {
        Self::of(Data::Int(i64::try_from(length).unwrap_or(i64::MAX)))
    }

    /// Returns a value whose static type is the type of its content.
    pub(super) fn concrete(json: &'a JsonValue<'a>) -> Self {
        Self::of(Data::of_json(json))
    }

    /// Returns an element of a slice or a member of a map.
    pub(super) fn element(json: &'a JsonValue<'a>) -> Self {
        Self { data: Data::of_json(json), is_interface: true }
    }

    /// Returns the zero value of `interface {}`.
    pub(super) fn nil_interface() -> Self {
        Self { data: Data::Nil, is_interface: true }
    }

    /// Returns the value with the type of its content as the static type.
    pub(super) fn unwrapped(self) -> Self {
        Self { is_interface: false, ..self }
    }

    /// Returns whether this is no value at all; a nil interface is one.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self.data, Data::Nil) && !self.is_interface
    }

    pub(super) fn is_nil_interface(&self) -> bool {
        matches!(self.data, Data::Nil) && self.is_interface
    }

    /// Returns the name of the static type.
    pub(super) fn type_name(&self) -> &'static str {
        if self.is_interface { "interface {}" } else { self.data.type_name() }
    }

    /// Returns whether a condition holds with this value.
    pub(super) fn is_true(&self) -> bool {
        match &self.data {
            Data::Nil => false,
            Data::Bool(value) => *value,
            Data::Int(value) | Data::Int64(value) => *value != 0,
            Data::Byte(value) => *value != 0,
            Data::Float(value) => *value != 0.0,
            Data::Complex(real, imaginary) => *real != 0.0 || *imaginary != 0.0,
            Data::Text(text) => !text.bytes().is_empty(),
            Data::List(list) => list.len > 0,
            Data::Map(members) => !members.is_empty(),
            Data::Raw(_) => true,
        }
    }
}

impl<'a> Data<'a> {
    /// Returns the content as kubectl's decoder makes it of the object, which it encodes and decodes once more: a
    /// whole number is an int64 then, however it was written.
    pub(super) fn of_json(json: &'a JsonValue<'a>) -> Self {
        match json {
            JsonValue::Null => Self::Nil,
            JsonValue::Bool(value) => Self::Bool(*value),
            JsonValue::Int(value) => Self::Int64(*value),
            JsonValue::Float(value) => {
                let whole = if value.fract() == 0.0 { format_json_float(*value).parse().ok() } else { None };
                whole.map_or(Self::Float(*value), Self::Int64)
            }
            JsonValue::Text(text) => Self::Text(Text::Borrowed(text.as_bytes())),
            JsonValue::Array(elements) => Self::List(List { elements, len: elements.len() }),
            JsonValue::Object(members) => Self::Map(members),
            JsonValue::Raw(json) => Self::Raw(json),
        }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Nil => "<nil>",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Int64(_) => "int64",
            Self::Byte(_) => "uint8",
            Self::Float(_) => "float64",
            Self::Complex(..) => "complex128",
            Self::Text(_) => "string",
            Self::List(_) => "[]interface {}",
            Self::Map(_) => "map[string]interface {}",
            Self::Raw(_) => "json.RawMessage",
        }
    }
}
