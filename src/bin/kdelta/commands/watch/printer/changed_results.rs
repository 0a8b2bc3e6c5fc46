//! The updates that `--changed-by` selects: those that change a field, or the results of an expression.

use anyhow::Context;
use kdelta::diff::Scope;
use kdelta::lines::Change;
use kdelta::object::{FieldPath, Object};

use crate::exit::Usage;
use crate::output::{JqComparison, PrintError};
use crate::settings::ChangedBy;

/// The fields and expressions, one of which an update must change to be printed. Without any, it need not.
#[derive(Default)]
pub(in crate::commands) struct ChangedResults {
    /// The fields, if there are any.
    fields: Option<Scope>,
    expressions: Vec<JqComparison>,
}

impl ChangedResults {
    /// Starts the interpreters of the expressions.
    ///
    /// # Errors
    /// A path can't be parsed, or a thread can't be created.
    pub(in crate::commands) fn start(changed_by: &[ChangedBy]) -> anyhow::Result<Self> {
        let (mut paths, mut expressions) = (Vec::new(), Vec::new());
        for changed_by in changed_by {
            match changed_by {
                ChangedBy::Path(path) => paths.push(FieldPath::parse(path).context(Usage)?),
                ChangedBy::Jq(filter) => expressions.push(JqComparison::start(filter)?),
            }
        }
        let fields = (!paths.is_empty()).then(|| Scope::default().only(paths));
        Ok(Self { fields, expressions })
    }

    /// Whether an update changes any of them. All other changes do.
    ///
    /// # Errors
    /// An expression fails on a state of the object or reaches a limit.
    pub(super) fn includes(&self, change: &Change) -> Result<bool, PrintError> {
        let Self { fields, expressions } = self;
        let Some(old) = &change.old else { return Ok(true) };
        if (fields.is_none() && expressions.is_empty())
            || fields.as_ref().is_some_and(|fields| differs(fields, old, &change.object))
        {
            return Ok(true);
        }
        for expression in expressions {
            if expression.differs(old, &change.object, &change.resource)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether the objects differ in the fields of the scope.
pub(super) fn differs(scope: &Scope, old: &Object, new: &Object) -> bool {
    let (old, new) = (old.json(), new.json());
    // Objects are valid UTF-8.
    let text = |json| std::str::from_utf8(json).unwrap_or_default();
    scope.differs(text(&old), text(&new))
}
