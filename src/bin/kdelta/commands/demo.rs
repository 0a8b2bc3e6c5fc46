//! `kdelta demo`: the embedded server in the foreground.

use std::io::Write;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::exit::ExitCode;
use crate::output::ReaderWatch;
use crate::session::{Interrupt, Interrupts, demo};
use crate::settings::Demo;

/// Prints the address once the server answers, and serves until it is interrupted or nobody reads its output any more.
pub(crate) async fn run(asked: Demo, mut out: impl Write) -> anyhow::Result<ExitCode> {
    let interrupts = Interrupts::listen()?;
    let demo = demo::start(asked).await?;
    writeln!(out, "{}", demo.url())?;
    out.flush()?;
    // One permit: the reader goes once.
    let gone = Arc::new(Notify::new());
    let tell = Arc::clone(&gone);
    let _reader = ReaderWatch::start(move || tell.notify_one())?;
    let code = tokio::select! {
        () = gone.notified() => ExitCode::BrokenPipe,
        interrupt = interrupts.first() => match interrupt {
            Interrupt::Interrupt => ExitCode::Interrupted,
            Interrupt::Terminate => ExitCode::Terminated,
        },
    };
    demo.stop().await;
    Ok(code)
}
