//! The server's audit log of watch requests: the number of times each contender had to watch again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;
use serde_json::Value;

/// One line per watch of pods at its start and nothing else, so recording costs the server little.
const POLICY: &str = r#"{
  "apiVersion": "audit.k8s.io/v1", "kind": "Policy",
  "omitStages": ["RequestReceived", "ResponseComplete", "Panic"],
  "rules": [
    {"level": "Metadata", "verbs": ["watch"], "resources": [{"group": "", "resources": ["pods"]}]},
    {"level": "None"}
  ]
}"#;

/// A server's audit log.
pub(crate) struct Audit {
    policy: PathBuf,
    log: PathBuf,
}

impl Audit {
    /// Creates a policy and a log in the folder.
    pub(crate) fn set_up(folder: &Path) -> anyhow::Result<Self> {
        let audit = Self { policy: folder.join("policy"), log: folder.join("audit") };
        fs::write(&audit.policy, POLICY)?;
        Ok(audit)
    }

    /// Returns the server's flags for the audit log.
    pub(crate) fn flags(&self) -> [String; 2] {
        let flag = |name, path: &Path| format!("--{name}={}", path.display());
        [flag("audit-policy-file", &self.policy), flag("audit-log-path", &self.log)]
    }

    /// Returns the number of watches of pods since `since` by clients whose user agent has this prefix, or 0 if the
    /// prefix is empty.
    pub(crate) fn watches(&self, agent: &str, since: Timestamp) -> anyhow::Result<usize> {
        let text = fs::read_to_string(&self.log).context("the server's audit log")?;
        let mut count = 0;
        for line in text.lines() {
            let event: Value = serde_json::from_str(line).context("a line of the server's audit log")?;
            let user_agent = event["userAgent"].as_str().unwrap_or_default();
            let is_meant =
                if agent.is_empty() { user_agent.is_empty() } else { user_agent.starts_with(agent) };
            let started =
                event["stageTimestamp"].as_str().context("when a watch began")?.parse::<Timestamp>()?;
            count += usize::from(is_meant && started >= since);
        }
        Ok(count)
    }
}
