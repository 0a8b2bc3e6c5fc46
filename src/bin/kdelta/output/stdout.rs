//! Standard output: buffered writes, and detection of a closed reader.

use std::io::{self, BufWriter, IsTerminal, PipeWriter, Write};
use std::os::fd::AsFd;
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;
use rustix::termios::tcgetwinsize;

use super::terminal::TerminalGuard;
use crate::system_words::system_words;

/// The buffer size for small writes.
const PIECE: usize = 64 * 1024;

/// Standard output with a buffer: data is written on flush or when the buffer is full, and a flushed line takes one
/// system call. A closed reader is [`io::ErrorKind::BrokenPipe`]. On a terminal, unsafe characters are escaped; every
/// command writes through this type.
pub(crate) struct Stdout {
    out: BufWriter<RetryingWriter<io::Stdout>>,
    /// Present if a terminal displays the output.
    guard: Option<TerminalGuard>,
}

impl Stdout {
    /// Opens the standard output of this process.
    ///
    /// # Errors
    /// It is open for reading only. The standard library would treat such writes as successful. A closed standard
    /// output can't be detected: the standard library has opened it as `/dev/null` by now, which programs also pass on
    /// purpose.
    pub(crate) fn open() -> io::Result<Self> {
        writable(&io::stdout())?;
        Ok(Self::unchecked())
    }

    /// Opens it without the check, for output that may be lost.
    pub(crate) fn unchecked() -> Self {
        let guard = io::stdout().is_terminal().then(TerminalGuard::default);
        Self { out: BufWriter::with_capacity(PIECE, RetryingWriter(io::stdout())), guard }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = match &mut self.guard {
            Some(guard) => self.out.write_all(&guard.pass(bytes)),
            None => self.out.write_all(bytes),
        };
        written.map_err(|error| named(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| named(&error))
    }
}

/// Adds the name of standard output to an error, as Go programs do.
pub(crate) fn named(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("write standard output: {}", system_words(error)))
}

/// Erases the last lines of the terminal that displays standard output. The caller has flushed what it wrote before.
///
/// # Errors
/// The terminal can't be written.
pub(super) fn erase_lines(lines: usize) -> io::Result<()> {
    let mut stdout = io::stdout();
    write!(stdout, "\x1b[{lines}A\r\x1b[J")?;
    stdout.flush()
}

/// Returns the current width of the terminal that displays standard output; `None` if there is none or its width is
/// unknown.
pub(crate) fn terminal_columns() -> Option<usize> {
    terminal_size().map(|(columns, _)| columns)
}

/// Returns its current width and height.
pub(crate) fn terminal_size() -> Option<(usize, usize)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then(|| (usize::from(size.ws_col), usize::from(size.ws_row)))
}

fn writable(output: &impl AsFd) -> io::Result<()> {
    let access = fcntl_getfl(output)? & OFlags::RWMODE;
    if access == OFlags::RDONLY { Err(named(&Errno::BADF.into())) } else { Ok(()) }
}

/// A writer that waits if the output is not ready: a process that shares the terminal or pipe may have made it
/// non-blocking.
struct RetryingWriter<W>(W);

impl<W: Write + AsFd> RetryingWriter<W> {
    fn retry<T>(&mut self, mut action: impl FnMut(&mut W) -> io::Result<T>) -> io::Result<T> {
        loop {
            match action(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], None) {
                        Ok(_) | Err(Errno::INTR) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                other => return other,
            }
        }
    }
}

impl<W: Write + AsFd> Write for RetryingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry(|out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.retry(Write::flush)
    }
}

/// Detects a closed reader of standard output even if nothing is written: `kdelta watch pods | head -1` must end with
/// `head`, not with the next change.
///
/// A separate thread waits in `poll`, because the runtime can't wait for errors on a file without writing to it. The
/// thread ends when the reader closes or the value is dropped; the drop waits for it.
pub(crate) struct ReaderWatch {
    /// Closing it wakes the thread.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl ReaderWatch {
    /// Starts watching. `on_closed` is called once, from the thread, when the reader of standard output closes.
    ///
    /// # Errors
    /// The thread or its pipe can't be created.
    pub(crate) fn start(on_closed: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        Self::start_on(io::stdout(), on_closed)
    }

    fn start_on(
        output: impl AsFd + Send + 'static,
        on_closed: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (stopped, stop) = io::pipe()?;
        let thread = thread::Builder::new().name("stdout".into()).spawn(move || {
            // Errors and hang-ups are always reported by `poll`.
            let mut waiting =
                [PollFd::new(&output, PollFlags::empty()), PollFd::new(&stopped, PollFlags::IN)];
            loop {
                match poll(&mut waiting, None) {
                    Err(Errno::INTR) => {}
                    Ok(_) if waiting[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => {
                        return on_closed();
                    }
                    // Stopped, or an output that can't be polled.
                    Ok(_) | Err(_) => return,
                }
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for ReaderWatch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Fails only if `on_closed` panicked, which has been printed.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn closed_reader_is_detected_without_a_write() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let (sender, receiver) = mpsc::channel();
        let watch =
            ReaderWatch::start_on(writer, move || sender.send(()).expect("a receiver")).expect("a thread");
        assert!(receiver.try_recv().is_err());
        drop(reader);
        receiver.recv_timeout(Duration::from_mins(1)).expect("a notification");
        drop(watch);
    }

    #[test]
    fn open_reader_is_kept_and_drop_ends_thread() {
        let (_reader, writer) = io::pipe().expect("a pipe");
        let (sender, receiver) = mpsc::channel::<()>();
        drop(ReaderWatch::start_on(writer, move || sender.send(()).expect("a receiver")).expect("a thread"));
        assert_eq!(receiver.recv(), Err(mpsc::RecvError));
    }

    #[test]
    fn non_blocking_output_is_waited_for() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        rustix::io::ioctl_fionbio(&writer, true).expect("a pipe can be made non-blocking");
        let total = 1 << 20;
        let reading = thread::spawn(move || io::copy(&mut reader, &mut io::sink()).expect("a copy"));
        let mut out = RetryingWriter(writer);
        out.write_all(&vec![b'x'; total]).expect("all of it");
        drop(out);
        assert_eq!(reading.join().expect("a count"), total as u64);
    }

    #[test]
    fn read_only_output_is_an_error() {
        let (reader, writer) = io::pipe().expect("a pipe");
        assert!(writable(&writer).is_ok());
        let error = writable(&reader).expect_err("it is the other end");
        assert_eq!(error.to_string(), "write standard output: bad file descriptor");
    }

    #[test]
    fn write_error_names_stdout() {
        let full = io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error());
        let named = named(&full);
        assert_eq!(named.to_string(), "write standard output: no space left on device");
        assert_eq!(named.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn write_without_reader_is_broken_pipe() {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let error = RetryingWriter(writer).write_all(b"x").expect_err("no reader");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
