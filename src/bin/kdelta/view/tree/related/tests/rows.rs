//! The rows of related objects, and the requests that complete them.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::resource;
use crate::view::tree::related::kinds::{
    AUTOSCALER, CLAIM, CONFIG_MAP, EVENT, INGRESS, KindName, NODE, POD, SECRET, SERVICE, SERVICE_ACCOUNT,
    SLICE, VOLUME,
};
use crate::view::tree::related::{ListNeed, ListScope, Needs, Repetition};
use crate::view::tree::{
    ObjectId, OwnerIndex, OwnerReference, Presence, Relations, Tree, TreeObject, TreeRow, prefixes,
};

const DEPLOYMENT: KindName = ("apps", "Deployment");
const REPLICA_SET: KindName = ("apps", "ReplicaSet");

/// A cluster with one namespace `n`.
#[derive(Default)]
struct World(OwnerIndex);

impl World {
    fn new() -> Self {
        Self(OwnerIndex::new(true))
    }

    /// Adds an object whose UID is `Kind/name`, with this owner and these fields besides its metadata.
    fn add(&mut self, of: KindName, name: &str, owner: Option<&str>, fields: Value) -> &mut Self {
        let is_global = matches!(of, NODE | VOLUME);
        let namespace = if is_global { "" } else { "n" };
        let labels = fields["labels"].clone();
        let mut object = fields;
        object["metadata"] = json!({"namespace": namespace, "name": name, "labels": labels});
        let resource = resource(of);
        let relations = Relations::read(&resource, object.to_string().as_bytes());
        let owners = owner.into_iter().map(|uid| OwnerReference {
            uid: uid.into(),
            api_version: "v1".into(),
            kind: String::new(),
            name: uid.into(),
            is_controller: true,
        });
        self.0.insert(TreeObject {
            uid: format!("{}/{name}", of.1).into(),
            resource,
            namespace: namespace.into(),
            name: name.into(),
            owners: owners.collect(),
            created: None,
            presence: Presence::Found,
            status: None,
            message: String::new(),
            relations: Some(Box::new(relations)),
        });
        self
    }

    fn tree(&self, requested: &str) -> (Tree, Needs) {
        Tree::of(&self.0, &[requested.into()], None).with_related(&self.0)
    }

    fn lines(&self, requested: &str) -> Vec<String> {
        let (tree, _) = self.tree(requested);
        let line = |(row, prefix): (&TreeRow, String)| {
            let words = row.link.map_or_else(String::new, |link| format!("{} ", link.words()));
            let place = match row.link.and_then(|link| link.repeats) {
                Some(Repetition::Above) => " (above)",
                Some(Repetition::Below) => " (below)",
                Some(Repetition::OfLeaf) => " (leaf)",
                None => "",
            };
            format!("{prefix}{words}{}{place}", row.uid)
        };
        tree.rows.iter().zip(prefixes(&tree)).map(line).collect()
    }
}

/// A deployment with two pods, behind a service and an ingress.
fn shop() -> World {
    let mut world = World::new();
    let template = json!({"spec": {"template": {"spec": {"volumes": [{"configMap": {"name": "conf"}}]}}}});
    let pod = json!({"spec": {"nodeName": "w", "volumes": [
        {"configMap": {"name": "conf"}}, {"persistentVolumeClaim": {"claimName": "data"}},
    ]}});
    let slice = json!({
        "labels": {"kubernetes.io/service-name": "web"},
        "endpoints": [{"targetRef": {"kind": "Pod", "name": "a"}}, {"targetRef": {"kind": "Pod", "name": "b"}}],
    });
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    world
        .add(DEPLOYMENT, "web", None, template.clone())
        .add(REPLICA_SET, "web-1", Some("Deployment/web"), template)
        .add(POD, "a", Some("ReplicaSet/web-1"), pod.clone())
        .add(POD, "b", Some("ReplicaSet/web-1"), pod)
        .add(CONFIG_MAP, "conf", None, json!({}))
        .add(NODE, "w", None, json!({}))
        .add(CLAIM, "data", None, json!({"spec": {"volumeName": "disk"}}))
        .add(VOLUME, "disk", None, json!({"spec": {"claimRef": {"namespace": "n", "name": "data"}}}))
        .add(SERVICE, "web", None, json!({}))
        .add(SLICE, "web-x", Some("Service/web"), slice)
        .add(INGRESS, "web", None, json!({"spec": {"defaultBackend": {"service": {"name": "web"}}}}))
        .add(AUTOSCALER, "web", None, json!({"spec": {"scaleTargetRef": target}}));
    world
}

