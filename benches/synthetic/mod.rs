//! Synthetic pods: env, images and probes differ by workload; names, times and addresses by pod.

use std::fmt::Write;

/// The pods of one workload, in name order.
pub(crate) struct Workload {
    namespace: String,
    name: String,
    /// The text of a pod, split where it differs by pod.
    parts: Vec<Part>,
}

enum Part {
    Text(String),
    /// This many hexadecimal digits.
    Hex(usize),
    /// A number below this.
    Number(u32),
    /// A time of day.
    Time,
    Name,
    Uid,
    Version,
}

impl Workload {
    /// Returns the workload of this number.
    #[must_use]
    pub(crate) fn new(number: u32) -> Self {
        let mut random = fastrand::Rng::with_seed(u64::from(number) * 7919 + 1);
        let name = format!("{number:05}-{}-{}", word(&mut random, 6), word(&mut random, 10));
        let namespace = format!("team-{:02}", number % 20);
        let mut template = Template { parts: vec![Part::Text(String::new())] };
        template.metadata(&namespace, &name, &mut random);
        template.spec_and_status(&name, &mut random);
        Self { namespace, name, parts: template.parts }
    }

    /// Writes the pod of this number as a server sends it, including managedFields.
    pub(crate) fn pod(&self, number: u32, version: u32, out: &mut String) {
        let mut random = fastrand::Rng::with_seed(u64::from(number) << 32 | u64::from(version));
        for part in &self.parts {
            let written = match part {
                Part::Text(text) => {
                    out.push_str(text);
                    Ok(())
                }
                Part::Hex(digits) => {
                    (0..digits.div_ceil(8)).try_for_each(|_| write!(out, "{:08x}", random.u32(..)))
                }
                Part::Number(below) => write!(out, "{}", random.u32(..below)),
                Part::Time => write!(
                    out,
                    "2026-11-{:02}T{:02}:{:02}:{:02}Z",
                    random.u32(1..22),
                    random.u32(..24),
                    random.u32(..60),
                    random.u32(..60)
                ),
                Part::Name => write!(out, "{}-{number:06}", self.name),
                Part::Uid => {
                    let uid = random.u128(..);
                    write!(
                        out,
                        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                        uid >> 96,
                        uid >> 80 & 0xffff,
                        uid >> 64 & 0xffff,
                        uid >> 48 & 0xffff,
                        uid & 0xffff_ffff_ffff
                    )
                }
                Part::Version => write!(out, "{version}"),
            };
            written.expect("a String takes what is written");
        }
    }

    /// Returns the key of the pod of this number.
    #[must_use]
    pub(crate) fn key(&self, number: u32) -> String {
        format!("{}/{}-{number:06}", self.namespace, self.name)
    }
}

struct Template {
    parts: Vec<Part>,
}

impl Template {
    fn text(&mut self, text: &str) -> &mut Self {
        if let Some(Part::Text(last)) = self.parts.last_mut() {
            last.push_str(text);
        }
        self
    }

    fn own(&mut self, part: Part) -> &mut Self {
        self.parts.push(part);
        self.parts.push(Part::Text(String::new()));
        self
    }

