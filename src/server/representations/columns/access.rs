//! Rows of RBAC objects.

use serde_json::Value;

use super::cells::{AGE, Definition, NAME, RowContext, list, text};

pub(super) const BINDINGS: &[Definition] = &[
    NAME,
    ("Role", "string", 0),
    AGE,
    ("Users", "string", 1),
    ("Groups", "string", 1),
    ("ServiceAccounts", "string", 1),
];

pub(super) fn binding(object: &Value, row: RowContext) -> Vec<Value> {
    let role = format!("{}/{}", text(&object["roleRef"]["kind"]), text(&object["roleRef"]["name"]));
    let subjects = |kind: &str| -> Value {
        let own = list(&object["subjects"]).iter().filter(|subject| subject["kind"] == kind);
        let names = own.map(|subject| match kind {
            "ServiceAccount" => format!("{}/{}", text(&subject["namespace"]), text(&subject["name"])),
            _ => text(&subject["name"]).to_owned(),
        });
        names.collect::<Vec<_>>().join(", ").into()
    };
    let [users, groups, accounts] = ["User", "Group", "ServiceAccount"].map(subjects);
    vec![row.name, role.into(), row.age, users, groups, accounts]
}
