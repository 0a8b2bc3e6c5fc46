//! Tests of the splitter on lists that are cut, malformed or arbitrary.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::wire::frames::testing::{cut, document, text};

/// The parts of a list: its pieces by name, and its elements.
#[derive(Debug, Default, PartialEq)]
struct Parts {
    members: Vec<(&'static str, Value)>,
    items: Vec<Value>,
    rows: Vec<Value>,
}

fn parts(body: &[u8], cuts: &[usize]) -> Result<Parts, Error> {
    let parse = |json: &[u8]| serde_json::from_slice::<Value>(json).expect("a whole value");
    let mut parts = Parts::default();
    pieces(body, cuts, |piece| match piece {
        Piece::Metadata(json) => parts.members.push(("metadata", parse(json))),
        Piece::Kind(json) => parts.members.push(("kind", parse(json))),
        Piece::ApiVersion(json) => parts.members.push(("apiVersion", parse(json))),
        Piece::Columns(json) => parts.members.push(("columnDefinitions", parse(json))),
        Piece::Item(json) => parts.items.push(parse(json)),
        Piece::Row(json) => parts.rows.push(parse(json)),
    })?;
    parts.members.sort_by_key(|(name, _)| *name);
    Ok(parts)
}

fn pieces(body: &[u8], cuts: &[usize], mut seen: impl FnMut(Piece<'_>)) -> Result<(), Error> {
    let mut splitter = ListSplitter::new(Limits::default());
    for mut chunk in cut(body, cuts) {
        while let Some(piece) = splitter.next(&mut chunk)? {
            seen(piece);
        }
        assert!(chunk.is_empty(), "a chunk was left over");
    }
    splitter.finish()
}

/// Returns the pieces and the final result. With `plainly`, items of plain JSON are decoded in place.
fn read(body: &[u8], cuts: &[usize], limits: Limits, plainly: bool) -> (Vec<Vec<u8>>, Option<String>) {
    let mut splitter = ListSplitter::new(limits);
    let mut read = Vec::new();
    let plain = |front: &[u8]| {
        let mut values = serde_json::Deserializer::from_slice(front).into_iter::<serde::de::IgnoredAny>();
        let is_one = plainly && front[0] == b'{' && values.next().is_some_and(|value| value.is_ok());
        is_one.then(|| (front[..values.byte_offset()].to_vec(), values.byte_offset()))
    };
    for mut chunk in cut(body, cuts) {
        loop {
            match splitter.read(&mut chunk, plain) {
                Ok(Some(Next::Read(item))) => read.push(item),
                Ok(Some(Next::Piece(
                    Piece::Metadata(text)
                    | Piece::Kind(text)
                    | Piece::ApiVersion(text)
                    | Piece::Columns(text)
                    | Piece::Item(text)
                    | Piece::Row(text),
                ))) => read.push(text.to_vec()),
                Ok(None) => break,
                Err(error) => return (read, Some(error.to_string())),
            }
        }
        assert!(chunk.is_empty(), "a chunk was left over");
    }
    (read, splitter.finish().err().map(|error| error.to_string()))
}

const NAMES: [&str; 7] = ["items", "metadata", "kind", "apiVersion", "status", "columnDefinitions", "zeta"];

/// Formats an object with these members in this order; `serde_json` itself would sort them.
fn object(members: &[(&str, &Value)], pretty: bool) -> String {
    let gap = if pretty { "\n\t " } else { "" };
    let members: Vec<_> = members
        .iter()
        .map(|(name, value)| format!("{gap}\"{name}\"{gap}:{gap}{}{gap}", text(value, pretty)))
        .collect();
    format!("{gap}{{{}}}{gap}", members.join(","))
}

proptest! {
    #[test]
    fn elements_do_not_depend_on_cuts(
        items in prop::collection::vec(document(), 0..6),
        others in prop::collection::vec(document(), 6),
        order in Just(NAMES.to_vec()).prop_shuffle(),
        table: bool,
        pretty: bool,
        cuts in prop::collection::vec(0usize..4000, 0..20),
    ) {
        let elements = Value::from(items.clone());
        let mut rest = others.iter();
        let members: Vec<_> = order
            .iter()
            .map(|name| match *name {
                "items" if table => ("rows", &elements),
                "items" => ("items", &elements),
                name => (name, rest.next().expect("enough")),
            })
            .collect();
        let found = parts(object(&members, pretty).as_bytes(), &cuts).expect("a list");
        prop_assert_eq!(if table { &found.rows } else { &found.items }, &items);
        for (name, value) in members {
            if ["metadata", "kind", "apiVersion", "columnDefinitions"].contains(&name) {
                prop_assert!(found.members.iter().any(|member| member == &(name, value.clone())));
            }
        }
    }

    #[test]
    fn items_decoded_in_place_equal_scanned_items(
        items in prop::collection::vec(document(), 0..8),
        pretty: bool,
        lost in prop::option::of(any::<prop::sample::Index>()),
        cuts in prop::collection::vec(0usize..2000, 0..20),
    ) {
        let mut body = object(&[("metadata", &Value::from("m")), ("items", &Value::from(items))], pretty);
        if let Some(lost) = lost {
            let at = lost.index(body.len());
            let at = (0..=at).rev().find(|at| body.is_char_boundary(*at)).unwrap_or_default();
            body.remove(at);
        }
        let limits = Limits { frame: 300, ..Limits::default() };
        let expected = read(body.as_bytes(), &cuts, limits, false);
        prop_assert_eq!(read(body.as_bytes(), &cuts, limits, true), expected);
        let whole = read(body.as_bytes(), &[], limits, true);
        prop_assert_eq!(whole, read(body.as_bytes(), &[], limits, false));
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        body: Vec<u8>,
        near in "\\{\"items\":\\[[{}\\[\\]\",:\\\\a1 ]{0,40}",
        cuts in prop::collection::vec(0usize..100, 0..9),
    ) {
        let _ = pieces(&body, &cuts, |_| ());
        let _ = pieces(near.as_bytes(), &cuts, |_| ());
    }
}

#[test]
fn small_items_are_decoded_in_place_around_a_cut_item() {
    let mut splitter = ListSplitter::new(Limits::default());
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(10_000));
    let body = format!(r#"{{"items":[{large},{{"b":1}},{large},{{"b":2}},{{"b":3}}]}}"#);
    let mut read = Vec::new();
    for mut chunk in body.as_bytes().chunks(15_000) {
        while let Some(next) = splitter
            .read(&mut chunk, |front| {
                let mut values =
                    serde_json::Deserializer::from_slice(front).into_iter::<serde::de::IgnoredAny>();
                values.next()?.ok()?;
                Some(((), values.byte_offset()))
            })
            .expect("a list")
        {
            read.push(matches!(next, Next::Read(())));
        }
    }
    // The second item is not tried: another one of that length would not be complete. Nor is the third, which is
    // cut.
    assert_eq!(read, [true, false, false, false, true]);
}

#[test]
fn every_cut_of_a_small_list_gives_the_same_parts() {
    let body = br#"{"}":0,"kind":"PodList","items":[{"a":"\\\"]}"}, 12 ,null,"x",[[]]],"it\u0065ms2":{"items":[1]},"metadata":{"continue":"t"}}"#;
    let whole = parts(body, &[]).expect("a list");
    assert_eq!(whole.items.len(), 5);
    for at in 0..body.len() {
        assert_eq!(parts(body, &[at]).expect("a list"), whole, "cut at {at}");
        assert_eq!(parts(body, &[at, at + 1]).expect("a list"), whole, "cut around {at}");
    }
}

#[test]
fn element_within_a_chunk_is_borrowed() {
    let body = br#"{"items":[{"a":1}]}"#;
    pieces(body, &[], |piece| match piece {
        Piece::Item(item) => assert_eq!(item.as_ptr(), body[10..].as_ptr()),
        other => panic!("{other:?}"),
    })
    .expect("a list");
}

#[test]
fn list_with_null_or_empty_items_is_empty() {
    for body in
        [r#"{"items":null}"#, r#"{"items":[]}"#, r#"{ "it\u0065ms" : [ ] }"#, r#"{"rows":null,"a":1}"#]
    {
        for at in 0..body.len() {
            assert_eq!(parts(body.as_bytes(), &[at]).expect(body), Parts::default());
        }
    }
}

#[test]
fn other_bodies_are_not_lists() {
    for body in
        ["", "{}", r#"{"kind":"Status","metadata":{}}"#, "404 page not found", "<html>", "[1]", "null"]
    {
        let error = parts(body.as_bytes(), &[]).expect_err(body);
        assert!(matches!(error, Error::Decode(_)) != body.is_empty(), "{body}: {error}");
        assert!(!error.to_string().contains("html"), "{error}");
    }
}

#[test]
fn broken_lists_are_refused_with_their_position() {
    for (body, place) in [
        (r#"{"items":[1 2]}"#, 12),
        (r#"{"items":[1,]}"#, 12),
        (r#"{"items":[,1]}"#, 10),
        (r#"{"items":{"a":1}}"#, 9),
        (r#"{"items":"secret"}"#, 9),
        (r#"{"items" [1]}"#, 9),
        ("{items:[]}", 1),
        (r#"{"items":[]}}"#, 12),
        (r#"{"items":[]} secret"#, 13),
        (r#"{"items":[],}"#, 12),
        (r#"{"a":,"items":[]}"#, 5),
        (r#"{"items":[],"items":[1]}"#, 19),
    ] {
        let error = parts(body.as_bytes(), &[]).expect_err(body).to_string();
        assert!(error.contains(&format!("byte {place}:")), "{body}: {error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn incomplete_list_is_an_error() {
    let body = br#"{"items":[{"a":1},{"b":"x"}],"metadata":{}}"#;
    for end in 0..body.len() {
        assert!(matches!(parts(&body[..end], &[]), Err(Error::Transport(_))), "{end}");
    }
}

#[test]
fn limits_apply_to_elements_but_not_to_skipped_members() {
    let run = |body: &str, size: usize| {
        let mut splitter = ListSplitter::new(Limits { frame: 20, depth: 2 });
        for mut chunk in body.as_bytes().chunks(size) {
            while splitter.next(&mut chunk)?.is_some() {}
        }
        splitter.finish()
    };
    for size in [1, 7, 100] {
        let skipped = format!(r#"{{"other":"{}","items":[]}}"#, "x".repeat(15));
        run(&skipped, size).expect("a list");
        for body in [r#"{"items":["0123456789abcdefghij"]}"#, r#"{"items":[[[[1]]]]}"#] {
            assert!(matches!(run(body, size), Err(Error::Decode(_))), "{body} {size}");
        }
    }
}
