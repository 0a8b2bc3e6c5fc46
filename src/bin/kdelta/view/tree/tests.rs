//! Trees of given and of random ownership.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use kdelta::object::ApiResource;
use proptest::prelude::*;

use super::*;

fn resource(kind: &str) -> Arc<ApiResource> {
    Arc::new(ApiResource {
        group: if kind == "Pod" { String::new() } else { "apps".into() },
        version: "v1".into(),
        resource: format!("{}s", kind.to_lowercase()),
        kind: kind.into(),
        namespaced: true,
    })
}

/// Returns an object `Kind/name`, whose UID is its title, with these owners; the controller is marked with `!`.
fn object(title: &str, owners: &[&str]) -> TreeObject {
    let (kind, name) = title.split_once('/').expect("kind/name");
    let reference = |owner: &&str| {
        let uid = owner.trim_start_matches('!');
        let (kind, name) = uid.split_once('/').expect("kind/name");
        OwnerReference {
            uid: uid.into(),
            api_version: "apps/v1".into(),
            kind: kind.into(),
            name: name.into(),
            is_controller: owner.starts_with('!'),
        }
    };
    TreeObject {
        uid: title.into(),
        resource: resource(kind),
        namespace: "shop".into(),
        name: name.into(),
        owners: owners.iter().map(reference).collect(),
        created: None,
        presence: Presence::Found,
        status: None,
        message: String::new(),
        relations: None,
    }
}

fn index(objects: &[(&str, &[&str])]) -> OwnerIndex {
    let mut index = OwnerIndex::default();
    for (title, owners) in objects {
        index.insert(object(title, owners));
    }
    index
}

/// Returns the lines of a tree, with the other owners and the number of objects left out.
fn lines(index: &OwnerIndex, requested: &[&str], depth: Option<usize>) -> Vec<String> {
    let requested: Vec<ObjectId> = requested.iter().map(|uid| (*uid).into()).collect();
    let tree = Tree::of(index, &requested, depth);
    let line = |(row, prefix): (&TreeRow, String)| {
        let mut line = format!("{prefix}{}", row.uid);
        if !row.other_owners.is_empty() {
            line.extend([" also ", &row.other_owners.join(" ")]);
        }
        if !row.missing_owners.is_empty() {
            line.extend([" without ", &row.missing_owners.join(" ")]);
        }
        if row.hidden > 0 {
            line.extend([" +", &row.hidden.to_string()]);
        }
        line
    };
    tree.rows.iter().zip(prefixes(&tree)).map(line).collect()
}

const SHOP: &[(&str, &[&str])] = &[
    ("Deployment/web", &[]),
    ("ReplicaSet/web-1", &["!Deployment/web"]),
    ("ReplicaSet/web-2", &["!Deployment/web"]),
    ("Pod/web-2-a", &["!ReplicaSet/web-2"]),
    ("Pod/web-2-b", &["!ReplicaSet/web-2"]),
    ("Pod/db", &[]),
];

#[test]
fn owned_objects_are_below_in_order() {
    let index = index(SHOP);
    assert_eq!(
        lines(&index, &["Deployment/web"], None),
        [
            "Deployment/web",
            "├─ ReplicaSet/web-1",
            "└─ ReplicaSet/web-2",
            "   ├─ Pod/web-2-a",
            "   └─ Pod/web-2-b",
        ]
    );
    assert_eq!(lines(&index, &["Pod/db"], None), ["Pod/db"]);
    assert_eq!(lines(&index, &["Pod/none"], None), [""; 0]);
}

#[test]
fn owners_are_above_without_their_other_objects() {
    let index = index(SHOP);
    let of_pod = ["Deployment/web", "└─ ReplicaSet/web-2", "   └─ Pod/web-2-b"];
    assert_eq!(lines(&index, &["Pod/web-2-b"], None), of_pod);
    assert_eq!(lines(&index, &["Pod/web-2-b"], Some(0)), of_pod);
    assert_eq!(
        lines(&index, &["ReplicaSet/web-1", "Pod/web-2-a", "Pod/db"], None),
        ["Deployment/web", "├─ ReplicaSet/web-1", "└─ ReplicaSet/web-2", "   └─ Pod/web-2-a", "Pod/db"]
    );
}

