//! A checked expression in the form that is evaluated.

use super::functions::{ConstantRegex, Overload};
use super::syntax::{Binary, Literal};
use super::types::Type;

/// An expression and the paths that it reads.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) root: Plan,
    pub(super) paths: Vec<Path>,
    pub(super) uses_now: bool,
}

impl Program {
    /// Returns the values of the object that the expression reads: the names of the fields on the way to each, up to the
    /// first element or key that is not constant. A value may be below another one; an empty path is the whole object.
    pub(super) fn object_paths(&self) -> Vec<Vec<&str>> {
        let paths = self.paths.iter().filter(|path| path.reads > 0);
        let mut names: Vec<Vec<&str>> = paths.filter_map(|path| self.names(path)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the names of the fields up to the first element; `None` for a path below `old`.
    fn names<'p>(&'p self, path: &'p Path) -> Option<Vec<&'p str>> {
        let mut steps = vec![&path.step];
        let mut parent = path.parent;
        while let Some(place) = parent {
            steps.push(&self.paths[place].step);
            parent = self.paths[place].parent;
        }
        let mut names = Vec::new();
        for step in steps.into_iter().rev() {
            match step {
                PathStep::Object => {}
                PathStep::Old => return None,
                PathStep::Field(name) => names.push(&**name),
                PathStep::Element(_) => break,
            }
        }
        Some(names)
    }
}

/// A value below `object` or `old` that the expression names by constants.
#[derive(Debug)]
pub(super) struct Path {
    /// The index of the path of the value that holds this one; it precedes this one.
    pub(super) parent: Option<usize>,
    pub(super) step: PathStep,
    /// The number of reads of the value itself, not only of a value below it.
    pub(super) reads: u32,
}

/// The last step of a path.
#[derive(Debug, PartialEq)]
pub(super) enum PathStep {
    Object,
    Old,
    Field(Box<str>),
    Element(i64),
}

/// A node of the evaluated tree.
#[derive(Debug)]
pub(super) enum Plan {
    Literal(Literal),
    /// A type as a value, by its name.
    TypeName(&'static str),
    Now,
    /// A variable of a macro, counted from the outermost.
    Local(usize),
    /// The value at a path, by its index.
    Path(usize),
    /// True if there is a value at a path.
    HasPath(usize),
    /// The value at a path as an optional value.
    OptionalPath(usize),
    Select {
        operand: Box<Plan>,
        field: Box<str>,
        is_optional: bool,
    },
    Has {
        operand: Box<Plan>,
        field: Box<str>,
    },
    Index {
        operand: Box<Plan>,
        index: Box<Plan>,
        is_optional: bool,
    },
    Not(Box<Plan>),
    Negate(Box<Plan>),
    Binary(Binary, Box<[Plan; 2]>),
    And(Vec<Plan>),
    Or(Vec<Plan>),
    Conditional(Box<[Plan; 3]>),
    Call {
        name: &'static str,
        overloads: Vec<Overload>,
        arguments: Vec<Plan>,
    },
    /// A function with a constant regular expression.
    Regex {
        regex: Box<ConstantRegex>,
        subject: Box<Plan>,
        limit: Option<Box<Plan>>,
    },
    List(Vec<(Plan, bool)>),
    Map(Vec<PlannedEntry>),
    Fold(Box<Fold>),
    /// `optMap`, or `optFlatMap` if the body returns an optional value itself.
    OptionalMap {
        operand: Box<Plan>,
        body: Box<Plan>,
        is_flat: bool,
    },
    /// `or`, or `orValue` if the result is no optional value.
    OptionalOr {
        operand: Box<Plan>,
        other: Box<Plan>,
        is_value: bool,
    },
}

impl Plan {
    /// Whether this reads a value of the object, or hides the type of another value.
    pub(super) fn is_untyped(&self) -> bool {
        matches!(self, Self::Path(_) | Self::Local(_) | Self::Call { name: "dyn", .. })
    }
}

/// An entry of a map literal.
#[derive(Debug)]
pub(super) struct PlannedEntry {
    pub(super) key: Plan,
    pub(super) value: Plan,
    pub(super) is_optional: bool,
}

/// A macro over a list or a map.
#[derive(Debug)]
pub(super) struct Fold {
    pub(super) kind: FoldKind,
    pub(super) range: Plan,
    /// Whether the macro has a variable for the index or key and one for the value.
    pub(super) has_two: bool,
    pub(super) filter: Option<Plan>,
    pub(super) body: Plan,
}

/// The macro of a [`Fold`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoldKind {
    All,
    Exists,
    ExistsOne,
    /// `map` and `transformList`.
    Map,
    Filter,
    TransformMap,
    TransformMapEntry,
    SortBy,
}

/// Returns whether a type is a boolean, or may be one.
pub(super) fn may_be_bool(found: &Type) -> bool {
    matches!(found, Type::Bool | Type::Dyn)
}
