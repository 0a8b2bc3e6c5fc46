//! `kdelta recording`: info, verify, cut, merge, export and import.

use std::fs::{self, File};
use std::path::Path;

use kdelta::lines::ChangeKind;
use serde_json::Value;

use super::{Recordings, at, pod, resource};
use crate::support::{Finished, Recorder, synced};

impl Recordings {
    /// Runs a tool on the directory `rec` and others in the home directory.
    pub(super) fn tool(&self, line: &str) -> Finished {
        let place = |word: &str| match word.strip_prefix('@') {
            Some(name) => self.env.home().join(name).to_string_lossy().into_owned(),
            None => word.to_owned(),
        };
        let words: Vec<String> =
            ["recording"].into_iter().chain(line.split_whitespace()).map(place).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.env.kdelta(&words).env("TZ", "UTC").finish()
    }

    /// Runs a tool that makes recordings, and returns what it reports.
    #[track_caller]
    pub(super) fn report(&self, line: &str) -> String {
        let finished = self.tool(line);
        assert_eq!((finished.code, finished.stdout.as_str()), (0, ""), "{}", finished.stderr);
        finished.stderr
    }

    /// Returns the names of the pods in another directory.
    pub(super) fn names_in(&self, dir: &str, line: &str) -> String {
        let dir = self.env.home().join(dir);
        let dir = dir.to_str().expect("UTF-8");
        let words: Vec<&str> =
            ["get", "pods", "-o", "name", "--from", dir].into_iter().chain(line.split_whitespace()).collect();
        self.env.kdelta(&words).finish().quiet_success()
    }
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

/// Flips a bit in the middle of a file.
fn damage(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("written");
}

fn file_in(dir: &Path, extension: &str) -> std::path::PathBuf {
    let files = fs::read_dir(dir).expect("a directory").map(|file| file.expect("a file").path());
    let mut files = files.filter(|path| path.extension().is_some_and(|of| of == extension));
    files.next().expect(extension)
}

#[test]
fn info_has_range_gaps_and_counts() {
    let recordings = Recordings::of(&["dev", "prod/eu"]);
    let text = recordings.tool("info @rec --context prod/eu").quiet_success();
    for expected in [
        "Context:  prod/eu\n",
        "Range:    2026-11-24T03:00:00Z to 2026-11-24T04:00:00Z (60m)\n",
        "Gaps:     1\n  2026-11-24T03:30:00Z to 2026-11-24T03:40:00Z (10m): pods\n",
        "TYPE     OBJECTS   VERSIONS   BODIES",
        "events   1         1 ",
        "pods     2         5 ",
    ] {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
    let json = recordings.tool("info @rec -o json").quiet_success();
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["contexts"].as_array().map(Vec::len), Some(2), "{json}");
    let context = &json["contexts"][1];
    assert_eq!((&context["context"], &context["entries"]), (&"prod/eu".into(), &13.into()), "{json}");
    assert_eq!(context["gaps"][0]["resource"], "pods", "{json}");
    assert_eq!(context["types"][1]["versions"], 5, "{json}");
    let yaml = recordings.tool("info @rec -o yaml").quiet_success();
    assert!(yaml.contains("- bytes: ") && yaml.contains("  context: dev\n"), "{yaml}");
}

#[test]
fn info_includes_the_journal() {
    let recordings = Recordings::of(&["prod"]);
    let pods = resource("pods", "Pod");
    let mut recorder = Recorder::new(&recordings.dir, "dev", at(0));
    for number in 1..100 {
        recorder.json(ChangeKind::Added, &pods, &pod(&format!("web-{number}"), number, "Running"), at(0));
    }
    recorder.mark(synced(100), &pods, at(0));
    recorder.flush(at(1));
    let json = recordings.tool("info @rec -o json").quiet_success();
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let bytes = |context: &Value, name: &str| context[name].as_u64().expect("a number");
    let [dev, prod] = [0, 1].map(|number| &json["contexts"][number]);
    let (journal, of_pods) = (bytes(dev, "journalBytes"), bytes(&dev["types"][0], "journalBytes"));
    assert!(journal / 2 < of_pods && of_pods <= journal, "{dev}");
    assert_eq!(bytes(&prod["types"][0], "journalBytes"), 0, "{prod}");
    let text = recordings.tool("info @rec --context dev").quiet_success();
    let row = text.lines().find(|line| line.starts_with("pods ")).expect("a row");
    assert!(text.contains(" KEYFRAMES   JOURNAL\n") && !row.ends_with(" 0 B"), "{text}");
    recorder.finish(at(2));
}

#[test]
fn verify_lists_damages_and_fails() {
    let recordings = Recordings::of(&["dev", "prod"]);
    let text = recordings.tool("verify @rec").quiet_success();
    let sound = |context: &str| format!("{context}: no damage in ");
    assert!(text.starts_with(&sound("dev")) && text.contains(&sound("\nprod")), "{text}");
    assert_eq!(text.matches(" files with 13 entries\n").count(), 2, "{text}");
    recordings.report("cut @rec --context dev --to @new");
    let segment = file_in(&Recorder::path(&recordings.env.home().join("new"), "dev"), "segment");
    damage(&segment);
    let finished = recordings.tool("verify @new");
    assert!(finished.stdout.starts_with("FILE "), "{}", finished.stdout);
    let file = segment.to_string_lossy().into_owned();
    let row = finished.stdout.lines().find(|line| line.starts_with(&file)).expect("the file");
    assert!(row.contains("2026-11-24T03:00:00Z   2026-11-24T04:00:00Z"), "{row}");
    assert_eq!(finished.code, 1);
    assert!(finished.stderr.contains("of the recording"), "{}", finished.stderr);
    let json = recordings.tool("verify @new -o json").stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["contexts"][0]["damages"][0]["file"], file, "{json}");
    // Damaged parts are never copied.
    let error = recordings.tool("cut @new --to @copy").failure(1);
    assert!(error.contains("damaged at byte"), "{error}");
    assert!(!Recorder::path(&recordings.env.home().join("copy"), "dev").exists());
}

