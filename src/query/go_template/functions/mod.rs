//! The functions of templates: those of Go and kubectl's `exists` and `base64decode`.

mod base64;
mod compare;
mod escape;
mod index;

use super::format::{Buffer, print, print_formatted, print_line};
use super::value::{Data, Value};

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    And,
    Base64Decode,
    Call,
    Eq,
    Exists,
    Ge,
    Gt,
    Html,
    Index,
    Js,
    Le,
    Len,
    Lt,
    Ne,
    Not,
    Or,
    Print,
    Printf,
    Println,
    Slice,
    UrlQuery,
}

const NAMES: &[(&str, Function)] = &[
    ("and", Function::And),
    ("base64decode", Function::Base64Decode),
    ("call", Function::Call),
    ("eq", Function::Eq),
    ("exists", Function::Exists),
    ("ge", Function::Ge),
    ("gt", Function::Gt),
    ("html", Function::Html),
    ("index", Function::Index),
    ("js", Function::Js),
    ("le", Function::Le),
    ("len", Function::Len),
    ("lt", Function::Lt),
    ("ne", Function::Ne),
    ("not", Function::Not),
    ("or", Function::Or),
    ("print", Function::Print),
    ("printf", Function::Printf),
    ("println", Function::Println),
    ("slice", Function::Slice),
    ("urlquery", Function::UrlQuery),
];

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    /// `interface {}`: a missing value becomes nil.
    Any,
    /// `reflect.Value`: receives values as they are.
    Reflected,
    /// `string`
    Text,
}

/// A call that failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CallError {
    /// Go's message.
    Failed(String),
    /// The functions of the execution returned too much text.
    TooMuchText,
}

impl From<String> for CallError {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

impl From<&str> for CallError {
    fn from(message: &str) -> Self {
        Self::Failed(message.to_owned())
    }
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    /// Returns the types of the parameters, and of any number of further ones.
    pub(super) fn parameters(self) -> (&'static [Parameter], Option<Parameter>) {
        use Parameter::{Any, Reflected, Text};
        match self {
            Self::And | Self::Or | Self::Call | Self::Index | Self::Slice | Self::Eq => {
                (&[Reflected], Some(Reflected))
            }
            Self::Html | Self::Js | Self::UrlQuery | Self::Print | Self::Println => (&[], Some(Any)),
            Self::Len | Self::Not => (&[Reflected], None),
            Self::Ge | Self::Gt | Self::Le | Self::Lt | Self::Ne => (&[Reflected, Reflected], None),
            Self::Printf => (&[Text], Some(Any)),
            Self::Exists => (&[Any], Some(Any)),
            Self::Base64Decode => (&[Text], None),
        }
    }

    /// Calls the function with arguments that fit its parameters. The returned string has at most `limit` bytes.
    /// `and` and `or` are evaluated by the caller, which does not need all of their arguments; `callee` is the text of
    /// the first argument of `call`.
    pub(super) fn call<'a>(
        self,
        args: &[Value<'a>],
        callee: &str,
        limit: usize,
    ) -> Result<Value<'a>, CallError> {
        let [first, rest @ ..] = args else {
            return match self {
                Self::Println => text(limit, |out| print_line(args, out)),
                _ => Ok(Value::owned(Vec::new())),
            };
        };
        let flag = |result: Result<bool, String>| Ok(Value::of(Data::Bool(result?)));
        match self {
            Self::And | Self::Or => Ok(first.clone()),
            Self::Base64Decode => Ok(Value::owned(base64::decode(text_of(first))?)),
            Self::Call => Err(call_of_value(first, callee).into()),
            Self::Eq => flag(compare::eq(first, rest)),
            Self::Exists => Ok(Value::of(Data::Bool(index::exists(first, rest)))),
            Self::Ge => flag(compare::pair(first, rest).and_then(|(a, b)| compare::ge(a, b))),
            Self::Gt => flag(compare::pair(first, rest).and_then(|(a, b)| compare::gt(a, b))),
            Self::Le => flag(compare::pair(first, rest).and_then(|(a, b)| compare::le(a, b))),
            Self::Lt => flag(compare::pair(first, rest).and_then(|(a, b)| compare::lt(a, b))),
            Self::Ne => flag(compare::eq(first, rest).map(|is_equal| !is_equal)),
            Self::Html | Self::Js | Self::UrlQuery => escaped(self, args, limit),
            Self::Index => index::index(first, rest).map_err(CallError::from),
            Self::Len => index::len(first).map_err(CallError::from),
            Self::Not => Ok(Value::of(Data::Bool(!first.is_true()))),
            Self::Print => text(limit, |out| print(args, out)),
            Self::Printf => text(limit, |out| print_formatted(text_of(first), rest, out)),
            Self::Println => text(limit, |out| print_line(args, out)),
            Self::Slice => index::slice(first, rest).map_err(CallError::from),
        }
    }
}

fn text<'a>(limit: usize, write: impl FnOnce(&mut Buffer<'_>)) -> Result<Value<'a>, CallError> {
    let mut bytes = Vec::new();
    let mut out = Buffer::new(&mut bytes, limit);
    write(&mut out);
    if out.is_full() { Err(CallError::TooMuchText) } else { Ok(Value::owned(bytes)) }
}

fn text_of<'v>(value: &'v Value<'_>) -> &'v [u8] {
    if let Data::Text(text) = &value.data { text.bytes() } else { &[] }
}

/// Returns the message of `call`: no value of JSON is a function.
fn call_of_value(value: &Value<'_>, callee: &str) -> String {
    match &value.data {
        Data::Nil => "call of nil".to_owned(),
        data => format!("non-function {callee} of type {}", data.type_name()),
    }
}

/// Returns the arguments as one escaped string.
fn escaped<'a>(function: Function, args: &[Value<'a>], limit: usize) -> Result<Value<'a>, CallError> {
    let shown: Vec<Value<'a>> = args
        .iter()
        .map(|arg| if matches!(arg.data, Data::Nil) { Value::borrowed(b"<no value>") } else { arg.clone() })
        .collect();
    // An escape takes at most six times the bytes.
    let plain = text(limit / 6, |out| print(&shown, out))?;
    let plain = text_of(&plain);
    Ok(Value::owned(match function {
        Function::Html => escape::html(plain),
        Function::Js => escape::js(plain),
        _ => escape::url_query(plain),
    }))
}
