//! Tests of the widths, headers and marks of tables.

use super::block::KEPT_CELLS;
use super::pieces::PIECE;
use super::*;

fn resource(group: &str, plural: &str, kind: &str) -> Arc<ApiResource> {
    Arc::new(ApiResource {
        group: group.into(),
        version: "v1".into(),
        resource: plural.into(),
        kind: kind.into(),
        namespaced: true,
    })
}

fn columns(names: &[&str]) -> Arc<[Column]> {
    names.iter().map(|name| Column { name: (*name).into(), format: String::new(), priority: 0 }).collect()
}

fn line(resource: &Arc<ApiResource>, names: &[&str], cells: &[&str]) -> Line {
    Line { resource: Arc::clone(resource), columns: columns(names), cells: cells.iter().collect() }
}

struct Printed {
    table: Table,
    out: Vec<u8>,
}

impl Printed {
    fn new(extent: Extent) -> Self {
        Self { table: Table::new(Layout::default(), true, extent, false), out: Vec::new() }
    }

    fn lines(&mut self, resource: &Arc<ApiResource>, names: &[&str], rows: &[&[&str]]) {
        for cells in rows {
            self.table.line(line(resource, names, cells), &mut self.out).expect("a Vec takes all");
        }
    }

    fn text(&mut self) -> String {
        self.table.flush(&mut self.out).expect("a Vec takes all");
        String::from_utf8(std::mem::take(&mut self.out)).expect("text")
    }
}

const GADGETS: &[&str] = &["Name", "Note", "Size", "Last"];

// kubectl 1.32's output for these cells.
#[test]
fn table_layout_matches_kubectl() {
    let gadgets = resource("demo.kdelta.dev", "gadgets", "Gadget");
    let mut printed = Printed::new(Extent::Finite);
    printed.lines(
        &gadgets,
        GADGETS,
        &[
            &["a", "plain", "1.5", ""],
            &["c", "first...", "", "日本"],
            &["longer-name-b", "evil ^[[31m red", "", "has\ttab"],
        ],
    );
    assert_eq!(
        printed.text(),
        "NAME            NOTE              SIZE   LAST\n\
         a               plain             1.5    \n\
         c               first...                 日本\n\
         longer-name-b   evil ^[[31m red          has   tab\n"
    );
}

#[test]
fn huge_cell_shifts_only_its_line() {
    let (huge, wide) = ("x".repeat(MAX_WIDTH + 1), "y".repeat(MAX_WIDTH));
    let mut printed = Printed::new(Extent::Finite);
    printed.lines(&resource("", "pods", "Pod"), &["Name", "Last"], &[&["a", "1"], &[&huge, "2"]]);
    assert_eq!(printed.text(), format!("NAME   LAST\na      1\n{huge}   2\n"));
    printed.lines(&resource("", "pods", "Pod"), &["Name", "Last"], &[&["a", "3"], &[&wide, "4"]]);
    assert_eq!(printed.text(), format!("a{}   3\n{wide}   4\n", " ".repeat(MAX_WIDTH - 1)));
}

#[test]
fn waiting_lines_are_bounded_by_size() {
    let mut printed = Printed::new(Extent::Finite);
    let huge = "x".repeat(1 << 20);
    let rows = vec![[huge.as_str(), "1"]; (MAX_WAITING_BYTES >> 20) + 1];
    let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).collect();
    printed.lines(&resource("", "pods", "Pod"), &["Name", "Last"], &rows);
    assert!(printed.out.len() >= MAX_WAITING_BYTES && printed.table.block.text_len() < 2 << 20);
}

