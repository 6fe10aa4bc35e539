//! What TLS and HTTP/2 have of their own: handshakes before the work, and exchanges that wait for a stream.

use record::Connections;

use super::pools;
use crate::alone::{self, LetIn};
use crate::facts::{CONNECTION_COSTS_REQUESTS, Facts, KeptAnswer, ONE_THREAD_CORES};
use crate::idle::POOL_TOLERANCE;
use crate::rates::whole_rate_words;
use crate::verdict::{Confidence, Intervention, Verdict, VerdictKind};
use crate::workers::busiest_held_up;

/// Share of the answers that begin with a handshake, below which handshakes are not worth a word: each would have to take
/// as long as a hundred requests.
const HANDSHAKES_AN_ANSWER_MIN: f64 = 0.01;
/// More than half: what a server has no time left for is what most of its time goes to.
const MOST: f64 = 0.5;
/// How much of the time that an answer takes on an open stream an idle server takes for one at least, where nobody waits for
/// anything but a stream: what tells a pool from another, and as much again for what a busy machine adds to each answer.
const AT_IDLE_PACE_MIN: f64 = 1.0 - 2.0 * POOL_TOLERANCE;

/// Handshakes within the window.
struct Handshakes {
    per_s: f64,
    /// For each answer.
    each: f64,
    /// Share of them that were full, over the whole load.
    full: f64,
}

impl Handshakes {
    fn of(facts: &Facts<'_>) -> Option<Self> {
        let load = &facts.trial.load;
        let tls = load.tls.as_ref()?;
        let per_s = load.connections.opened_in_window? as f64 / load.window.duration_s;
        // Of what was done within the window, as they are: the counts of answers are of what was due then, and of a load that is far
        // behind next to none of that is answered.
        let each = facts.a_request(per_s)?;
        let all = tls.full_handshakes.saturating_add(tls.resumed_handshakes);
        let is_part = each >= HANDSHAKES_AN_ANSWER_MIN && all > 0;
        is_part.then(|| Self { per_s, each, full: tls.full_handshakes as f64 / all as f64 })
    }

    fn words(&self) -> String {
        let Self { per_s, each, full } = self;
        format!(
            "{per_s:.0} TLS handshakes a second, {each:.2} for each answer, and {:.0} % of them full",
            full * 100.0
        )
    }
}

/// Of a client that was the limit, what it did beside asking.
pub(crate) fn client_handshakes_words(facts: &Facts<'_>) -> Option<String> {
    Handshakes::of(facts).map(|it| format!("it made {}", it.words()))
}

/// Of connections that are the reason, that each begins with a handshake, where these are no reason of their own.
pub(crate) fn untold_handshakes_words(facts: &Facts<'_>) -> Option<String> {
    let shaken = Handshakes::of(facts)?;
    handshakes(facts).is_none().then(|| shaken.words())
}

/// What an answer takes where nothing else is done, µs: each bounds the CPU time that client and server need for it together,
/// since one waits for the other.
#[derive(Debug, Clone, Copy)]
struct IdleCosts {
    /// The answer itself, on a connection that is there.
    answer_us: f64,
    /// Its connection: to open it, with its handshake, and to close it.
    connection_us: f64,
}

impl IdleCosts {
    fn of(facts: &Facts<'_>) -> Option<Self> {
        let idle = facts.trial.contract.idle_answers?;
        let (answer_us, connection_us) = (facts.idle_at_most_s()? * 1e6, idle.apart_us? - idle.mean_us);
        (connection_us > 0.0 && connection_us.is_finite()).then_some(Self { answer_us, connection_us })
    }

    /// Of the CPU time that each answer took, what went to connections, with so many for each answer: all that the answer
    /// itself can't have taken, and no more than opening them takes. Where it is known what an answer takes on a connection that is
    /// kept, that and what connections cost without TLS, if it is less than the idle answer's time.
    fn of_connections_us(self, cpu_us: f64, each: f64, kept_us: Option<f64>) -> f64 {
        let without_tls_us = kept_us.map(|it| it * (1.0 + each * CONNECTION_COSTS_REQUESTS));
        let others_us = without_tls_us.map_or(self.answer_us, |it| it.min(self.answer_us));
        (cpu_us - others_us).clamp(0.0, each * self.connection_us)
    }
}

