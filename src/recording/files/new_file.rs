//! A file that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::directory::create_empty;

/// A file that is written under a temporary name and then renamed, so that a reader sees all of it or nothing.
#[derive(Debug)]
pub(in crate::recording) struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    /// `None` once the file is complete.
    file: Option<BufWriter<File>>,
}

impl NewFile {
    pub(in crate::recording) fn create(path: &Path) -> io::Result<Self> {
        let temporary = path.with_added_extension("tmp");
        let file = Some(BufWriter::new(create_empty(&temporary)?));
        Ok(Self { path: path.to_owned(), temporary, file })
    }

    pub(in crate::recording) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes))
    }

    /// Makes the content durable and gives the file its name, in place of one that has it.
    pub(in crate::recording) fn complete(mut self) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.flush()?;
            file.get_ref().sync_all()?;
        }
        fs::rename(&self.temporary, &self.path)?;
        self.file = None;
        Ok(())
    }
}

/// Removes the file unless it is complete.
impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            // Without this, the buffer would be written to a file that is removed.
            let _ = file.into_parts();
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a whole file as [`NewFile`] does.
pub(in crate::recording) fn replace(path: &Path, parts: &[Vec<u8>]) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    parts.iter().try_for_each(|part| file.write(part))?;
    file.complete()
}
