//! The static types of expressions.

use std::fmt;
use std::sync::Arc;

/// A type that the checker knows; [`Type::Dyn`] is known only when an object is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Duration,
    Timestamp,
    /// The type of types.
    Meta,
    Ip,
    Cidr,
    Url,
    Quantity,
    Semver,
    Format,
    List(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    Optional(Arc<Type>),
    /// A parameter of a declaration; `C` is comparable, `S` can be summed.
    Param(char),
}

/// The types that parameters of a declaration stand for.
#[derive(Debug, Default, Clone)]
pub(super) struct Substitution(Vec<(char, Type)>);

impl Type {
    pub(super) fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    pub(super) fn optional(value: Self) -> Self {
        Self::Optional(Arc::new(value))
    }

    /// Parses a type of a declaration, which is valid.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some((name, arguments)) = text.strip_suffix('>').and_then(|inside| inside.split_once('<')) {
            return match name {
                "list" => Self::list(Self::parse(arguments)),
                "optional" => Self::optional(Self::parse(arguments)),
                _ => {
                    let (key, value) = arguments.split_once(',').unwrap_or((arguments, "dyn"));
                    Self::map(Self::parse(key), Self::parse(value))
                }
            };
        }
        match text {
            "null" => Self::Null,
            "bool" => Self::Bool,
            "int" => Self::Int,
            "uint" => Self::Uint,
            "double" => Self::Double,
            "string" => Self::Text,
            "bytes" => Self::Bytes,
            "duration" => Self::Duration,
            "timestamp" => Self::Timestamp,
            "type" => Self::Meta,
            "ip" => Self::Ip,
            "cidr" => Self::Cidr,
            "url" => Self::Url,
            "quantity" => Self::Quantity,
            "semver" => Self::Semver,
            "format" => Self::Format,
            _ => match text.chars().next() {
                Some(param) if param.is_ascii_uppercase() => Self::Param(param),
                _ => Self::Dyn,
            },
        }
    }

    /// Whether values of this type can be compared by `<`, for the parameter `C`.
    fn is_comparable(&self) -> bool {
        self.is_summable() || matches!(self, Self::Bool | Self::Text | Self::Bytes | Self::Timestamp)
    }

    /// Whether `sum` adds values of this type, for the parameter `S`.
    fn is_summable(&self) -> bool {
        matches!(self, Self::Dyn | Self::Int | Self::Uint | Self::Double | Self::Duration)
    }

    /// Whether this type is allowed for a parameter.
    pub(super) fn fits(&self, param: char) -> bool {
        match param {
            'C' => self.is_comparable(),
            'S' => self.is_summable(),
            _ => true,
        }
    }

    /// Whether null is a value of this type.
    fn is_nullable(&self) -> bool {
        use Type::{Cidr, Duration, Format, Ip, Null, Optional, Quantity, Semver, Timestamp, Url};
        matches!(
            self,
            Null | Duration | Timestamp | Ip | Cidr | Url | Quantity | Semver | Format | Optional(_)
        )
    }

    /// Returns the type of a value that has one type or the other, if they agree.
    pub(super) fn joined(&self, other: &Self) -> Option<Self> {
        let mut substitution = Substitution::default();
        if !substitution.accepts(self, other) {
            return None;
        }
        Some(if self.is_wider(other) { self.clone() } else { other.clone() })
    }

    /// Whether this type has [`Type::Dyn`] where the other has a type.
    fn is_wider(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dyn, _) | (_, Self::Null) => true,
            (Self::List(a), Self::List(b)) | (Self::Optional(a), Self::Optional(b)) => a.is_wider(b),
            (Self::Map(a_key, a), Self::Map(b_key, b)) => a_key.is_wider(b_key) && a.is_wider(b),
            (a, b) => a == b,
        }
    }
}

impl Substitution {
    /// Whether a value of type `actual` is accepted where a declaration has `expected`. Parameters are bound.
    pub(super) fn accepts(&mut self, expected: &Type, actual: &Type) -> bool {
        match (expected, actual) {
            (Type::Param(param), actual) => self.bind(*param, actual),
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (expected, Type::Null) => expected.is_nullable(),
            (Type::Null, actual) => actual.is_nullable(),
            (Type::List(expected), Type::List(actual))
            | (Type::Optional(expected), Type::Optional(actual)) => self.accepts(expected, actual),
            (Type::Map(expected_key, expected), Type::Map(actual_key, actual)) => {
                self.accepts(expected_key, actual_key) && self.accepts(expected, actual)
            }
            (expected, actual) => expected == actual,
        }
    }

    fn bind(&mut self, param: char, actual: &Type) -> bool {
        if !actual.fits(param) {
            return false;
        }
        match self.0.iter_mut().find(|(bound, _)| *bound == param) {
            None => {
                self.0.push((param, actual.clone()));
                true
            }
            Some((_, bound)) => match bound.joined(actual) {
                Some(joined) => {
                    *bound = joined;
                    true
                }
                None => false,
            },
        }
    }

    /// Returns a type of the declaration with its parameters replaced; unbound ones are dynamic.
    pub(super) fn apply(&self, declared: &Type) -> Type {
        match declared {
            Type::Param(param) => {
                self.0.iter().find(|(bound, _)| bound == param).map_or(Type::Dyn, |(_, bound)| bound.clone())
            }
            Type::List(element) => Type::list(self.apply(element)),
            Type::Optional(value) => Type::optional(self.apply(value)),
            Type::Map(key, value) => Type::map(self.apply(key), self.apply(value)),
            other => other.clone(),
        }
    }
}

/// Prints the type as CEL names it.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dyn => "dyn",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Text => "string",
            Self::Bytes => "bytes",
            Self::Duration => "duration",
            Self::Timestamp => "timestamp",
            Self::Meta => "type",
            Self::Ip => "IP",
            Self::Cidr => "CIDR",
            Self::Url => "URL",
            Self::Quantity => "quantity",
            Self::Semver => "semver",
            Self::Format => "format",
            Self::List(element) => return write!(f, "list({element})"),
            Self::Map(key, value) => return write!(f, "map({key}, {value})"),
            Self::Optional(value) => return write!(f, "optional({value})"),
            Self::Param(param) => return write!(f, "{param}"),
        })
    }
}
