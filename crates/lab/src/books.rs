//! The books of a load: what its threads sampled, merged, and the result that is made of it.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration as StdDuration;

use driver::{Control, Finished, monotonic_now};
use engine::{Load, Reuse, UserStart, Window, WrongAnswer};
use events::Moment;
use plan::{ArrivalsName, HttpVersion, LoadPlan};
use record::{LOAD_VERSION, LoadResult, RequestSummary};
use stack::Cpus;
use stats::{Interval, ThreadUse};
use units::{Duration, Instant};

use crate::crew::Carried;
use crate::feed::{Filled, Return};
use crate::job::Job;
use crate::seconds::Seconds;
use crate::secured;

/// How often an observer is called at least.
const TICK: StdDuration = StdDuration::from_millis(100);

/// What a load thread has to tell at its end.
pub(crate) struct ThreadEnd {
    pub(crate) cpus: Cpus,
    /// The exchanges that its connections had room for.
    pub(crate) exchanges: u32,
    /// What its part of the load came to.
    pub(crate) part: Finished<()>,
}

/// Everything that was sampled so far.
#[derive(Default)]
pub(crate) struct Books {
    pub(crate) whole: Interval,
    first: Option<Instant>,
    seconds: Seconds,
}

/// Writes an interval's response times down: of which thread, from when after the start on, for how long.
pub(crate) type Log<'a> = &'a mut dyn FnMut(u32, Duration, Duration, &stats::Distribution);

impl Books {
    /// Merges what happened from `start` after the load's start on, for `length`.
    pub(crate) fn add(&mut self, start: Duration, length: Duration, interval: &Interval) {
        self.whole.merge(interval);
        self.seconds.add(start, length, interval);
    }

