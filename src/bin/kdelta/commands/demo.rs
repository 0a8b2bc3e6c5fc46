//! `kdelta demo`: the embedded server in the foreground.

use std::io::Write;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::exit::ExitCode;
use crate::output::ReaderWatch;
use crate::session::{Interrupts, demo};
use crate::settings::Demo;

/// Prints the address once the server responds, and serves until it is interrupted or the reader of its output closes.
pub(crate) async fn run(options: Demo, mut out: impl Write) -> anyhow::Result<ExitCode> {
    let interrupts = Interrupts::listen()?;
    let demo = demo::start(options).await?;
    writeln!(out, "{}", demo.url())?;
    out.flush()?;
    // One permit: the reader closes only once.
    let gone = Arc::new(Notify::new());
    let notify = Arc::clone(&gone);
    let _reader = ReaderWatch::start(move || notify.notify_one())?;
    let code = tokio::select! {
        () = gone.notified() => ExitCode::BrokenPipe,
        interrupt = interrupts.first() => interrupt.into(),
    };
    demo.stop().await;
    Ok(code)
}
