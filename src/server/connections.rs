//! The HTTP/1.1 connections of the server: accepts them, up to a maximum number, and serves each in a task.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::clock::pause;
use super::router::Server;

/// The maximum number of open connections of a listener; further ones wait in its backlog. Together with the buffers of
/// each connection, it bounds the memory used for clients that do not read.
const MAX_CONNECTIONS: usize = 1024;

/// The buffer of a connection for request heads and for unsent response data. hyper's default is 13 times as large: a
/// thousand watches that are not read would use half a gigabyte.
const BUFFER_SIZE: usize = 32 * 1024;

/// The byte stream of a connection: a TCP socket or a pipe in memory.
trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A source of connections.
pub(crate) trait Listener: Send {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Waits for the next connection. Dropping the future loses none.
    ///
    /// # Errors
    /// A connection could not be accepted; the next one may be.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        let (stream, _) = TcpListener::accept(self).await?;
        // Events are sent when they are written, without waiting for more data.
        let _best_effort = stream.set_nodelay(true);
        Ok(stream)
    }
}

/// Serves connections until the future is dropped.
///
/// Each connection is a separate task, so that a client that does not read delays no other client. The set owns the tasks
/// and aborts them when it is dropped; [`MAX_CONNECTIONS`] bounds them.
pub(crate) async fn serve<L: Listener>(server: Arc<Server>, mut listener: L) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok(stream) => drop(connections.spawn(connection(Arc::clone(&server), Box::new(stream)))),
                // The client closed the connection before it was accepted, or the process has no file descriptors left,
                // which changes when other connections are closed.
                Err(_) => pause().await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Serves one connection. The stream is boxed so that HTTP is compiled once for all kinds of listeners.
async fn connection(server: Arc<Server>, stream: Box<dyn ByteStream>) {
    let service = service_fn(move |request| {
        let server = Arc::clone(&server);
        async move { Ok::<_, Infallible>(server.respond(request).await) }
    });
    // An error means that the client closed its connection, so there is nothing to report.
    let _ended = protocol().serve_connection(TokioIo::new(stream), service).await;
}

/// Returns the HTTP/1.1 settings of every connection.
fn protocol() -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol.max_buf_size(BUFFER_SIZE);
    protocol
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;
    use futures_util::stream;
    use http::Response;
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn unread_responses_are_produced_up_to_the_buffer_size() {
        const CHUNK: usize = 8 * 1024;
        let produced = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&produced);
        let service = service_fn(move |_| {
            let count = Arc::clone(&count);
            let chunks = stream::repeat_with(move || {
                count.fetch_add(CHUNK, Ordering::Relaxed);
                Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b'x'; CHUNK])))
            });
            async move { Ok::<_, Infallible>(Response::new(StreamBody::new(chunks))) }
        });
        let (mut client, server) = tokio::io::duplex(1024);
        let connection = tokio::spawn(async move {
            let _ended = protocol().serve_connection(TokioIo::new(server), service).await;
        });
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("a request");
        // The paused clock advances only when every task is idle: the connection then waits for the client.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let produced = produced.load(Ordering::Relaxed);
        assert!((CHUNK..=BUFFER_SIZE + 2 * CHUNK).contains(&produced), "{produced} bytes");
        connection.abort();
    }
}