#[test]
fn info_and_verify_continue_after_an_unreadable_context() {
    let recordings = Recordings::of(&["dev", "prod", "test"]);
    newer(&file_in(&Recorder::path(&recordings.dir, "dev"), "segment"));
    let newer_format = |stderr: &str| {
        let line = stderr.lines().find(|line| line.starts_with("dev: error: ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{stderr}")).contains("format 99 is newer than this program")
    };
    let info = recordings.tool("info @rec");
    assert_eq!(info.code, 4, "{}", info.stderr);
    assert!(newer_format(&info.stderr), "{}", info.stderr);
    assert!(!info.stdout.contains("dev") && info.stdout.contains("Context:  test\n"), "{}", info.stdout);
    let verify = recordings.tool("verify @rec");
    assert_eq!(verify.code, 1, "{}", verify.stderr);
    assert!(newer_format(&verify.stderr), "{}", verify.stderr);
    assert_eq!(verify.stdout.matches(": no damage in ").count(), 2, "{}", verify.stdout);
    for tool in ["info", "verify"] {
        let error = recordings.tool(&format!("{tool} @rec --context dev")).failure(1);
        assert!(error.starts_with("error: ") && error.contains("format 99 is newer"), "{error}");
    }
}

/// Makes a file one of a newer format.
fn newer(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    bytes[8] = 99;
    let checksum = crc32fast::hash(&bytes[..12]).to_le_bytes();
    bytes[12..16].copy_from_slice(&checksum);
    fs::write(path, bytes).expect("written");
}

