//! Fixtures of the informer's tests: objects, and a reader that checks every notification.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::informer::Notification;
use crate::object::{Ingest, Key, Object, Origin, TypeMeta};
use crate::queue::Mark;

/// Returns an object with a uid, a version and a label.
pub(in crate::informer) fn labelled(name: &str, uid: &str, version: u64, label: &str) -> Arc<Object> {
    let json = format!(
        r#"{{"metadata":{{"name":"{name}","uid":"{uid}","resourceVersion":"{version}","labels":{{"l":"{label}"}}}}}}"#
    );
    let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
    Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
}

pub(in crate::informer) fn pod(name: &str, version: u64) -> Arc<Object> {
    labelled(name, name, version, "")
}

pub(in crate::informer) fn text_of(object: &Object) -> String {
    format!("{}@{}", object.key(), object.resource_version())
}

/// Replays notifications from an empty state, and asserts that each follows from the previous ones.
#[derive(Default)]
pub(in crate::informer) struct Reader {
    pub(in crate::informer) state: BTreeMap<Key, Arc<Object>>,
    is_synced: bool,
}

impl Reader {
    pub(in crate::informer) fn read(&mut self, notification: Notification) {
        let line = notification.to_string();
        match notification {
            Notification::Added { object, is_in_initial_list, origin } => {
                assert_eq!(is_in_initial_list, origin == Origin::List, "{line}");
                assert!(!(is_in_initial_list && self.is_synced), "initial after SYNCED: {line}");
                let before = self.state.insert(object.key().clone(), object);
                assert!(before.is_none(), "added twice: {line}");
            }
            Notification::Updated { old, new, origin } => {
                assert_eq!(old.uid(), new.uid(), "{line}");
                assert_eq!(origin == Origin::Resync, old.same_state(&new), "{line}");
                let before = self.state.insert(new.key().clone(), new);
                assert!(
                    before.is_some_and(|before| Arc::ptr_eq(&before, &old)),
                    "not the delivered state: {line}"
                );
            }
            Notification::Deleted { object, .. } => {
                assert!(self.state.remove(object.key()).is_some(), "deleted twice: {line}");
            }
            Notification::Mark(Mark::Synced { .. }) => {
                assert!(!self.is_synced, "synced twice");
                self.is_synced = true;
            }
            Notification::Mark(Mark::Gap { .. } | Mark::Bookmark { .. }) => {}
        }
    }

    pub(in crate::informer) fn lines(&self) -> Vec<String> {
        self.state.values().map(|object| text_of(object)).collect()
    }
}
