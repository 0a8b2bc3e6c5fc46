//! The colours of cells and lines.

/// The escape sequences that the program itself writes; all others are escaped.
pub(crate) const COLOURS: [&str; 5] =
    [Colour::Green.start(), Colour::Yellow.start(), Colour::Red.start(), Colour::Dim.start(), PLAIN];

/// Ends a colour.
pub(crate) const PLAIN: &str = "\x1b[0m";

/// A colour of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Green,
    Yellow,
    Red,
    /// Less bright than other text.
    Dim,
}

impl Colour {
    /// Returns the sequence that starts the colour.
    pub(crate) const fn start(self) -> &'static str {
        match self {
            Self::Green => "\x1b[32m",
            Self::Yellow => "\x1b[33m",
            Self::Red => "\x1b[31m",
            Self::Dim => "\x1b[2m",
        }
    }
}
