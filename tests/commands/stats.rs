//! The output of `--stats`.

use crate::support::TestEnv;

/// Returns the number before a word in the line with this prefix.
fn number(stderr: &str, line: &str, word: &str) -> u64 {
    let line = stderr.lines().find(|each| each.starts_with(line)).expect(stderr);
    let words: Vec<&str> = line.split([' ', ',', ';', '(', ')']).collect();
    let at = words.iter().position(|each| *each == word).expect(line);
    words[at - 1].parse().expect(line)
}

#[test]
fn stats_of_an_index_and_of_a_plain_get() {
    let env = TestEnv::new();
    let run = |arguments: &[&str]| {
        let ended = env.kdelta(arguments).finish();
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        ended.stderr
    };
    let index =
        ["index", "pods", "-A", "--by", "field:status.phase", "--demo", "--objects", "3000", "--stats"];
    let output = run(&index);
    // The demo changes by itself: objects may be added or removed before the end.
    let objects = number(&output, "in memory:", "objects");
    assert!(objects >= 3000 && number(&output, "received:", "objects") >= objects, "{output}");
    let (text, held) = (number(&output, "in memory:", "bytes"), number(&output, "in memory:", "held"));
    assert!(text > objects * 500 && held < text / 4, "{output}");
    assert!(number(&output, "received:", "bytes") > text);
    // Discovery, the version, and the list or the pages of it.
    assert!((3..=12).contains(&number(&output, "received:", "requests")), "{output}");

    let output = run(&["get", "pods", "-A", "-o", "json", "--demo", "--objects", "3000", "--stats"]);
    assert!(
        number(&output, "received:", "objects") >= 3000 && output.contains("the first after"),
        "{output}"
    );
    assert!(!output.contains("in memory:"), "nothing is kept: {output}");
    assert_eq!(output.contains("peak memory:"), cfg!(target_os = "linux"), "{output}");
    assert!(!run(&["get", "pods", "--demo"]).contains("received:"));
}

#[test]
fn watch_has_no_stats() {
    let ended = TestEnv::new().kdelta(&["get", "pods", "-w", "--stats", "--demo"]).finish();
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("--stats"), "{}", ended.stderr);
}
