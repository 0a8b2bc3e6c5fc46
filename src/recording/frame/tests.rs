//! Tests of frames.

use proptest::prelude::*;

use super::*;

const CONTEXT: FrameContext = FrameContext { version: 4_017, received: 1_795_489_920_345 };

fn frame_of(text: &[u8], base: &[u8], base_version: u64) -> Vec<u8> {
    let mut frame = Vec::new();
    FrameWriter::default().write(text, base, base_version, &CONTEXT, &mut frame);
    let mut read = b"before".to_vec();
    read_frame(&frame, base, base_version, &CONTEXT, &mut read).expect("a frame");
    assert_eq!(read, [b"before", text].concat());
    frame
}

#[test]
fn a_change_of_version_and_times_takes_few_bytes() {
    let text = |version: &str, time: &str, status: &str| {
        format!(
            r#"{{"metadata":{{"name":"web-1","resourceVersion":"{version}","creationTimestamp":"2026-11-20T01:02:03Z"}},"status":{{"phase":"{status}","at":"{time}","conditions":[{{"type":"Ready","at":"{time}"}}]}}}}"#
        )
    };
    let base = text("999", "2026-11-24T03:10:07Z", "Running");
    let now = text("4017", "2026-11-24T03:12:00Z", "Running");
    let frame = frame_of(now.as_bytes(), base.as_bytes(), 999);
    assert!(frame.len() <= 16, "{frame:?}");
    assert_eq!(frame_of(base.as_bytes(), base.as_bytes(), 999).len(), 4, "the same text");
    let longer = text("4017", "2026-11-24T03:12:00Z", "Succeeded in the end");
    assert!(frame_of(longer.as_bytes(), base.as_bytes(), 999).len() <= 42);
}

#[test]
fn a_text_without_a_base_is_its_own_frame() {
    assert_eq!(frame_of(b"", b"", 0).len(), 1);
    assert!(frame_of(br#"{"a":"2026-11-24T03:12:00Z"}"#, b"", 0).len() <= 31);
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(
            &[
                r#""resourceVersion":"4017","#,
                r#""resourceVersion":"401","#,
                r#""time":"2026-11-24T03:12:00Z","#,
                r#""time":"2026-11-24T03:12:09.123456Z","#,
                r#""time":"2026-02-31T03:12:09Z","#,
                r#"{"name":"web-7d9f8c-abcde","namespace":"shop"}"#,
                "\"",
                "4017\"",
            ][..]
        )
        .prop_map(str::to_owned),
        "[a-c\"0-9]{0,12}",
    ]
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..12).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_text_is_read_back(text in text(), base in text(), version in prop::sample::select(&[0u64, 401, 4017][..])) {
        frame_of(&text, &base, version);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(frame in prop::collection::vec(any::<u8>(), 0..40), base in text()) {
        let mut read = Vec::new();
        let _ = read_frame(&frame, &base, u64::MAX, &CONTEXT, &mut read);
    }

    #[test]
    fn damaged_frames_are_read_without_a_panic(text in text(), base in text(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut frame = frame_of(&text, &base, 401);
        let at = at.index(frame.len());
        frame[at] = byte;
        let mut read = Vec::new();
        let _ = read_frame(&frame, &base, 401, &CONTEXT, &mut read);
    }
}
