//! `proofload wrk -s`: a load by a Lua script.

use std::net::SocketAddr;
use std::path::Path;

use engine::{Load as Model, Request};
use http::RequestKind;
use lab::scripted;
use lua::{Environment, Errors, Hooks, Latency, Main, ScriptError, Summary, Url};
use plan::{HttpTarget, LoadPlan, toml_file};
use report::{Books, HitReport, WrkFigures, wrk_figures};
use stats::Deviation;

use super::{Done, End, Load, add, show, wrk_run};
use crate::arguments::wrk::Wrk;

/// A script whose `setup` and `init` were called.
pub struct Script {
    main: Main,
    /// The state of each load thread.
    threads: Vec<Environment>,
}

impl Script {
    /// Reads and prepares the script of `-s`, if there is one.
    pub fn prepare(wrk: &Wrk, target: &HttpTarget) -> Result<Option<Self>, End> {
        let Some(file) = &wrk.script else { return Ok(None) };
        let file = Path::new(file);
        let text = toml_file::read(file)?;
        let url = url(wrk, target);
        let script_error = |error: ScriptError| failed(&error.to_string());
        let main = Main::new(file, &text, &url).map_err(script_error)?;
        let words = [std::slice::from_ref(&wrk.url), &wrk.script_arguments[..]].concat();
        let mut threads = Vec::new();
        for _ in 0..wrk.threads {
            let thread = Environment::new(file, &text, &url).map_err(script_error)?;
            main.setup(&thread).map_err(script_error)?;
            thread.init(&words).map_err(script_error)?;
            threads.push(thread);
        }
        Ok(Some(Self { main, threads }))
    }

    /// Runs the load, prints what it came to, and tells the script.
    pub fn run(self, load: &Load<'_>) -> Result<(), End> {
        let (done, stopped_by) = match self.constant_request().map_err(script_failed)? {
            Some(request) => (load.constant(&request)?, None),
            None => self.hooked(load)?,
        };
        // What was printed while it went on comes before the figures, as with wrk. There is one output for all states.
        self.main.flush().map_err(script_failed)?;
        if let Some(error) = stopped_by {
            return Err(script_failed(error));
        }
        show(load.wrk, &done)?;
        if self.main.has_done() {
            let figures = wrk_figures(&wrk_run(load.wrk, &done.books, &done.report));
            let (summary, latency, rates) = told(figures);
            self.main.done(&summary, latency, rates).map_err(script_failed)?;
        }
        Ok(())
    }

    /// The request that all threads send again and again, if the script only says what that is: then it is not asked
    /// during the load.
    fn constant_request(&self) -> Result<Option<Request>, ScriptError> {
        let mut first: Option<Vec<u8>> = None;
        for thread in &self.threads {
            let bytes = thread.request()?;
            let differs = first.as_ref().is_some_and(|first| *first != bytes);
            if differs || !thread.is_constant() || thread.address()?.is_some() {
                return Ok(None);
            }
            first = Some(bytes);
        }
        let Some(bytes) = first else { return Ok(None) };
        let kind = if bytes.starts_with(b"HEAD ") { RequestKind::Head } else { RequestKind::Ordinary };
        Ok(Some(Request { bytes: bytes.into(), kind }))
    }

    /// A load in which the script is asked for each request, and what of it went wrong.
    fn hooked(&self, load: &Load<'_>) -> Result<(Done, Option<ScriptError>), End> {
        let connections = load.plan.connections.get() / self.threads.len() as u32;
        let mut targets: Vec<SocketAddr> = load.targets.to_vec();
        let mut hooks = Vec::new();
        for thread in &self.threads {
            let target = match thread.address().map_err(script_failed)? {
                None => 0,
                Some(address) => number(&mut targets, address),
            };
            hooks.push(Hooks::new(thread.clone(), connections, target).map_err(script_failed)?);
        }
        let plan = LoadPlan { load: Model::Scripted { users: load.plan.connections }, ..load.plan.clone() };
        let mut books = Books::default();
        let job = load.job(&load.target.request, &targets, &plan);
        let (result, hooks) =
            scripted::run(&job, hooks, load.control, &mut |moment| add(&mut books, &moment))?;
        let error = hooks.into_iter().find_map(|it| it.into_parts().1);
        Ok((Done { books, report: HitReport::new(result) }, error))
    }
}

/// The number of `address` among `targets`, which it is added to if it is not there.
fn number(targets: &mut Vec<SocketAddr>, address: SocketAddr) -> u32 {
    let known = targets.iter().position(|it| *it == address).unwrap_or_else(|| {
        targets.push(address);
        targets.len() - 1
    });
    known as u32
}

fn failed(message: &str) -> End {
    End { message: Some(format!("wrk: {message}")), usage: false }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn script_failed(error: ScriptError) -> End {
    failed(&format!("the script failed: {error}"))
}

fn url(wrk: &Wrk, target: &HttpTarget) -> Url {
    let rest = target.url.split("://").nth(1).unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let has_port = authority.rsplit(':').next().is_some_and(|it| it.parse::<u16>().is_ok());
    let split = |line: &String| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    Url {
        scheme: if target.is_secured { "https" } else { "http" }.into(),
        host: target.host.clone(),
        port: has_port.then(|| target.port.to_string()),
        path: path.to_owned(),
        authority: authority.to_owned(),
        headers: wrk.headers.iter().filter_map(split).collect(),
    }
}

/// What `done` is told.
fn told(figures: WrkFigures) -> (Summary, Latency, Latency) {
    let WrkFigures { length, requests, bytes, connect, read, timeout, status, latency, rates } = figures;
    let summary = Summary {
        duration_us: length.as_nanos() / 1000,
        requests,
        bytes,
        errors: Errors { connect, read, write: 0, status, timeout },
    };
    let of = |(spread, counts): (Deviation, Vec<(u64, u64)>)| Latency {
        min: counts.first().map_or(0.0, |(value, _)| *value as f64),
        // In whole numbers, as all values that the script can ask for: none of them is above it.
        max: spread.max.ceil(),
        mean: spread.mean,
        stdev: spread.standard,
        counts,
    };
    (summary, of(latency), of(rates))
}