#[test]
fn objects_below_the_depth_are_counted() {
    let index = index(SHOP);
    assert_eq!(lines(&index, &["Deployment/web"], Some(0)), ["Deployment/web +4"]);
    assert_eq!(
        lines(&index, &["Deployment/web"], Some(1)),
        ["Deployment/web", "├─ ReplicaSet/web-1", "└─ ReplicaSet/web-2 +2"]
    );
    assert_eq!(lines(&index, &["ReplicaSet/web-2"], Some(0)), ["Deployment/web", "└─ ReplicaSet/web-2 +2"]);
}

#[test]
fn an_object_with_several_owners_is_below_its_controller() {
    let index = index(&[
        ("Deployment/a", &[]),
        ("Deployment/b", &[]),
        ("Pod/x", &["Deployment/a", "!Deployment/b", "Deployment/gone"]),
    ]);
    assert_eq!(
        lines(&index, &["Deployment/a", "Deployment/b"], None),
        ["Deployment/a", "Deployment/b", "└─ Pod/x also deployment.apps/a deployment.apps/gone"]
    );
    assert_eq!(
        lines(&index, &["Deployment/a"], None),
        ["Deployment/a", "└─ Pod/x also deployment.apps/b deployment.apps/gone"]
    );
}

#[test]
fn cycles_of_owners_are_cut() {
    let index = index(&[
        ("Deployment/a", &[]),
        ("Pod/b", &["Deployment/a", "!Pod/c"]),
        ("Pod/c", &["!Pod/b"]),
        ("Pod/self", &["!Pod/self"]),
    ]);
    assert_eq!(
        lines(&index, &["Deployment/a"], None),
        ["Deployment/a", "└─ Pod/b also pod.apps/c", "   └─ Pod/c"]
    );
    assert_eq!(lines(&index, &["Pod/self"], None), ["Pod/self also pod.apps/self"]);
    assert_eq!(lines(&index, &["Pod/c"], None).len(), 2);
}

#[test]
fn deep_chains_are_cut() {
    let names: Vec<String> = (0..1000).map(|at| format!("Pod/{at}")).collect();
    let mut index = OwnerIndex::default();
    for (at, name) in names.iter().enumerate() {
        let owner = at.checked_sub(1).map(|at| names[at].as_str());
        index.insert(object(name, owner.as_slice()));
    }
    let tree = Tree::of(&index, &["Pod/0".into()], None);
    assert_eq!(tree.rows.len() + tree.rows.iter().map(|row| row.hidden).sum::<usize>(), 1000);
    assert_eq!(tree.rows.len(), 64);
}

#[test]
fn unknown_owners_are_found_at_any_level() {
    let index = index(&[("Pod/a", &["!ReplicaSet/x"]), ("ReplicaSet/x", &["!Deployment/gone"])]);
    let unknown = index.unknown_owners(&["Pod/a".into()]);
    let names: Vec<_> = unknown.iter().map(|(owner, namespace)| (&*owner.uid, &**namespace)).collect();
    assert_eq!(names, [("Deployment/gone", "shop")]);
    let below: Vec<_> = index.below(&["Deployment/gone".into()]).map(|object| &*object.uid).collect();
    assert_eq!(below, ["ReplicaSet/x", "Pod/a"]);
    assert_eq!(index.unknown_owners(&["ReplicaSet/x".into()]).len(), 1);
}

#[test]
fn missing_owners_are_marked_at_every_object() {
    let mut index = index(&[("Deployment/a", &[]), ("Pod/x", &["!Deployment/a", "Deployment/gone"])]);
    let unknown = index.unknown_owners(&["Deployment/a".into()]);
    assert_eq!(unknown.len(), 1, "an owner of an object below");
    let (owner, namespace) = &unknown[0];
    index.insert(TreeObject::placeholder(owner, resource("Deployment"), namespace, Presence::Missing));
    assert_eq!(
        lines(&index, &["Deployment/a"], None),
        ["Deployment/a", "└─ Pod/x without deployment.apps/gone"]
    );
}

