//! The timer of the next crossing of a stream.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// A timer that wakes the reader of a stream at the next crossing.
#[derive(Default)]
pub(in crate::commands::watch) struct CrossingTimer {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl CrossingTimer {
    /// Sets the time to the next crossing; `None` if there is none. Returns whether it has passed, otherwise the task is
    /// woken then.
    pub(in crate::commands::watch) fn poll(
        &mut self,
        wait: Option<Duration>,
        context: &mut Context<'_>,
    ) -> bool {
        let Some(wait) = wait else {
            self.sleep = None;
            return false;
        };
        if wait.is_zero() {
            return true;
        }
        let sleep = match &mut self.sleep {
            // A time that is out of range never comes.
            Some(sleep) => {
                if let Some(end) = Instant::now().checked_add(wait) {
                    sleep.as_mut().reset(end);
                }
                sleep
            }
            none => none.insert(Box::pin(sleep(wait))),
        };
        sleep.as_mut().poll(context) == Poll::Ready(())
    }
}
