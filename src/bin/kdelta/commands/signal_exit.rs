//! The exit codes of commands that end because of a signal.

use crate::exit::ExitCode;
use crate::session::Interrupt;

impl From<Interrupt> for ExitCode {
    fn from(interrupt: Interrupt) -> Self {
        match interrupt {
            Interrupt::Interrupt => Self::Interrupted,
            Interrupt::Terminate => Self::Terminated,
            Interrupt::HangUp => Self::HungUp,
        }
    }
}
