//! The output of calls that run at the same time: whole lines, each with the name of its object.

use std::cell::RefCell;
use std::io::{self, Write};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::commands::Reporter;
use crate::view::escape_line;

/// The length of a line above which it is printed in parts.
const MAX_LINE: usize = 64 * 1024;

/// The streams to which the lines of calls are printed.
pub(super) struct ChildOutput<'a> {
    /// A cell: calls print their lines in turn.
    pub(super) out: RefCell<&'a mut dyn Write>,
    /// Whether standard output is a terminal.
    pub(super) is_terminal: bool,
    pub(super) reporter: &'a Reporter,
}

impl ChildOutput<'_> {
    /// Prints the standard output of a call.
    pub(super) async fn stdout(&self, title: &str, from: Option<impl AsyncRead + Unpin>) {
        each_line(from, |line| {
            let text = prefixed(title, line, self.is_terminal);
            let mut out = self.out.borrow_mut();
            // An error is ignored: the run ends when the reader of standard output closes.
            let _ = out.write_all(&text).and_then(|()| out.flush());
        })
        .await;
    }

    /// Prints the standard error of a call.
    pub(super) async fn stderr(&self, title: &str, from: Option<impl AsyncRead + Unpin>) {
        let messages = self.reporter.messages();
        each_line(from, |line| messages.raw(&prefixed(title, line, messages.has_reader()))).await;
    }
}

fn prefixed(title: &str, line: &[u8], is_terminal: bool) -> Vec<u8> {
    if is_terminal {
        let line = escape_line(&String::from_utf8_lossy(line));
        return format!("{}: {line}\n", escape_line(title)).into_bytes();
    }
    [title.as_bytes(), b": ", line, b"\n"].concat()
}

/// Passes each line, without its line break, to `print`. A line that is longer than [`MAX_LINE`] is divided.
async fn each_line(from: Option<impl AsyncRead + Unpin>, mut print: impl FnMut(&[u8])) {
    let Some(mut from) = from else { return };
    let (mut line, mut buffer) = (Vec::new(), vec![0; 8 * 1024]);
    loop {
        let length = match from.read(&mut buffer).await {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let mut rest = &buffer[..length];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            line.extend(&rest[..end]);
            print(&line);
            line.clear();
            rest = &rest[end + 1..];
        }
        line.extend(rest);
        if line.len() > MAX_LINE {
            print(&line);
            line.clear();
        }
    }
    if !line.is_empty() {
        print(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        each_line(Some(text), |line| lines.push(line.to_vec())).await;
        lines
    }

    #[tokio::test]
    async fn output_is_divided_into_lines() {
        assert_eq!(lines(b"a\n\nb\nc").await, [&b"a"[..], b"", b"b", b"c"]);
        assert!(lines(b"").await.is_empty());
        let long = vec![b'x'; 3 * MAX_LINE];
        let parts = lines(&long).await;
        assert!(parts.len() > 1 && parts.concat() == long);
    }

    #[test]
    fn only_terminals_get_escaped_lines() {
        assert_eq!(prefixed("a/b", b"\x1b[31mred\xff", false), b"a/b: \x1b[31mred\xff\n");
        assert_eq!(prefixed("a/b", b"\x1b[31mred", true), b"a/b: ^[[31mred\n");
    }
}