// The same with -L app,x.y/tier --show-labels.
#[test]
fn width_counts_characters_and_tab_splits_cell() {
    let gadgets = resource("demo.kdelta.dev", "gadgets", "Gadget");
    let names = &["Name", "Note", "Size", "Last", "App", "Tier", "Labels"];
    let mut printed = Printed::new(Extent::Finite);
    printed.lines(
        &gadgets,
        names,
        &[
            &["a", "plain", "1.5", "", "web", "front", "app=web,x.y/tier=front"],
            &["c", "first...", "", "日本", "db", "", "app=db"],
            &["longer-name-b", "evil ^[[31m red", "", "has\ttab", "", "", "<none>"],
        ],
    );
    assert_eq!(
        printed.text(),
        "NAME            NOTE              SIZE   LAST   APP   TIER    LABELS\n\
         a               plain             1.5           web   front   app=web,x.y/tier=front\n\
         c               first...                 日本     db            app=db\n\
         longer-name-b   evil ^[[31m red          has    tab                 <none>\n"
    );
}

#[test]
fn groups_have_separate_widths() {
    let (pods, services) = (resource("", "pods", "Pod"), resource("", "services", "Service"));
    let mut printed = Printed::new(Extent::Finite);
    printed.lines(&pods, &["Name", "Age"], &[&["pod/a-rather-long-name", "1s"]]);
    printed.lines(&services, &["Name", "Type", "Age"], &[&["service/x", "ClusterIP", "1s"]]);
    assert_eq!(
        printed.text(),
        "NAME                     AGE\n\
         pod/a-rather-long-name   1s\n\
         \n\
         NAME        TYPE        AGE\n\
         service/x   ClusterIP   1s\n"
    );
}

#[test]
fn names_have_their_kinds_if_several_types_were_listed() {
    let pods = resource("", "pods", "Pod");
    let services = resource("", "services", "Service");
    let deployments = resource("apps", "deployments", "Deployment");
    let printed = |parts: &[(&Arc<ApiResource>, &[&str])], listed: &[&Arc<ApiResource>]| {
        let mut printed = Printed::new(Extent::Finite);
        printed.table.layout.kind = KindPrefix::IfSeveral;
        for (resource, names) in parts {
            for name in *names {
                let mut cells: Cells = [*name, "1s"].into_iter().collect();
                cells.set_name(0);
                let line = Line { cells, ..line(resource, &["Name", "Age"], &[]) };
                printed.table.line(line, &mut printed.out).expect("a Vec takes all");
            }
        }
        for resource in listed {
            printed.table.listed(resource);
        }
        printed.text()
    };
    assert_eq!(printed(&[(&pods, &["a", "b"])], &[]), "NAME   AGE\na      1s\nb      1s\n");
    assert_eq!(printed(&[(&pods, &["a"])], &[&pods]), "NAME   AGE\na      1s\n");
    assert_eq!(printed(&[(&pods, &["a"])], &[&pods, &services]), "NAME    AGE\npod/a   1s\n");
    assert_eq!(
        printed(&[(&deployments, &["a", "bc"]), (&pods, &["d"])], &[]),
        "NAME                 AGE\ndeployment.apps/a    1s\ndeployment.apps/bc   1s\n\nNAME    AGE\npod/d   1s\n"
    );
}

#[test]
fn no_headers_means_no_empty_lines() {
    let (pods, services) = (resource("", "pods", "Pod"), resource("", "services", "Service"));
    let mut printed = Printed::new(Extent::Finite);
    printed.table.headers = false;
    printed.lines(&pods, &["Name", "Age"], &[&["pod/a", "1s"]]);
    printed.lines(&services, &["Name", "Age"], &[&["service/x", "1s"]]);
    assert_eq!(printed.text(), "pod/a   1s\nservice/x   1s\n");
}

#[test]
fn stream_widths_only_grow() {
    let pods = resource("", "pods", "Pod");
    let mut printed = Printed::new(Extent::Endless);
    printed.lines(&pods, &["Name", "Age"], &[&["abc", "1s"]]);
    assert_eq!(printed.text(), "NAME   AGE\nabc    1s\n");
    printed.lines(&pods, &["Name", "Age"], &[&["a-longer-name", "1s"]]);
    assert_eq!(printed.text(), "a-longer-name   1s\n");
    printed.lines(&pods, &["Name", "Age"], &[&["abc", "2s"]]);
    assert_eq!(printed.text(), "abc             2s\n");
}

