//! Nodes, which report their conditions every five minutes.

use super::text::{age, hex, managed, time, uid, word};

pub(super) struct Node {
    number: u32,
    uid: String,
    created: i64,
    images: String,
    machine: String,
    heartbeat: i64,
}

/// Returns the name of the node of this number.
pub(super) fn node_name(number: u32) -> String {
    format!("ip-10-0-{}-{}.eu-central-1.compute.internal", number / 250, number % 250)
}

impl Node {
    pub(super) fn new(random: &mut fastrand::Rng, number: u32, now: i64) -> Self {
        let images: Vec<String> = (0..20)
            .map(|_| {
                let (repository, hash) = (word(random, 8), hex(random, 64));
                format!(
                    r#"{{"names":["registry.example.com/{repository}@sha256:{hash}","registry.example.com/{repository}:v{}"],"sizeBytes":{}}}"#,
                    random.u8(1..40),
                    random.u32(1_000_000..900_000_000)
                )
            })
            .collect();
        Self {
            number,
            uid: uid(random),
            created: now - i64::from(random.u32(86_400..8_000_000)) * 1000,
            images: images.join(","),
            machine: hex(random, 32),
            heartbeat: now,
        }
    }

    pub(super) fn beat(&mut self, now: i64) {
        self.heartbeat = now;
    }

    /// Returns the node and its cells.
    pub(super) fn text(&self, version: u64, now: i64) -> (String, Vec<String>) {
        let Self { number, uid, machine, .. } = self;
        let name = node_name(*number);
        let address = format!("10.0.{}.{}", number / 250, number % 250);
        let fields = r#"{"f:status":{"f:conditions":{"k:{\"type\":\"DiskPressure\"}":{"f:lastHeartbeatTime":{}},"k:{\"type\":\"MemoryPressure\"}":{"f:lastHeartbeatTime":{}},"k:{\"type\":\"PIDPressure\"}":{"f:lastHeartbeatTime":{}},"k:{\"type\":\"Ready\"}":{"f:lastHeartbeatTime":{}}},"f:images":{}}}"#;
        let managed = managed("kubelet", "status", "v1", self.heartbeat, fields);
        let conditions: Vec<String> = [
            ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ]
        .iter()
        .map(|(kind, status, reason, message)| {
            format!(
                r#"{{"type":"{kind}","status":"{status}","lastHeartbeatTime":"{}","lastTransitionTime":"{}","reason":"{reason}","message":"{message}"}}"#,
                time(self.heartbeat),
                time(self.created)
            )
        })
        .collect();
        let json = format!(
            r#"{{"kind":"Node","apiVersion":"v1","metadata":{{"name":"{name}","uid":"{uid}","resourceVersion":"{version}","creationTimestamp":"{created}","labels":{{"kubernetes.io/arch":"amd64","kubernetes.io/hostname":"{name}","kubernetes.io/os":"linux","node.kubernetes.io/instance-type":"m6i.4xlarge","topology.kubernetes.io/zone":"eu-central-1{zone}"}},"annotations":{{"node.alpha.kubernetes.io/ttl":"0","volumes.kubernetes.io/controller-managed-attach-detach":"true"}},"managedFields":[{managed}]}},"spec":{{"podCIDR":"10.{block}.0/24","providerID":"aws:///eu-central-1{zone}/i-{machine}"}},"status":{{"capacity":{{"cpu":"16","ephemeral-storage":"104845292Ki","memory":"64778456Ki","pods":"110"}},"allocatable":{{"cpu":"15890m","ephemeral-storage":"95551679124","memory":"61730008Ki","pods":"110"}},"conditions":[{conditions}],"addresses":[{{"type":"InternalIP","address":"{address}"}},{{"type":"Hostname","address":"{name}"}}],"daemonEndpoints":{{"kubeletEndpoint":{{"Port":10250}}}},"nodeInfo":{{"machineID":"{machine}","systemUUID":"{machine}","kernelVersion":"6.12.40","osImage":"Amazon Linux 2023","containerRuntimeVersion":"containerd://2.1.4","kubeletVersion":"v1.36.2","kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"}},"images":[{images}]}}}}"#,
            created = time(self.created),
            zone = char::from(b"abc"[*number as usize % 3]),
            block = number % 250,
            conditions = conditions.join(","),
            images = self.images,
        );
        let cells = [
            &name,
            "Ready",
            "<none>",
            &age(self.created, now),
            "v1.36.2",
            &address,
            "<none>",
            "Amazon Linux 2023",
            "6.12.40",
            "containerd://2.1.4",
        ];
        (json, cells.map(str::to_owned).to_vec())
    }
}
