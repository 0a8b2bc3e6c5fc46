//! Indices and slices.

use super::{assert_errors, assert_outputs};

const FOUR: &str = r#"{"c":[{"name":"0"},{"name":"1"},{"name":"2"},{"name":"3"}]}"#;

#[test]
fn slices_match_client_go() {
    assert_outputs(
        FOUR,
        &[
            ("{.c[0].name}", "0"),
            ("{.c[].name}", "0"),
            ("{.c[0:0].name}", ""),
            ("{.c[0:-1].name}", "0 1 2"),
            ("{.c[-1].name}", "3"),
            ("{.c[-1:].name}", "3"),
            ("{.c[-2].name}", "2"),
            ("{.c[-2:].name}", "2 3"),
            ("{.c[-3].name}", "1"),
            ("{.c[-4].name}", "0"),
            ("{.c[-4:].name}", "0 1 2 3"),
            ("{.c[5:5].name}", ""),
            ("{.c[-5:-5].name}", ""),
            ("{.c[:2].name}", "0 1"),
            ("{.c[0:].name}", "0 1 2 3"),
            ("{.c[0:4:].name}", "0 1 2 3"),
            ("{.c[0:4:1].name}", "0 1 2 3"),
            ("{.c[:4:2].name}", "0 2"),
            ("{.c[::2].name}", "0 2"),
            ("{.c[1::2].name}", "1 3"),
            ("{.c[1:4:3].name}", "1"),
            ("{.c[0:4:4].name}", "0"),
            ("{.c[0:4:9223372036854775807].name}", "0"),
        ],
    );
}

#[test]
fn slices_outside_of_the_array_are_errors() {
    assert_errors(
        FOUR,
        &[
            ("{.c[5]}", "array index out of bounds: index 5, length 4"),
            ("{.c[-5]}", "array index out of bounds: index -1, length 4"),
            ("{.c[1:9]}", "array index out of bounds: index 8, length 4"),
            ("{.c[-1:0]}", "starting index 3 is greater than ending index 0"),
            ("{.c[3:1]}", "starting index 3 is greater than ending index 1"),
            ("{.c[-1:-2]}", "starting index 3 is greater than ending index 2"),
            ("{.c[0:4:0]}", "step must be > 0"),
            ("{.c[0:4:-1]}", "step must be > 0"),
            ("{.c[9223372036854775807]}", "array index out of bounds: index 9223372036854775807, length 4"),
        ],
    );
    assert_errors(r#"{"a":[1,2]}"#, &[("{.a[5]}", "array index out of bounds: index 5, length 2")]);
}

#[test]
fn first_empty_slice_ends_the_selection() {
    let pods = r#"[{"c":[1,2]},{"c":null},{"c":[]},{"c":[3]}]"#;
    assert_outputs(pods, &[("{[*].c[*]}", "1 2"), ("{range [*]}{.c[*]};{end}", "1 2;;;3;")]);
}
