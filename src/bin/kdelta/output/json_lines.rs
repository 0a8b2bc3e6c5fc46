//! JSON lines on stdout.
//!
//! Each line is buffered and written with a single `write` and a flush, so that a reader of the pipe receives whole
//! lines at once.

use std::io::{self, Write};

use kdelta::lines::{Change, LineOptions, LineWriter, Mark};
use kdelta::object::ResourceVersion;

use super::json::write;

/// Writes JSON lines.
#[derive(Default)]
pub(crate) struct JsonLines {
    lines: LineWriter,
    /// Whether a terminal displays the lines, so that text of the cluster must be escaped.
    for_terminal: bool,
    line: Vec<u8>,
}

impl JsonLines {
    /// Creates a writer with these options.
    pub(crate) fn new(options: LineOptions, for_terminal: bool) -> Self {
        Self { lines: LineWriter::new(options), for_terminal, line: Vec::new() }
    }

    /// Writes a delta. `resume` is the version up to which its collection has been printed, if known.
    ///
    /// # Errors
    /// `out` failed; the line may be partially written.
    pub(crate) fn change(
        &mut self,
        change: &Change,
        resume: Option<&ResourceVersion>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.line.clear();
        self.lines.change(change, resume, &mut self.line);
        self.write(out)
    }

    /// Writes a delta with its recorded author: the manager, and the subresource or an empty text.
    ///
    /// # Errors
    /// As [`JsonLines::change`].
    pub(crate) fn change_by(
        &mut self,
        author: Option<(&str, &str)>,
        change: &Change,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.line.clear();
        self.lines.change_by(author, change, None, &mut self.line);
        self.write(out)
    }

    /// Writes a mark.
    ///
    /// # Errors
    /// As [`JsonLines::change`].
    pub(crate) fn mark(
        &mut self,
        mark: &Mark,
        resume: Option<&ResourceVersion>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        self.line.clear();
        self.lines.mark(mark, resume, &mut self.line);
        self.write(out)
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write(&self.line, self.for_terminal, out)?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::lines::MarkKind;
    use kdelta::object::ApiResource;

    use super::*;

    /// Counts the writes: one per line.
    #[derive(Default)]
    struct Counted {
        text: Vec<u8>,
        writes: usize,
        flushes: usize,
    }

    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.writes += 1;
            self.text.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.flushes += 1;
            Ok(())
        }
    }

    #[test]
    fn line_is_one_flushed_write() {
        let (mut lines, mut out) = (JsonLines::default(), Counted::default());
        let mark = Mark {
            kind: MarkKind::Synced { version: "20".into() },
            resource: Arc::new(ApiResource {
                group: "apps".into(),
                version: "v1".into(),
                resource: "deployments".into(),
                kind: "Deployment".into(),
                namespaced: true,
            }),
            context: "prod".into(),
            namespace: "".into(),
            name: None,
            received: "2026-11-21T10:00:00Z".parse().expect("a time"),
        };
        for _ in 0..3 {
            lines.mark(&mark, None, &mut out).expect("it takes all");
        }
        assert_eq!((out.writes, out.flushes), (3, 3));
        let text = String::from_utf8(out.text).expect("text");
        let starts: Vec<&str> = text.lines().filter_map(|line| line.split(",\"ts\"").next()).collect();
        assert_eq!(starts, [r#"{"v":1,"seq":1"#, r#"{"v":1,"seq":2"#, r#"{"v":1,"seq":3"#]);
    }
}
