//! Requests that both servers reject, and their error messages.

use super::Compare::{Kind, Shape, Words};
use super::{JSON, MERGE, NO_BODY, Step, compare};
use crate::support::{Api, DemoServer, OnServer, TestEnv};

const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/rejected/deployments";
const STRICT: &str = "/apis/apps/v1/namespaces/rejected/deployments?fieldValidation=Strict";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/rejected/deployments/d";
const DEPLOYMENT_STRICT: &str = "/apis/apps/v1/namespaces/rejected/deployments/d?fieldValidation=Strict";
const APPLIED: &str = "/apis/apps/v1/namespaces/rejected/deployments/d?fieldManager=f";
const SCALE: &str = "/apis/apps/v1/namespaces/rejected/deployments/d/scale";
const PODS: &str = "/api/v1/namespaces/rejected/pods";
const POD: &str = "/api/v1/namespaces/rejected/pods/p";

const SCRIPT: &[Step] = &[
    ("POST", "/api/v1/namespaces", JSON, (JSON, r#"{"metadata":{"name":"rejected"}}"#), Shape),
    // Unknown fields and wrong types.
    ("POST", STRICT, JSON, (JSON, r#"{"metadata":{"name":"d","foo":1},"spec":{"bar":1}}"#), Words),
    ("POST", STRICT, JSON, (JSON, r#"{"metadata":{"name":"d"},"spec":{"replicas":"x"}}"#), Words),
    (
        "POST",
        "/api/v1/namespaces/rejected/configmaps",
        JSON,
        (JSON, r#"{"metadata":{"name":"c"},"data":{"a":1}}"#),
        Words,
    ),
    // Missing and contradictory fields.
    ("POST", DEPLOYMENTS, JSON, (JSON, r#"{"metadata":{"name":"d"},"spec":{}}"#), Words),
    (
        "POST",
        DEPLOYMENTS,
        JSON,
        (
            JSON,
            r#"{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{
                "metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"image":"i"}]}}}}"#,
        ),
        Words,
    ),
    ("POST", PODS, JSON, (JSON, r#"{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}"#), Words),
    (
        "POST",
        "/api/v1/namespaces/rejected/services",
        JSON,
        (JSON, r#"{"metadata":{"name":"s"},"spec":{}}"#),
        Words,
    ),
    (
        "POST",
        "/apis/batch/v1/namespaces/rejected/jobs",
        JSON,
        (
            JSON,
            r#"{"metadata":{"name":"j"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}"#,
        ),
        Words,
    ),
    (
        "POST",
        "/apis/batch/v1/namespaces/rejected/cronjobs",
        JSON,
        (JSON, r#"{"metadata":{"name":"j"},"spec":{"schedule":"* * * * *"}}"#),
        Words,
    ),
    // Immutable fields.
    (
        "POST",
        DEPLOYMENTS,
        JSON,
        (
            JSON,
            r#"{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{
                "metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}"#,
        ),
        Shape,
    ),
    ("PATCH", DEPLOYMENT, JSON, (MERGE, r#"{"spec":{"selector":{"matchLabels":{"a":"x"}}}}"#), Words),
    ("PATCH", DEPLOYMENT_STRICT, JSON, (MERGE, r#"{"spec":{"foo":1}}"#), Shape),
    ("PATCH", DEPLOYMENT_STRICT, JSON, (STRATEGIC, r#"{"spec":{"foo":1}}"#), Shape),
    ("PATCH", DEPLOYMENT, JSON, (MERGE, r#"{"spec":{"replicas":"x"}}"#), Shape),
    ("PATCH", DEPLOYMENT, JSON, (MERGE, r#"{"spec":{"replicas":-1}}"#), Words),
    ("PATCH", SCALE, JSON, (MERGE, r#"{"spec":{"replicas":-1}}"#), Words),
    (
        "POST",
        PODS,
        JSON,
        (JSON, r#"{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}"#),
        Shape,
    ),
    ("PATCH", POD, JSON, (MERGE, r#"{"spec":{"hostname":"z"}}"#), Shape),
    (
        "PATCH",
        DEPLOYMENT,
        JSON,
        (APPLY, r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}}"#),
        Words,
    ),
    (
        "PATCH",
        APPLIED,
        JSON,
        (APPLY, r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"foo":1}}"#),
        Words,
    ),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/rejected/deployments/d?fieldManager=first",
        JSON,
        (
            APPLY,
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"paused":true}}"#,
        ),
        Kind,
    ),
    (
        "PATCH",
        APPLIED,
        JSON,
        (
            APPLY,
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"paused":false}}"#,
        ),
        Words,
    ),
    // Field selectors.
    ("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dnope", JSON, NO_BODY, Kind),
    (
        "GET",
        "/api/v1/pods?fieldSelector=spec.serviceAccountName%3Dnope,status.podIP%3D1,spec.hostNetwork%3Dfalse",
        JSON,
        NO_BODY,
        Kind,
    ),
    ("GET", "/api/v1/pods?fieldSelector=spec.containers%3Dx", JSON, NO_BODY, Words),
    ("GET", "/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue", JSON, NO_BODY, Kind),
    ("GET", "/api/v1/nodes?fieldSelector=metadata.namespace%3Dx", JSON, NO_BODY, Words),
    (
        "GET",
        "/api/v1/events?fieldSelector=involvedObject.kind%3DX,reason%3Dy,type%3Dz,source%3Dw",
        JSON,
        NO_BODY,
        Kind,
    ),
    ("GET", "/api/v1/events?fieldSelector=message%3Dx", JSON, NO_BODY, Words),
    ("GET", "/api/v1/secrets?fieldSelector=type%3Dx", JSON, NO_BODY, Kind),
    ("GET", "/apis/batch/v1/jobs?fieldSelector=status.successful%3D1", JSON, NO_BODY, Kind),
    ("GET", "/apis/batch/v1/jobs?fieldSelector=status.failed%3D1", JSON, NO_BODY, Words),
    ("GET", "/apis/apps/v1/deployments?fieldSelector=spec.replicas%3D1", JSON, NO_BODY, Words),
    ("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles?fieldSelector=x%3D1", JSON, NO_BODY, Words),
    // Access reviews.
    ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", JSON, (JSON, REVIEW), Kind),
    ("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", JSON, (JSON, RULES), Kind),
    ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", JSON, (JSON, SELF), Kind),
    ("GET", "/apis/metrics.k8s.io/v1beta1", JSON, NO_BODY, Shape),
    ("GET", "/readyz", JSON, NO_BODY, Shape),
    ("GET", "/livez/ping", JSON, NO_BODY, Shape),
];

const REVIEW: &str = r#"{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",
    "spec":{"resourceAttributes":{"verb":"list","resource":"pods"}}}"#;
const RULES: &str = r#"{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectRulesReview","spec":{"namespace":"default"}}"#;
const SELF: &str = r#"{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}"#;

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn demo_errors_equal_those_of_the_real_server() {
    let OnServer { env, api: real, .. } = TestEnv::on_server();
    let demo = DemoServer::start(&env, &[]);
    compare(&real, &Api::open(&demo.url), SCRIPT);
}
