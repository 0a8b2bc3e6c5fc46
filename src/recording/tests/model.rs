//! A model of recordings: any sequence of entries, cut into segments at any point, reads back as the model
//! predicts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;

use super::fixtures::{Keys, at, change, entry_text, mark, nodes, object, options, pods, row, synced, text};
use crate::lines::{ChangeKind, MarkKind};
use crate::object::{ApiResource, Object, Origin, ResourceVersion};
use crate::recording::{
    Author, Encryption, Entry, EntryFilter, Item, Moment, Recording, RecordingError, Writer, WriterOptions,
};

#[derive(Debug, Clone)]
enum Step {
    /// Changes an object: its number, whether it is deleted if it exists, its text, its row, and the time since the last
    /// step, which may be negative as a clock may go back.
    Change {
        object: usize,
        deleted: bool,
        relisted: bool,
        text: usize,
        row: usize,
        passed: i64,
    },
    /// A deletion of which only the name is known.
    Vanish {
        object: usize,
    },
    Synced,
    Gap {
        lasted: u64,
    },
    Bookmark,
    Document {
        path: usize,
        body: usize,
    },
    Flush,
    Reopen {
        flushed: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let change = (0..8usize, any::<bool>(), prop::bool::weighted(0.1), 0..6usize, 0..4usize, -1..4i64)
        .prop_map(|(object, deleted, relisted, text, row, passed)| Step::Change {
            object,
            deleted: deleted && text < 3,
            relisted,
            text,
            row,
            passed: passed * 400,
        });
    let step = prop_oneof![
        20 => change,
        1 => (0..8usize).prop_map(|object| Step::Vanish { object }),
        2 => Just(Step::Synced),
        1 => (0..9000u64).prop_map(|lasted| Step::Gap { lasted }),
        1 => Just(Step::Bookmark),
        1 => (0..2usize, 0..3usize).prop_map(|(path, body)| Step::Document { path, body }),
        5 => Just(Step::Flush),
        1 => any::<bool>().prop_map(|flushed| Step::Reopen { flushed }),
    ];
    prop::collection::vec(step, 1..90)
}

/// The options: entries per segment, and whether retention drops as much as possible.
fn writer_options() -> impl Strategy<Value = WriterOptions> {
    (1..30usize, prop::option::of(1..4000u64), prop::option::of(400..4000u64)).prop_map(
        |(entries, size, keep)| {
            options().seal_entries(entries).max_size(size).keep(keep.map(Duration::from_millis))
        },
    )
}

const TEXTS: [&str; 6] =
    ["", "a", "Running since 2026-11-24T00:00:01Z", "ünïcödé \\\"", "0123456789abcdef", "Pending"];

/// A recorded state: the text and version of each object, with those of its row.
type ModelState = BTreeMap<(String, String), Arc<Object>>;

struct Model {
    dir: tempfile::TempDir,
    keys: Keys,
    encryption: Option<Encryption>,
    options: WriterOptions,
    writer: Option<Writer>,
    now: i64,
    version: u64,
    /// The state after all appended entries, and all entries, with the number of those that were flushed.
    state: ModelState,
    entries: Vec<Entry>,
    versions: Vec<u64>,
    flushed: usize,
    documents: BTreeMap<String, String>,
}

fn resource_of(number: usize) -> (Arc<ApiResource>, &'static str) {
    let keys = ["a/web-1", "a/web-2", "b/web-1", "a/x", "a-b/x", "node-1", "node-2", "a"];
    (if number < 5 { pods() } else { nodes() }, keys[number])
}

impl Model {
    fn new(options: WriterOptions, is_encrypted: bool) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let keys = Keys::new();
        let encryption = is_encrypted.then(|| keys.encryption());
        let mut model = Self {
            dir,
            keys,
            encryption,
            options,
            writer: None,
            now: 0,
            version: 100,
            state: ModelState::new(),
            entries: Vec::new(),
            versions: Vec::new(),
            flushed: 0,
            documents: BTreeMap::new(),
        };
        model.open();
        model
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn open(&mut self) {
        let (options, encryption) = (self.options.clone(), self.encryption.as_ref());
        let writer = Writer::open_with(self.path(), "test", options, encryption, at(self.now));
        self.writer = Some(writer.expect("a writer"));
        // Journals of the last writer are sealed in the background.
        self.writer().settle().expect("settled");
        self.push(Item::Started);
        self.flushed = self.entries.len();
    }

