//! Connections to a server inside this process.

use std::future::pending;
use std::io;

use tokio::io::DuplexStream;
use tokio::sync::mpsc;

use super::connections::Listener;

/// The buffer size of each direction of a connection, allocated when it is opened. As with a socket, a writer waits while
/// the buffer is full.
const STREAM_BUFFER: usize = 64 * 1024;

/// The number of connections that may wait to be accepted, like the backlog of a listening port.
const BACKLOG: usize = 128;

/// Opens connections to a server inside this process. No other process can reach them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct StreamOpener {
    /// Bounded: clients wait while the backlog is full. Closed when the server ends.
    streams: mpsc::Sender<DuplexStream>,
}

impl StreamOpener {
    /// Opens a connection: a byte stream to the HTTP/1.1 server. It ends when the server does.
    ///
    /// # Errors
    /// [`io::ErrorKind::ConnectionRefused`] when the server has ended.
    pub async fn open(&self) -> io::Result<DuplexStream> {
        let (client, server) = tokio::io::duplex(STREAM_BUFFER);
        let sent = self.streams.send(server).await;
        sent.map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused)).map(|()| client)
    }
}

/// Accepts the connections of a [`StreamOpener`].
pub(crate) struct InMemoryListener {
    streams: mpsc::Receiver<DuplexStream>,
}

/// Returns a listener and the opener of its connections.
pub(crate) fn listen() -> (StreamOpener, InMemoryListener) {
    let (sender, receiver) = mpsc::channel(BACKLOG);
    (StreamOpener { streams: sender }, InMemoryListener { streams: receiver })
}

impl Listener for InMemoryListener {
    type Stream = DuplexStream;

    async fn accept(&mut self) -> io::Result<DuplexStream> {
        match self.streams.recv().await {
            Some(stream) => Ok(stream),
            // Every opener was dropped. The open connections are still served.
            None => pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use futures_util::FutureExt;
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::task::JoinSet;

    use super::*;
    use crate::server::connections;
    use crate::server::memory_source::MemorySource;
    use crate::server::router::Server;

    /// Starts a server whose list is larger than all buffers of a connection.
    fn start() -> (StreamOpener, JoinSet<()>) {
        let source = MemorySource::new();
        source.put("a", &json!({}), &"x".repeat(16 * STREAM_BUFFER));
        let (opener, listener) = listen();
        let mut task = JoinSet::new();
        task.spawn(connections::serve(Arc::new(Server::new(Arc::new(source), "localhost".into())), listener));
        (opener, task)
    }

    async fn request(opener: &StreamOpener) -> DuplexStream {
        let mut stream = opener.open().await.expect("a connection");
        let head = b"GET /api/v1/configmaps HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(head).await.expect("a request");
        // The paused clock advances only when every task is idle: the server then waits for the client.
        tokio::time::sleep(Duration::from_secs(1)).await;
        stream
    }

    #[tokio::test(start_paused = true)]
    async fn unread_response_fills_only_the_buffer() {
        let (opener, _task) = start();
        let mut stream = request(&opener).await;
        let (mut unread, mut buffer) = (0, vec![0; STREAM_BUFFER]);
        // The server can't run between two reads that are ready.
        while let Some(read) = stream.read(&mut buffer).now_or_never() {
            unread += read.expect("no error");
        }
        assert_eq!(unread, STREAM_BUFFER);
    }

    #[tokio::test(start_paused = true)]
    async fn end_of_the_server_ends_its_streams() {
        let (opener, task) = start();
        let mut stream = request(&opener).await;
        drop(task);
        let mut rest = Vec::new();
        assert_eq!(stream.read_to_end(&mut rest).await.expect("an end"), STREAM_BUFFER);
        let refused = opener.open().await.err().map(|error| error.kind());
        assert_eq!(refused, Some(io::ErrorKind::ConnectionRefused));
    }

    #[tokio::test(start_paused = true)]
    async fn connections_beyond_the_backlog_wait() {
        let (opener, _listener) = listen();
        let mut open = Vec::new();
        while let Some(stream) = opener.open().now_or_never() {
            open.push(stream.expect("a connection"));
        }
        assert_eq!(open.len(), BACKLOG);
    }
}