    fn metadata(&mut self, namespace: &str, name: &str, random: &mut fastrand::Rng) {
        let owner = format!("{:08x}-0000-4000-8000-{:012x}", random.u32(..), random.u64(..1 << 48));
        self.text(r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":""#).own(Part::Name);
        self.text(&format!(r#"","generateName":"{name}-","namespace":"{namespace}","uid":""#)).own(Part::Uid);
        self.text(r#"","resourceVersion":""#).own(Part::Version);
        self.text(r#"","creationTimestamp":""#).own(Part::Time);
        self.text(&format!(
            r#"","labels":{{"app":"{name}","pod-template-hash":"{}","team":"{}"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"{name}","uid":"{owner}","controller":true,"blockOwnerDeletion":true}}],"managedFields":["#,
            word(random, 10),
            word(random, 5),
        ));
        for manager in ["kube-controller-manager", "kubelet"] {
            let comma = if manager == "kubelet" { "," } else { "" };
            self.text(&format!(
                r#"{comma}{{"manager":"{manager}","operation":"Update","apiVersion":"v1","time":""#
            ));
            self.own(Part::Time);
            self.text(r#"","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:team":{}},"f:ownerReferences":{".":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c0\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:httpGet":{".":{},"f:path":{},"f:port":{}}},"f:name":{},"f:resources":{},"f:terminationMessagePath":{}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{}}}}"#);
        }
        self.text("]},");
    }

    fn spec_and_status(&mut self, name: &str, random: &mut fastrand::Rng) {
        self.text(r#""spec":{"volumes":[{"name":"kube-api-access","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],"containers":["#);
        let images: Vec<String> = (0..random.usize(1..4))
            .map(|_| {
                format!("registry.example.com/{}/{}:{}", word(random, 6), word(random, 8), word(random, 7))
            })
            .collect();
        for (at, image) in images.iter().enumerate() {
            self.container(at, image, 24 / images.len(), random);
        }
        self.text(&format!(
            r#"],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"{name}","nodeName":"node-"#
        ));
        self.own(Part::Number(500));
        self.text(r#"","securityContext":{},"schedulerName":"default-scheduler","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},"status":{"phase":"Running","conditions":["#);
        for (at, kind) in ["Initialized", "Ready", "ContainersReady", "PodScheduled"].iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            self.text(&format!(
                r#"{comma}{{"type":"{kind}","status":"True","lastProbeTime":null,"lastTransitionTime":""#
            ));
            self.own(Part::Time).text(r#""}"#);
        }
        self.text(r#"],"hostIP":"10.0."#).own(Part::Number(256)).text(".").own(Part::Number(256));
        self.text(r#"","podIP":"10.1."#).own(Part::Number(256)).text(".").own(Part::Number(256));
        self.text(r#"","startTime":""#).own(Part::Time).text(r#"","containerStatuses":["#);
        for (at, image) in images.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            self.text(&format!(r#"{comma}{{"name":"c{at}","state":{{"running":{{"startedAt":""#))
                .own(Part::Time);
            self.text(r#""}},"lastState":{},"ready":true,"restartCount":"#).own(Part::Number(5));
            self.text(&format!(
                r#","image":"{image}","imageID":"registry.example.com/x@sha256:{}","containerID":"containerd://"#,
                word(random, 64)
            ));
            self.own(Part::Hex(64)).text(r#"","started":true}"#);
        }
        self.text(r#"],"qosClass":"Burstable"}}"#);
    }

    fn container(&mut self, at: usize, image: &str, variables: usize, random: &mut fastrand::Rng) {
        let comma = if at == 0 { "" } else { "," };
        self.text(&format!(r#"{comma}{{"name":"c{at}","image":"{image}","env":["#));
        for variable in 0..variables {
            let comma = if variable == 0 { "" } else { "," };
            let (name, value) = (word(random, 6).to_uppercase(), word(random, 24));
            self.text(&format!(r#"{comma}{{"name":"{name}_{variable}","value":"{value}"}}"#));
        }
        self.text(&format!(
            r#"],"resources":{{"limits":{{"cpu":"{}m","memory":"{}Mi"}},"requests":{{"cpu":"{}m","memory":"{}Mi"}}}},"volumeMounts":[{{"name":"kube-api-access","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}]"#,
            random.u32(1..8) * 250, random.u32(1..16) * 128, random.u32(1..8) * 100, random.u32(1..16) * 64,
        ));
        for probe in ["livenessProbe", "readinessProbe"] {
            let (path, port, period) = (word(random, 5), random.u32(1000..9999), random.u32(5..30));
            self.text(&format!(
                r#","{probe}":{{"httpGet":{{"path":"/{path}","port":{port},"scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":{period},"successThreshold":1,"failureThreshold":3}}"#
            ));
        }
        self.text(r#","terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}"#);
    }
}

/// Returns this many letters and digits, like the hashes in names.
fn word(random: &mut fastrand::Rng, len: usize) -> String {
    (0..len).map(|_| char::from(b"bcdfghjklmnpqrstvwxz2456789"[random.usize(..27)])).collect()
}