#[test]
fn alternating_kinds_keep_widths() {
    let (pods, services) = (resource("", "pods", "Pod"), resource("", "services", "Service"));
    let mut printed = Printed::new(Extent::Endless);
    printed.lines(&pods, &["Name", "Age"], &[&["a-longer-name", "1s"]]);
    printed.lines(&services, &["Name", "Type", "Age"], &[&["x", "ClusterIP", "1s"]]);
    printed.text();
    printed.lines(&pods, &["Name", "Age"], &[&["b", "1s"]]);
    assert_eq!(printed.text(), "NAME            AGE\nb               1s\n");
    // Equal headings of another kind need no new header.
    printed.lines(&resource("", "secrets", "Secret"), &["Name", "Age"], &[&["s", "1s"]]);
    assert_eq!(printed.text(), "s               1s\n");
}

#[test]
fn kinds_with_one_header_share_widths_in_a_block() {
    let (pods, nodes) = (resource("", "pods", "Pod"), resource("", "nodes", "Node"));
    let mut printed = Printed::new(Extent::Endless);
    printed.lines(&pods, &["Name", "Age"], &[&["a", "1s"]]);
    printed.lines(&nodes, &["Name", "Age"], &[&["a-longer-name", "1s"]]);
    printed.lines(&pods, &["Name", "Age"], &[&["b", "1s"]]);
    assert_eq!(
        printed.text(),
        "NAME            AGE\na               1s\na-longer-name   1s\nb               1s\n"
    );
}

#[test]
fn empty_table_writes_nothing() {
    let mut printed = Printed::new(Extent::Finite);
    assert_eq!(printed.text(), "");
}

#[test]
fn short_line_ends_missing_columns() {
    let pods = resource("", "pods", "Pod");
    let mut printed = Printed::new(Extent::Finite);
    printed.lines(&pods, &["A", "B", "C"], &[&["1", "2", "3"], &["a-long-cell"], &["1", "22222222", "3"]]);
    assert_eq!(
        printed.text(),
        "A     B     C\n\
         1     2     3\n\
         a-long-cell\n\
         1     22222222   3\n"
    );
}

#[test]
fn stream_keeps_widths_and_colours_abnormal_cells() {
    let pods = resource("", "pods", "Pod");
    let mut table = Table::new(Layout::default(), true, Extent::Endless, true);
    let mut written = Vec::new();
    for (name, status) in
        [("a", "Running"), ("longer-than-a", "Pending"), ("b", "CrashLoopBackOff"), ("c", "Running")]
    {
        let mut out = Vec::new();
        table.line(line(&pods, &["Name", "Status", "Age"], &[name, status, "1s"]), &mut out).expect("fine");
        if status == "Pending" {
            table.remark("+ x: 1", None, false);
        }
        assert_eq!(out, b"", "it waits for the flush");
        table.flush(&mut out).expect("a Vec takes all");
        written.push(String::from_utf8(out).expect("text"));
    }
    assert_eq!(
        written,
        [
            "NAME   STATUS    AGE\na      Running   1s\n",
            "longer-than-a   \x1b[33mPending\x1b[0m   1s\n  + x: 1\n",
            "b               \x1b[31mCrashLoopBackOff\x1b[0m   1s\n",
            "c               Running            1s\n",
        ]
    );
}

#[test]
fn front_column_is_before_all_others() {
    let pods = resource("", "pods", "Pod");
    let table = Table::new(Layout::default(), true, Extent::Endless, true).with_front(Some("TIME"));
    let (mut table, mut out) = (table, Vec::new());
    for (time, status) in [("10:00", "Running"), ("10:01", "Pending")] {
        table.set_front(time.to_owned());
        table.line(line(&pods, &["Name", "Status"], &["a", status]), &mut out).expect("a Vec takes all");
    }
    table.flush(&mut out).expect("a Vec takes all");
    assert_eq!(
        String::from_utf8(out).expect("text"),
        "TIME    NAME   STATUS\n10:00   a      Running\n10:01   a      \x1b[33mPending\x1b[0m\n"
    );
}

