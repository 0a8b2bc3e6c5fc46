//! The discovery cache file of the program.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::TestEnv;

/// The contents of the only cache file.
pub(super) struct DiscoveryCache {
    file: PathBuf,
    pub(super) value: Value,
}

impl DiscoveryCache {
    pub(super) fn of(env: &TestEnv) -> Self {
        let folder = env.home().join(".kube/cache/kdelta");
        let file =
            fs::read_dir(folder).expect("a folder").next().expect("one file").expect("its entry").path();
        let value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
        Self { file, value }
    }

    /// Rewrites the file with a change.
    pub(super) fn rewrite(&self, change: &dyn Fn(&mut Value)) {
        let mut changed = self.value.clone();
        change(&mut changed);
        fs::write(&self.file, changed.to_string()).expect("the test's own file");
    }
}
