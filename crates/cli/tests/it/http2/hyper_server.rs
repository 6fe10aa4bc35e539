//! hyper's HTTP/2 server.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};

/// How it answers.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Streams of a connection at one time.
    pub streams_max: u32,
    /// What of a request's body may come before it is asked for more.
    pub window_bytes: u32,
    /// Before each answer.
    pub delay: Duration,
    /// Bytes of its body; `None`: the request's length as text.
    pub body_bytes: Option<usize>,
    /// A connection is ended in good order with the answer to as many requests.
    pub requests_a_connection: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            streams_max: 1000,
            window_bytes: 65_535,
            delay: Duration::ZERO,
            body_bytes: Some(5),
            requests_a_connection: u64::MAX,
        }
    }
}

/// A server that lives as long as the test's process.
pub struct Server {
    pub url: String,
    asked: Arc<AtomicU64>,
}

impl Server {
    pub fn start(plan: Plan) -> Self {
        let asked = Arc::new(AtomicU64::new(0));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        listener.set_nonblocking(true).expect("a socket");
        let url = format!("http://{}/", listener.local_addr().expect("it has one"));
        let counted = Arc::clone(&asked);
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                loop {
                    let Ok((stream, _)) = listener.accept().await else { return };
                    tokio::spawn(connection(stream, plan, Arc::clone(&counted)));
                }
            });
        });
        Self { url, asked }
    }

    /// Requests that it answered.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

async fn connection(stream: tokio::net::TcpStream, plan: Plan, asked: Arc<AtomicU64>) {
    let of_connection = Arc::new(AtomicU64::new(0));
    let is_over = Arc::new(tokio::sync::Notify::new());
    let service = service_fn(|request: Request<Incoming>| {
        let (asked, of_connection, is_over) = (asked.clone(), of_connection.clone(), is_over.clone());
        async move {
            let length = request.into_body().collect().await.map_or(0, |body| body.to_bytes().len());
            if !plan.delay.is_zero() {
                tokio::time::sleep(plan.delay).await;
            }
            asked.fetch_add(1, Ordering::Relaxed);
            if of_connection.fetch_add(1, Ordering::Relaxed) + 1 == plan.requests_a_connection {
                is_over.notify_one();
            }
            let body =
                plan.body_bytes.map_or_else(|| length.to_string().into_bytes(), |bytes| vec![b'x'; bytes]);
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(body))))
        }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.max_concurrent_streams(plan.streams_max).initial_stream_window_size(plan.window_bytes);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        // That a client goes away at the end of its load is no matter.
        _ = connection.as_mut() => {}
        () = is_over.notified() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}
