//! `kdelta get --raw`: the server's response as it is.

use std::io::Write;

use crate::exit::ExitCode;
use crate::session::Session;
use crate::settings::RawPath;

/// Prints the body of a response while it is being received.
pub(crate) async fn raw<W: Write>(session: &Session, path: &RawPath, mut out: W) -> anyhow::Result<ExitCode> {
    let mut response = session.cluster().raw(path).await?;
    while let Some(chunk) = response.chunk().await? {
        out.write_all(&chunk)?;
        // The next chunk of a watch may be far away.
        out.flush()?;
    }
    Ok(ExitCode::Ok)
}