    /// Takes in intervals until every load thread has ended.
    pub(crate) fn keep(
        &mut self,
        intervals: &Receiver<Filled>,
        returns: &[Return],
        log: Log<'_>,
        control: &Control,
        observe: &mut dyn FnMut(Moment<'_>),
    ) {
        let mut threads = returns.len() as u32;
        loop {
            match intervals.recv_timeout(TICK) {
                Ok(filled) => {
                    let Filled { thread, from, to, mut interval, rates, ends } = filled;
                    let start = from.since(*self.first.get_or_insert(from));
                    log(thread, start, to.since(from), &interval.times.response);
                    self.add(start, to.since(from), &interval);
                    let (length, rates) = (to.since(from), rates.as_slice());
                    observe(Moment::Interval { from: start, interval: &interval, length, rates, threads });
                    threads -= u32::from(ends);
                    interval.clear();
                    // A thread that has ended takes nothing back.
                    let _ = returns[thread as usize].try_send(interval);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            observe(Moment::Tick(monotonic_now()));
            if self.first.is_none() {
                observe(Moment::Opening(control.connections_tried()));
            }
        }
    }
}

/// What the load came to that `job` asked for.
pub(crate) fn result(
    job: &Job<'_>,
    carried: &Carried,
    books: &Books,
    threads: &[ThreadEnd],
    interrupted: bool,
) -> LoadResult {
    let windows: Vec<Window> = threads.iter().map(|it| it.part.window).collect();
    let window = joint_window(&windows);
    let length = window.end.since(window.start);
    let whole = &books.whole;
    let used: Vec<ThreadUse> =
        threads.iter().map(|it| it.part.usage).map(|it| ThreadUse { cpu: it.cpu, wall: it.wall }).collect();
    let users = job.plan.saturating_users().map(|_| {
        let users = threads.iter().map(|it| it.exchanges);
        mean_users(users.zip(&windows), length)
    });
    let figures = stats::figures(whole, length, users, &used);
    let tally = &whole.tally;
    let service = whole.times.service();
    // Streams are not asked for theirs.
    let named = |counts: &BTreeMap<&'static str, u64>| {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    LoadResult {
        version: LOAD_VERSION,
        url: job.url.to_owned(),
        load: record::Load {
            threads_why: carried.threads_why.clone(),
            backend_refused: carried.refused.clone(),
            ..describe(job.plan, carried.threads, &carried.io)
        },
        request: asked_for(job),
        driver: None,
        window: record::Window {
            start_monotonic_ns: window.start.as_nanos(),
            duration_s: length.as_secs_f64(),
        },
        interrupted,
        intended: tally.intended,
        outcomes: tally.into(),
        answered_as_expected: tally.answered_as_expected,
        first_wrong_answer: first_wrong_answer(threads).map(wrong_answer),
        statuses: tally.statuses.iter().map(|(status, count)| (status.to_string(), count)).collect(),
        connect_failures: named(&tally.connect_failures),
        tls_failures: named(&tally.tls_failures),
        malformations: named(&tally.malformations),
        go_aways: go_aways(threads),
        goodput_per_s: figures.goodput_per_s,
        throughput_per_s: figures.throughput_per_s,
        received_bytes_per_s: figures.received_bytes_per_s,
        service_time_us: (&service).into(),
        fast_service_time_us: record::FastTimes::of(&service),
        first_byte_us: Some((&whole.times.first_byte()).into()),
        response_time_us: (&whole.times.response).into(),
        lag_us: (&whole.times.lag()).into(),
        generator_lag_us: (&whole.times.generator_lag()).into(),
        receive_lag_us: (&whole.times.receive_lag).into(),
        cpu_us_per_request: figures.generator_cpu_us_per_request,
        generator: record::Generator {
            busy_share: figures.generator_busy_share,
            cpu_s: used.iter().map(|it| it.cpu.as_secs_f64()).sum(),
            no_buffer: threads.iter().map(|it| it.part.incidents.no_buffer).sum(),
            completions_held_back: threads.iter().map(|it| it.part.incidents.completions_held_back).sum(),
        },
        connections: connections(threads),
        via: None,
        tls: job
            .tls
            .filter(|peers| peers.secures())
            .map(|peers| secured::result(peers, threads.iter().filter_map(|it| it.part.tls.as_ref()))),
        littles_law: figures.littles_law.map(Into::into),
        seconds: books.seconds.within(length),
        steps: Vec::new(),
        agents: Vec::new(),
        server_pods: None,
    }
}

/// What is sent again and again. Scripts say each time what they send.
pub(crate) fn asked_for(job: &Job<'_>) -> Option<RequestSummary> {
    if matches!(job.plan.load, Load::Scripted { .. }) {
        return None;
    }
    let mut names: Vec<Vec<u8>> = Vec::new();
    let each = |name: &[u8]| names.push(name.to_vec());
    let (method, body_bytes) = match job.plan.http {
        HttpVersion::Http1 => {
            http::named(&job.request.bytes, each).map(|(method, bytes)| (method.to_vec(), bytes))
        }
        HttpVersion::Http2 { .. } => h2::named(&job.request.bytes, each),
    }?;
    Some(RequestSummary::new(&method, names.iter().map(Vec::as_slice), body_bytes as u64))
}

/// The measured window of the threads together, which come through one gate and begin together. Threads that end when their
/// requests are made end one after another, and the load lasts from the first start to the last end. Where a deadline ends
/// them all they are equally long; should their clocks put them a moment apart, what each did in its own is the load's rate.
fn joint_window(windows: &[Window]) -> Window {
    let length = |it: &Window| it.end.since(it.start);
    let start = windows.iter().map(|it| it.start).min().unwrap_or(Instant::ORIGIN);
    let end = windows.iter().map(|it| it.end).max().unwrap_or(Instant::ORIGIN);
    let equally_long = windows.windows(2).all(|pair| length(&pair[0]) == length(&pair[1]));
    let end = windows.first().filter(|_| equally_long).map_or(end, |first| start + length(first));
    Window { start, end }
}

/// How many users there were on average over a window of `length`, of which those of each thread were there for its own.
fn mean_users<'a>(of_threads: impl Iterator<Item = (u32, &'a Window)>, length: Duration) -> f64 {
    let part = |window: &Window| window.end.since(window.start).as_secs_f64() / length.as_secs_f64();
    let parts = of_threads
        .map(|(users, window)| f64::from(users) * if length.is_zero() { 1.0 } else { part(window) });
    parts.sum()
}

/// The one that came first, to whichever thread.
fn first_wrong_answer(threads: &[ThreadEnd]) -> Option<&WrongAnswer> {
    threads.iter().filter_map(|it| it.part.first_wrong_answer.as_ref()).min_by_key(|it| it.at)
}

fn wrong_answer(answer: &WrongAnswer) -> record::WrongAnswer {
    let text = |body: &Vec<u8>| String::from_utf8_lossy(body).into_owned();
    record::WrongAnswer { status: answer.status, body_start: answer.body_start.as_ref().map(text) }
}

