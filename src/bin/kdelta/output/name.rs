//! `-o name`: `pod/x`, `deployment.apps/x`.

use std::io::{self, Write};

use kdelta::object::{ApiResource, Object};

use crate::view::escape_cell;

/// Writes the name of one object on a line of its own.
///
/// # Errors
/// `out` failed.
pub(crate) fn name(object: &Object, resource: &ApiResource, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}/{}", escape_cell(&resource.group_kind_lower()), escape_cell(object.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_stands_in_the_name_unless_it_is_the_core_group() {
        let mut out = Vec::new();
        for (group, kind) in [("", "Pod"), ("apps", "Deployment")] {
            let resource = ApiResource {
                group: group.into(),
                version: "v1".into(),
                resource: String::new(),
                kind: kind.into(),
                namespaced: true,
            };
            name(&Object::named(resource.type_meta(), "shop", "x"), &resource, &mut out)
                .expect("a Vec takes all");
        }
        assert_eq!(out, b"pod/x\ndeployment.apps/x\n");
    }
}
