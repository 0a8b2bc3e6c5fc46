//! The states of a writer that continues a recording.

use std::sync::Arc;

use super::fixtures::{at, change, object, options, pods, row, synced};
use crate::lines::ChangeKind;
use crate::recording::Writer;

#[test]
fn states_of_a_continued_recording_are_compressed_and_shared() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = Writer::open(dir.path(), "test", options(), at(0)).expect("a writer");
    let text = "text ".repeat(200);
    for number in 0..20u64 {
        let pod = object(&pods(), &format!("a/web-{number:02}"), 1 + number, &text);
        let pod = pod.with_row(row(&["web", "1/1"]));
        writer.change(&change(&pods(), ChangeKind::Added, pod, 0), None).expect("a change");
    }
    writer.mark(&synced(&pods(), 21, 0)).expect("a mark");
    writer.finish(at(1)).expect("finished");
    let mut writer = Writer::open(dir.path(), "test", options(), at(2)).expect("a writer");
    let first = writer.share_objects(&pods(), None);
    let second = writer.share_objects(&pods(), Some("a"));
    assert_eq!(first.len(), 20);
    for (one, other) in first.iter().zip(&second) {
        assert!(Arc::ptr_eq(one, other) && one.is_compressed());
        assert_eq!(one.row().expect("a row").cells().collect::<Vec<_>>(), ["web", "1/1"]);
    }
}
