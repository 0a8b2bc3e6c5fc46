//! Tests of the division of conditions.

use std::sync::Arc;

use kdelta::api::{Request, ServerVersion};

use super::known_fields::{DefinedField, Definition, KnownFields};
use super::*;
use crate::session::part::tests::{resource, template};
use crate::settings::filter_of;

fn part(of: &str, namespace: &str) -> Part {
    Part { resource: resource(of), ..template(namespace) }
}

/// Returns a selectable field of a definition: a text, but for `spec.size`.
fn defined_field(path: &str) -> DefinedField {
    DefinedField { path: path.to_owned(), is_text: path != "spec.size" }
}

/// Returns the selectors of labels and of fields, and the conditions that are evaluated here. `defined` are the
/// selectable fields of a definition.
fn divided(part: &Part, by: &[&str], defined: Option<&[&str]>) -> [String; 3] {
    let by: Vec<By> = by.iter().map(|text| By::parse(text).expect(text)).collect();
    let definition = defined.map(|fields| Definition {
        request: Request::new("/definition"),
        fields: Some(fields.iter().map(|field| defined_field(field)).collect()),
    });
    let known = KnownFields { version: Some(ServerVersion { major: 1, minor: 36 }), definition };
    let divided = ServerConditions::divide(part, &by, &ObjectFilter::default(), &known);
    let selectors =
        |of: &[(String, String)]| of.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>().join(",");
    let local = divided.local.iter().map(ToString::to_string).collect::<Vec<_>>();
    [selectors(&divided.labels), selectors(&divided.fields), local.join(" ")]
}

#[test]
fn labels_names_and_known_fields_are_for_the_server() {
    for (by, labels, fields) in [
        ("label:app=web", "app=web", ""),
        ("label:a.b/c=x,y", "a.b/c in (x,y)", ""),
        ("label:app!=web", "app!=web", ""),
        ("label:app!=web,api", "app notin (web,api)", ""),
        ("label:app", "app", ""),
        ("!label:app", "!app", ""),
        ("label:app=", "app=", ""),
        ("name=web", "", "metadata.name=web"),
        ("name!=web,api", "", "metadata.name!=web,metadata.name!=api"),
        ("namespace=shop", "", "metadata.namespace=shop"),
        ("node=worker-1", "", "spec.nodeName=worker-1"),
        ("node=a=b,", "", ""),
        ("node!=a=b", "", r"spec.nodeName!=a\=b"),
        ("node", "", "spec.nodeName!="),
        ("!node", "", "spec.nodeName="),
        ("field:{.status.phase}=Running", "", "status.phase=Running"),
        ("field:spec.hostNetwork=true", "", "spec.hostNetwork=true"),
        ("field:spec.hostNetwork", "", "spec.hostNetwork!=false"),
        ("!field:spec.hostNetwork", "", "spec.hostNetwork=false"),
    ] {
        let local = if labels.is_empty() && fields.is_empty() { by } else { "" };
        assert_eq!(divided(&part("pods", ""), &[by], None), [labels, fields, local], "{by}");
    }
    let jobs = part("jobs.batch", "");
    assert_eq!(divided(&jobs, &["field:status.succeeded=2"], None), ["", "status.successful=2", ""]);
}

#[test]
fn namespace_of_the_request_needs_no_selector() {
    let by = ["namespace=shop"];
    assert_eq!(divided(&part("pods", "shop"), &by, None), ["", "", ""]);
    assert_eq!(divided(&part("pods", "other"), &by, None), ["", "", "namespace=shop"]);
    assert_eq!(divided(&part("!nodes", ""), &by, None), ["", "", "namespace=shop"]);
    let several = ["namespace=shop,other"];
    assert_eq!(divided(&part("pods", "shop"), &several, None), ["", "", "namespace=shop,other"]);
    let named = Part { name: Some("web".into()), ..part("pods", "shop") };
    assert_eq!(divided(&named, &by, None), ["", "", "namespace=shop"]);
}

#[test]
fn other_conditions_are_evaluated_here() {
    for by in [
        "image=web:1",
        "annotation:note=x",
        "owner=ReplicaSet/web",
        "field:spec.containers[*].name=a",
        "field:spec.priority=1",
        // A selector has no alternatives.
        "name=a,b",
        "node=a,b",
        // An index has no value for an absent field.
        "node=",
        "node!=",
        "field:spec.hostNetwork=false",
        "field:spec.hostNetwork!=false",
        // Every object has one.
        "name",
        // No server accepts these.
        "label:app=a b",
        "label:app=a,",
        "label:a b",
        "label:app=x in (y)",
    ] {
        assert_eq!(divided(&part("pods", ""), &[by], None), ["", "", by], "{by}");
    }
    assert_eq!(divided(&part("pods", "home"), &["namespace=shop"], None), ["", "", "namespace=shop"]);
    assert_eq!(divided(&part("deployments.apps", ""), &["node=a"], None), ["", "", "node=a"]);
    let named = Part { name: Some(Arc::from("web")), ..part("pods", "shop") };
    assert_eq!(divided(&named, &["label:app=web"], None), ["", "", "label:app=web"]);
}