    fn writer(&mut self) -> &mut Writer {
        self.writer.as_mut().expect("a writer")
    }

    /// Appends an entry to the model.
    fn push(&mut self, mut item: Item) {
        let last = self.entries.last().map_or(Timestamp::MIN, |entry| entry.received);
        let received = last.max(at(self.now));
        match &mut item {
            Item::Change { change, .. } => change.received = received,
            Item::Mark(mark) => mark.received = received,
            _ => {}
        }
        let number = self.entries.len() as u64;
        self.versions.push(self.version);
        self.entries.push(Entry { number, received, item });
    }

    fn run(&mut self, step: &Step) {
        match *step {
            Step::Change { object: number, deleted, relisted, text, row: cells, passed } => {
                self.now += passed;
                self.version += 1;
                let (resource, key) = resource_of(number);
                let known = self.state.get(&(resource.resource.clone(), key.to_owned())).cloned();
                let kind = match (&known, deleted) {
                    (None, _) => ChangeKind::Added,
                    (Some(_), true) => ChangeKind::Deleted,
                    (Some(_), false) => ChangeKind::Modified,
                };
                let mut new = object(&resource, key, self.version, TEXTS[text]);
                if cells > 0 {
                    new = new.with_row(row(&["x", TEXTS[cells]][..cells.min(2)]));
                }
                let mut change = change(&resource, kind, new, self.now);
                change.old = known.filter(|_| kind != ChangeKind::Added);
                if relisted {
                    change.origin = Origin::Relist;
                }
                let author =
                    (cells == 2).then(|| Author { manager: "kubelet".into(), subresource: "status".into() });
                self.change(change, author);
            }
            Step::Vanish { object: number } => {
                let (resource, key) = resource_of(number);
                let Some(old) = self.state.get(&(resource.resource.clone(), key.to_owned())).cloned() else {
                    return;
                };
                let gone = Object::named(resource.type_meta(), old.namespace(), old.name());
                let mut change = change(&resource, ChangeKind::Deleted, gone, self.now);
                change.final_state_unknown = true;
                change.old = Some(old);
                self.change(change, None);
            }
            Step::Synced => {
                let mark = synced(&pods(), self.version, self.now);
                self.writer().mark(&mark).expect("a mark");
                self.push(Item::Mark(mark));
            }
            Step::Gap { lasted } => {
                let version = |number: u64| ResourceVersion::new(&number.to_string());
                let (from, to) = (version(self.version - 1), version(self.version));
                let mark = mark(
                    &pods(),
                    MarkKind::Gap { from, to, lasted: Duration::from_millis(lasted) },
                    self.now,
                );
                self.writer().mark(&mark).expect("a mark");
                self.push(Item::Mark(mark));
            }
            Step::Bookmark => {
                let (resource, namespace, version) = (pods(), "a".into(), ResourceVersion::new("77"));
                let now = at(self.now);
                self.writer().bookmark(&resource, &namespace, &version, now).expect("a bookmark");
                self.push(Item::Bookmark { resource, namespace, version });
            }
            Step::Document { path, body } => {
                let (path, body) = (["/apis", "/version"][path].to_owned(), TEXTS[body].to_owned());
                let now = at(self.now);
                self.writer().document(&path, body.as_bytes(), now).expect("a document");
                if self.documents.insert(path.clone(), body.clone()).as_ref() != Some(&body) {
                    self.push(Item::Document { path: path.into(), body: body.into() });
                }
            }
            Step::Flush => {
                let now = at(self.now);
                self.writer().flush(now).expect("a flush");
                self.flushed = self.entries.len();
            }
            Step::Reopen { flushed } => self.reopen(flushed),
        }
    }