#[test]
fn note_stands_between_lines_and_needs_no_header() {
    let pods = resource("", "pods", "Pod");
    let (mut table, mut out) = (Table::new(Layout::default(), true, Extent::Endless, true), Vec::new());
    table.note("none");
    table.flush(&mut out).expect("a Vec takes all");
    table.line(line(&pods, &["Name", "Age"], &["a", "1s"]), &mut out).expect("a Vec takes all");
    table.note("then");
    table.line(line(&pods, &["Name", "Age"], &["abcd", "1s"]), &mut out).expect("a Vec takes all");
    table.flush(&mut out).expect("a Vec takes all");
    assert_eq!(
        String::from_utf8(out).expect("text"),
        "\x1b[2mnone\x1b[0m\nNAME   AGE\na      1s\n\x1b[2mthen\x1b[0m\nabcd   1s\n"
    );
}

#[test]
fn rows_of_a_terminal_are_clipped_to_its_current_width() {
    use std::cell::Cell;
    thread_local!(static COLUMNS: Cell<Option<usize>> = const { Cell::new(Some(20)) });
    let pods = resource("", "pods", "Pod");
    let width = RowWidth::of(|| COLUMNS.get());
    let mut table = Table::new(Layout::default(), false, Extent::Endless, false).clipped(width);
    let mut written = Vec::new();
    for columns in [Some(20), Some(12), None, Some(60)] {
        COLUMNS.set(columns);
        let cells = &["abcdefghijklmnop", "Running"];
        let mut out = Vec::new();
        table.line(line(&pods, &["Name", "Status"], cells), &mut out).expect("a Vec takes all");
        table.flush(&mut out).expect("a Vec takes all");
        written.push(String::from_utf8(out).expect("text"));
    }
    let whole = "abcdefghijklmnop   Running\n";
    assert_eq!(written, ["abcdefghi…   Running\n", "abcdefg…   …\n", whole, whole]);
}

/// Counts the written pieces, which must end with whole lines.
#[derive(Default)]
struct Pieces {
    text: Vec<u8>,
    longest: usize,
    count: usize,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        assert!(bytes.ends_with(b"\n"), "half a line");
        self.longest = self.longest.max(bytes.len());
        self.count += 1;
        self.text.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn large_table_is_written_in_pieces_and_frees_memory() {
    let pods = resource("", "pods", "Pod");
    let mut table = Table::new(Layout::default(), false, Extent::Endless, false);
    let mut out = Pieces::default();
    for number in 0..20_000 {
        let name = format!("{number:>10}-of-many");
        table.line(line(&pods, &["Name", "Age"], &[&name, "1s"]), &mut out).expect("a Vec takes all");
    }
    table.line(line(&pods, &["Name", "Age"], &["a-name-wider-than-all", "1s"]), &mut out).expect("fine");
    table.flush(&mut out).expect("a Vec takes all");
    let text = String::from_utf8(out.text).expect("text");
    assert_eq!(text.lines().count(), 20_001);
    assert!(text.lines().all(|line| line.len() == "a-name-wider-than-all   1s".len()));
    assert!(out.count > 5 && out.longest < PIECE + 100, "{} of {}", out.count, out.longest);
    let [text, cells, lines] = table.block.capacities();
    assert!(text <= PIECE && cells.max(lines) <= KEPT_CELLS);
    assert!(table.text.capacity() <= PIECE);
}

#[test]
fn failed_lines_are_not_written_again() {
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut printed = Printed::new(Extent::Endless);
    printed.lines(&resource("", "pods", "Pod"), &["Name", "Age"], &[&["lost", "1s"]]);
    printed.table.flush(&mut Broken).expect_err("no reader");
    printed.lines(&resource("", "pods", "Pod"), &["Name", "Age"], &[&["next", "1s"]]);
    assert_eq!(printed.text(), "next   1s\n");
}
