//! Connections: HTTP/1.1, as many as come.

use std::convert::Infallible;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::cluster::Cluster;
use super::routes;

/// Serves until it is dropped. The connections are tasks of their own, so that one that does not read holds up no other;
/// the set owns them and aborts them when it goes. They are bounded by the files that the system lets us open.
pub(super) async fn serve(cluster: Arc<Cluster>, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(connections.spawn(connection(Arc::clone(&cluster), stream))),
                // A connection that was gone before it was taken, or no file left: others may go, and then it works.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(cluster: Arc<Cluster>, stream: TcpStream) {
    // An event is to leave when it is written, not when more has come.
    let _best_effort = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let cluster = Arc::clone(&cluster);
        async move { Ok::<_, Infallible>(routes::answer(cluster, request).await) }
    });
    // A client that goes away ends its connection; there is nobody to tell.
    let _ended = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}