/// There is no CPU time left, and most of it goes to handshakes.
///
/// No counter tells handshakes from other work. Of an idle server, an answer on a connection that is there takes a time that is
/// known, and so does its connection; what the answer can't have taken went to the connection. Opening one takes time without TLS,
/// too: about as much as an idle answer's two wake-ups, which are no CPU time and are counted to the answer here. Of a fast server
/// these are most of that time, and leave half of the CPU time open; where the run asked the same of it on connections that are kept, the
/// CPU time of those answers is nearer.
pub(crate) fn handshakes(facts: &Facts<'_>) -> Option<Verdict> {
    let shaken = Handshakes::of(facts)?;
    let costs = IdleCosts::of(facts)?;
    let server = facts.trial.server.cpu_cores.filter(|cores| *cores > 0.0 && cores.is_finite())?;
    if facts.rate <= 0.0 {
        return None;
    }
    let kept = facts.context.kept;
    let of_server = kept.map(|it| it.server_us);
    let of_both = kept.map(|it| it.server_us + it.client_us);
    let of_cores = |cores: f64, kept_us: Option<f64>| {
        let cpu_us = cores * 1e6 / facts.rate;
        costs.of_connections_us(cpu_us, shaken.each, kept_us) * facts.rate / 1e6
    };
    let of_thread = of_busy_thread(facts, server, of_cores(server, of_server));
    let of_all = facts.is_short_of_cores().then(|| {
        let servers = facts.servers_cores.unwrap_or(server);
        match facts.allotted_cores().or_else(|| facts.fuller_own_cores()) {
            Some(_) => of_cores(server, of_server) / servers,
            None => of_cores(server + facts.generator_cores, of_both) / (servers + facts.generator_cores),
        }
    });
    let share = of_thread.into_iter().chain(of_all).reduce(f64::max).filter(|share| *share >= MOST)?;
    let IdleCosts { answer_us, connection_us } = costs;
    let text = format!(
        "an answer took {:.0} µs of the server's CPU time; the idle server and its client took {answer_us:.0} µs in all for an \
         answer, and {connection_us:.0} µs for a connection with its handshake",
        server * 1e6 / facts.rate
    );
    Some(
        Verdict::new(VerdictKind::TlsHandshakes, Confidence::Likely, "TLS handshakes", shaken.words())
            .accounting_for(share)
            .and(text)
            .and_maybe(kept.map(kept_words))
            .and(facts.cpu_words())
            .confirmed_by("keep connections, or resume sessions; the rate should rise", facts.rate),
    )
}

fn kept_words(kept: KeptAnswer) -> String {
    let KeptAnswer { server_us, client_us } = kept;
    format!(
        "on connections that were kept, an answer took {server_us:.0} µs of the server's CPU time in this run, and {client_us:.0} µs \
         of the client's"
    )
}

/// Share of the busiest thread's time that went to handshakes, if it has no time left: `handshakes` are those of all threads of
/// the `server`, and the others may have made as many of them as they had time for.
fn of_busy_thread(facts: &Facts<'_>, server: f64, handshakes: f64) -> Option<f64> {
    let groups = facts.groups();
    let own = groups.iter().filter(|group| group.of.is_none());
    let busy = own.filter_map(|group| Some((group.did?.busiest_cores, busiest_held_up(facts, group))));
    let (busy, _) = busy
        .filter(|(busy, held_up)| busy + held_up >= ONE_THREAD_CORES)
        .reduce(|a, b| if b.0 > a.0 { b } else { a })?;
    let of_others = (server - busy).max(0.0);
    Some((handshakes - of_others) / busy)
}

