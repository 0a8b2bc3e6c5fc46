//! The changes of the simulated cluster in a pipe, so that the generator and the writer run in separate processes.

use std::io::{self, BufRead, Write};

/// The kind of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Added,
    Modified,
    Deleted,
    /// The initial state of a type is complete; the text is its version.
    Synced,
}

/// A change, or the end of the initial state of a type.
pub(crate) struct Message {
    pub(crate) kind: Kind,
    pub(crate) is_listed: bool,
    /// The number of the type.
    pub(crate) resource: u8,
    /// In Unix milliseconds.
    pub(crate) received: i64,
    /// The manager that made the change; empty if it is unknown.
    pub(crate) author: &'static str,
    pub(crate) json: String,
    pub(crate) cells: Vec<String>,
}

const KINDS: [Kind; 4] = [Kind::Added, Kind::Modified, Kind::Deleted, Kind::Synced];
const AUTHORS: [&str; 4] = ["", "kubelet", "kube-controller-manager", "kube-scheduler"];

impl Message {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { kind, is_listed, resource, received, author, json, cells } = self;
        let number = |at: Option<usize>| at.and_then(|at| u8::try_from(at).ok()).unwrap_or_default();
        let kind = number(KINDS.iter().position(|known| known == kind));
        let author = number(AUTHORS.iter().position(|known| known == author));
        let count = number(Some(cells.len()));
        out.write_all(&[kind, u8::from(*is_listed), *resource, author, count])?;
        out.write_all(&received.to_le_bytes())?;
        for text in std::iter::once(json).chain(cells) {
            out.write_all(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes())?;
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// Reads the next message. `None` at the end.
    pub(crate) fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        if from.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let [kind, is_listed, resource, author, count] = read_bytes(from)?;
        let received = i64::from_le_bytes(read_bytes(from)?);
        let mut text = || {
            let mut bytes = vec![0; u32::from_le_bytes(read_bytes(from)?) as usize];
            from.read_exact(&mut bytes)?;
            String::from_utf8(bytes).map_err(io::Error::other)
        };
        let json = text()?;
        let cells = (0..count).map(|_| text()).collect::<io::Result<_>>()?;
        let (kind, author) = (KINDS[usize::from(kind)], AUTHORS[usize::from(author)]);
        Ok(Some(Self { kind, is_listed: is_listed != 0, resource, received, author, json, cells }))
    }
}

fn read_bytes<const N: usize>(from: &mut impl BufRead) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}
