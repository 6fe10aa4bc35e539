//! A stream to an agent: a port-forward to its pod, for threads that wait.

use std::io::{self, Chain, Cursor, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::Portforwarder;
use tokio::io::{AsyncReadExt, DuplexStream, ReadHalf, WriteHalf};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::io::SyncIoBridge;

use crate::error::causes;

/// How long an agent may take to say something on a new stream.
const GREETED_WITHIN: Duration = Duration::from_secs(5);
/// How long it is waited for the reason why a stream ended that had said nothing.
const REASON_WITHIN: Duration = Duration::from_millis(200);
/// What an agent says first is no longer.
const FIRST_BYTES: usize = 4096;

/// Why there is no stream to an agent: what follows its name in an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// Another may be opened.
    ForNow(String),
    /// There will be none.
    ForGood(String),
}

/// What an agent says.
pub struct Reader(Chain<Cursor<Vec<u8>>, SyncIoBridge<ReadHalf<DuplexStream>>>);

impl Read for Reader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

/// Where it hears us. It hears of the end when this is dropped.
pub struct Writer(SyncIoBridge<WriteHalf<DuplexStream>>);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Who reads does so on a thread of its own, and may hold the other half for longer.
        let _ = self.0.shutdown();
    }
}

/// A stream that is open: the agent at its end has said something.
pub(crate) struct Forward {
    stream: DuplexStream,
    first: Vec<u8>,
    forwarder: Arc<Portforwarder>,
}

impl Forward {
    /// The two ways of it.
    pub(crate) fn split(self, handle: &Handle) -> (Reader, Writer) {
        let (output, input) = tokio::io::split(self.stream);
        let output = SyncIoBridge::new_with_handle(output, handle.clone());
        let input = SyncIoBridge::new_with_handle(input, handle.clone());
        (Reader(Read::chain(Cursor::new(self.first), output)), Writer(input))
    }

    /// What was said first, what is said from now on, and what ends it.
    pub(crate) fn into_parts(self) -> (Vec<u8>, DuplexStream, Arc<Portforwarder>) {
        (self.first, self.stream, self.forwarder)
    }

    /// What ends it, whoever holds its ways.
    pub(crate) fn forwarder(&self) -> Arc<Portforwarder> {
        Arc::clone(&self.forwarder)
    }
}

/// Opens a stream to what listens in a pod, an agent or a watcher, which says something first.
pub(crate) async fn forward(pods: &Api<Pod>, name: &str, port: u16) -> Result<Forward, String> {
    let late = || format!("says nothing within {} s", GREETED_WITHIN.as_secs());
    timeout(GREETED_WITHIN, open(pods, name, port)).await.unwrap_or_else(|_| Err(late()))
}

async fn open(pods: &Api<Pod>, name: &str, port: u16) -> Result<Forward, String> {
    let forwarder = pods.portforward(name, &[port]).await;
    let mut forwarder = forwarder.map_err(|why| format!("cannot be reached ({})", causes(&why)))?;
    let (Some(mut stream), Some(error)) = (forwarder.take_stream(port), forwarder.take_error(port)) else {
        return Err("cannot be reached (the port is not forwarded)".to_owned());
    };
    let (tell, mut told) = watch::channel(None);
    tokio::spawn(async move { tell.send_replace(error.await) });
    let mut first = vec![0; FIRST_BYTES];
    let read = tokio::select! {
        read = stream.read(&mut first) => read,
        Ok(why) = told.wait_for(Option::is_some) => return Err(not_reached(why.as_deref())),
    };
    match read {
        Ok(count @ 1..) => first.truncate(count),
        Ok(0) | Err(_) => {
            return Err(match timeout(REASON_WITHIN, told.wait_for(Option::is_some)).await {
                Ok(Ok(why)) => not_reached(why.as_deref()),
                _ => "ended without a word".to_owned(),
            });
        }
    }
    let forwarder = Arc::new(forwarder);
    let to_abort = Arc::clone(&forwarder);
    tokio::spawn(async move {
        // A port that can't be used any more is not closed by itself.
        if told.wait_for(Option::is_some).await.is_ok() {
            to_abort.abort();
        }
    });
    Ok(Forward { stream, first, forwarder })
}

fn not_reached(why: Option<&str>) -> String {
    format!("cannot be reached ({})", why.unwrap_or_default().trim())
}
