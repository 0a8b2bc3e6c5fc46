//! The references of a pod, or of the template of pods.

use kdelta::object::JsonValue;

use super::EdgeKind;
use super::fields::{items, path, text};
use super::kinds::{CLAIM, CONFIG_MAP, KindName, NODE, SECRET, SERVICE_ACCOUNT};
use super::reference::{Reference, References};

/// The config map that the server mounts in nearly all pods, with the certificate of the API server.
const AMBIENT_MAP: &str = "kube-root-ca.crt";
/// The service account of pods that name none.
const AMBIENT_ACCOUNT: &str = "default";

/// The names of the volume types and their secret references.
const VOLUME_SECRETS: [(&str, &[&str]); 10] = [
    ("secret", &["secretName"]),
    ("azureFile", &["secretName"]),
    ("cephfs", &["secretRef", "name"]),
    ("cinder", &["secretRef", "name"]),
    ("csi", &["nodePublishSecretRef", "name"]),
    ("flexVolume", &["secretRef", "name"]),
    ("iscsi", &["secretRef", "name"]),
    ("rbd", &["secretRef", "name"]),
    ("scaleIO", &["secretRef", "name"]),
    ("storageos", &["secretRef", "name"]),
];

/// Reads the references of a `PodSpec`.
pub(super) fn read_pod_spec(spec: &JsonValue<'_>, references: &mut References) {
    references.add(EdgeKind::RunsOn, NODE, text(spec, &["nodeName"]));
    let account = text(spec, &["serviceAccountName"]);
    use_object(references, SERVICE_ACCOUNT, account, false, account == Some(AMBIENT_ACCOUNT));
    for volume in items(spec.get("volumes")) {
        read_volume(volume, references);
    }
    for secret in items(spec.get("imagePullSecrets")) {
        // The kubelet ignores a missing one.
        use_object(references, SECRET, text(secret, &["name"]), true, false);
    }
    for list in ["containers", "initContainers", "ephemeralContainers"] {
        for container in items(spec.get(list)) {
            for source in items(container.get("envFrom")) {
                use_source(references, source.get("configMapRef"), CONFIG_MAP, &["name"]);
                use_source(references, source.get("secretRef"), SECRET, &["name"]);
            }
            for source in items(container.get("env")).filter_map(|variable| variable.get("valueFrom")) {
                use_source(references, source.get("configMapKeyRef"), CONFIG_MAP, &["name"]);
                use_source(references, source.get("secretKeyRef"), SECRET, &["name"]);
            }
        }
    }
}

fn read_volume(volume: &JsonValue<'_>, references: &mut References) {
    use_source(references, volume.get("configMap"), CONFIG_MAP, &["name"]);
    use_source(references, volume.get("persistentVolumeClaim"), CLAIM, &["claimName"]);
    for (member, name) in VOLUME_SECRETS {
        use_source(references, volume.get(member), SECRET, name);
    }
    for source in items(path(volume, &["projected", "sources"])) {
        use_source(references, source.get("configMap"), CONFIG_MAP, &["name"]);
        use_source(references, source.get("secret"), SECRET, &["name"]);
    }
}

/// Adds the object that a member of a volume or of an environment names.
fn use_source(references: &mut References, source: Option<&JsonValue<'_>>, of: KindName, name: &[&str]) {
    let Some(source) = source else { return };
    let is_optional = matches!(source.get("optional"), Some(JsonValue::Bool(true)));
    let name = text(source, name);
    use_object(references, of, name, is_optional, of == CONFIG_MAP && name == Some(AMBIENT_MAP));
}

fn use_object(
    references: &mut References,
    of: KindName,
    name: Option<&str>,
    is_optional: bool,
    is_ambient: bool,
) {
    if let Some(target) = references.target(of, name) {
        let (edge, is_reverse) = (EdgeKind::Uses, false);
        references.push_reference(Reference { edge, target, is_reverse, is_optional, is_ambient });
    }
}
