//! Standard output: written in whole pieces, and known to be gone when its reader is.

use std::io::{self, BufWriter, IsTerminal, PipeWriter, Write};
use std::os::fd::AsFd;
use std::thread::{self, JoinHandle};

use kdelta::api::system_words;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;

use super::terminal::TerminalGuard;

/// Pieces that many small writes are gathered into.
const PIECE: usize = 64 * 1024;

/// Standard output, gathered into large pieces: nothing leaves before a flush or a full piece, and a line that is
/// written and flushed leaves in one system call. A reader that is gone is [`io::ErrorKind::BrokenPipe`]. At a terminal
/// everything is escaped that could steer it: every command writes through this type.
pub(crate) struct Stdout {
    out: BufWriter<Patient<io::Stdout>>,
    /// Present where a terminal shows it.
    guard: Option<TerminalGuard>,
}

impl Stdout {
    /// The standard output of this process.
    ///
    /// # Errors
    /// It can only be read. The standard library takes that for a success of each write, as if nobody minded. One that
    /// is closed it has opened as `/dev/null` before the program begins, and as other programs open that for those they
    /// start; so it can't be told from one that was meant.
    pub(crate) fn open() -> io::Result<Self> {
        writable(&io::stdout())?;
        Ok(Self::unchecked())
    }

    /// The same for a piece of text that nobody misses.
    pub(crate) fn unchecked() -> Self {
        let guard = io::stdout().is_terminal().then(TerminalGuard::default);
        Self { out: BufWriter::with_capacity(PIECE, Patient(io::stdout())), guard }
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

/// The error with the name of what could not be written to, as Go's programs say it.
pub(crate) fn named(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("write standard output: {}", system_words(error)))
}

fn writable(output: &impl AsFd) -> io::Result<()> {
    let access = fcntl_getfl(output)? & OFlags::RWMODE;
    if access == OFlags::RDONLY { Err(named(&Errno::BADF.into())) } else { Ok(()) }
}

/// A writer that waits where it is told to come back later: a terminal or pipe may have been made non-blocking by
/// whoever shares it with us.
struct Patient<W>(W);

impl<W: Write + AsFd> Patient<W> {
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

impl<W: Write + AsFd> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry(|out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.retry(Write::flush)
    }
}

/// Notices that nobody reads standard output any more, also when there is nothing to write: `kdelta watch pods | head -1`
/// is to end with `head`, not with the next change.
///
/// A thread of its own waits in `poll`, because waiting for an error on a file that is never written to is nothing the
/// runtime offers. It ends when the reader is gone or the value is dropped, which waits for it.
pub(crate) struct ReaderWatch {
    /// Closing it wakes the thread.
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl ReaderWatch {
    /// Calls `gone` once, from the thread, when the reader of standard output is gone; never, if it stays.
    ///
    /// # Errors
    /// There is no thread or no pipe to be had.
    pub(crate) fn start(gone: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        Self::start_on(io::stdout(), gone)
    }

    fn start_on(
        output: impl AsFd + Send + 'static,
        gone: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (stopped, stop) = io::pipe()?;
        let thread = thread::Builder::new().name("stdout".into()).spawn(move || {
            // Errors and hang-ups are reported without being asked for.
            let mut waiting =
                [PollFd::new(&output, PollFlags::empty()), PollFd::new(&stopped, PollFlags::IN)];
            loop {
                match poll(&mut waiting, None) {
                    Err(Errno::INTR) => {}
                    Ok(_) if waiting[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => {
                        return gone();
                    }
                    // Stopped, or an output that can't be watched.
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
            // It can only have panicked in `gone`, which is then already told.
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
    fn a_reader_that_goes_is_noticed_without_a_write() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let (tell, told) = mpsc::channel();
        let watch =
            ReaderWatch::start_on(writer, move || tell.send(()).expect("it is awaited")).expect("a thread");
        assert!(told.try_recv().is_err());
        drop(reader);
        told.recv_timeout(Duration::from_mins(1)).expect("the news");
        drop(watch);
    }

    #[test]
    fn a_reader_that_stays_is_not_missed_and_dropping_ends_the_thread() {
        let (_reader, writer) = io::pipe().expect("a pipe");
        let (tell, told) = mpsc::channel::<()>();
        drop(ReaderWatch::start_on(writer, move || tell.send(()).expect("nobody asks")).expect("a thread"));
        assert_eq!(told.recv(), Err(mpsc::RecvError));
    }

    #[test]
    fn an_output_that_does_not_block_is_waited_for() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        rustix::io::ioctl_fionbio(&writer, true).expect("a pipe can be made non-blocking");
        let total = 1 << 20;
        let reading = thread::spawn(move || io::copy(&mut reader, &mut io::sink()).expect("a copy"));
        let mut out = Patient(writer);
        out.write_all(&vec![b'x'; total]).expect("all of it");
        drop(out);
        assert_eq!(reading.join().expect("a count"), total as u64);
    }

    #[test]
    fn an_output_that_can_only_be_read_is_an_error() {
        let (reader, writer) = io::pipe().expect("a pipe");
        assert!(writable(&writer).is_ok());
        let error = writable(&reader).expect_err("it is the other end");
        assert_eq!(error.to_string(), "write standard output: bad file descriptor");
    }

    #[test]
    fn a_failure_says_what_could_not_be_written() {
        let full = io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error());
        let named = named(&full);
        assert_eq!(named.to_string(), "write standard output: no space left on device");
        assert_eq!(named.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn writing_to_nobody_is_a_broken_pipe() {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let error = Patient(writer).write_all(b"x").expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
