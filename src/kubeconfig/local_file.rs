//! Bounded reads of local files that the user or a kubeconfig names: regular files of a limited size. No read waits
//! for a device, a FIFO or a socket, except for a kubeconfig that is a pipe, and then for a limited time.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

/// The largest certificate, key or token file: bundles of all public authorities are a tenth of it.
pub(crate) const CREDENTIAL_LIMIT: u64 = 4 << 20;

/// The largest kubeconfig: thousands of contexts with their certificates.
pub(crate) const KUBECONFIG_LIMIT: u64 = 16 << 20;

/// The longest wait for the end of a kubeconfig that is a pipe. Its writer may have to log in first.
const PIPE_TIME: Duration = Duration::from_secs(30);

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// As reading a file; [`io::Error::other`] for one that is not regular or is too large.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    match open(path)? {
        (file, Kind::Regular) => read_regular(file, limit),
        (_, Kind::Pipe | Kind::Empty | Kind::Other) => Err(not_regular()),
    }
}

/// Reads a regular text file of at most `limit` bytes.
///
/// # Errors
/// As [`read`]; [`io::ErrorKind::InvalidData`] for anything but UTF-8.
pub(crate) fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(read(path, limit)?).map_err(invalid)
}

/// Reads a kubeconfig: a regular file, the null device, or a pipe, as in `--kubeconfig <(command)`.
///
/// # Errors
/// As [`read`], and for a pipe whose writer did not finish in time.
pub(crate) fn read_kubeconfig(path: &Path) -> io::Result<Vec<u8>> {
    match open(path)? {
        (file, Kind::Regular) => read_regular(file, KUBECONFIG_LIMIT),
        (file, Kind::Pipe) => read_pipe(file, KUBECONFIG_LIMIT, PIPE_TIME),
        (_, Kind::Empty) => Ok(Vec::new()),
        (_, Kind::Other) => Err(io::Error::other("it is neither a regular file nor a pipe")),
    }
}

enum Kind {
    Regular,
    Pipe,
    /// The null device, with which users select no kubeconfig.
    Empty,
    Other,
}

fn read_regular(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The reported length is a hint: files of /proc have none, and a file may grow.
    if file.metadata()?.len() <= limit {
        file.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= limit {
            return Ok(bytes);
        }
    }
    Err(too_large(limit))
}

fn not_regular() -> io::Error {
    io::Error::other("it is no regular file")
}

fn too_large(limit: u64) -> io::Error {
    io::Error::other(format!("it is larger than {} MiB", limit >> 20))
}

/// Opens a file without waiting. The type is checked before opening, since opening a device may have an effect, and
/// after, since the name may lead to another file by then.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<(File, Kind)> {
    use std::fs::{FileType, OpenOptions, metadata};
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

    use rustix::fs::OFlags;

    let is_null = path.canonicalize().is_ok_and(|path| path == Path::new("/dev/null"));
    let kind = |found: FileType| {
        if found.is_file() {
            Kind::Regular
        } else if found.is_fifo() {
            Kind::Pipe
        } else if found.is_char_device() && is_null {
            Kind::Empty
        } else {
            Kind::Other
        }
    };
    let found = metadata(path)?.file_type();
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if matches!(kind(found), Kind::Other) {
        return Err(not_regular());
    }
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let kind = kind(file.metadata()?.file_type());
    Ok((file, kind))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<(File, Kind)> {
    let file = File::open(path)?;
    let is_regular = file.metadata()?.is_file();
    Ok((file, if is_regular { Kind::Regular } else { Kind::Other }))
}

/// Reads a pipe, opened without blocking, to its end.
#[cfg(unix)]
fn read_pipe(mut pipe: File, limit: u64, time: Duration) -> io::Result<Vec<u8>> {
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let began = Instant::now();
    let (mut bytes, mut has_waited) = (Vec::new(), false);
    loop {
        let mut piece = [0; 8192];
        match pipe.read(&mut piece) {
            // Before the first writer opens the pipe, a read also returns nothing; that is not the end.
            Ok(0) if has_waited || !bytes.is_empty() => return Ok(bytes),
            Ok(length @ 1..) => {
                bytes.extend_from_slice(&piece[..length]);
                if bytes.len() as u64 > limit {
                    return Err(too_large(limit));
                }
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Ok(_) | Err(_) => {}
        }
        let left = time.saturating_sub(began.elapsed());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&left)) {
            Ok(0) => {
                let seconds = time.as_secs();
                return Err(io::Error::other(format!(
                    "the pipe was not written to its end within {seconds} s"
                )));
            }
            Ok(_) => has_waited = true,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(unix))]
fn read_pipe(_: File, _: u64, _: Duration) -> io::Result<Vec<u8>> {
    Err(not_regular())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::PathBuf;

    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use tempfile::TempDir;

    use super::*;

    fn fifo() -> (TempDir, PathBuf) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        (folder, path)
    }

    fn words<T>(read: io::Result<T>) -> String {
        read.err().unwrap().to_string()
    }

    #[test]
    fn only_regular_files_of_a_limited_size_are_read() {
        let (folder, fifo) = fifo();
        assert_eq!(words(read(folder.path(), 9)), "is a directory");
        for path in [&fifo, Path::new("/dev/zero"), Path::new("/dev/null")] {
            assert_eq!(words(read(path, 9)), "it is no regular file", "{}", path.display());
        }
        let file = folder.path().join("file");
        fs::write(&file, "123456789").unwrap();
        assert_eq!(read(&file, 9).unwrap(), b"123456789");
        assert_eq!(words(read(&file, 8)), "it is larger than 0 MiB");
        // A sparse file.
        fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(words(read(&file, CREDENTIAL_LIMIT)), "it is larger than 4 MiB");
        assert_eq!(words(read_kubeconfig(&file)), "it is larger than 16 MiB");
        assert_eq!(read(&folder.path().join("none"), 9).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!read(Path::new("/proc/self/status"), 1 << 20).unwrap().is_empty());
    }

    #[test]
    fn a_kubeconfig_may_be_a_pipe_or_the_null_device() {
        assert_eq!(read_kubeconfig(Path::new("/dev/null")).unwrap(), b"");
        assert!(read_kubeconfig(Path::new("/dev/zero")).is_err());
        let (_folder, fifo) = fifo();
        let open = || super::open(&fifo).unwrap().0;
        let unwritten = words(read_pipe(open(), 9, Duration::ZERO));
        assert_eq!(unwritten, "the pipe was not written to its end within 0 s");
        let text = "x".repeat(100_000);
        std::thread::scope(|scope| {
            scope.spawn(|| OpenOptions::new().write(true).open(&fifo).unwrap().write_all(text.as_bytes()));
            assert_eq!(read_kubeconfig(&fifo).unwrap(), text.as_bytes());
        });
        let reader = open();
        let mut writer = OpenOptions::new().write(true).open(&fifo).unwrap();
        writer.write_all(b"half").unwrap();
        assert_eq!(words(read_pipe(reader, 9, Duration::ZERO)), unwritten);
        let reader = open();
        writer.write_all(b"0123456789").unwrap();
        assert_eq!(words(read_pipe(reader, 9, Duration::ZERO)), "it is larger than 0 MiB");
    }
}
