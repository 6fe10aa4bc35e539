//! The server: one thread, HTTP/1.1, a bounded number of clients.
//!
//! hyper on a single-threaded tokio: both are what most Rust servers run on and are kept well, hyper's server without
//! its client is a handful of crates, and between two events the thread sleeps. A server of blocking threads could not
//! drop a client that takes nothing without a thread of its own for each.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full, channel::Channel};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt::{set_socket_send_buffer_size, set_tcp_user_timeout};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, oneshot};

use crate::events;
use crate::host;
use crate::site::{Page, Site};

/// Connections at a time; who comes beyond is closed at once.
const CONNECTIONS_MAX: usize = 32;
/// Pages that are made at a time: a report takes a core for a moment.
const MAKING_MAX: usize = 2;
/// How long a client may take to say what it wants, the next time as well.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// How long a client may leave an answer unread.
const READER_PATIENCE: Duration = Duration::from_secs(10);
/// What is buffered for a client, bytes: the least that hyper allows is 8 KiB.
const BUFFER_MAX: usize = 64 * 1024;
/// What the kernel may hold for a client, bytes: a few states, so that one that takes nothing is noticed.
const SEND_BUFFER: usize = 64 * 1024;
/// How long to wait after a connection could not be accepted: descriptors are short, and load comes first.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);
/// How long clients have for what is under way at the end.
const END_PATIENCE: Duration = Duration::from_millis(300);

type Body = Either<Full<Bytes>, Channel<Bytes, Infallible>>;
type Sites = Arc<[Arc<dyn Site>]>;

/// Why there is no server.
#[derive(Debug)]
pub struct ServeError {
    what: &'static str,
    address: SocketAddr,
    why: io::Error,
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, address, why } = self;
        write!(f, "cannot {what} {address} ({why}); choose another address, or port 0 for a free one")
    }
}

impl std::error::Error for ServeError {}

/// Serves until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves `sites` at `address`, the first one that has a page; port 0 takes a free one.
    pub fn start(address: SocketAddr, sites: Vec<Arc<dyn Site>>) -> Result<Self, ServeError> {
        let failed = |what| move |why| ServeError { what, address, why };
        let listener = std::net::TcpListener::bind(address).map_err(failed("listen on"))?;
        listener.set_nonblocking(true).map_err(failed("serve at"))?;
        // Connections have what the listener has.
        set_socket_send_buffer_size(&listener, SEND_BUFFER).map_err(|why| failed("serve at")(why.into()))?;
        let address = listener.local_addr().map_err(failed("serve at"))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(MAKING_MAX)
            .build()
            .map_err(failed("serve at"))?;
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.block_on(async {
                // Only fails where there is no runtime to be part of.
                if let Ok(listener) = TcpListener::from_std(listener) {
                    accept_until(stopped, &listener, &sites.into()).await;
                }
            });
            // A report that is being made is not waited for.
            runtime.shutdown_background();
        };
        let thread =
            std::thread::Builder::new().name("serve".into()).spawn(serve).map_err(failed("serve at"))?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it serves.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser of this machine.
    pub fn url(&self) -> String {
        let address = self.address;
        let ip = if address.ip().is_unspecified() {
            let loopback: std::net::IpAddr = match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            };
            loopback
        } else {
            address.ip()
        };
        format!("http://{}/", SocketAddr::new(ip, address.port()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It is gone only if its thread panicked, which said so itself.
        let _ = self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept_until(mut stopped: oneshot::Receiver<()>, listener: &TcpListener, sites: &Sites) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut stopped => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Who comes beyond the bound is closed.
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else { continue };
        // Of a page that nobody reads: what is not acknowledged, or finds no room, for so long ends the connection.
        let _ = set_tcp_user_timeout(&stream, READER_PATIENCE.as_millis() as u32);
        let sites = Arc::clone(sites);
        tokio::spawn(async move {
            converse(stream, sites).await;
            drop(place);
        });
    }
    // Clients learn of the end by the last state, which may still be under way to them.
    tokio::time::sleep(END_PATIENCE).await;
}

/// Answers one client until it leaves, or is dropped.
async fn converse(stream: TcpStream, sites: Sites) {
    let dropped = Arc::new(Notify::new());
    let for_answers = Arc::clone(&dropped);
    let service = service_fn(move |request| {
        let (sites, dropped) = (Arc::clone(&sites), Arc::clone(&for_answers));
        async move { Ok::<_, Infallible>(answer(&request, sites, dropped).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(BUFFER_MAX)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // What went wrong was the client's, and it is gone.
        _ = connection => {}
        () = dropped.notified() => {}
    }
}

async fn answer(request: &Request<Incoming>, sites: Sites, dropped: Arc<Notify>) -> Response<Body> {
    if let Some(refused) = refused(request) {
        return response(&refused);
    }
    let (path, query) = (request.uri().path().to_owned(), request.uri().query().unwrap_or("").to_owned());
    if let Some(latest) = sites.iter().find_map(|site| site.events(&path)) {
        let (body, goes_on) = events::stream(latest, dropped);
        tokio::spawn(goes_on);
        let mut response = Response::new(Either::Right(body));
        add_headers(&mut response, &Page::new("text/event-stream", ""));
        return response;
    }
    let made = tokio::task::spawn_blocking(move || sites.iter().find_map(|site| site.page(&path, &query)));
    response(&match made.await {
        Ok(Some(page)) => page,
        Ok(None) => Page::refused(404, "there is no such page"),
        // It panicked, and said so itself.
        Err(_) => Page::refused(500, "the page could not be made; please report this as a bug"),
    })
}

/// Why a request is not answered, if it is not.
fn refused(request: &Request<Incoming>) -> Option<Page> {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
    // What a proxy is asked for would name a host in the target as well.
    let named = request.uri().authority().map_or(host, |authority| authority.as_str());
    if !host::is_ours(host) || !host::is_ours(named) {
        let why = "this server answers to localhost and to addresses, not to names (DNS rebinding); open it by its address";
        return Some(Page::refused(403, why));
    }
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    (!is_read).then(|| Page::refused(405, "pages here are only read"))
}

fn response(page: &Page) -> Response<Body> {
    let body = Either::Left(Full::new(page.body.clone()));
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if page.status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    add_headers(&mut response, page);
    response
}

fn add_headers(response: &mut Response<Body>, page: &Page) {
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in [
        ("content-security-policy", page.policy),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests;
