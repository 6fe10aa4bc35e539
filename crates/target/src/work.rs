//! What a request costs beside its answer: the planted limits, done in one place for all models.
//!
//! A thread that blocks or computes here is the one that answers, so an event loop stands still meanwhile.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use units::{Duration, Instant};

use crate::clock;
use crate::error::TargetError;
use crate::planted::{Leak, LogWrites, Planted};

/// From there on a log begins anew: nobody reads it, and a disk is finite.
const LOG_FILE_BYTES_MAX: u64 = 256 << 20;

/// The planted limits of a server, and what they share.
#[derive(Debug)]
pub(crate) struct Work {
    planted: Planted,
    /// Whether a request costs anything at all; the calibration ceiling asks no more than that.
    is_some: bool,
    /// Held while what only one request at a time may do is done.
    section: Mutex<()>,
    log: Option<Log>,
    leaked: Mutex<Vec<Box<[u8]>>>,
    leaked_bytes: AtomicU64,
    first_request: OnceLock<Instant>,
}

impl Work {
    pub(crate) fn new(planted: &Planted) -> Result<Self, TargetError> {
        let Planted { serial, burn, block_loop, log, warm_up, leak, .. } = planted;
        let spans = serial.or(*block_loop).is_some() || burn.is_some() || warm_up.is_some();
        Ok(Self {
            is_some: spans || log.is_some() || leak.is_some(),
            section: Mutex::default(),
            log: log.as_ref().map(Log::create).transpose()?,
            leaked: Mutex::default(),
            leaked_bytes: AtomicU64::new(0),
            first_request: OnceLock::new(),
            planted: planted.clone(),
        })
    }

    /// Does what a request that arrived then costs, on the calling thread, which may block. When it was done; without
    /// anything to do, the arrival.
    pub(crate) fn carry_out(&self, arrived: Instant, stop: &AtomicBool) -> Instant {
        if !self.is_some {
            return arrived;
        }
        let Planted { serial, burn, block_loop, warm_up, leak, .. } = &self.planted;
        let (locked, unlocked) = match burn {
            Some(burn) if burn.under_lock => (Some(burn.per_request), None),
            Some(burn) => (None, Some(burn.per_request)),
            None => (None, None),
        };
        self.in_section(*serial, locked, stop);
        if let Some(span) = block_loop {
            sleep(*span, stop);
        }
        let extra =
            warm_up.map(|it| it.burn_after(clock::now().since(*self.first_request.get_or_init(clock::now))));
        for time in unlocked.into_iter().chain(extra) {
            clock::burn(time, stop);
        }
        if let Some(leak) = leak {
            self.leak(*leak);
        }
        if let Some(log) = &self.log {
            log.append();
        }
        clock::now()
    }

    /// Whether every line so far was logged; the failure is told once.
    pub(crate) fn check(&self) -> Result<(), TargetError> {
        self.log.as_ref().map_or(Ok(()), Log::check)
    }

    fn in_section(&self, sleep_for: Option<Duration>, burn: Option<Duration>, stop: &AtomicBool) {
        if sleep_for.is_none() && burn.is_none() {
            return;
        }
        let _held = lock(&self.section);
        if let Some(span) = sleep_for {
            sleep(span, stop);
        }
        if let Some(time) = burn {
            clock::burn(time, stop);
        }
    }

    /// Keeps memory for good. Taken outside of the lock, so that a leak is no serial section.
    fn leak(&self, Leak { bytes_per_request, bytes_max }: Leak) {
        let size = bytes_per_request.0;
        if self.leaked_bytes.fetch_add(size, Ordering::Relaxed) + size > bytes_max.0 {
            self.leaked_bytes.fetch_sub(size, Ordering::Relaxed);
            return;
        }
        // Of ones: the kernel gives pages of zeros when they are first written, which would be never.
        let block = vec![1; size as usize].into_boxed_slice();
        lock(&self.leaked).push(block);
    }
}

fn sleep(span: Duration, stop: &AtomicBool) {
    clock::sleep_until(clock::now() + span, stop);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The log that requests are written to.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    /// What each request is written as.
    line: Vec<u8>,
    sync: bool,
    sink: Mutex<Sink>,
}

#[derive(Debug)]
struct Sink {
    file: File,
    written_bytes: u64,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

impl Log {
    fn create(LogWrites { bytes_per_request, file: path, sync }: &LogWrites) -> Result<Self, TargetError> {
        let file = File::create(path).map_err(|source| TargetError::Log { file: path.clone(), source })?;
        let mut line = vec![b'.'; bytes_per_request.0 as usize];
        if let Some(last) = line.last_mut() {
            *last = b'\n';
        }
        let sink = Mutex::new(Sink { file, written_bytes: 0, failure: None });
        Ok(Self { path: path.clone(), line, sync: *sync, sink })
    }

    fn append(&self) {
        let mut sink = lock(&self.sink);
        if sink.failure.is_none() {
            sink.failure = self.write(&mut sink).err();
        }
    }

    fn write(&self, sink: &mut Sink) -> io::Result<()> {
        if sink.written_bytes + self.line.len() as u64 > LOG_FILE_BYTES_MAX {
            sink.file.set_len(0)?;
            sink.file.rewind()?;
            sink.written_bytes = 0;
        }
        sink.file.write_all(&self.line)?;
        sink.written_bytes += self.line.len() as u64;
        if self.sync { sink.file.sync_data() } else { Ok(()) }
    }

    fn check(&self) -> Result<(), TargetError> {
        let failure = lock(&self.sink).failure.take();
        failure.map_or(Ok(()), |source| Err(TargetError::Log { file: self.path.clone(), source }))
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    #[test]
    fn nothing_planted_costs_nothing() {
        let work = Work::new(&Planted::default()).unwrap();
        let arrived = Instant::from_nanos(7);
        assert_eq!(work.carry_out(arrived, &AtomicBool::new(false)), arrived);
    }

    #[test]
    fn a_leak_ends_at_its_bound() {
        let leak = Leak { bytes_per_request: Bytes(4096), bytes_max: Bytes(10_000) };
        let work = Work::new(&Planted { leak: Some(leak), ..Planted::default() }).unwrap();
        for _ in 0..5 {
            work.carry_out(clock::now(), &AtomicBool::new(false));
        }
        assert_eq!(lock(&work.leaked).len(), 2);
        assert_eq!(work.leaked_bytes.load(Ordering::Relaxed), 8192);
    }

    #[test]
    fn a_stop_ends_the_work() {
        let minute = Some(Duration::from_secs(60));
        let planted = Planted { serial: minute, block_loop: minute, ..Planted::default() };
        let begun = clock::now();
        Work::new(&planted).unwrap().carry_out(begun, &AtomicBool::new(true));
        assert!(clock::now().since(begun) < Duration::from_secs(10));
    }
}
