//! The lifetimes of objects with the same name: a re-created object has another UID.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kdelta::lines::{Change, ChangeKind};
use kdelta::object::{Origin, Uid, human_duration};

/// The beginning of an object's lifetime, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Birth {
    /// It existed when the observation began.
    Listed,
    /// It was created.
    Created,
    /// It was created after an object of the same name was deleted.
    Recreated { uid: Uid, after: Option<SignedDuration> },
    /// It was found by a new list after a gap.
    FoundAfterGap,
}

impl fmt::Display for Birth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed => f.write_str("in the initial list"),
            Self::Created => f.write_str("created"),
            Self::Recreated { uid, after: None } => write!(f, "re-created, uid {uid}"),
            Self::Recreated { uid, after: Some(after) } => {
                let after = human_duration(after.as_secs().max(0));
                write!(f, "re-created {after} after the deletion, uid {uid}")
            }
            Self::FoundAfterGap => f.write_str("found after a gap"),
        }
    }
}

/// The last known lifetime of each object. Bounded by the objects that the user named.
#[derive(Default)]
pub(super) struct Lifetimes {
    last: HashMap<(Arc<str>, String, String), Life>,
}

struct Life {
    uid: Uid,
    ended: Option<Timestamp>,
}

impl Lifetimes {
    /// Records a version and returns the beginning of its object's lifetime. Only that of an addition is printed.
    pub(super) fn record(&mut self, change: &Change) -> Birth {
        let Change { kind, object, origin, resource, context, received, .. } = change;
        let key = (Arc::clone(context), resource.group_resource(), object.key().to_string());
        let ended = (*kind == ChangeKind::Deleted).then_some(*received);
        let uid = object.uid().clone();
        let earlier = self.last.insert(key, Life { uid: uid.clone(), ended });
        match earlier {
            Some(Life { uid: earlier, ended }) if earlier != uid => {
                Birth::Recreated { uid, after: ended.map(|ended| received.duration_since(ended)) }
            }
            _ if *origin == Origin::List => Birth::Listed,
            _ if *origin == Origin::Relist => Birth::FoundAfterGap,
            _ => Birth::Created,
        }
    }
}
