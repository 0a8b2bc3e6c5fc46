//! The syntax tree of a template.

/// A node of a template. The names are client-go's.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// Text outside of braces, or a quoted string. Bytes: the escape `\xff` is no UTF-8.
    Text(Vec<u8>),
    /// `{…}`.
    List(Vec<Node>),
    Field(String),
    Array(Slice),
    Filter(Box<Filter>),
    Int(i64),
    Float(f64),
    Bool(bool),
    Wildcard,
    Recursive,
    Union(Vec<Vec<Node>>),
    /// `range`, `end`, or a word that fails in evaluation.
    Identifier(String),
}

/// `[start:end:step]` or `[index]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice {
    pub start: Option<i64>,
    pub end: Option<i64>,
    /// Whether `end` is the element after an `[index]`.
    pub is_index: bool,
    pub step: Option<i64>,
}

impl Slice {
    /// Returns whether this is `[*]` or `[:]`.
    pub(super) fn is_everything(&self) -> bool {
        self.start.is_none() && self.end.is_none() && self.step.is_none()
    }
}

/// `[?(left operator right)]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filter {
    pub left: Vec<Node>,
    pub test: Test,
}

/// The test of a filter.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    /// The left side has a value.
    Exists,
    /// The operator as written, checked in evaluation as client-go does.
    Compare { operator: String, right: Vec<Node> },
}