/// Exchanges wait for a stream on a connection that is open, and those that have one are answered as by an idle server.
pub(crate) fn stream_limit(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load;
    let Connections { stream_waits, stream_wait_us, .. } = load.connections;
    let idle_s = facts.idle_at_most_s()?;
    let service_s = load.service_time_us.mean.filter(|us| *us > 0.0 && us.is_finite())? / 1e6;
    // By Little's law, over the whole load: that is what was counted over.
    let waiting = stream_wait_us as f64 / 1e6 / (load.load.warm_up_s + load.window.duration_s);
    let open = facts.rate * service_s;
    let at_idle_pace = idle_s >= AT_IDLE_PACE_MIN * service_s;
    let is_told = stream_waits > 0 && waiting > 0.0 && open > 0.0 && (waiting + open).is_finite();
    // Streams are a connection's own. What lets in by turns those who have one each is behind all connections.
    let is_behind_all = matches!(alone::let_in(facts), LetIn::ByTurns(_) | LetIn::OneByOne);
    // Who has no time left keeps streams open for longer, and is the reason that others wait for one.
    if !(is_told && at_idle_pace) || is_behind_all || facts.headroom() < 1.0 {
        return None;
    }
    let k = (open.round() as u32).max(1);
    let text = format!(
        "{stream_waits} requests waited for a stream, since their server allows no more of them at a time: on average {waiting:.1} \
         waited, and {open:.1} had one, on {} connections",
        load.load.connections
    );
    let pace = format!(
        "an answer took {:.1} ms on a stream, and that of the idle server {:.1} ms",
        service_s * 1e3,
        facts.idle_s.unwrap_or(idle_s) * 1e3
    );
    let confirm = Intervention {
        text: String::new(),
        setting: None,
        now: Some(f64::from(k)),
        threads: Vec::new(),
        rate_per_s: facts.rate,
        rate_max_per_s: facts.next_limit_per_s(),
    };
    let change = format!(
        "allow twice the streams a connection (MAX_CONCURRENT_STREAMS); the rate should become {}",
        whole_rate_words(confirm.predict(2.0))
    );
    let phrase = format!("stream limit (about {k} at a time)");
    Some(
        Verdict::new(VerdictKind::StreamLimit, stream_confidence(facts, open), phrase, text)
            .accounting_for(waiting / (waiting + open))
            .and(pace)
            .and_maybe(alone::burst_words(facts))
            .and(facts.cpu_words())
            .confirmed_with(Intervention { text: change, ..confirm }),
    )
}

/// For most of the time that answers take, bodies wait for the server's windows, and nothing else was found.
///
/// Windows may be small for the way there, or for all streams of a connection together. But whoever is to read the bodies opens
/// them, too, and may take its time: on this side the two look alike.
pub(crate) fn flow_control(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load;
    let Connections { window_waits, window_wait_us, .. } = load.connections;
    let service_s = load.service_time_us.mean? / 1e6;
    let held_back = window_wait_us as f64 / 1e6 / (load.load.warm_up_s + load.window.duration_s);
    let open = facts.rate * service_s;
    let share = held_back / open;
    if window_waits == 0 || !share.is_finite() || share < MOST || facts.headroom() < 1.0 {
        return None;
    }
    let text = format!(
        "the bodies of {window_waits} requests waited for the server's windows: on average {held_back:.1} did, of {open:.1} \
         requests that were under way"
    );
    let or = "either its windows are small for the way there, or whoever reads the bodies takes its time"
        .to_owned();
    let change = "let the server open larger windows, for streams and for connections (SETTINGS_INITIAL_WINDOW_SIZE); the rate \
                  should rise";
    Some(
        Verdict::new(
            VerdictKind::FlowControl,
            Confidence::Possible,
            "flow control (the server's windows)",
            text,
        )
        .accounting_for(share.min(1.0))
        .and(or)
        .and(facts.cpu_words())
        .confirmed_by(change, facts.rate),
    )
}

/// Sure where an idle server's pace is known as closely as it takes to tell one size of a pool from the next, and no pool has the
/// size: threads may be as many as streams by chance, and each be what the other is named for.
fn stream_confidence(facts: &Facts<'_>, open: f64) -> Confidence {
    let is_known =
        facts.concurrency().is_some_and(|it| it.is_sharp() && (open / it.mid - 1.0).abs() <= POOL_TOLERANCE);
    let fits =
        [pools::upstream_pool, pools::backend, pools::pool].into_iter().any(|rule| rule(facts).is_some());
    if is_known && !fits { Confidence::Sure } else { Confidence::Likely }
}