#[test]
fn definition_decides_about_custom_resources() {
    let widgets = part("widgets.example.com", "");
    let defined = Some(&["spec.color"][..]);
    assert_eq!(divided(&widgets, &["field:spec.color=red"], defined), ["", "spec.color=red", ""]);
    assert_eq!(divided(&widgets, &["field:spec.color!=red"], defined), ["", "spec.color!=red", ""]);
    // A custom resource may have an empty text.
    for by in ["field:spec.color", "!field:spec.color", "field:spec.color!=", "field:spec.size=1"] {
        assert_eq!(divided(&widgets, &[by], defined), ["", "", by]);
    }
    assert_eq!(divided(&widgets, &["label:app=x"], defined), ["app=x", "", ""]);
    // The server of an aggregated API may ignore selectors.
    assert_eq!(
        divided(&widgets, &["label:app=x", "name=y"], None),
        ["app=x", "metadata.name=y", "label:app=x name=y"]
    );
}

#[test]
fn selectors_join_those_of_the_user() {
    let by = ["label:tier=x", "node=n", "label:app!=y", "image=i"];
    assert_eq!(divided(&part("pods", ""), &by, None), ["tier=x,app!=y", "spec.nodeName=n", "image=i"]);
}

#[test]
fn terms_of_expressions_are_sent_in_addition() {
    for (expression, labels, fields) in [
        ("object.spec.nodeName=='n1'&&object.x>1", "", "spec.nodeName=n1"),
        ("object.metadata.labels['a.b/c']in['x','y']", "a.b/c in (x,y)", ""),
        ("object.metadata.name=='a'||object.x>1", "", ""),
        ("object.metadata.namespace=='a'", "", "metadata.namespace=a"),
        ("object.spec.nodeName==''", "", ""),
        ("object.spec.nodeName!='n1'", "", ""),
        ("object.spec.nodeName=='n1'&&object.spec.other=='x'", "", "spec.nodeName=n1"),
    ] {
        let (filter, _) = filter_of(&format!("--where {expression}"));
        let known = KnownFields::default();
        let divided = ServerConditions::divide(&part("pods", ""), &[], &filter, &known);
        let selectors =
            |of: &[(String, String)]| of.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>().join(",");
        assert_eq!(
            (selectors(&divided.labels), selectors(&divided.fields)),
            (labels.into(), fields.into()),
            "{expression}"
        );
        assert!(divided.local.is_empty());
        let named = Part { name: Some("a".into()), ..part("pods", "") };
        assert!(!ServerConditions::divide(&named, &[], &filter, &known).narrows());
    }
}

#[test]
fn expression_that_the_server_evaluates_is_not_evaluated_here() {
    let pods = || part("pods", "");
    let named = Part { name: Some("a".into()), ..pods() };
    let widgets = || part("widgets.example.com", "");
    for (part, expression, is_decided) in [
        (pods(), "object.spec.nodeName=='n1'", true),
        (pods(), "object.metadata.labels.app=='web'&&object.metadata.name=='a'", true),
        (pods(), "object.metadata.labels['app']in['web','api']&&object.status['phase']in['Failed']", true),
        (pods(), "object.metadata.namespace=='a'", true),
        (pods(), "object.spec.nodeName=='n1'&&object.x>1", false),
        (pods(), "object.spec.nodeName=='n1'||object.x>1", false),
        (pods(), "object.spec.nodeName=='n1'&&object.spec.other=='x'", false),
        // A selector has no alternatives, and no empty value for a field.
        (pods(), "object.spec['nodeName']in['n1','n2']", false),
        (pods(), "object.spec.nodeName==''", false),
        // No server accepts this label.
        (pods(), "object.metadata.labels.app=='a,b'", false),
        // The boolean is no text.
        (pods(), "object.spec.hostNetwork=='true'", false),
        (part("jobs.batch", ""), "object.status.succeeded=='1'", false),
        (part("services", ""), "object.spec.type=='NodePort'", true),
        // All objects of the part have this namespace, or none has one; no selector is sent.
        (part("pods", "shop"), "object.metadata.namespace=='a'", false),
        (named, "object.spec.nodeName=='n1'", false),
        (widgets(), "object.spec.color=='red'", true),
        (widgets(), "object.spec.size=='3'", false),
        (widgets(), "object.spec.other=='x'", false),
        // The server of an aggregated API may ignore selectors.
        (part("pods.metrics.k8s.io", ""), "object.metadata.labels.app=='web'", false),
    ] {
        let (filter, _) = filter_of(&format!("--where {expression}"));
        let is_defined = part.resource.group == "example.com";
        let definition = is_defined.then(|| Definition {
            request: Request::new("/definition"),
            fields: Some(["spec.color", "spec.size"].map(defined_field).into()),
        });
        let known = KnownFields { version: Some(ServerVersion { major: 1, minor: 36 }), definition };
        let divided = ServerConditions::divide(&part, &[], &filter, &known);
        assert_eq!(divided.filter.is_empty(), is_decided, "{expression}");
        assert!(!is_decided || divided.narrows(), "{expression}");
        let (more, _) = filter_of(&format!("--older-than 1h --where {expression}"));
        let divided = ServerConditions::divide(&part, &[], &more, &known);
        assert_eq!(divided.filter.conditions().len(), if is_decided { 1 } else { 2 }, "{expression}");
    }
}
