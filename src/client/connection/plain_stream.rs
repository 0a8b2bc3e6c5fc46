//! An open connection before TLS: a socket, or the tunnel through a proxy.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

trait Io: Read + Write + Send + Unpin {}

impl<T: Read + Write + Send + Unpin> Io for T {}

/// A bidirectional byte stream. Boxed, since each kind of proxy leaves a stream of another type.
pub(super) struct PlainStream {
    io: Box<dyn Io>,
    forwarded: bool,
}

impl PlainStream {
    /// Wraps a connection to the server itself.
    pub(super) fn direct_stream(io: impl Read + Write + Send + Unpin + 'static) -> Self {
        Self { io: Box::new(io), forwarded: false }
    }

    /// Wraps a connection to a forwarding proxy, which must receive absolute URLs.
    pub(super) fn forwarded(io: impl Read + Write + Send + Unpin + 'static) -> Self {
        Self { io: Box::new(io), forwarded: true }
    }
}

impl Connection for PlainStream {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.forwarded)
    }
}

impl Read for PlainStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl Write for PlainStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, slices)
    }
}
