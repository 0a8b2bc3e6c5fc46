//! Tests of frames.

use proptest::prelude::*;

use super::*;

const CONTEXT: FrameContext<'_> =
    FrameContext { version: 4_017, received: 1_795_489_920_345, name: "web-7d9f8c-abcde", base_name_len: 11 };

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

#[test]
fn the_name_takes_a_byte() {
    let text = |name: &str| {
        format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop","labels":{{"app":"web"}}}}}}"#)
    };
    let frame = frame_of(text("web-7d9f8c-abcde").as_bytes(), text("web-1234567").as_bytes(), 0);
    assert!(frame.len() <= 5, "{frame:?}");
    frame_of(text("web-7d9f8c-abcde").as_bytes(), text("web-7d9f8c-abcdefgh").as_bytes(), 0);
    frame_of(text("web-7d9f8c-abcde").as_bytes(), text("x").as_bytes(), 0);
}

/// An endpoint of a slice, as its controller writes it.
fn endpoint(random: &mut fastrand::Rng) -> String {
    let address = format!("10.{}.{}.{}", random.u8(..), random.u8(..), random.u8(..));
    let (uid, name) = (random.u128(..), random.u32(0x1000_0000..));
    format!(
        r#"{{"addresses":["{address}"],"conditions":{{"ready":true,"serving":true,"terminating":false}},"nodeName":"node-{}","targetRef":{{"kind":"Pod","namespace":"shop","name":"web-7d9f8c-{name:x}","uid":"{uid:032x}"}}}}"#,
        random.u8(..)
    )
}

#[test]
fn an_endpoint_that_moves_to_the_end_takes_few_bytes() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut endpoints: Vec<String> = (0..59).map(|_| endpoint(&mut random)).collect();
    let text =
        |endpoints: &[String]| format!(r#"{{"kind":"EndpointSlice","endpoints":[{}]}}"#, endpoints.join(","));
    let base = text(&endpoints);
    let moved = endpoints.remove(20).replacen("true", "false", 2);
    endpoints.push(moved);
    let frame = frame_of(text(&endpoints).as_bytes(), base.as_bytes(), 0);
    assert!(frame.len() <= 48, "{} bytes: {frame:?}", frame.len());
    // Another endpoint takes its random part: a uid of 16 bytes, a name, an address.
    endpoints.pop();
    endpoints.push(endpoint(&mut random));
    let frame = frame_of(text(&endpoints).as_bytes(), base.as_bytes(), 0);
    assert!(frame.len() <= 96, "{} bytes: {frame:?}", frame.len());
}

#[test]
fn random_digits_take_half_of_their_length() {
    let (one, other) = ("0123456789abcdef".repeat(4), "fedcba9876543210".repeat(4));
    let text = |id: &str| format!(r#"{{"containerID":"containerd://{id}","ready":true}}"#);
    let frame = frame_of(text(&one).as_bytes(), text(&other).as_bytes(), 0);
    assert!(frame.len() <= 42, "{} bytes: {frame:?}", frame.len());
    let without = r#"{"containerID":"","ready":true}"#;
    let frame = frame_of(text(&one).as_bytes(), without.as_bytes(), 0);
    assert!(frame.len() <= 60, "{} bytes: {frame:?}", frame.len());
}

#[test]
fn a_small_frame_reads_as_a_bounded_text() {
    // A length of 256 MB, and a base that is copied again and again.
    let base = vec![b'x'; 1 << 20];
    let mut frame = Vec::new();
    crate::recording::bytes::put_number(&mut frame, 256 << 20);
    for _ in 0..256 {
        crate::recording::bytes::put_number(&mut frame, (1 << 20) << 2 | COPY);
        crate::recording::bytes::put_number(&mut frame, SEEK << 2 | OTHER);
        crate::recording::bytes::put_signed(&mut frame, -(1 << 20));
    }
    let mut read = Vec::new();
    assert_eq!(read_frame(&frame, &base, 0, &CONTEXT, &mut read), None);
    assert_eq!(read.capacity(), 0, "the length alone is refused");
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
                "\"containerd://0123456789abcdef0123456789abcdef\"",
                "\"containerd://9123456789abcdef0123456789abcde0\"",
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
