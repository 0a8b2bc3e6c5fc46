//! An open connection before TLS: a socket, or the far end of a proxy's tunnel.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

trait Io: Read + Write + Send + Unpin {}

impl<T: Read + Write + Send + Unpin> Io for T {}

/// Bytes both ways. Boxed, because what a proxy leaves open has as many types as there are kinds of proxies.
pub(super) struct Link {
    io: Box<dyn Io>,
    passed_on: bool,
}

impl Link {
    /// A connection to the server itself.
    pub(super) fn to_server(io: impl Read + Write + Send + Unpin + 'static) -> Self {
        Self { io: Box::new(io), passed_on: false }
    }

    /// A connection to a proxy that passes on what it is sent, and so is to be sent whole URLs.
    pub(super) fn passed_on(io: impl Read + Write + Send + Unpin + 'static) -> Self {
        Self { io: Box::new(io), passed_on: true }
    }
}

impl Connection for Link {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.passed_on)
    }
}

impl Read for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl Write for Link {
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
