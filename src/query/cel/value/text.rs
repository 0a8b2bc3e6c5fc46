//! Strings of an evaluation.

use std::borrow::Cow;
use std::ops::Deref;
use std::rc::Rc;

/// A string of the object or the expression, or one that a function has made.
#[derive(Debug, Clone)]
pub(in crate::query::cel) enum Text<'a> {
    Borrowed(&'a str),
    Shared(Rc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl<'a> From<Cow<'a, str>> for Text<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        match text {
            Cow::Borrowed(text) => Self::Borrowed(text),
            Cow::Owned(text) => Self::Shared(text.into()),
        }
    }
}
