//! Which documents of the sources a merge takes: a body that several recorders received is taken once.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use super::merge_source::LAG;

/// The last bodies of each document of the merged recording.
#[derive(Debug, Default)]
pub(super) struct MergedDocuments(HashMap<Arc<str>, Bodies>);

impl MergedDocuments {
    /// Returns whether a body that a source received is new to the merged recording, which has it then. It is not new if the
    /// merged recording had it [`LAG`] before that time or later, and not before the body that the source received last:
    /// recorders receive the bodies of a document in the same order.
    pub(super) fn insert(
        &mut self,
        source: usize,
        path: &Arc<str>,
        body: &Bytes,
        received: Timestamp,
    ) -> bool {
        let bodies = self.0.entry(Arc::clone(path)).or_default();
        bodies.drop_before(received.checked_sub(LAG).unwrap_or(Timestamp::MIN));
        bodies.insert(source, body, received)
    }
}

/// The last bodies of one document, in their order.
#[derive(Debug, Default)]
struct Bodies {
    kept: VecDeque<(Timestamp, Bytes)>,
    /// The number of bodies that were dropped before those that are kept.
    dropped: usize,
    /// The number of the body that each source received last.
    last: HashMap<usize, usize>,
}

impl Bodies {
    /// Drops the bodies that others replaced before a time.
    fn drop_before(&mut self, time: Timestamp) {
        while self.kept.get(1).is_some_and(|(replaced, _)| *replaced < time) {
            self.kept.pop_front();
            self.dropped += 1;
        }
    }

    fn insert(&mut self, source: usize, body: &Bytes, received: Timestamp) -> bool {
        let last = self.last.get(&source).map_or(0, |last| last.saturating_sub(self.dropped));
        let known = self.kept.iter().skip(last).position(|(_, known)| known == body);
        let place = known.map_or(self.kept.len(), |after| last + after);
        self.last.insert(source, self.dropped + place);
        if known.is_none() {
            self.kept.push_back((received, body.clone()));
        }
        known.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bodies that are taken, of sources that receive them at seconds.
    fn taken(received: &[(usize, &'static str, i64)]) -> String {
        let mut documents = MergedDocuments::default();
        let mut taken = |source, body: &'static str, second| {
            let time = Timestamp::from_second(second).expect("a time");
            documents.insert(source, &"/api".into(), &Bytes::from_static(body.as_bytes()), time)
        };
        received
            .iter()
            .filter(|(source, body, second)| taken(*source, body, *second))
            .map(|of| of.1)
            .collect()
    }

    #[test]
    fn body_that_several_sources_receive_is_taken_once() {
        let behind = [(0, "a", 0), (0, "b", 1), (1, "a", 1), (0, "c", 2), (1, "b", 2), (1, "c", 3)];
        assert_eq!(taken(&behind), "abc");
        let in_turn = [(0, "a", 0), (1, "a", 0), (0, "b", 1), (1, "b", 2), (1, "c", 3), (0, "c", 4)];
        assert_eq!(taken(&in_turn), "abc");
    }

    #[test]
    fn body_that_returns_is_taken_again() {
        let first_leads = [(0, "a", 0), (1, "a", 0), (0, "b", 1), (0, "a", 2), (1, "b", 2), (1, "a", 3)];
        assert_eq!(taken(&first_leads), "aba");
        let second_leads = [(0, "a", 0), (1, "a", 0), (0, "b", 1), (1, "b", 2), (1, "a", 3), (0, "a", 4)];
        assert_eq!(taken(&second_leads), "aba");
    }

    #[test]
    fn body_of_a_later_recorder_is_taken_if_it_was_replaced_long_before() {
        assert_eq!(taken(&[(0, "a", 0), (0, "b", 1), (1, "a", 60)]), "aba");
        assert_eq!(taken(&[(0, "a", 0), (1, "a", 60)]), "a");
    }
}