fn connections(threads: &[ThreadEnd]) -> record::Connections {
    let mut all = record::Connections { opened_in_window: Some(0), ..record::Connections::default() };
    for counters in threads.iter().map(|it| &it.part.counters) {
        all.opened += counters.connections_opened;
        *all.opened_in_window.get_or_insert(0) += counters.connections_opened_in_window;
        all.opening_failures += counters.opening_failures;
        all.closed_by_server += counters.connections_closed_by_server;
        all.unsolicited += counters.unsolicited;
        all.resent += counters.resent;
        all.stream_waits += counters.stream_waits;
        all.stream_wait_us += counters.stream_wait.as_nanos() / 1000;
        all.stream_wait_max_us = all.stream_wait_max_us.max(counters.stream_wait_max.as_nanos() / 1000);
        all.window_waits += counters.window_waits;
        all.window_wait_us += counters.window_wait.as_nanos() / 1000;
        all.backlog_peak += counters.backlog_peak;
        all.backlog_overflow += counters.backlog_overflow;
    }
    all
}

/// Why the server ended connections of HTTP/2.
pub(crate) fn go_aways(threads: &[ThreadEnd]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (name, count) in threads.iter().flat_map(|it| it.part.counters.go_aways.named()) {
        *all.entry(name.to_owned()).or_default() += count;
    }
    all
}

/// What was asked for, carried by `io` with so many load threads.
pub(crate) fn describe(plan: &LoadPlan, threads: u32, io: &str) -> record::Load {
    let (arrivals, think) = match plan.load {
        Load::Closed { think, .. } => (None, Some(think)),
        Load::Open { arrivals, .. } => (Some(arrivals), None),
        Load::Scripted { .. } => (None, None),
    };
    let (ramp_up_s, requests_per_user) = match plan.load {
        Load::Closed { start, requests_per_user, .. } => (ramp_up_s(start), requests_per_user),
        Load::Open { .. } | Load::Scripted { .. } => (None, None),
    };
    let requests_per_user = requests_per_user.map(std::num::NonZeroU32::get);
    let duration = plan.stop.duration;
    record::Load {
        label: plan.label(),
        model: match plan.load {
            Load::Closed { .. } => "closed",
            Load::Open { .. } => "open",
            Load::Scripted { .. } => "scripted",
        }
        .into(),
        arrivals: arrivals.map(|it| ArrivalsName::of(it).to_string()),
        rate_per_s: arrivals.map(|it| it.rate().as_per_sec()),
        think_us: think.map(Duration::as_micros_f64),
        ramp_up_s,
        requests_per_user,
        connections: plan.connections.get(),
        streams: plan.http.name().map(|_| plan.http.streams()),
        protocol: plan.http.name().map(Into::into),
        threads,
        threads_why: None,
        keep_alive: plan.reuse == Reuse::KeepAlive,
        warm_up_s: plan.warm_up.as_secs_f64(),
        duration_s: (duration != Duration::MAX).then(|| duration.as_secs_f64()),
        requests: plan.stop.requests.map(std::num::NonZeroU64::get),
        timeout_s: plan.timeouts.request.as_secs_f64(),
        timeout_max_s: longest_timeout_s(plan),
        seed: plan.seed.0,
        io: io.into(),
        backend_refused: None,
    }
}

/// The longest that any request of users may take, where they have different timeouts: answers are waited for as long at the end.
fn longest_timeout_s(plan: &LoadPlan) -> Option<f64> {
    let is_scripted = matches!(plan.load, Load::Scripted { .. });
    let longest = Some(plan.timeouts.drain).filter(|drain| is_scripted && *drain > plan.timeouts.request);
    longest.map(Duration::as_secs_f64)
}

