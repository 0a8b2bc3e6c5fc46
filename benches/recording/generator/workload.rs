//! Workloads: their Deployments and `ReplicaSets`, and the parts that their pods share.

use super::text::{age, hex, managed, owner, time, uid, word};

/// A Deployment with its pods' template.
pub(super) struct Workload {
    pub(super) namespace: String,
    pub(super) name: String,
    uid: String,
    pub(super) created: i64,
    pub(super) replicas: u32,
    generation: u32,
    pub(super) ready: u32,
    updated_at: i64,
    pub(super) images: Vec<String>,
    /// The containers of a pod, split where the name of its token's volume stands.
    pub(super) containers: Vec<String>,
    /// The newest is the last.
    pub(super) replica_sets: Vec<ReplicaSet>,
}

pub(super) struct ReplicaSet {
    pub(super) hash: String,
    pub(super) uid: String,
    created: i64,
    pub(super) replicas: u32,
    pub(super) ready: u32,
}

impl Workload {
    pub(super) fn new(random: &mut fastrand::Rng, number: u32, replicas: u32, now: i64) -> Self {
        let name =
            format!("{}-{}", word(random, 6), ["api", "web", "worker", "db", "cache"][random.usize(..5)]);
        let images: Vec<String> = (0..random.usize(1..4))
            .map(|_| {
                format!(
                    "registry.example.com/{}/{}:v{}.{}",
                    word(random, 5),
                    word(random, 8),
                    random.u8(..9),
                    random.u8(..40)
                )
            })
            .collect();
        let created = now - i64::from(random.u32(86_400..8_000_000)) * 1000;
        let mut workload = Self {
            namespace: format!("team-{:02}", number % 20),
            uid: uid(random),
            created,
            replicas,
            generation: random.u32(1..60),
            ready: replicas,
            updated_at: created,
            containers: containers(random, &name, &images),
            replica_sets: Vec::new(),
            images,
            name,
        };
        for _ in 0..3 {
            workload.roll_out(random, created);
        }
        workload
    }

    /// Adds a `ReplicaSet` for a template that changed.
    pub(super) fn roll_out(&mut self, random: &mut fastrand::Rng, now: i64) {
        if let Some(last) = self.replica_sets.last_mut() {
            (last.replicas, last.ready) = (0, 0);
        }
        let (hash, uid) = (word(random, 9), uid(random));
        let (replicas, ready) = (self.replicas, self.replicas);
        self.replica_sets.push(ReplicaSet { hash, uid, created: now, replicas, ready });
        self.generation += 1;
        self.updated_at = now;
    }

    pub(super) fn newest(&self) -> &ReplicaSet {
        self.replica_sets.last().expect("each workload has a ReplicaSet")
    }

    fn labels(&self, hash: &str) -> String {
        format!(
            r#""labels":{{"app.kubernetes.io/name":"{}","app.kubernetes.io/part-of":"{}","pod-template-hash":"{hash}"}}"#,
            self.name, self.namespace
        )
    }

    fn template(&self, hash: &str) -> String {
        format!(
            r#""template":{{"metadata":{{"creationTimestamp":null,{}}},"spec":{{"containers":[{}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{{}},"schedulerName":"default-scheduler"}}}}"#,
            self.labels(hash),
            self.containers.join("data")
        )
    }

    /// Records a change of the Deployment's status.
    pub(super) fn touch(&mut self, random: &mut fastrand::Rng, now: i64) {
        self.ready = self.replicas - random.u32(..self.replicas.min(4));
        self.updated_at = now;
    }

