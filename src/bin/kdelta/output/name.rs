//! `-o name`: `pod/x`, `deployment.apps/x`.

use std::io::{self, Write};
use std::sync::Arc;

use kdelta::object::{ApiResource, Object};

use crate::view::escape_cell;

/// Writes the names of objects, one per line.
#[derive(Default)]
pub(crate) struct Names {
    /// The resource of the last object.
    resource: Option<Arc<ApiResource>>,
    /// The prefix of its names: `pod/`.
    before: String,
    /// The text after each name.
    after: &'static str,
}

impl Names {
    /// Creates lines with a text after each name.
    pub(crate) fn with_suffix(after: &'static str) -> Self {
        Self { after, ..Self::default() }
    }

    /// Writes the name of one object.
    ///
    /// # Errors
    /// `out` failed.
    pub(crate) fn name(
        &mut self,
        object: &Object,
        resource: &Arc<ApiResource>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if self.resource.as_ref() != Some(resource) {
            self.before = format!("{}/", escape_cell(&resource.group_kind_lower()));
            self.resource = Some(Arc::clone(resource));
        }
        let name = if object.name().is_empty() { "<unknown>".into() } else { escape_cell(object.name()) };
        writeln!(out, "{}{name}{}", self.before, self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_includes_group_except_core() {
        let (mut names, mut out) = (Names::default(), Vec::new());
        for (group, kind) in [("", "Pod"), ("apps", "Deployment"), ("apps", "Deployment"), ("", "Pod")] {
            let resource = Arc::new(ApiResource {
                group: group.into(),
                version: "v1".into(),
                resource: String::new(),
                kind: kind.into(),
                namespaced: true,
            });
            let object = Object::named(resource.type_meta(), "shop", "x");
            names.name(&object, &resource, &mut out).expect("a Vec takes all");
        }
        assert_eq!(out, b"pod/x\ndeployment.apps/x\ndeployment.apps/x\npod/x\n");
    }
}
