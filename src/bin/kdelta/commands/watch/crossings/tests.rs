//! Tests of crossings: a filtered watch, replayed, equals the filter applied to the present objects.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use kdelta::object::{DeletedFinalStateUnknown, KeyGetter};
use kdelta::store::{Cache, Store};
use kdelta::testing::FakeSource;
use proptest::prelude::*;

use super::*;
use crate::settings::filter_of;

/// A part's informer, written by hand: the store, the time, and what the reader has.
struct Fixture {
    store: Cache,
    now: Arc<AtomicI64>,
    filter: Filter,
    crossings: Crossings,
    shown: BTreeMap<String, ResourceVersion>,
    version: u64,
    log: Vec<String>,
}

impl Fixture {
    fn new(flags: &str) -> Self {
        let (conditions, by) = filter_of(flags);
        let now = Arc::new(AtomicI64::new(1000));
        let clock = Arc::clone(&now);
        let filter = Filter::by(&by, &Arc::default()).expect("indices").and_conditions(&conditions);
        let filter = filter
            .with_clock(move || Timestamp::from_second(clock.load(Ordering::Relaxed)).expect("in range"));
        Self {
            store: Cache::new(),
            now,
            crossings: Crossings::new(filter.clone()),
            filter,
            shown: BTreeMap::new(),
            version: 0,
            log: Vec::new(),
        }
    }

    /// Returns the next state of a pod that was created then, with a label.
    fn state(&mut self, name: &str, created: i64, label: &str) -> Arc<Object> {
        self.version += 1;
        let created = Timestamp::from_second(created).expect("in range").to_string();
        let source = FakeSource::new();
        source.add(serde_json::json!({"metadata": {
            "name": name, "creationTimestamp": created, "labels": {"l": label},
        }}));
        let object = source.objects().remove(0);
        let json = String::from_utf8(object.json().into_owned()).expect("JSON");
        let json = json.replacen(
            &format!(r#""resourceVersion":"{}""#, object.resource_version()),
            &format!(r#""resourceVersion":"{}""#, self.version),
            1,
        );
        let ingest = kdelta::object::Ingest::of(Arc::clone(object.type_meta()));
        Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
    }

    /// Writes a state, as the source and the informer do.
    fn write(&mut self, object: Arc<Object>) {
        let old = self.store.get(&object).expect("a key");
        let origin = Origin::Watch;
        let notification = match (old, self.filter.may_pass(&object)) {
            (None, false) => return,
            (Some(old), false) => {
                self.store.delete(&object).expect("a key");
                Notification::Deleted { object: DeletedObject::Known(old), origin }
            }
            (old, true) => {
                self.store.add(Arc::clone(&object)).expect("a key");
                match old {
                    Some(old) => Notification::Updated { old, new: object, origin },
                    None => Notification::Added { object, is_in_initial_list: false, origin },
                }
            }
        };
        self.notify(notification);
    }

    fn delete(&mut self, name: &str) {
        let key = Key::from(name);
        let Some(object) = self.store.get_by_key(&key) else { return };
        self.store.delete_by_key(&key);
        let object = DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key, object: Some(object) });
        self.notify(Notification::Deleted { object, origin: Origin::Relist });
    }

    fn notify(&mut self, notification: Notification) {
        if let Some(notification) = self.crossings.apply(notification) {
            self.read(&notification);
        }
    }

    /// Lets the time pass, second by second, as the timer does.
    fn pass(&mut self, seconds: i64) {
        for _ in 0..seconds {
            self.now.fetch_add(1, Ordering::Relaxed);
            if self.crossings.wait().is_some_and(|wait| wait.is_zero()) {
                for crossing in self.crossings.take_due(&self.store) {
                    self.read(&crossing);
                }
            }
        }
    }

    /// Replays a notification.
    fn read(&mut self, notification: &Notification) {
        self.log.push(notification.to_string());
        let key = notification.key().expect("no mark").to_string();
        match notification {
            Notification::Added { object, .. } => {
                assert!(
                    self.shown.insert(key, object.resource_version().clone()).is_none(),
                    "{notification}"
                );
            }
            Notification::Updated { old, new, .. } => {
                let before = self.shown.insert(key, new.resource_version().clone());
                assert_eq!(before.as_ref(), Some(old.resource_version()), "{notification}");
            }
            Notification::Deleted { object, .. } => {
                let last = object.object().map(|object| object.resource_version().clone());
                assert_eq!(self.shown.remove(&key), last, "the last state that matched: {notification}");
            }
            Notification::Mark(_) => {}
        }
    }

    /// Returns the filter applied to the stored objects.
    fn matching(&self) -> BTreeMap<String, ResourceVersion> {
        let objects = self.store.list().into_iter().filter(|object| self.filter.passes(object));
        objects.map(|object| (object.key().to_string(), object.resource_version().clone())).collect()
    }
}

#[test]
fn crossing_of_time_is_an_add_or_a_delete() {
    let mut part = Fixture::new("--older-than 10s --newer-than 20s");
    let web = part.state("web", 995, "");
    part.write(web);
    assert_eq!(part.crossings.wait(), Some(std::time::Duration::from_secs(5)));
    part.pass(5);
    let web = part.state("web", 995, "x");
    part.write(web);
    part.pass(100);
    assert_eq!(part.log, ["+web@1 filter", "web@1>2 watch", "-web@2 filter"]);
    assert_eq!(part.crossings.wait(), None);
    assert!(part.crossings.objects.is_empty(), "it never matches again");
}

#[test]
fn change_across_the_border_is_an_add_or_a_delete() {
    let mut part = Fixture::new("--newer-than 1h --by label:l=a");
    for label in ["b", "a", "a", "b", "a"] {
        let web = part.state("web", 900, label);
        part.write(web);
    }
    assert_eq!(part.log, ["+web@2 watch", "web@2>3 watch", "-web@3 watch", "+web@5 watch"]);
}

#[test]
fn object_with_an_unread_notification_does_not_cross() {
    let mut part = Fixture::new("--newer-than 10s");
    let (first, second) = (part.state("web", 995, ""), part.state("web", 1003, ""));
    part.write(Arc::clone(&first));
    part.store.add(Arc::clone(&second)).expect("a key");
    part.pass(6);
    part.notify(Notification::Updated { old: first, new: second, origin: Origin::Watch });
    part.pass(7);
    assert_eq!(part.log, ["+web@1 watch", "web@1>2 watch", "-web@2 filter"]);
}

proptest! {
    #[test]
    fn replayed_watch_equals_the_filter_of_the_present_objects(
        flags in prop::sample::select(vec![
            "--older-than 7s", "--newer-than 7s", "--older-than 3s --newer-than 9s",
            "--newer-than 6s --by label:l=a", "--older-than 4s --by label:l=a,b",
        ]),
        steps in prop::collection::vec((0..4_usize, 0..4_usize, -12..3_i64, 0..3_usize), 1..60),
    ) {
        let mut part = Fixture::new(flags);
        for (kind, name, age, label) in steps {
            let (name, label) = (["a", "b", "c", "d"][name], ["a", "b", "c"][label]);
            match kind {
                0 | 1 => {
                    let created = part.now.load(Ordering::Relaxed) + age;
                    let object = part.state(name, created, label);
                    part.write(object);
                }
                2 => part.delete(name),
                _ => part.pass(1 - age.min(0)),
            }
            prop_assert_eq!(&part.shown, &part.matching());
        }
        part.pass(60);
        prop_assert_eq!(&part.shown, &part.matching());
        prop_assert_eq!(part.crossings.wait(), None);
    }
}