    /// Returns the Deployment and its cells.
    pub(super) fn deployment(&self, version: u64, now: i64) -> (String, Vec<String>) {
        let Self { name, namespace, uid, replicas, generation, ready, .. } = self;
        let fields = r#"{"f:metadata":{"f:annotations":{".":{},"f:deployment.kubernetes.io/revision":{}}},"f:status":{"f:availableReplicas":{},"f:conditions":{".":{},"k:{\"type\":\"Available\"}":{".":{},"f:lastTransitionTime":{},"f:lastUpdateTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:observedGeneration":{},"f:readyReplicas":{},"f:replicas":{},"f:updatedReplicas":{}}}"#;
        let managed = managed("kube-controller-manager", "status", "apps/v1", self.updated_at, fields);
        let json = format!(
            r#"{{"kind":"Deployment","apiVersion":"apps/v1","metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}","generation":{generation},"creationTimestamp":"{created}",{labels},"annotations":{{"deployment.kubernetes.io/revision":"{generation}"}},"managedFields":[{managed}]}},"spec":{{"replicas":{replicas},"selector":{{"matchLabels":{{"app.kubernetes.io/name":"{name}"}}}},{template},"strategy":{{"type":"RollingUpdate","rollingUpdate":{{"maxUnavailable":"25%","maxSurge":"25%"}}}},"revisionHistoryLimit":10,"progressDeadlineSeconds":600}},"status":{{"observedGeneration":{generation},"replicas":{replicas},"updatedReplicas":{replicas},"readyReplicas":{ready},"availableReplicas":{ready},"conditions":[{{"type":"Available","status":"True","lastUpdateTime":"{created}","lastTransitionTime":"{created}","reason":"MinimumReplicasAvailable","message":"Deployment has minimum availability."}},{{"type":"Progressing","status":"True","lastUpdateTime":"{updated}","lastTransitionTime":"{created}","reason":"NewReplicaSetAvailable","message":"ReplicaSet \"{name}-{hash}\" has successfully progressed."}}]}}}}"#,
            created = time(self.created),
            updated = time(self.updated_at),
            labels = self.labels(""),
            template = self.template(""),
            hash = self.newest().hash,
        );
        let cells = vec![
            name.clone(),
            format!("{ready}/{replicas}"),
            replicas.to_string(),
            ready.to_string(),
            age(self.created, now),
            "c0".to_owned(),
            self.images.join(","),
            format!("app.kubernetes.io/name={name}"),
        ];
        (json, cells)
    }

    /// Returns a `ReplicaSet` and its cells.
    pub(super) fn replica_set(&self, set: &ReplicaSet, version: u64, now: i64) -> (String, Vec<String>) {
        let Self { name, namespace, .. } = self;
        let ReplicaSet { hash, uid, created, replicas, ready } = set;
        let fields = r#"{"f:status":{"f:availableReplicas":{},"f:fullyLabeledReplicas":{},"f:observedGeneration":{},"f:readyReplicas":{},"f:replicas":{}}}"#;
        let managed = managed("kube-controller-manager", "status", "apps/v1", now, fields);
        let json = format!(
            r#"{{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{{"name":"{name}-{hash}","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}","generation":1,"creationTimestamp":"{created}",{labels},"annotations":{{"deployment.kubernetes.io/desired-replicas":"{desired}","deployment.kubernetes.io/max-replicas":"{desired}"}},{owner},"managedFields":[{managed}]}},"spec":{{"replicas":{replicas},"selector":{{"matchLabels":{{"app.kubernetes.io/name":"{name}","pod-template-hash":"{hash}"}}}},{template}}},"status":{{"replicas":{replicas},"fullyLabeledReplicas":{replicas},"readyReplicas":{ready},"availableReplicas":{ready},"observedGeneration":1}}}}"#,
            created = time(*created),
            labels = self.labels(hash),
            desired = self.replicas,
            owner = owner("apps/v1", "Deployment", name, &self.uid),
            template = self.template(hash),
        );
        let cells = vec![
            format!("{name}-{hash}"),
            replicas.to_string(),
            replicas.to_string(),
            ready.to_string(),
            age(*created, now),
            "c0".to_owned(),
            self.images.join(","),
            format!("app.kubernetes.io/name={name},pod-template-hash={hash}"),
        ];
        (json, cells)
    }
}

/// Returns the containers of a workload, split where the name of the token's volume stands.
fn containers(random: &mut fastrand::Rng, name: &str, images: &[String]) -> Vec<String> {
    let mut parts = vec![String::new()];
    for (at, image) in images.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let env: Vec<String> = (0..18 / images.len())
            .map(|_| {
                format!(r#"{{"name":"{}","value":"{}"}}"#, word(random, 7).to_uppercase(), word(random, 20))
            })
            .collect();
        let front = format!(
            r#"{comma}{{"name":"c{at}","image":"{image}","args":["--listen=:{port}","--service={name}"],"ports":[{{"name":"http","containerPort":{port},"protocol":"TCP"}}],"env":[{env}],"resources":{{"limits":{{"cpu":"{cpu}m","memory":"{memory}Mi"}},"requests":{{"cpu":"{cpu}m","memory":"{memory}Mi"}}}},"volumeMounts":[{{"name":""#,
            port = random.u16(1024..9999),
            env = env.join(","),
            cpu = random.u16(1..8) * 250,
            memory = random.u16(1..16) * 128,
        );
        parts.last_mut().expect("the first part").push_str(&front);
        let path = hex(random, 4);
        parts.push(format!(
            r#"","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}],"livenessProbe":{{"httpGet":{{"path":"/live/{path}","port":"http","scheme":"HTTP"}},"initialDelaySeconds":10,"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}},"readinessProbe":{{"httpGet":{{"path":"/ready/{path}","port":"http","scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":5,"successThreshold":1,"failureThreshold":3}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":{{"allowPrivilegeEscalation":false,"capabilities":{{"drop":["ALL"]}}}}}}"#,
        ));
    }
    parts
}
