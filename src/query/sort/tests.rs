//! Tests of sorting: kubectl's cases, its comparison, and Go's order of items.

use std::cell::Cell;
use std::convert::Infallible;

use proptest::prelude::*;

use super::order::go_sort;
use super::*;

/// Sorts objects in both kinds of list, checks that the results are equal, and returns the new positions or the error.
fn order(expression: &str, objects: &[&str]) -> Result<Vec<usize>, String> {
    let sorted = |items| {
        let by = SortBy::parse(expression, items)?;
        let mut list = Vec::new();
        for (at, object) in objects.iter().enumerate() {
            list.push((by.key(&JsonValue::parse(object.as_bytes()))?, at));
        }
        by.sort(&mut list)?;
        Ok(list.into_iter().map(|(_, at)| at).collect::<Vec<_>>())
    };
    let rows = sorted(SortedItems::Rows);
    let objects = sorted(SortedItems::Objects).map_err(|error: SortError| error.to_string());
    if let (Ok(rows), Ok(objects)) = (&rows, &objects) {
        assert_eq!(rows, objects);
    }
    objects
}

/// Sorts objects `{"x":VALUE}`.
fn order_of(values: &[&str]) -> Result<Vec<usize>, String> {
    let objects: Vec<_> = values
        .iter()
        .map(|value| if value.is_empty() { "{}".to_owned() } else { format!("{{\"x\":{value}}}") })
        .collect();
    order(".x", &objects.iter().map(String::as_str).collect::<Vec<_>>())
}

fn error(expression: &str, items: SortedItems, object: &str) -> String {
    let by = match SortBy::parse(expression, items) {
        Ok(by) => by,
        Err(error) => return error.to_string(),
    };
    by.key(&JsonValue::parse(object.as_bytes())).expect_err("the expression fails").to_string()
}

