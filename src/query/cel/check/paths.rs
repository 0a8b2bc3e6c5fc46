//! The values below `object` and `old` that an expression names by constants.

use crate::query::cel::plan::{Path, PathStep, Plan};

/// The paths of an expression, each once.
#[derive(Default)]
pub(super) struct Paths(Vec<Path>);

impl Paths {
    /// Reads `object`.
    pub(super) fn object(&mut self) -> Plan {
        Plan::Path(self.place(None, PathStep::Object))
    }

    /// Reads `old`.
    pub(super) fn old(&mut self) -> Plan {
        Plan::Path(self.place(None, PathStep::Old))
    }

    /// Reads a field of a value instead of the value. Returns the index of its path.
    pub(super) fn field(&mut self, parent: usize, name: &str) -> usize {
        self.below(parent, PathStep::Field(name.into()))
    }

    /// Reads an element of a value instead of the value. Returns the index of its path.
    pub(super) fn element(&mut self, parent: usize, at: i64) -> usize {
        self.below(parent, PathStep::Element(at))
    }

    /// Reads a step below a value instead of the value. Returns the index of its path.
    fn below(&mut self, parent: usize, step: PathStep) -> usize {
        self.0[parent].reads -= 1;
        self.place(Some(parent), step)
    }

    /// Adds a read of a path, and the path if it is new. Returns its index.
    fn place(&mut self, parent: Option<usize>, step: PathStep) -> usize {
        let known = self.0.iter().position(|path| path.parent == parent && path.step == step);
        let place = known.unwrap_or_else(|| {
            self.0.push(Path { parent, step, reads: 0 });
            self.0.len() - 1
        });
        self.0[place].reads += 1;
        place
    }

    /// Returns the paths; each follows its parent.
    pub(super) fn finish(self) -> Vec<Path> {
        self.0
    }
}