#[test]
fn invalid_parts_are_errors() {
    let recordings = Recordings::of(&["prod"]);
    for (line, code, expected) in [
        ("cut @rec --to @rec", 1, "there is a recording already"),
        ("export @rec svc", 1, "\"svc\" was not recorded, the recording has: events, pods"),
        (
            "export @rec --since 2026-11-24T05:00:00Z",
            1,
            "--since 2026-11-24T05:00:00Z is outside of the recording of the context \"prod\"",
        ),
        ("export @rec --until 2026-11-24T05:00:00Z", 1, "--until 2026-11-24T05:00:00Z is outside of"),
        ("export @rec --since -1m --until -2m", 2, "--until is before --since"),
        ("export @rec --context dev", 1, "the context \"dev\" was not recorded"),
        ("info @missing", 1, "No such file"),
        ("info @", 1, "not a recording"),
        ("info", 2, "recording info needs a directory of recordings"),
        ("show @rec", 2, "recording has no tool \"show\""),
        ("merge @rec", 2, "recording merge needs --to"),
        ("info @rec --since -1m", 2, "recording info has no flag --since, which is for cut and export"),
        ("info @rec --from @rec", 2, "recording can't read a recording"),
    ] {
        let error = recordings.tool(line).failure(code);
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn exported_lines_become_the_same_recording() {
    let recordings = Recordings::of(&["dev", "prod/eu"]);
    let exported = recordings.tool("export @rec").quiet_success();
    let lines = json_lines(&exported);
    let of_prod: Vec<String> = lines
        .iter()
        .filter(|line| line["context"] == "prod/eu")
        .map(|line| {
            format!("{} {}", line["type"].as_str().unwrap_or_default(), line["name"].as_str().unwrap_or("-"))
        })
        .collect();
    assert_eq!(
        of_prod,
        [
            "ADDED web",
            "SYNCED -",
            "ADDED e",
            "SYNCED -",
            "ADDED late",
            "MODIFIED web",
            "GAP -",
            "DELETED late",
            "ADDED new"
        ]
    );
    assert!(lines.iter().enumerate().all(|(number, line)| line["seq"] == number + 1), "{exported}");
    assert!(lines.is_sorted_by_key(|line| line["ts"].to_string()), "{exported}");
    recordings.env.file("lines.json", &exported);
    let report = recordings.report("import @lines.json --to @new");
    assert!(report.contains("dev: ") && report.contains("prod/eu: "), "{report}");
    for moment in ["", "--at 2026-11-24T03:10:00Z", "--at rv:10"] {
        let line = format!("--context prod/eu {moment}");
        assert_eq!(recordings.names_in("new", &line), recordings.names_in("rec", &line), "{moment}");
    }
    let again = recordings.tool("export @new").quiet_success();
    assert_eq!(again, exported);
    let since = recordings
        .tool("export @rec pods --context dev --since 2026-11-24T03:15:00Z --until 2026-11-24T03:20:00Z");
    let since = json_lines(&since.quiet_success());
    let types: Vec<_> = since.iter().map(|line| line["type"].as_str().unwrap_or_default()).collect();
    assert_eq!(types, ["ADDED", "ADDED", "SYNCED", "MODIFIED"], "{since:?}");
}

#[test]
fn watch_output_is_imported_from_a_pipe() {
    let recordings = Recordings::of(&["prod"]);
    let lines = recordings.run("watch pods -o json --at rv:20").quiet_success();
    let file = recordings.env.file("lines", &lines);
    let dir = recordings.env.home().join("new");
    let words = ["recording", "import", "-", "--to", dir.to_str().expect("UTF-8")];
    let import = recordings.env.kdelta(&words).stdin(File::open(file).expect("lines"));
    let finished = import.finish();
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert_eq!(recordings.names_in("new", ""), "pod/late\npod/web\n");
    // Without recorded cells, a table has names and ages.
    let dir = dir.to_str().expect("UTF-8");
    let table = recordings.env.kdelta(&["get", "pods", "--from", dir]).finish().quiet_success();
    assert!(table.starts_with("NAME   ") && table.contains("web"), "{table}");
}

#[test]
fn other_text_is_refused_with_its_line() {
    let recordings = Recordings::of(&["prod"]);
    let table = recordings.run("get pods").quiet_success();
    recordings.env.file("table", &table);
    let error = recordings.tool("import @table --to @new").failure(1);
    assert!(error.contains("table: line 1: it is no JSON line of `watch -o json`"), "{error}");
    let names =
        recordings.run("watch pods -o json --fields v,ts,type,name,context,group,version,kind,resource");
    recordings.env.file("names", &names.quiet_success());
    let error = recordings.tool("import @names --to @new").failure(1);
    assert!(error.contains("line 1: the field \"object\" is missing"), "{error}");
    recordings.env.file("empty", "\n\n");
    let error = recordings.tool("import @empty --to @new").failure(1);
    assert!(error.contains("there are no lines to import"), "{error}");
    assert!(!recordings.env.home().join("new").join("prod").exists());
}

#[test]
fn merged_parts_are_the_whole() {
    let recordings = Recordings::of(&["dev", "prod"]);
    recordings.report("cut @rec --until 2026-11-24T03:15:00Z --to @one");
    recordings.report("cut @rec --since 2026-11-24T03:15:00Z --context prod --to @two");
    recordings.report("merge @two @one --to @new");
    let of = |dir: &str, context: &str| {
        recordings.tool(&format!("export {dir} --context {context}")).quiet_success()
    };
    assert_eq!(of("@new", "prod"), of("@rec", "prod"));
    assert_eq!(of("@new", "dev"), of("@one", "dev"));
    // A recorder that began later, after changes that no recorder received.
    let mut recorder = Recorder::new(&recordings.env.home().join("later"), "dev", at(90));
    let pods = super::resource("pods", "Pod");
    let later = super::pod("later", 90, "Running");
    recorder.json(kdelta::lines::ChangeKind::Added, &pods, &later, at(90));
    recorder.mark(crate::support::synced(95), &pods, at(90));
    recorder.finish(at(91));
    recordings.report("merge @rec @later --context dev --to @all");
    assert_eq!(recordings.names_in("all", ""), "pod/later\n");
    let lines = json_lines(&of("@all", "dev"));
    let gap = lines.iter().rfind(|line| line["type"] == "GAP").expect("a gap");
    assert_eq!((&gap["to"], &gap["seconds"]), (&"95".into(), &1800.0.into()), "{gap}");
}

#[test]
fn cut_hides_the_values_of_secrets() {
    let recordings = Recordings::of(&["prod"]);
    let secrets = super::resource("secrets", "Secret");
    let mut recorder = Recorder::new(&recordings.env.home().join("bare"), "prod", at(0));
    let secret = |version: u64, value: &str| {
        serde_json::json!({
            "metadata": {"name": "db", "namespace": "default", "uid": "u", "resourceVersion": version.to_string()},
            "data": {"password": value}, "type": "Opaque",
        })
    };
    recorder.json(kdelta::lines::ChangeKind::Added, &secrets, &secret(5, "czNjcjN0"), at(0));
    recorder.mark(crate::support::synced(5), &secrets, at(0));
    recorder.json(kdelta::lines::ChangeKind::Modified, &secrets, &secret(6, "bjN3"), at(1));
    recorder.finish(at(1));
    let lines = |dir: &str| recordings.tool(&format!("export {dir}")).quiet_success();
    assert!(lines("@bare").contains("czNjcjN0"));
    recordings.report("cut @bare --to @hashed");
    let hashed = lines("@hashed");
    let values: Vec<Value> = json_lines(&hashed)
        .iter()
        .map(|line| line["object"]["data"]["password"].clone())
        .filter(Value::is_string)
        .collect();
    assert!(values.len() == 2 && values[0] != values[1], "{hashed}");
    assert!(!hashed.contains("czNjcjN0") && !hashed.contains("bjN3"), "{hashed}");
    recordings.report("cut @hashed --to @again");
    assert_eq!(lines("@again"), hashed);
    recordings.report("cut @bare --secrets drop --redact type --to @none");
    let none = lines("@none");
    assert!(!none.contains("password") && !none.contains("Opaque"), "{none}");
    recordings.report("cut @bare --secrets keep --to @kept");
    assert_eq!(lines("@kept"), lines("@bare"));
}