#[test]
fn relations_are_drawn_in_both_directions_from_a_workload() {
    assert_eq!(
        shop().lines("Deployment/web"),
        [
            "Deployment/web",
            "├╌ scaled by HorizontalPodAutoscaler/web",
            "├╌ uses ConfigMap/conf",
            "└─ ReplicaSet/web-1",
            "   ├─ Pod/a",
            "   │  ├╌ endpoint of EndpointSlice/web-x",
            "   │  │  └╌ backs Service/web",
            "   │  │     └╌ routed to by Ingress/web",
            "   │  ├╌ runs on Node/w",
            "   │  └╌ uses PersistentVolumeClaim/data",
            "   │     └╌ bound to PersistentVolume/disk",
            "   └─ Pod/b",
            "      ├╌ endpoint of EndpointSlice/web-x (above)",
            "      ├╌ runs on Node/w (leaf)",
            "      └╌ uses PersistentVolumeClaim/data (above)",
        ]
    );
}

#[test]
fn relations_lead_forward_from_an_ingress_to_volumes() {
    assert_eq!(
        shop().lines("Ingress/web"),
        [
            "Ingress/web",
            "└╌ routes to Service/web",
            "   └╌ backed by EndpointSlice/web-x",
            "      ├╌ sends to Pod/a",
            "      │  ├╌ runs on Node/w",
            "      │  ├╌ uses ConfigMap/conf",
            "      │  └╌ uses PersistentVolumeClaim/data",
            "      │     └╌ bound to PersistentVolume/disk",
            "      └╌ sends to Pod/b",
            "         ├╌ runs on Node/w (leaf)",
            "         ├╌ uses ConfigMap/conf (leaf)",
            "         └╌ uses PersistentVolumeClaim/data (above)",
        ]
    );
}

#[test]
fn ownership_replaces_the_relation_of_a_service_and_its_slice() {
    let lines = shop().lines("Service/web");
    let expected =
        ["Service/web", "├╌ routed to by Ingress/web", "└─ EndpointSlice/web-x", "   ├╌ sends to Pod/a"];
    assert_eq!(lines[..4], expected);
}

#[test]
fn users_of_an_object_are_their_topmost_owners() {
    assert_eq!(shop().lines("ConfigMap/conf"), ["ConfigMap/conf", "└╌ used by Deployment/web"]);
    assert_eq!(
        shop().lines("PersistentVolume/disk"),
        [
            "PersistentVolume/disk",
            "└╌ bound to PersistentVolumeClaim/data",
            "   ├╌ used by Pod/a",
            "   └╌ used by Pod/b",
        ]
    );
    assert_eq!(shop().lines("Node/w"), ["Node/w", "├╌ runs Pod/a", "└╌ runs Pod/b"]);
}