    fn change(&mut self, change: crate::lines::Change, author: Option<Author>) {
        self.writer().change(&change, author.as_ref()).expect("a change");
        let key = (change.resource.resource.clone(), change.object.key().to_string());
        match change.kind {
            ChangeKind::Deleted => self.state.remove(&key),
            _ => self.state.insert(key, Arc::clone(&change.object)),
        };
        self.push(Item::Change { change, author });
    }

    fn reopen(&mut self, flushed: bool) {
        if flushed {
            self.run(&Step::Flush);
        }
        self.writer = None;
        self.entries.truncate(self.flushed);
        self.versions.truncate(self.flushed);
        self.state = self.state_after(self.flushed);
        self.documents.clear();
        for entry in &self.entries {
            if let Item::Document { path, body } = &entry.item {
                self.documents.insert(path.to_string(), String::from_utf8_lossy(body).into_owned());
            }
        }
        self.open();
        for resource in [pods(), nodes()] {
            let objects = self.writer().objects(&resource, None);
            assert_eq!(texts(&objects), texts_of(&self.state, &resource));
        }
    }

    /// Returns the state after the first entries.
    fn state_after(&self, count: usize) -> ModelState {
        let mut state = ModelState::new();
        for entry in &self.entries[..count] {
            if let Item::Change { change, .. } = &entry.item {
                let key = (change.resource.resource.clone(), change.object.key().to_string());
                match change.kind {
                    ChangeKind::Deleted => state.remove(&key),
                    _ => state.insert(key, Arc::clone(&change.object)),
                };
            }
        }
        state
    }

    /// Returns for each object its last state with a version up to this one.
    fn state_up_to(&self, version: u64) -> ModelState {
        let mut state = ModelState::new();
        for (key, object) in self.entries.iter().filter_map(|entry| match &entry.item {
            Item::Change { change, .. } => {
                let key = (change.resource.resource.clone(), change.object.key().to_string());
                let own = change.object.resource_version().number().expect("a number");
                let is_deleted = change.kind == ChangeKind::Deleted;
                (own <= version).then(|| (key, (!is_deleted).then(|| Arc::clone(&change.object))))
            }
            _ => None,
        }) {
            match object {
                Some(object) => state.insert(key, object),
                None => state.remove(&key),
            };
        }
        state
    }

