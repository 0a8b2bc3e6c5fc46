//! The lifetimes of objects with the same name: a re-created object has another UID.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kdelta::lines::{Change, ChangeKind};
use kdelta::object::{Origin, Uid, human_duration};

/// The beginning of an object's lifetime, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LifetimeStart {
    /// The object existed when the observation began.
    Listed,
    /// The object was created.
    Created,
    /// The object was created after an object of the same name was deleted.
    Recreated { uid: Uid, after: Option<SignedDuration> },
    /// A new list after a gap contained the object.
    FoundAfterGap,
}

impl fmt::Display for LifetimeStart {
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
    last: HashMap<(Arc<str>, String, String), Lifetime>,
}

struct Lifetime {
    uid: Uid,
    ended: Option<Timestamp>,
}

impl Lifetimes {
    /// Records a version and returns the beginning of its object's lifetime. Only that of an addition is printed.
    pub(super) fn record(&mut self, change: &Change) -> LifetimeStart {
        let Change { kind, object, origin, resource, context, received, .. } = change;
        let key = (Arc::clone(context), resource.group_resource(), object.key().to_string());
        let ended = (*kind == ChangeKind::Deleted).then_some(*received);
        let uid = object.uid().clone();
        let earlier = self.last.insert(key, Lifetime { uid: uid.clone(), ended });
        match earlier {
            Some(Lifetime { uid: earlier, ended }) if earlier != uid => {
                LifetimeStart::Recreated { uid, after: ended.map(|ended| received.duration_since(ended)) }
            }
            _ if *origin == Origin::List => LifetimeStart::Listed,
            _ if *origin == Origin::Relist => LifetimeStart::FoundAfterGap,
            _ => LifetimeStart::Created,
        }
    }
}
