//! A small TCP proxy in front of a server: it can cut open connections, refuse new ones, and open again on the same
//! port. TLS passes through unchanged.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A proxy in front of a local port.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    target: u16,
    /// A mutex: the accepting thread adds connections, `cut` removes them. Bounded by the connections of one test.
    open: Arc<Mutex<Vec<TcpStream>>>,
    /// The number of open connections.
    connections: Arc<AtomicUsize>,
    /// The number of accepted connections.
    accepted: Arc<AtomicUsize>,
    /// The number of bytes that the server sent.
    received: Arc<AtomicU64>,
    accepting: Option<Acceptor>,
}

/// The accepting thread; it ends when `ended` is set and one more connection wakes it.
#[derive(Debug)]
struct Acceptor {
    ended: Arc<AtomicBool>,
    thread: thread::JoinHandle<()>,
}

impl Proxy {
    /// Starts a proxy on a free port.
    pub(crate) fn before(target: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let mut proxy = Self {
            port,
            target,
            open: Arc::default(),
            connections: Arc::default(),
            accepted: Arc::default(),
            received: Arc::default(),
            accepting: None,
        };
        proxy.accept(listener);
        proxy
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the number of connections that neither side has closed.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns the number of connections accepted so far.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Returns the number of bytes that the server has sent, TLS included.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::SeqCst)
    }

    pub(crate) fn cut(&mut self) {
        if let Some(acceptor) = self.accepting.take() {
            acceptor.ended.store(true, Ordering::SeqCst);
            let _woken = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
            acceptor.thread.join().expect("the acceptor ends");
        }
        for stream in self.open.lock().expect("no panic inside").drain(..) {
            let _gone = stream.shutdown(Shutdown::Both);
        }
    }

    /// Accepts connections again.
    pub(crate) fn reopen(&mut self) {
        // Another test's connection may hold the port.
        let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).ok();
        let listener = super::eventually("the same port is free again", bind);
        self.accept(listener);
    }

    fn accept(&mut self, listener: TcpListener) {
        let ended = Arc::new(AtomicBool::new(false));
        let (open, target, stop) = (Arc::clone(&self.open), self.target, Arc::clone(&ended));
        let (connections, accepted) = (Arc::clone(&self.connections), Arc::clone(&self.accepted));
        let received = Arc::clone(&self.received);
        let thread = thread::spawn(move || {
            for client in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(client) = client else { continue };
                accepted.fetch_add(1, Ordering::SeqCst);
                // The server is down: closing the client's side is all the client sees of it.
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, target)) else { continue };
                let _joined = join(&client, &server, &connections, &received);
                open.lock().expect("no panic inside").extend([client, server]);
            }
        });
        self.accepting = Some(Acceptor { ended, thread });
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
    }
}

/// Copies in both directions. The two threads end with their connection, at the latest when `cut` shuts it down.
fn join(
    client: &TcpStream,
    server: &TcpStream,
    connections: &Arc<AtomicUsize>,
    received: &Arc<AtomicU64>,
) -> io::Result<()> {
    for (from, to, is_client) in [(client, server, true), (server, client, false)] {
        let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
        let (connections, received) = (Arc::clone(connections), Arc::clone(received));
        connections.fetch_add(usize::from(is_client), Ordering::SeqCst);
        thread::spawn(move || {
            let _copied = copy(&mut from, &mut to, |bytes| {
                received.fetch_add(if is_client { 0 } else { bytes }, Ordering::SeqCst);
            });
            let _closed = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
            connections.fetch_sub(usize::from(is_client), Ordering::SeqCst);
        });
    }
    Ok(())
}

/// Copies until the end, and passes on the number of bytes of each piece.
fn copy(from: &mut TcpStream, to: &mut TcpStream, count: impl Fn(u64)) -> io::Result<()> {
    let mut piece = vec![0; 1 << 16];
    loop {
        let length = from.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        count(length as u64);
        to.write_all(&piece[..length])?;
    }
}
