//! Handler calls with panic isolation: a panic is reported, and the handler is called again with the next notification.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::informer::{Notification, ResourceEventHandler};

/// The panic of a handler.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HandlerPanic {
    /// The panic message.
    pub message: String,
}

/// A hook that is called after a handler panicked, on the task that calls the handler.
pub type HandlerPanicHook = Arc<dyn Fn(&HandlerPanic) + Send + Sync>;

/// Calls a handler and reports its panic. Every informer calls its handlers through this function.
pub(in crate::informer) fn call_handler<H: ResourceEventHandler>(
    handler: &H,
    notification: Notification,
    on_panic: Option<&HandlerPanicHook>,
) {
    // Unwind safety is up to the handler: the informer does not access its state.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| handler.on_notification(notification))) {
        report(&*panic, on_panic);
    }
}

fn report(panic: &(dyn Any + Send), hook: Option<&HandlerPanicHook>) {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = text.unwrap_or("no message").to_owned();
    tracing::error!(%message, "an event handler panicked; it is called again with the next notification");
    if let Some(hook) = hook
        && catch_unwind(AssertUnwindSafe(|| hook(&HandlerPanic { message }))).is_err()
    {
        tracing::error!("the event handler panic hook panicked");
    }
}
