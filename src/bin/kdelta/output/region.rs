//! The lines at the end of a terminal that are drawn again and again. Messages erase them first, so that none is lost among
//! them.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::stdout::erase_lines;
use crate::view::clip;

/// A region that a live table occupies. Shared by the writer of the table and the writer of messages.
pub(crate) struct LiveRegion {
    /// A std mutex: held while the table or a message is written, never across an await.
    state: Mutex<State>,
}

struct State {
    /// The number of lines on the screen.
    lines: usize,
    /// Whether a message has erased them.
    is_erased: bool,
    eraser: Eraser,
}

/// The way to erase lines.
enum Eraser {
    Stdout,
    /// Records the numbers of lines, for tests.
    #[cfg(test)]
    Recording(Vec<usize>),
}

impl Default for LiveRegion {
    fn default() -> Self {
        Self { state: Mutex::new(State { lines: 0, is_erased: false, eraser: Eraser::Stdout }) }
    }
}

impl LiveRegion {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Erases the region and draws that many lines.
    ///
    /// # Errors
    /// The terminal can't be written.
    pub(crate) fn redraw(&self, lines: usize, draw: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut state = self.lock();
        state.erase()?;
        draw()?;
        (state.lines, state.is_erased) = (lines, false);
        Ok(())
    }

    /// Erases the region before a message. Write errors are ignored: the writer of the table finds them too.
    pub(crate) fn hide(&self) {
        let mut state = self.lock();
        state.is_erased |= state.lines > 0;
        let _ = state.erase();
    }

    /// Leaves the lines on the screen for good.
    pub(crate) fn release(&self) {
        let mut state = self.lock();
        (state.lines, state.is_erased) = (0, false);
    }

    /// Whether a message has erased the lines since they were drawn.
    pub(crate) fn is_erased(&self) -> bool {
        self.lock().is_erased
    }
}

impl State {
    fn erase(&mut self) -> io::Result<()> {
        let lines = std::mem::take(&mut self.lines);
        if lines == 0 {
            return Ok(());
        }
        match &mut self.eraser {
            // The buffer of standard output is empty between two drawings.
            Eraser::Stdout => erase_lines(lines),
            #[cfg(test)]
            Eraser::Recording(erased) => {
                erased.push(lines);
                Ok(())
            }
        }
    }
}

/// Returns the lines that fit a terminal. The cursor stands below them.
pub(super) fn fitted(text: &str, width: usize, height: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let room = height.saturating_sub(1).max(1);
    let clipped = |line: &&str| clip(line, width).into_owned();
    if lines.len() <= room {
        return lines.iter().map(clipped).collect();
    }
    let shown = room - 1;
    let rest = format!("… {} more", lines.len() - shown);
    lines[..shown].iter().chain([&&*rest]).map(clipped).collect()
}

#[cfg(test)]
impl LiveRegion {
    /// Creates a region that writes nothing.
    pub(crate) fn recording() -> Self {
        Self {
            state: Mutex::new(State { lines: 0, is_erased: false, eraser: Eraser::Recording(Vec::new()) }),
        }
    }

    /// Returns the numbers of erased lines.
    pub(crate) fn erased(&self) -> Vec<usize> {
        match &self.lock().eraser {
            Eraser::Stdout => Vec::new(),
            Eraser::Recording(erased) => erased.clone(),
        }
    }
}
