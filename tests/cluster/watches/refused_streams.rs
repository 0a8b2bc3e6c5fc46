//! A server that speaks HTTP/2 only and one that refuses streams unprocessed, as a server does before it shuts down.
//! Both use the real server's certificate and scripted responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use h2::Reason;
use kdelta::api::{Client, Request};
use kdelta::kubeconfig::{Config, ConfigOptions};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::support::{OnServer, TestEnv, server_tls};

/// Serves one connection: refuses the first streams and responds to the others.
async fn serve(listener: TcpListener, tls: TlsAcceptor, refusals: usize, streams: Arc<AtomicUsize>) {
    let stream = loop {
        let (socket, _) = listener.accept().await.expect("a client");
        if let Ok(stream) = tls.accept(socket).await {
            break stream;
        }
    };
    let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
    while let Some(Ok((_request, mut respond))) = connection.accept().await {
        if streams.fetch_add(1, Ordering::SeqCst) < refusals {
            respond.send_reset(Reason::REFUSED_STREAM);
        } else {
            respond.send_response(http::Response::new(()), true).expect("a client that waits");
        }
    }
}

/// Sends the requests at once to a server that refuses this many streams; returns whether all succeeded, and the
/// number of streams.
fn send(on: &OnServer, requests: &[&Request], refusals: usize) -> (bool, usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let mut tls = server_tls(on.testbed);
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let streams = Arc::new(AtomicUsize::new(0));
    runtime.spawn(serve(listener, TlsAcceptor::from(Arc::new(tls)), refusals, Arc::clone(&streams)));
    let server = format!("https://127.0.0.1:{port}");
    let kubeconfig = on.env.kubeconfig_with(on.testbed, json!({"server": server}), json!({}));
    let options = ConfigOptions::default().kubeconfig(Some(kubeconfig));
    let client = Client::new(&Config::load(&options).expect("a configuration")).expect("a client");
    let responses = runtime.block_on(join_all(requests.iter().map(|request| client.send(request))));
    (responses.iter().all(Result::is_ok), streams.load(Ordering::SeqCst))
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn refused_streams_are_retried_a_limited_number_of_times() {
    let on = TestEnv::on_server();
    for (refusals, succeeds) in [(2, true), (9, false)] {
        assert_eq!(send(&on, &[&Request::new("/version")], refusals), (succeeds, 3));
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn http2_only_server_gets_every_watch_over_http2() {
    let on = TestEnv::on_server();
    let watch = Request::new("/api/v1/pods").query("watch", "true");
    assert_eq!(send(&on, &[&watch, &watch, &watch], 0), (true, 3));
}