#[test]
fn an_object_of_two_groups_is_one() {
    let mut index = index(SHOP);
    let again = TreeObject { resource: resource("Other"), ..object("Pod/db", &["!Deployment/web"]) };
    index.insert(again);
    assert_eq!(index.get("Pod/db").expect("known").resource, resource("Pod"));
    assert_eq!(lines(&index, &["Deployment/web"], Some(1))[1], "├─ Pod/db");
    index.remove("Pod/db");
    assert_eq!(lines(&index, &["Deployment/web"], Some(1))[1], "├─ ReplicaSet/web-1");
}

#[test]
fn graphs_escape_names() {
    let index =
        index(&[("Deployment/a\"]\n\u{202e}<b>", &[]), ("Pod/x", &["!Deployment/a\"]\n\u{202e}<b>"])]);
    let tree = Tree::of(&index, &["Deployment/a\"]\n\u{202e}<b>".into()], None);
    let dot = dot(&tree, &index);
    assert!(dot.contains(r#"n0 [label="deployment.apps/a\"]\\n\\u202e<b>\n" penwidth=2];"#), "{dot}");
    assert!(dot.contains("n0 -> n1;"), "{dot}");
    let mermaid = mermaid(&tree, &index);
    assert!(mermaid.contains(r#"n0["deployment.apps/a#34;#93;#92;n#92;u202e#60;b#62;<br/>"]"#), "{mermaid}");
    assert!(mermaid.contains("n0 --> n1"), "{mermaid}");
}

prop_compose! {
    /// Random ownership: object n has up to three owners of any number, known or not, so that there are cycles.
    fn graph()(owners in prop::collection::vec(prop::collection::vec((0..24_usize, any::<bool>()), 0..4), 1..20))
        -> Vec<(String, Vec<String>)>
    {
        let name = |at: usize| format!("Pod/{at}");
        let owner = |(at, controls): &(usize, bool)| format!("{}{}", if *controls { "!" } else { "" }, name(*at));
        owners.iter().enumerate().map(|(at, owners)| (name(at), owners.iter().map(owner).collect())).collect()
    }
}

proptest! {
    #[test]
    fn a_tree_has_each_object_below_and_above_once(
        graph in graph(),
        requested in prop::collection::vec(0..24_usize, 0..4),
        depth in prop::option::of(0..4_usize),
    ) {
        let mut index = OwnerIndex::default();
        for (name, owners) in &graph {
            index.insert(object(name, &owners.iter().map(String::as_str).collect::<Vec<_>>()));
        }
        let requested: Vec<ObjectId> = requested.iter().map(|at| format!("Pod/{at}").into()).collect();
        let tree = Tree::of(&index, &requested, depth);
        let rows: Vec<&str> = tree.uids().map(|uid| &**uid).collect();
        let unique: HashSet<&str> = rows.iter().copied().collect();
        prop_assert_eq!(unique.len(), rows.len(), "each object once");
        for (at, row) in tree.rows.iter().enumerate() {
            prop_assert!(row.parent.is_none_or(|parent| parent < at));
            prop_assert_eq!(row.is_requested, requested.contains(&row.uid));
        }
        let known: Vec<ObjectId> = requested.iter().filter(|uid| index.get(uid).is_some()).cloned().collect();
        prop_assert!(known.iter().all(|uid| unique.contains(&**uid)));
        let below: BTreeSet<&str> = index.below(&known).map(|object| &*object.uid).collect();
        let is_above = |uid: &&str| {
            known.iter().any(|of| index.below(&[(*uid).into()]).any(|object| object.uid == *of))
        };
        for uid in &unique {
            prop_assert!(below.contains(uid) || known.iter().any(|of| **of == **uid) || is_above(uid), "{}", uid);
        }
        let hidden: usize = tree.rows.iter().map(|row| row.hidden).sum();
        if depth.is_none() {
            prop_assert_eq!(hidden, 0);
            for (row, uid) in tree.rows.iter().zip(&rows) {
                let owners = &index.get(uid).expect("known").owners;
                let parent = row.parent.map(|parent| &tree.rows[parent].uid);
                prop_assert!(parent.is_none_or(|parent| owners.iter().any(|owner| owner.uid == *parent)));
            }
        }
        let missing = below.iter().filter(|uid| !unique.contains(*uid)).count();
        prop_assert_eq!(hidden, missing, "what is left out is counted");
    }
}
