//! Connections: TLS with a certificate of the proxy's own, and the faults on whole connections.

use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::broadcast;
use tokio::time::Sleep;
use tokio_rustls::TlsAcceptor;

use super::forward::respond;
use super::script::{Fault, Shared};

/// The interval at which a frozen connection checks whether it may continue.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A certificate for this machine, and the authority that signed it.
pub(super) struct Identity {
    /// The authority, as PEM.
    pub(super) authority: String,
    acceptor: TlsAcceptor,
}

impl Identity {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = params.self_signed(&key).expect("an authority").pem();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().expect("a key");
        let shown = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("parameters");
        let shown = shown.signed_by(&key, &issuer).expect("a certificate").der().clone();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let mut tls = rustls::ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![shown], key)
            .expect("a certificate and its key");
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self { authority, acceptor: TlsAcceptor::from(Arc::new(tls)) }
    }
}

/// Accepts connections until it is aborted. Connections outlive it; a fault ends them.
pub(super) async fn serve_all(listener: TcpListener, shared: Arc<Shared>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
    while let Ok((stream, _)) = listener.accept().await {
        // Subscribed here and not in the task, so that no fault is missed in between.
        let faults = shared.faults.subscribe();
        tokio::spawn(serve(stream, Arc::clone(&shared), faults));
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>, mut faults: broadcast::Receiver<Fault>) {
    let state = Arc::new(ConnectionState::default());
    let gate = Gate { stream, state: Arc::clone(&state), shared: Arc::clone(&shared), look: None };
    let identity = if shared.script().uses_unknown_certificate {
        &shared.unknown_identity
    } else {
        &shared.known_identity
    };
    let handshake = identity.acceptor.accept(gate);
    let stream = tokio::select! {
        Ok(stream) = handshake => stream,
        _ = next_fault(&mut faults, &state) => return,
        else => return,
    };
    let service = service_fn(|request| respond(request, Arc::clone(&shared)));
    let builder = auto::Builder::new(TokioExecutor::new());
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    loop {
        tokio::select! {
            _ = connection.as_mut() => return,
            fault = next_fault(&mut faults, &state) => match fault {
                Fault::GoAway => connection.as_mut().graceful_shutdown(),
                _ => return,
            },
        }
    }
}

/// Waits for a fault that ends the connection, and applies the others.
async fn next_fault(faults: &mut broadcast::Receiver<Fault>, state: &ConnectionState) -> Fault {
    loop {
        match faults.recv().await {
            Ok(Fault::Freeze) => state.frozen.store(true, Ordering::SeqCst),
            Ok(Fault::Reset) => {
                state.ends_with_reset.store(true, Ordering::SeqCst);
                return Fault::Reset;
            }
            Ok(fault @ (Fault::Cut | Fault::GoAway)) => return fault,
            Err(broadcast::error::RecvError::Closed) => return Fault::Cut,
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
        }
    }
}

/// The state of a connection under faults.
#[derive(Default)]
struct ConnectionState {
    frozen: AtomicBool,
    /// True if it ends with a reset.
    ends_with_reset: AtomicBool,
}

/// A socket that can be frozen and can end with a reset.
struct Gate {
    stream: TcpStream,
    state: Arc<ConnectionState>,
    shared: Arc<Shared>,
    look: Option<Pin<Box<Sleep>>>,
}

impl Gate {
    /// Ready while it is not frozen.
    fn open(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.state.frozen.load(Ordering::SeqCst) {
            let look = self.look.get_or_insert_with(|| Box::pin(tokio::time::sleep(POLL_INTERVAL)));
            ready!(look.as_mut().poll(context));
            self.look = None;
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Gate {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        ready!(self.open(context));
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Gate {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        ready!(self.open(context));
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if matches!(written, Poll::Ready(Ok(_))) {
            self.shared.writes.fetch_add(1, Ordering::SeqCst);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        ready!(self.open(context));
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        ready!(self.open(context));
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if self.state.ends_with_reset.load(Ordering::SeqCst) {
            let _reset = self.stream.set_zero_linger();
        }
    }
}