fn ramp_up_s(start: UserStart) -> Option<f64> {
    match start {
        UserStart::WithWarmUp => None,
        UserStart::RampUp { span, .. } => Some(span.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use driver::{Incidents, Usage};
    use engine::{Counters, Expect};
    use plan::{Http2Arguments, HttpTarget, LoadArguments, RequestArguments};

    use super::*;

    fn window(start_ms: u64, end_ms: u64) -> Window {
        let at_ms = |ms| Instant::ORIGIN + Duration::from_millis(ms);
        Window { start: at_ms(start_ms), end: at_ms(end_ms) }
    }

    /// The request of a load, as a record has it.
    fn summary(http2: Option<Http2Arguments>, load: Load) -> Option<RequestSummary> {
        let plan = LoadPlan::new(&LoadArguments { http2, ..LoadArguments::default() }).unwrap();
        let asked = RequestArguments {
            url: "http://localhost/".into(),
            headers: vec!["X-B: 1".into(), "Authorization: Bearer secret".into()],
            body: b"four".to_vec(),
            ..RequestArguments::default()
        };
        let target = HttpTarget::over(plan.http, &asked).unwrap();
        asked_for(&Job {
            url: &target.url,
            targets: &[],
            request: &target.request,
            expect: &Expect::default(),
            plan: &LoadPlan { load, ..plan },
            socket: None,
            tls: None,
            interval_log: None,
            keep: None,
        })
    }

    #[test]
    fn a_record_says_what_was_sent_and_no_value_of_it() {
        let due = RequestSummary {
            method: "POST".into(),
            header_names: vec!["authorization".into(), "x-b".into()],
            body_bytes: 4,
        };
        let http2 = Http2Arguments { prior_knowledge: true, ..Http2Arguments::default() };
        for version in [None, Some(http2)] {
            assert_eq!(summary(version, Load::SATURATING), Some(due.clone()), "{version:?}");
        }
        let users = std::num::NonZeroU32::MIN;
        assert_eq!(summary(None, Load::Scripted { users }), None);
    }

    #[test]
    fn where_requests_have_different_timeouts_the_longest_is_told_as_well() {
        let mut plan = LoadPlan::new(&LoadArguments::default()).unwrap();
        assert_eq!(describe(&plan, 1, "epoll").timeout_max_s, None);
        plan.load = Load::Scripted { users: plan.connections };
        assert_eq!(describe(&plan, 1, "epoll").timeout_max_s, None, "all have the same");
        (plan.timeouts.request, plan.timeouts.drain) = (Duration::from_secs(2), Duration::from_secs(30));
        let load = describe(&plan, 1, "epoll");
        assert_eq!((load.timeout_s, load.timeout_max_s), (2.0, Some(30.0)));
    }

    #[test]
    fn a_load_whose_threads_end_one_after_another_lasts_from_the_first_start_to_the_last_end() {
        // One thread made its requests in 600 ms, the other in 700, of 900 in all.
        let apart = [window(0, 600), window(200, 900)];
        assert_eq!(joint_window(&apart), window(0, 900));
        assert_eq!(joint_window(&[window(100, 200), window(0, 1000)]), window(0, 1000));
        assert_eq!(joint_window(&[window(5, 50)]), window(5, 50));
        // 30 users for two thirds of it, and 9 for seven ninths.
        let users = mean_users([30, 9].into_iter().zip(&apart), Duration::from_millis(900));
        assert!((users - 27.0).abs() < 1e-9, "{users}");
    }

    #[test]
    fn the_first_wrong_answer_is_the_earliest_of_all_threads() {
        let of = |wrong: Option<(u64, u16)>| ThreadEnd {
            cpus: Cpus::default(),
            exchanges: 1,
            part: Finished {
                sink: (),
                counters: Counters::default(),
                first_wrong_answer: wrong.map(|(ms, status)| WrongAnswer {
                    at: Instant::ORIGIN + Duration::from_millis(ms),
                    status,
                    body_start: None,
                }),
                kept_answers: Vec::new(),
                window: window(0, 1000),
                interrupted: false,
                usage: Usage::default(),
                incidents: Incidents::default(),
                tls: None,
            },
        };
        let threads = [None, Some((700, 500)), Some((200, 404)), Some((300, 503))].map(of);
        assert_eq!(first_wrong_answer(&threads).map(|it| it.status), Some(404));
        assert_eq!(first_wrong_answer(&threads[..1]), None);
    }

    /// What each thread did in a second is a second's rate, however far apart the seconds begin.
    #[test]
    fn a_load_that_a_deadline_ends_is_as_long_as_that() {
        let windows = [window(30, 1030), window(0, 1000), window(50, 1050)];
        assert_eq!(joint_window(&windows), window(0, 1000));
        let users = mean_users([4, 3, 3].into_iter().zip(&windows), Duration::from_secs(1));
        assert_eq!(users.to_bits(), 10_f64.to_bits());
    }
}