#[test]
fn kubectl_cases_are_sorted() {
    let pods = |resource: &str, values: &[&str]| -> Vec<String> {
        let requests = |value: &&str| {
            if value.is_empty() { String::new() } else { format!(r#""{resource}":"{value}""#) }
        };
        let pod = |value: &&str| {
            format!(r#"{{"spec":{{"containers":[{{"resources":{{"requests":{{{}}}}}}}]}}}}"#, requests(value))
        };
        values.iter().map(pod).collect()
    };
    let cases: &[(&str, Vec<String>, &[usize])] = &[
        ("{.metadata.name}", vec![], &[]),
        (
            "{.metadata.name}",
            ["b", "c", "a"].map(|name| format!(r#"{{"metadata":{{"name":"{name}"}}}}"#)).into(),
            &[2, 0, 1],
        ),
        (
            "metadata.creationTimestamp",
            ["00:05:00", "00:01:40", "00:03:20"]
                .map(|time| format!(r#"{{"metadata":{{"creationTimestamp":"1970-01-01T{time}Z"}}}}"#))
                .into(),
            &[1, 2, 0],
        ),
        (
            ".spec.replicas",
            [5, 1, 9].map(|count| format!(r#"{{"spec":{{"replicas":{count}}}}}"#)).into(),
            &[1, 0, 2],
        ),
        (
            "{.status.availableReplicas}",
            [r#"{"availableReplicas":2}"#, "{}", r#"{"availableReplicas":1}"#]
                .map(|status| format!(r#"{{"status":{status}}}"#))
                .into(),
            &[1, 2, 0],
        ),
        (
            "{.lastTimestamp}",
            vec![
                r#"{"lastTimestamp":"1970-01-01T00:05:00Z"}"#.to_owned(),
                r#"{"lastTimestamp":null}"#.to_owned(),
            ],
            &[1, 0],
        ),
        (
            "{.spec.containers[].resources.requests.cpu}",
            pods("cpu", &["0.5", "10", "100m", ""]),
            &[3, 2, 0, 1],
        ),
        (
            "{.spec.containers[].resources.requests.memory}",
            pods("memory", &["128Mi", "10Ei", "8Ti", "64Gi", "55Pi", "2Ki", ""]),
            &[6, 5, 0, 3, 2, 4, 1],
        ),
    ];
    for (expression, objects, expected) in cases {
        let objects: Vec<_> = objects.iter().map(String::as_str).collect();
        assert_eq!(order(expression, &objects).as_deref(), Ok(*expected), "{expression}");
    }
}

#[test]
fn absent_field_is_an_error() {
    let objects = [r#"{"status":{"replicas":0}}"#, r#"{"status":{"replicas":0}}"#];
    assert_eq!(
        order(".status.available", &objects),
        Err(r#"couldn't find any field with path "{.status.available}" in the list of objects"#.to_owned())
    );
}

#[test]
fn null_is_before_values_and_after_missing() {
    assert_eq!(order_of(&["true", "null", ""]), Ok(vec![2, 1, 0]));
    assert_eq!(order_of(&["null", "[1]"]), Ok(vec![0, 1]));
}

#[test]
fn floats_are_sorted() {
    assert_eq!(order_of(&["1.5", "-1e300", "9223372036854775808", "0.5"]), Ok(vec![1, 3, 0, 2]));
}

#[test]
fn texts_are_quantities_only_in_pairs() {
    assert_eq!(order_of(&[r#""10""#, r#""9""#]), Ok(vec![1, 0]));
    assert_eq!(order_of(&[r#""10a""#, r#""9""#]), Ok(vec![0, 1]));
    assert_eq!(order_of(&[r#""web-10""#, r#""web-9""#]), Ok(vec![0, 1]));
    // Equal quantities keep their order here, as 12 items are sorted by insertion.
    assert_eq!(order_of(&[r#""1000m""#, r#""1""#, r#""k""#, r#""0""#]), Ok(vec![2, 3, 0, 1]));
}

#[test]
fn values_that_cannot_be_compared_are_errors() {
    for (values, reason) in [
        (["1", "1.5"], "unsortable interface: interface"),
        (["true", "\"a\""], "unsortable interface: interface"),
        (["1", "true"], "unsortable type: bool"),
        (["false", "true"], "unsortable type: bool"),
        (["{}", "[]"], "unsortable type: []interface {}"),
        (["[]", "{}"], "unsortable type: map[string]interface {}"),
    ] {
        let message = format!(
            "Field {{.x}} in *unstructured.Unstructured is an unsortable type: interface, err: {reason}"
        );
        assert_eq!(order_of(&values), Err(message), "{values:?}");
        assert_eq!(order_of(&values[..1]), Ok(vec![0]), "one value is not compared");
    }
}

#[test]
fn rows_have_errors_of_their_own() {
    let object = r#"{"x":[1]}"#;
    assert_eq!(error(".x[5]", SortedItems::Objects, object), "array index out of bounds: index 5, length 1");
    assert_eq!(
        error(".x[5]", SortedItems::Rows, object),
        "Failed to get values for [][]reflect.Value(nil) using {.x[5]} (&errors.errorString{s:\"array index out of bounds: index 5, length 1\"})"
    );
    assert!(error("{.x", SortedItems::Objects, object).starts_with("unexpected path string, expected a "));
    assert_eq!(error("{.x", SortedItems::Rows, object), "sorting error: unclosed action");
    let by = SortBy::parse(".x", SortedItems::Rows).expect("a path");
    let mut list = ["[1]", "true"].map(|value| (SortKey::of(&JsonValue::parse(value.as_bytes())), ()));
    assert_eq!(
        by.sort(&mut list).expect_err("arrays").to_string(),
        "Field {.x} in [][][]reflect.Value is an unsortable type: interface, err: unsortable type: bool"
    );
}

#[test]
fn first_part_of_a_template_sorts_rows() {
    let by = SortBy::parse("{.x}{.y}", SortedItems::Rows).expect("a template");
    assert_eq!(
        by.key(&JsonValue::parse(br#"{"x":1,"y":2}"#)).expect("a value"),
        SortKey::of(&JsonValue::Int(1))
    );
}

/// Numbers by position and length.
const PATTERNS: [fn(usize, usize) -> usize; 5] =
    [|i, _| i % 7, |i, n| i.min(n - i), |i, n| (n - i) / 3, |i, _| i * i % 61, |i, _| i ^ 1];

// The hashes were computed with Go's `sort.Sort`.
#[test]
fn order_of_equal_items_is_that_of_go() {
    for (length, hashes) in [
        (13, [1_010_398_570, 2_720_478_994, 3_582_393_128, 3_835_146_510, 2_544_513_810]),
        (50, [1_444_203_685, 1_077_249_905, 4_061_849_547, 1_197_200_503, 56_953_095]),
        (200, [1_247_528_406, 1_136_803_628, 663_614_838, 3_601_431_082, 1_196_699_420]),
        (1000, [152_203_850, 1_229_664_392, 1_530_785_424, 2_068_641_322, 4_038_900_620]),
    ] {
        for (pattern, hash) in PATTERNS.iter().zip(hashes) {
            let numbers: Vec<_> = (0..length).map(|i| pattern(i, length)).collect();
            let items = sorted_by(&numbers, |a, b| a < b);
            assert!(items.is_sorted_by_key(|at| numbers[*at]));
            assert_eq!(order_hash(&items), hash, "{length}");
        }
    }
}

#[test]
fn order_of_a_comparison_that_is_none_is_that_of_go() {
    for (length, hashes) in [
        (13, [1_929_737_826, 1_739_492_496, 434_451_104, 42_597_862, 1_167_046_576]),
        (50, [2_063_071_117, 3_225_005_181, 2_176_042_995, 22_775_007, 2_154_565_591]),
        (200, [3_946_144_582, 2_732_938_960, 1_050_459_804, 1_655_373_190, 3_658_287_224]),
        (1000, [1_560_327_242, 3_412_854_984, 4_259_557_912, 4_230_283_170, 3_951_904_404]),
    ] {
        for (pattern, hash) in PATTERNS.iter().zip(hashes) {
            // As missing fields, zeros are below everything, also below each other.
            let odd = |number: usize| if number.is_multiple_of(2) { 0 } else { number };
            let numbers: Vec<_> = (0..length).map(|i| odd(pattern(i, length))).collect();
            let items = sorted_by(&numbers, |a, b| a == 0 || b != 0 && a < b);
            assert_eq!(order_hash(&items), hash, "{length}");
        }
    }
}

/// Returns the positions of the numbers in sorted order.
fn sorted_by(numbers: &[usize], is_less: fn(usize, usize) -> bool) -> Vec<usize> {
    let mut items: Vec<_> = (0..numbers.len()).collect();
    let Ok(()) = go_sort(&mut items, |a, b| Ok::<_, Infallible>(is_less(numbers[*a], numbers[*b])));
    items
}

fn order_hash(positions: &[usize]) -> u32 {
    let at = |position: &usize| u32::try_from(*position).expect("small");
    positions.iter().fold(0, |hash: u32, position| hash.wrapping_mul(31).wrapping_add(at(position)))
}

#[test]
fn keys_are_small() {
    assert_eq!(size_of::<SortKey>(), 24);
}

/// JSON values of one type, among which kubectl's comparison is an order.
fn values_of_one_type() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![
        prop::collection::vec((-20..20_i64).prop_map(|number| number.to_string()), 0..120),
        prop::collection::vec((-1e3..1e3_f64).prop_map(|number| format!("{number:?}")), 0..120),
        prop::collection::vec("[0-9]{1,3}(m|Ki|)".prop_map(|text| format!("\"{text}\"")), 0..120),
        prop::collection::vec("x[a-c0-9]{0,3}".prop_map(|text| format!("\"{text}\"")), 0..120),
        prop::collection::vec(
            "2024-0[1-9]-1[0-9]T00:00:0[0-9]Z".prop_map(|text| format!("\"{text}\"")),
            0..120
        ),
    ]
}

fn keys(values: &[String]) -> Vec<SortKey> {
    values.iter().map(|value| SortKey::of(&JsonValue::parse(value.as_bytes()))).collect()
}

proptest! {
    #[test]
    fn values_of_one_type_are_in_order(values in values_of_one_type(), nulls in 0..3_usize) {
        let mut values = values;
        values.extend(std::iter::repeat_n("null".to_owned(), nulls));
        let mut list: Vec<_> = keys(&values).into_iter().zip(0..).collect();
        SortBy::parse(".x", SortedItems::Objects).expect("a path").sort(&mut list).expect("an order");
        for (at, (a, _)) in list.iter().enumerate() {
            for (b, _) in &list[at..] {
                prop_assert!(!b.is_less(a).expect("one type"), "{:?} before {:?}", a, b);
            }
        }
        let mut positions: Vec<usize> = list.iter().map(|(_, at)| *at).collect();
        positions.sort_unstable();
        prop_assert!(positions.into_iter().eq(0..values.len()));
    }

    #[test]
    fn short_lists_keep_equal_values_in_place(values in prop::collection::vec(0..4_i64, 0..=12)) {
        let mut list: Vec<_> = values.iter().map(|value| SortKey::of(&JsonValue::Int(*value))).zip(0..).collect();
        SortBy::parse(".x", SortedItems::Rows).expect("a path").sort(&mut list).expect("integers");
        let mut expected: Vec<_> = values.iter().zip(0..).collect();
        expected.sort_by_key(|(value, _)| **value);
        prop_assert!(list.iter().map(|(_, at)| at).eq(expected.iter().map(|(_, at): &(_, usize)| at)));
    }

    #[test]
    fn any_comparison_ends(seed in any::<u64>(), length in 0..3_000_usize, bias in 0..8_u64) {
        let comparisons = Cell::new(0_usize);
        let mut state = seed | 1;
        let mut items: Vec<_> = (0..length).collect();
        let Ok(()) = go_sort(&mut items, |_, _| {
            comparisons.set(comparisons.get() + 1);
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Ok::<_, Infallible>(state >> 61 < bias)
        });
        let log = length.max(2).ilog2() as usize + 1;
        prop_assert!(comparisons.get() <= 4 * (length + 16) * log * log, "{}", comparisons.get());
        items.sort_unstable();
        prop_assert!(items.into_iter().eq(0..length));
    }

    #[test]
    fn mixed_values_never_panic(values in prop::collection::vec(prop::sample::select(vec![
        "", "null", "true", "1", "1.5", "\"1\"", "\"x\"", "\"10\"", "\"9a\"", "[]", "{}",
    ]), 0..40)) {
        let objects: Vec<_> = values
            .iter()
            .map(|value| if value.is_empty() { "{}".to_owned() } else { format!("{{\"x\":{value}}}") })
            .collect();
        let _ = order(".x", &objects.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