    /// Compares everything that was flushed with the model.
    fn check(&mut self) {
        // Retention would drop files while they are compared.
        self.writer().settle().expect("settled");
        let recording = Recording::open_with(self.path(), &self.keys.keyring()).expect("a recording");
        assert_eq!(recording.is_encrypted(), self.encryption.is_some());
        assert_eq!(recording.context(), "test");
        let flushed = &self.entries[..self.flushed];
        let beginning = recording.beginning().expect("a beginning");
        assert_eq!(recording.end(), flushed.last().map(|entry| entry.received));
        let read = recording.entries(None, None, EntryFilter::default()).expect("entries");
        let read: Vec<String> = read.map(|entry| entry_text(&entry.expect("an entry"))).collect();
        let first = flushed.len() - read.len();
        let expected: Vec<String> = flushed[first..].iter().map(entry_text).collect();
        assert_eq!(read, expected);
        let after = flushed.last().map(|entry| entry.received + jiff::SignedDuration::from_millis(1));
        assert!(after.is_some_and(|after| !recording.includes(after)));
        for moment in flushed.iter().map(|entry| entry.received) {
            let count = flushed.partition_point(|entry| entry.received <= moment);
            // One whose journals are not decoded yet.
            let opened = Recording::open_with(self.path(), &self.keys.keyring()).expect("a recording");
            assert_eq!(opened.includes(moment), beginning <= moment);
            let time = opened.state(Moment::Time(moment)).ok().and_then(|state| state.time());
            assert_eq!(time, (beginning <= moment).then_some(moment));
            if moment < beginning {
                let refused = recording.state(Moment::Time(moment)).map(drop);
                assert!(matches!(refused, Err(RecordingError::BeforeBeginning { .. })), "{refused:?}");
                continue;
            }
            check_state(&recording, Moment::Time(moment), &self.state_after(count));
            let until =
                recording.entries(Some(moment), Some(moment), EntryFilter::default()).expect("entries");
            let until = until.map(|entry| entry.expect("an entry").number).collect::<Vec<_>>();
            let own = flushed.iter().filter(|entry| entry.received == moment && entry.number >= first as u64);
            assert_eq!(until, own.map(|entry| entry.number).collect::<Vec<_>>());
            check_fold(&recording, Some(moment), None);
            check_fold(&recording, None, Some(moment));
            check_fold(&recording, Some(moment), Some(moment + jiff::SignedDuration::from_secs(20)));
        }
        check_state(&recording, Moment::End, &self.state_after(flushed.len()));
        // One that keeps no texts of its journals that begin after the beginning.
        let opened = Recording::open_with(self.path(), &self.keys.keyring()).expect("a recording");
        opened.read_ahead(Moment::Time(beginning));
        check_state(&opened, Moment::End, &self.state_after(flushed.len()));
        // One that keeps the texts of the first object of its journals.
        let opened = Recording::open_with(self.path(), &self.keys.keyring()).expect("a recording");
        for number in (0..8).map(|number| (number + flushed.len()) % 8) {
            let (resource, key) = resource_of(number);
            let (namespace, name) = key.split_once('/').unwrap_or(("", key));
            let history = recording.history(&resource, namespace, name).expect("a history");
            let own = |entry: &&Entry| match &entry.item {
                Item::Change { change, .. } => change.resource == resource && **change.object.key() == *key,
                _ => false,
            };
            let expected: Vec<_> = flushed[first..].iter().filter(own).map(entry_text).collect();
            assert_eq!(history.iter().map(entry_text).collect::<Vec<_>>(), expected);
            let early: Result<Vec<_>, _> =
                opened.versions(&resource, namespace, name).start_reading().collect();
            let early = early.expect("versions");
            assert_eq!(early.iter().map(entry_text).collect::<Vec<_>>(), expected);
        }
        assert_eq!(recording.verify().expect("verified"), []);
        recording.usage().expect("usage");
    }
}

/// Compares the changes of each object with those of the iterator.
fn check_fold(recording: &Recording, since: Option<Timestamp>, until: Option<Timestamp>) {
    let entries = || recording.entries(since, until, EntryFilter::default()).expect("entries").without_rows();
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Of deleted nodes only the names are read.
    let entry_of = |entry: &Entry| match &entry.item {
        Item::Change { change, .. } => {
            let key = format!("{} {}", change.resource.resource, change.object.key());
            let has_names_only = change.kind == ChangeKind::Deleted && change.resource == nodes();
            Some((key, if has_names_only { entry.number.to_string() } else { entry_text(entry) }))
        }
        _ => None,
    };
    for entry in entries() {
        if let Some((key, text)) = entry_of(&entry.expect("an entry")) {
            expected.entry(key).or_default().push(text);
        }
    }
    let folded = entries().fold_objects(&|resource| *resource != *nodes(), &|texts, entry| {
        Vec::extend(texts, entry_of(&entry));
    });
    assert!(folded.errors.is_empty(), "{:?}", folded.errors);
    let mut read: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for texts in folded.values {
        let (keys, texts): (Vec<String>, Vec<String>) = texts.into_iter().unzip();
        let other = read.insert(keys[0].clone(), texts);
        assert!(other.is_none() && keys.iter().all(|key| *key == keys[0]));
    }
    assert_eq!(read, expected);
}

fn check_state(recording: &Recording, moment: Moment, expected: &ModelState) {
    let state = recording.state(moment).expect("a state");
    for resource in [pods(), nodes()] {
        let expected = texts_of(expected, &resource);
        let objects = state.objects(&resource, None).expect("objects");
        assert_eq!(texts(&objects), expected, "{moment:?}");
        let rows = state.rows(&resource, None).expect("rows");
        let cells = |object: &Arc<Object>| object.row().map(|row| row.cells().collect::<Vec<_>>().join("|"));
        if objects.iter().all(|object| object.row().is_some()) {
            let rows = rows.expect("each object has a row");
            assert_eq!(
                rows.iter().map(cells).collect::<Vec<_>>(),
                objects.iter().map(cells).collect::<Vec<_>>()
            );
            let version =
                |object: &Arc<Object>| (Arc::clone(object.key()), object.resource_version().clone());
            assert_eq!(
                rows.iter().map(version).collect::<Vec<_>>(),
                objects.iter().map(version).collect::<Vec<_>>()
            );
        } else {
            assert!(rows.is_none());
        }
        for object in &objects {
            let one = state.object(&resource, object.namespace(), object.name()).expect("read");
            assert_eq!(one.as_deref().map(text), Some(text(object)));
        }
    }
}

fn texts(objects: &[Arc<Object>]) -> Vec<String> {
    objects.iter().map(|object| text(object)).collect()
}

fn texts_of(state: &ModelState, resource: &ApiResource) -> Vec<String> {
    let mut objects: Vec<_> =
        state.iter().filter(|((of, _), _)| *of == resource.resource).map(|(_, object)| object).collect();
    objects.sort_by_key(|object| (object.namespace(), object.name()));
    objects.into_iter().map(|object| text(object)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_recording_reads_back_as_its_model(
        options in writer_options(),
        is_encrypted in any::<bool>(),
        steps in steps(),
    ) {
        let mut model = Model::new(options, is_encrypted);
        for step in &steps {
            model.run(step);
        }
        model.run(&Step::Flush);
        model.check();
        model.reopen(true);
        model.check();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_version_selects_the_last_state_up_to_it(entries in 1..30usize, steps in steps()) {
        let mut model = Model::new(options().seal_entries(entries), entries % 2 == 0);
        for step in &steps {
            // A change that a list reveals has the version of the list, which has a test of its own.
            if !matches!(step, Step::Change { relisted: true, .. } | Step::Vanish { .. }) {
                model.run(step);
            }
        }
        model.run(&Step::Flush);
        let recording = Recording::open_with(model.path(), &model.keys.keyring()).expect("a recording");
        for version in 100..=model.version {
            match recording.state(Moment::Version(version)) {
                Ok(_) => check_state(&recording, Moment::Version(version), &model.state_up_to(version)),
                Err(error) => assert!(matches!(error, RecordingError::BeforeBeginning { .. }), "{error}"),
            }
        }
    }
}

/// Without retention and with growing versions, a version selects the same state as its time.
#[test]
fn a_version_selects_the_state_with_it() {
    let mut model = Model::new(options().seal_entries(7), false);
    for number in 0..60 {
        let deleted = number % 5 == 4;
        let (object, text, row) = (number * 3 % 8, number % 6, number % 4);
        model.run(&Step::Change { object, deleted, relisted: false, text, row, passed: 400 });
        if number % 4 == 0 {
            model.run(&Step::Synced);
            model.run(&Step::Flush);
        }
    }
    model.run(&Step::Flush);
    let recording = Recording::open_with(model.path(), &model.keys.keyring()).expect("a recording");
    for (number, version) in model.versions.iter().enumerate().skip(1) {
        let count = model.versions.partition_point(|at| at <= version);
        check_state(&recording, Moment::Version(*version), &model.state_after(count));
        let state = recording.state(Moment::Version(*version)).expect("a state");
        assert_eq!(state.version(), *version, "{number}");
    }
}
