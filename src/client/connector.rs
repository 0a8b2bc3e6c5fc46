//! Byte streams to a server that are opened in another way than by TCP.

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

/// A byte stream to a server.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// The outcome of a connection that is being opened.
type Opening = BoxFuture<'static, io::Result<Box<dyn ByteStream>>>;

/// Opens the byte streams of a client, instead of TCP. A server in the same process thus needs no port.
///
/// Each connection of the client is one stream: HTTP/1.1 uses one for each request under way, and reuses it. With a
/// URL of `https`, the client starts TLS on the stream.
///
/// ```
/// use kdelta::api::{Client, ClientOptions};
/// use kdelta::client::Connector;
/// use kdelta::kubeconfig::Config;
///
/// let connector = Connector::new(|| async {
///     let (client, server) = tokio::io::duplex(64 * 1024);
///     // Here a server accepts the other half.
///     drop(server);
///     Ok(client)
/// });
/// let options = ClientOptions::default().connector(Some(connector));
/// let client = Client::with_options(&Config::for_server("http://localhost")?, options)?;
/// # drop(client);
/// # Ok::<(), kdelta::kubeconfig::Error>(())
/// ```
#[derive(Clone)]
pub struct Connector {
    open: Arc<dyn Fn() -> Opening + Send + Sync>,
}

impl Connector {
    /// Returns a connector that calls `open` for each connection. A client whose connector fails reports it as it
    /// reports a failed TCP connection, and its time limit for connections applies.
    pub fn new<F, S>(open: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let open =
            move || open().map(|opened| opened.map(|stream| Box::new(stream) as Box<dyn ByteStream>)).boxed();
        Self { open: Arc::new(open) }
    }

    /// Opens a stream.
    ///
    /// # Errors
    /// The error of the function.
    pub(crate) async fn open(&self) -> io::Result<Box<dyn ByteStream>> {
        (self.open)().await
    }
}

/// Prints the type only.
impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}
