//! The values of an evaluation.

mod arithmetic;
mod equality;
mod fits;
mod items;
mod order;
mod text;

pub(super) use arithmetic::{calculate, negate};
pub(super) use equality::{equal, find, insert, is_in};
pub(super) use fits::fits;
pub(super) use items::{Items, element, entries, length, list_items};
pub(super) use order::compare;
pub(super) use text::Text;

use std::net::IpAddr;
use std::rc::Rc;

use super::budget::Budget;
use super::error::CelError;
use super::kubernetes::{Cidr, NamedFormat, Quantity, SemanticVersion, Url};
use super::syntax::Literal;
use super::types::Type;
use crate::object::{InvalidJson, JsonKind, JsonNode, JsonValue};

/// The result of an evaluation step.
pub(super) type Outcome<'a> = Result<Value<'a>, CelError>;

/// A value, borrowed from the object and the expression where possible. Cloning copies no content.
#[derive(Debug, Clone)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Text<'a>),
    Bytes(Rc<[u8]>),
    /// In nanoseconds.
    Duration(i64),
    /// In nanoseconds since 1970.
    Timestamp(i128),
    /// A type, by its name.
    Type(&'static str),
    List(Rc<[Value<'a>]>),
    Map(Rc<[(Value<'a>, Value<'a>)]>),
    /// An object or an array of the stored text, not parsed yet.
    Json(JsonNode<'a>),
    Optional(Option<Rc<Value<'a>>>),
    Ip(IpAddr),
    Cidr(Cidr),
    Url(Rc<Url>),
    Quantity(Rc<Quantity>),
    Semver(Rc<SemanticVersion>),
    Format(NamedFormat),
}

impl<'a> Value<'a> {
    pub(super) fn of_literal(literal: &'a Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(value) => Self::Bool(*value),
            Literal::Int(number) => Self::Int(*number),
            Literal::Uint(number) => Self::Uint(*number),
            Literal::Double(number) => Self::Double(*number),
            Literal::Text(text) => Self::Text(Text::Borrowed(text)),
            Literal::Bytes(bytes) => Self::Bytes(bytes.as_slice().into()),
        }
    }

    /// Returns a value of the stored text.
    pub(super) fn of_json(node: JsonNode<'a>) -> Outcome<'a> {
        if node.kind() != JsonKind::Scalar {
            return Ok(Self::Json(node));
        }
        Ok(match node.scalar()? {
            JsonValue::Bool(value) => Self::Bool(value),
            JsonValue::Int(number) => Self::Int(number),
            JsonValue::Float(number) => Self::Double(number),
            JsonValue::Text(text) => Self::Text(text.into()),
            _ => Self::Null,
        })
    }

    /// Returns a string that a function has made.
    pub(super) fn made_text(text: String, budget: &mut Budget) -> Outcome<'a> {
        budget.allocate(text.len())?;
        Ok(Self::Text(Text::Shared(text.into())))
    }

    /// Returns a list that a function has made; its elements were charged for.
    pub(super) fn made_list(elements: Vec<Self>) -> Self {
        Self::List(elements.into())
    }

    pub(super) fn some(value: Self) -> Self {
        Self::Optional(Some(Rc::new(value)))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self, Self::List(_)) || matches!(self, Self::Json(node) if node.kind() == JsonKind::Array)
    }

    pub(super) fn is_map(&self) -> bool {
        matches!(self, Self::Map(_)) || matches!(self, Self::Json(node) if node.kind() == JsonKind::Object)
    }

    /// Returns the name of the value's type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Text(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Type(_) => "type",
            Self::List(_) => "list",
            Self::Json(_) if self.is_list() => "list",
            Self::Map(_) | Self::Json(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Url(_) => "kubernetes.URL",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
        }
    }

    /// Returns the type of the value without its parameters.
    pub(in crate::query::cel) fn static_type(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::Text(_) => Type::Text,
            Self::Bytes(_) => Type::Bytes,
            Self::Duration(_) => Type::Duration,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Type(_) => Type::Meta,
            Self::Optional(_) => Type::optional(Type::Dyn),
            value if value.is_list() => Type::list(Type::Dyn),
            value if value.is_map() => Type::map(Type::Dyn, Type::Dyn),
            _ => Type::Quantity,
        }
    }
}

impl From<InvalidJson> for CelError {
    fn from(_: InvalidJson) -> Self {
        Self::Unreadable
    }
}