#[test]
fn references_of_nearly_all_pods_are_drawn_from_their_targets_only() {
    let mut world = World::new();
    let volume = json!({"projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}});
    let spec = json!({"spec": {"serviceAccountName": "default", "volumes": [volume]}});
    world.add(POD, "p", None, spec).add(SERVICE_ACCOUNT, "default", None, json!({})).add(
        CONFIG_MAP,
        "kube-root-ca.crt",
        None,
        json!({}),
    );
    assert_eq!(world.lines("Pod/p"), ["Pod/p"]);
    for target in ["ServiceAccount/default", "ConfigMap/kube-root-ca.crt"] {
        assert_eq!(world.lines(target), [target, "└╌ used by Pod/p"]);
    }
}

fn event(world: &mut World, name: &str, event_type: &str, minute: u8, uid: &str) {
    let about = json!({"kind": "Pod", "namespace": "n", "name": "p", "uid": uid});
    let time = format!("2026-01-01T00:{minute:02}:00Z");
    let fields = json!({"involvedObject": about, "type": event_type, "reason": name, "lastTimestamp": time});
    world.add(EVENT, name, None, fields);
}

#[test]
fn the_newest_events_are_shown_after_warnings_and_the_others_are_counted() {
    let mut world = World::new();
    world.add(POD, "p", None, json!({}));
    for minute in 0..5 {
        event(&mut world, &format!("normal-{minute}"), "Normal", minute, "Pod/p");
    }
    event(&mut world, "warning", "Warning", 1, "Pod/p");
    event(&mut world, "of-another-object", "Warning", 9, "other");
    let (tree, _) = world.tree("Pod/p");
    let shown: Vec<(&str, usize)> =
        tree.rows[1..].iter().map(|row| (&*row.uid, row.link.expect("a relation").further_events)).collect();
    assert_eq!(shown, [("Event/warning", 0), ("Event/normal-4", 0), ("Event/normal-3", 3)]);
    assert!(tree.rows[1..].iter().all(|row| row.link.is_some_and(|link| link.words() == "event")));
}

#[test]
fn optional_objects_that_are_missing_are_left_out() {
    let mut world = World::new();
    let spec = json!({"volumes": [{"secret": {"secretName": "gone"}}, {"secret": {"secretName": "maybe", "optional": true}}]});
    world.add(POD, "p", None, json!({"spec": spec}));
    let (_, needs) = world.tree("Pod/p");
    assert_eq!(needs.targets.iter().map(|target| &*target.name).collect::<Vec<_>>(), ["gone", "maybe"]);
    for target in &needs.targets {
        world.0.insert(TreeObject::unread(target, resource(SECRET), Presence::Missing));
    }
    let (tree, needs) = world.tree("Pod/p");
    assert!(needs.targets.is_empty(), "{needs:?}");
    let uids: Vec<&str> = tree.uids().map(|uid| &**uid).collect();
    assert_eq!(uids, ["Pod/p", "Secret./n/gone"]);
    world.add(SECRET, "gone", None, json!({}));
    assert_eq!(world.lines("Pod/p"), ["Pod/p", "└╌ uses Secret/gone"], "it exists now");
    world.0.remove("Secret/gone");
    assert_eq!(world.tree("Pod/p").1.targets.len(), 1, "it is requested again");
}

fn lists(world: &World, requested: &str) -> Vec<String> {
    let (_, needs) = world.tree(requested);
    let line = |need: &ListNeed| {
        let ListNeed { kind, namespace, scope } = need;
        let selectors = [scope.label_selector(), scope.field_selector()];
        let selectors: Vec<String> = selectors.into_iter().flatten().collect();
        format!("{} {namespace} {}", kind.1, selectors.join(" ")).trim_end().to_owned()
    };
    needs.lists.iter().map(line).collect()
}

#[test]
fn only_lists_that_may_have_a_relation_are_needed() {
    let mut world = World::new();
    world.add(SERVICE, "web", None, json!({})).add(NODE, "w", None, json!({}));
    world.add(CONFIG_MAP, "conf", None, json!({})).add(DEPLOYMENT, "web", None, json!({}));
    world.add(SERVICE, "api", None, json!({}));
    assert_eq!(
        lists(&world, "Service/web"),
        [
            "Event n involvedObject.kind=Service,involvedObject.name=web",
            "EndpointSlice n kubernetes.io/service-name=web",
            "Ingress n",
        ]
    );
    let of_node = ["Event default involvedObject.kind=Node,involvedObject.name=w", "Pod  spec.nodeName=w"];
    assert_eq!(lists(&world, "Node/w"), of_node);
    assert_eq!(
        lists(&world, "Deployment/web"),
        ["Event n involvedObject.kind=Deployment,involvedObject.name=web", "HorizontalPodAutoscaler n"]
    );
    let of_map = lists(&world, "ConfigMap/conf");
    assert!(of_map.contains(&"Pod n".to_owned()) && of_map.contains(&"CronJob n".to_owned()), "{of_map:?}");
    assert!(!of_map.contains(&"Ingress n".to_owned()), "{of_map:?}");
    let (_, needs) =
        Tree::of(&world.0, &["Service/web".into(), "Service/api".into()], None).with_related(&world.0);
    let scopes: Vec<&ListScope> = needs.lists.iter().map(|need| &need.scope).collect();
    let both = ListScope::Services(["api".to_owned(), "web".to_owned()].into());
    assert!(scopes.contains(&&both) && scopes.contains(&&ListScope::All), "{scopes:?}");
    assert_eq!(both.label_selector().as_deref(), Some("kubernetes.io/service-name in (api,web)"));
}

proptest! {
    #[test]
    fn any_relations_end_and_each_object_is_expanded_once(
        links in proptest::collection::vec((0_usize..12, 0_usize..12), 0..40)
    ) {
        let mut world = World::new();
        // Each ingress leads to services, and each service through a slice to a pod.
        for number in 0..12 {
            let targets = links.iter().filter(|(from, _)| *from == number).map(|(_, to)| format!("s{to}"));
            let paths: Vec<Value> =
                targets.map(|name| json!({"backend": {"service": {"name": name}}})).collect();
            let slice = json!({"labels": {"kubernetes.io/service-name": format!("s{number}")},
                "endpoints": [{"targetRef": {"kind": "Pod", "name": format!("p{}", number / 2)}}]});
            world
                .add(INGRESS, &format!("i{number}"), None, json!({"spec": {"rules": [{"http": {"paths": paths}}]}}))
                .add(SERVICE, &format!("s{number}"), None, json!({}))
                .add(SLICE, &format!("x{number}"), None, slice)
                .add(POD, &format!("p{number}"), None, json!({"spec": {"nodeName": "w"}}));
        }
        let requested: Vec<ObjectId> = (0..12).map(|number| format!("Ingress/i{number}").into()).collect();
        let (tree, _) = Tree::of(&world.0, &requested, None).with_related(&world.0);
        let first: Vec<&ObjectId> = tree.uids().collect();
        let distinct: HashSet<&ObjectId> = first.iter().copied().collect();
        prop_assert_eq!(first.len(), distinct.len());
        for (at, row) in tree.rows.iter().enumerate() {
            prop_assert!(row.parent.is_none_or(|parent| parent < at && !tree.rows[parent].is_repetition()));
        }
    }
}
