//! The call of a handler, which may panic: that is reported, and the handler is called again with what comes next.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{Notification, ResourceEventHandler};

/// A handler panicked.
#[derive(Debug, Clone)]
pub struct HandlerPanic {
    /// What it said.
    pub message: String,
}

/// Is told of handlers that panic, on the task that calls the handler.
pub type HandlerPanicHook = Arc<dyn Fn(&HandlerPanic) + Send + Sync>;

/// Has a handler told. Every informer calls its handlers here.
pub(super) fn call_handler<H: ResourceEventHandler>(
    handler: &H,
    notification: Notification,
    on_panic: Option<&HandlerPanicHook>,
) {
    // The handler is ours to call, not to look into: what it left behind when it panicked is its own.
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
        tracing::error!("the hook for event handlers that panic panicked");
    }
}
