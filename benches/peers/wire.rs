//! A byte-counting relay in front of the server.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// A relay. Its connection threads end with their connections, the accepting one with the process.
pub(crate) struct Relay {
    port: u16,
    // Only a counter: no ordering with other memory is needed.
    received: Arc<AtomicU64>,
}

impl Relay {
    /// Relays a new local port to the server's port.
    pub(crate) fn start(server: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let received = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&received);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                    relay(client, server, Arc::clone(&counter));
                }
            }
        });
        Ok(Self { port, received })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the bytes that the server has sent, including TLS.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

fn relay(client: TcpStream, server: TcpStream, received: Arc<AtomicU64>) {
    let (Ok(to_server), Ok(from_client)) = (server.try_clone(), client.try_clone()) else { return };
    thread::spawn(move || pass(from_client, to_server, &AtomicU64::new(0)));
    thread::spawn(move || pass(server, client, &received));
}

fn pass(mut from: TcpStream, mut to: TcpStream, counter: &AtomicU64) {
    let mut chunk = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        counter.fetch_add(length as u64, Ordering::Relaxed);
        if to.write_all(&chunk[..length]).is_err() {
            break;
        }
    }
    let _gone = (to.shutdown(Shutdown::Write), from.shutdown(Shutdown::Read));
}
