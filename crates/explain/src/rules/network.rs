//! Connections: who opens them, who waits to be accepted, and what the kernel counted of it.

use std::collections::BTreeMap;

use record::{AcceptQueue, LinkUse};

use super::pools;
use super::protocols::untold_handshakes_words;
use crate::audit::NO_PORT;
use crate::facts::{CONNECTION_COSTS_REQUESTS, CPU_SHARE_LOW, Facts};
use crate::idle::is_about;
use crate::verdict::{Confidence, Intervention, Setting, Verdict, VerdictKind};

/// More than half: whatever most users wait for is what they wait for.
const MOST: f64 = 0.5;
/// How long our engine has a user wait that could not connect (`engine::RETRY_PAUSE`), s.
const RETRY_PAUSE_S: f64 = 0.1;
/// Share of requests that fail for it before it is a limit: see the audit.
const FAILED_SHARE_MAX: f64 = 0.001;
/// Handshakes dropped, as a share of connections opened, from which the queue decides: one in a thousand, as for errors.
const DROPPED_SHARE_MAX: f64 = 0.001;
/// After how long Linux sends a handshake again that was dropped, s; each time after twice as long as before.
const SYN_RETRY_S: f64 = 1.0;
/// And how often at most (`tcp_syn_retries`).
const SYN_RETRIES_MAX: i32 = 6;
/// Share of the users' time that went by until SYNs were sent again, from which it is worth a word: the bound of any reason.
const REPEATED_SHARE_MIN: f64 = 0.1;
/// Share of the readings in which the queue was full.
const FULL_SHARE_MIN: f64 = 0.2;
/// What would show that it is a queue that is too short. Whoever asks for more than the kernel allows is given what it allows.
const LENGTHEN: &str = "lengthen the queue (backlog, and net.core.somaxconn, which bounds it); handshakes \
                        should no longer be dropped";
/// Linux sends an acknowledgement that waits for data after 40 ms at first (`TCP_DELACK_MIN`, HZ / 25), and timers and the
/// way back add some.
const DELAYED_ACK_US: std::ops::RangeInclusive<f64> = 36_000.0..=60_000.0;
/// Delayed acknowledgements a request from which most requests may have waited for one.
const DELAYED_A_REQUEST_MIN: f64 = 0.3;
/// Share of the connections that then hold a part of an answer at any time: as good as all in a closed model, and a half where
/// users think.
const HELD_SHARE_MIN: f64 = 0.4;
/// Share of its speed, in one direction, from which a link carries no more: of what goes over it full frames are 98 %, and such of
/// half a kilobyte nine tenths. The rest are the gaps between them.
const LINK_FULL_MIN: f64 = 0.9;
/// What more than its speed a link can be seen to carry: what two clocks differ by. One that carries more tells a speed that is not
/// its own, as those of emulated cards do.
const LINK_FULL_MAX: f64 = 1.05;
/// Share of the work that goes to connections before they are worth a word: the noise of a rate here.
const CONNECTIONS_SHARE_MIN: f64 = 0.05;

/// Requests for which the client could not connect by itself.
pub(super) struct Unconnected {
    count: u64,
    share: f64,
    /// How much of the rate, or of the requests, that can account for: whoever fails pauses, and makes fewer requests than others.
    pub(super) cost: f64,
}

impl Unconnected {
    /// Where these are more than a service may fail; `name` is that in `connect_failures`.
    pub(super) fn of(facts: &Facts<'_>, name: &str) -> Option<Self> {
        let load = &facts.trial.load;
        let count = *load.connect_failures.get(name)?;
        let share = count as f64 / load.intended.max(1) as f64;
        let paused = count as f64 * RETRY_PAUSE_S / (facts.users * load.window.duration_s);
        (share > FAILED_SHARE_MAX).then(|| Self { count, share, cost: share.max(paused) })
    }

    pub(super) fn words(&self, facts: &Facts<'_>, found: &str) -> String {
        let Self { count, share, .. } = self;
        format!("{count} of {} requests ({:.1} %) found {found}", facts.trial.load.intended, share * 100.0)
    }
}

pub(crate) fn port_exhaustion(facts: &Facts<'_>) -> Option<Verdict> {
    let failed = Unconnected::of(facts, NO_PORT)?;
    let text = failed.words(facts, "no port to connect from (EADDRNOTAVAIL)");
    let waiting = facts.trial.surroundings.time_wait_at_boot;
    let waiting = waiting.map(|count| format!("{count} sockets were in TIME_WAIT before it began"));
    Some(
        Verdict::new(VerdictKind::PortExhaustion, Confidence::Sure, "client's ports used up", text)
            .accounting_for(failed.cost)
            .and_maybe(waiting)
            .confirmed_by("keep connections, or widen net.ipv4.ip_local_port_range", facts.rate),
    )
}

pub(crate) fn delayed_ack(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load;
    let delayed = *facts.host()?.network.get("DelayedACKs")? as f64;
    let a_request = delayed / (facts.rate * load.window.duration_s).max(1.0);
    let typical_us = load.service_time_us.p50.filter(|us| DELAYED_ACK_US.contains(us))?;
    let idle_fits = facts.used_share().is_none_or(|share| share <= CPU_SHARE_LOW);
    // A server that takes 40 ms by itself does so when it is idle, too, where nothing is delayed yet.
    let is_slower_than_idle = facts.idle_s.is_none_or(|idle_s| typical_us / 1e6 > 2.0 * idle_s);
    let connections = f64::from(load.load.connections);
    // The kernel acknowledges every request by that timer whose answer takes longer. Only where the answer is what waits does
    // it lie in the server's own sockets in the meantime.
    let held = facts.signals().and_then(|signals| signals.unacknowledged);
    let is_held = held.is_none_or(|held| held.mean >= HELD_SHARE_MIN * connections);
    (a_request >= DELAYED_A_REQUEST_MIN && idle_fits && is_slower_than_idle && is_held).then(|| {
        let text = format!(
            "{a_request:.2} acknowledgements a request waited for their timer, and the median answer took {:.1} ms",
            typical_us / 1e3
        );
        let phrase = "delayed ACK (40 ms)";
        let waited_us = a_request * DELAYED_ACK_US.start();
        let of_time = load.service_time_us.mean.map(|mean_us| waited_us / mean_us);
        let confidence = if held.is_some() { Confidence::Sure } else { Confidence::Possible };
        let held = held.map(|held| {
            format!("{:.1} of {connections:.0} connections held a part of an answer that was not acknowledged", held.mean)
        });
        Verdict::new(VerdictKind::DelayedAck, confidence, phrase, text)
            .accounting_for_maybe(of_time)
            .and_maybe(held)
            .confirmed_by("send an answer at once, or set TCP_NODELAY; it should take less than 40 ms", facts.rate)
    })
}

/// The link between client and server is full, and most of what goes over it are the answers. Only where it is known that they go
/// over a link: from a server elsewhere to this machine, or from a server on this machine to agents.
pub(crate) fn link_full(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load;
    let used = |link: &LinkUse| match (load.agents.is_empty(), facts.not_measured()) {
        (true, Some(_)) => Some(("received", link.received_bytes_per_s)),
        (false, None) => Some(("sent", link.sent_bytes_per_s)),
        _ => None,
    };
    let links = facts.host()?.links.iter().filter(|link| link.bytes_per_s > 0.0);
    let uses = links.filter_map(|link| {
        let (did, used) = used(link)?;
        let share = used / link.bytes_per_s;
        (LINK_FULL_MIN..=LINK_FULL_MAX).contains(&share).then_some((link, did, used, share))
    });
    let (link, did, used, share) = uses.max_by(|a, b| a.3.total_cmp(&b.3))?;
    let is_the_load = load.received_bytes_per_s >= MOST * used;
    is_the_load.then(|| {
        let name = plain::line(&link.name);
        let megabytes = |bytes: f64| bytes / 1e6;
        let text = format!(
            "the network link {name} {did} {:.1} MB/s, {:.0} % of its speed ({:.1} MB/s); {:.1} MB/s of it were answers",
            megabytes(used),
            // What is beyond is what two clocks differ by.
            share.min(1.0) * 100.0,
            megabytes(link.bytes_per_s),
            megabytes(load.received_bytes_per_s)
        );
        let phrase = format!("network link full ({name})");
        Verdict::new(VerdictKind::NetworkLink, Confidence::Likely, phrase, text)
            .accounting_for(share.min(facts.missed_share()))
            .confirmed_by(
                "ask for smaller answers (compressed?), or use a faster link; the rate should rise",
                facts.rate,
            )
    })
}

/// Handshakes are dropped, and most users wait for theirs to be sent again: what serves them has nothing to do with it.
pub(crate) fn most_users_dropped(facts: &Facts<'_>) -> Option<Verdict> {
    overflow(facts).filter(|verdict| keeps_most_out(verdict) && !follows_from_a_pool(facts))
}

/// Handshakes are dropped, and what serves the others is what most wait for.
pub(crate) fn accept_queue_overflow(facts: &Facts<'_>) -> Option<Verdict> {
    overflow(facts).filter(|verdict| !keeps_most_out(verdict) || follows_from_a_pool(facts))
}

/// Whether the queue is full because those behind it are: a pool fits, and its queue is hardly ever anything but full. One that
/// is taken from at once overflows now and then, whatever the number of those inside.
fn follows_from_a_pool(facts: &Facts<'_>) -> bool {
    let queue = facts.signals().and_then(|signals| signals.accept_queue);
    queue.is_some_and(|queue| queue.full_share >= MOST) && pools::pool(facts).is_some()
}

fn keeps_most_out(verdict: &Verdict) -> bool {
    verdict.accounts_for.is_some_and(|share| share >= MOST)
}

/// Share of the users' time that so many dropped handshakes can have cost, and of the rate at most what is left to rise.
fn cost_of_drops(facts: &Facts<'_>, before: u64, within: u64) -> f64 {
    let load = &facts.trial.load;
    // Of those before the window, a user has one at most that it still waits for.
    let dropped = within as f64 + (before as f64).min(facts.users);
    let window_s = load.window.duration_s;
    let waited_s = dropped * longest_wait_s(window_s.min(load.load.longest_timeout_s()));
    let of_time = waited_s / (facts.users * window_s);
    outside(facts).map_or(of_time, |outside| of_time.min(outside)).min(facts.headroom())
}

/// How long a dropped handshake keeps a user waiting, on average over the tries that fit into `limit_s`: those that come
/// later wait for longer.
fn longest_wait_s(limit_s: f64) -> f64 {
    let after = |tries: i32| SYN_RETRY_S * (2_f64.powi(tries) - 1.0);
    let whole = (1..=SYN_RETRIES_MAX).take_while(|tries| after(*tries) <= limit_s).last().unwrap_or(1);
    (after(whole) / f64::from(whole)).max(limit_s / f64::from(whole + 1))
}

/// Share of the users who have no connection, not even one that waits to be accepted.
fn outside(facts: &Facts<'_>) -> Option<f64> {
    let (queue, held) = facts.signals().and_then(|signals| signals.accept_queue.zip(signals.connections))?;
    Some((1.0 - facts.users_of(queue.mean + held.mean) / facts.users).max(0.0))
}

fn overflow(facts: &Facts<'_>) -> Option<Verdict> {
    let host = facts.host()?;
    // `ListenDrops` counts what was dropped for other reasons, too.
    let dropped = |counts: &BTreeMap<String, u64>| -> u64 {
        let count = |name: &str| counts.get(name).copied().unwrap_or(0);
        count("ListenOverflows").saturating_add(count("TCPReqQFullDrop"))
    };
    let (before, within) = (dropped(&host.network_before), dropped(&host.network));
    let load = &facts.trial.load;
    // Another driver does not tell how many it opened: as many as it has, at least.
    let least = load.driver.as_ref().map_or(1, |_| u64::from(load.load.connections));
    let opened = load.connections.opened.max(least) as f64;
    // The kernel counts for all queues together; the one that was nearest its bound is meant.
    let queues =
        facts.servers().filter_map(|(of, server)| Some((of, server.signals.as_ref()?.accept_queue?)));
    let near = |queue: &AcceptQueue| f64::from(queue.max) / f64::from(queue.limit.max(1));
    let fullest = queues.max_by(|a, b| near(&a.1).total_cmp(&near(&b.1)));
    // Where nobody was seen to wait at any of several, it may have been either's.
    let fullest = fullest.filter(|(_, queue)| queue.max > 0 || facts.trial.upstreams.is_empty());
    let (of, queue) = (fullest.and_then(|(of, _)| of), fullest.map(|(_, queue)| queue));
    let is_full = queue.is_some_and(|queue| queue.full_share >= FULL_SHARE_MIN);
    let share = (before + within) as f64 / opened;
    if share <= DROPPED_SHARE_MAX || !(within > 0 || is_full) {
        return None;
    }
    let text = format!(
        "the kernel dropped {} handshakes, {within} of them within the window, because an accept queue was full",
        before + within
    );
    let queue_words = queue.map(|queue| {
        format!(
            "it holds {} connections, up to {} waited, and it was full in {:.0} % of the readings",
            queue.limit,
            queue.max,
            queue.full_share * 100.0
        )
    });
    let repeats = repeats_in(&host.network) + repeats_in(&host.network_before);
    let repeated = (repeats > 0).then(|| sent_again(repeats));
    let confirm = Intervention {
        text: LENGTHEN.into(),
        setting: Some(Setting::AcceptQueue),
        now: queue.map(|queue| f64::from(queue.limit)),
        threads: Vec::new(),
        rate_per_s: facts.rate,
        rate_max_per_s: facts.next_limit_per_s(),
    };
    let phrase =
        of.map_or_else(|| "accept queue full".to_owned(), |stack| format!("accept queue full ({stack})"));
    // Another server of the network may have dropped them, where this one's queue was never seen at its bound.
    let was_seen = queue.is_some_and(|queue| queue.max >= queue.limit);
    let confidence = if was_seen { Confidence::Sure } else { Confidence::Likely };
    let verdict = Verdict::new(VerdictKind::AcceptQueueOverflow, confidence, phrase, text);
    let verdict = verdict.accounting_for(cost_of_drops(facts, before, within));
    Some(verdict.and_maybe(queue_words).and_maybe(repeated).confirmed_with(confirm))
}

/// SYNs that were sent again.
fn repeats_in(counts: &BTreeMap<String, u64>) -> u64 {
    counts.get("TCPSynRetrans").copied().unwrap_or(0)
}

fn sent_again(repeats: u64) -> String {
    format!("{repeats} SYNs were sent again, after 1, 3, 7 or 15 s")
}

/// The same of a rate that nothing explains, where users waited for that. Where no queue was full something else dropped them: a table
/// of connections that is full, a firewall.
pub(crate) fn repeated_words(facts: &Facts<'_>) -> Option<String> {
    let repeats = repeats_in(&facts.host()?.network);
    let waited = repeats as f64 * SYN_RETRY_S / (facts.users * facts.trial.load.window.duration_s);
    (waited >= REPEATED_SHARE_MIN).then(|| sent_again(repeats))
}

/// Connections that were opened again, and what they carried.
struct Reopened {
    /// How many.
    count: f64,
    /// Answers meanwhile.
    answers: f64,
    /// Answers to a connection, as near as these figures are: the edges of what was counted are in neither.
    least: f64,
}

impl Reopened {
    /// A request that ended with its connection is no answer that the connection carried: a server that closes after each
    /// answer, and does not say so, makes many of those.
    fn of(facts: &Facts<'_>) -> Option<Self> {
        let load = &facts.trial.load;
        let answered = load.outcomes.answered as f64;
        let held = f64::from(load.load.connections);
        if let Some(count) = load.connections.opened_in_window {
            let count = count as f64;
            return (count > 0.0).then(|| Self {
                count,
                answers: answered,
                least: answered / (count + held),
            });
        }
        // Older records tell of the whole load only, whose warm-up may have been as fast as the window, or slower.
        let ended = load.intended.saturating_sub(load.outcomes.in_flight).max(1) as f64;
        let per_s = facts.rate * (answered / ended).min(1.0);
        let window_s = load.window.duration_s;
        let opened = load.connections.opened as f64;
        let count = opened - held;
        let answers = per_s * (load.load.warm_up_s + window_s);
        (count >= 1.0).then(|| Self { count, answers, least: per_s * window_s / opened })
    }

    /// Whether most of them carried an answer at all. Whoever ends them before that turns their users away.
    fn carry_answers(&self) -> bool {
        self.answers >= MOST * self.count
    }

    /// Answers a connection.
    fn each(&self) -> f64 {
        (self.answers / self.count).max(1.0)
    }

    /// After how many answers a connection ends, where that is a whole number as far as can be told.
    fn cap(&self, keeps_alive: bool) -> Option<u32> {
        let each = self.each();
        let is_each = !keeps_alive || (each < 2.0 && self.least <= 1.0) || is_about(each, 1);
        let whole = each.round();
        match whole {
            _ if is_each => Some(1),
            whole if whole < f64::from(u32::MAX) && is_about(each, whole as u32) => Some(whole as u32),
            _ => None,
        }
    }
}

/// A connection for each request, or for each k-th: work beside the work.
pub(crate) fn connections_by_request(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load;
    let reopened = Reopened::of(facts).filter(Reopened::carry_answers)?;
    let each = reopened.each();
    let cost = CONNECTION_COSTS_REQUESTS / each;
    let work_share = cost / (1.0 + cost);
    let queue = facts.signals().and_then(|signals| signals.accept_queue);
    // What waits to be accepted are connections, and with each all of its users.
    let connections = f64::from(load.load.connections);
    let waiting = queue.map(|queue| queue.mean / connections).filter(|share| *share >= MOST);
    // Only where the CPU is what there is too little of does work beside the work cost a rate; or where most users wait
    // for their new connection to be accepted.
    let costs_cpu = work_share >= CONNECTIONS_SHARE_MIN && facts.may_lack_cpu();
    if !(costs_cpu || waiting.is_some()) {
        return None;
    }
    let share = waiting.into_iter().chain(costs_cpu.then_some(work_share)).reduce(f64::max);
    // An answer to who asks for the end of the connection says so as well.
    let is_servers = load.load.keep_alive && load.connections.closed_by_server > 0;
    let who = if is_servers { "the server closes it" } else { "the client closes it" };
    let waiting = waiting.map(|share| {
        format!(
            "{:.0} of {:.0} users waited for their new connection to be accepted",
            share * facts.users,
            facts.users
        )
    });
    let cap = reopened.cap(load.load.keep_alive);
    let without = facts.rate * (1.0 + cost);
    let confirm = Intervention {
        text: "keep connections open; the rate should rise".into(),
        setting: Some(Setting::KeepAlive),
        now: Some(cap.map_or(each, f64::from)),
        threads: Vec::new(),
        rate_per_s: without,
        rate_max_per_s: Some(without),
    };
    let counted = format!("{:.0} connections for {:.0} answers", reopened.count, reopened.answers);
    let percent = work_share * 100.0;
    let (kind, phrase, text) = match cap {
        Some(1) => {
            let text = format!("{counted}: a new one for each, and {who}");
            (VerdictKind::NoKeepAlive, "a connection a request".to_owned(), text)
        }
        Some(k) => {
            let kth = ordinal(k);
            let text =
                format!("{counted}: {who} at each {kth}, which takes about {percent:.0} % of the work");
            (VerdictKind::KeepAliveCap, format!("keep-alive cap of {k}"), text)
        }
        None => {
            let text = format!(
                "{counted}: {who} after {each:.1} on average, which takes about {percent:.0} % of the work"
            );
            (VerdictKind::KeepAliveCap, format!("a connection for {each:.1} requests"), text)
        }
    };
    Some(
        Verdict::new(kind, Confidence::Likely, phrase, text)
            .accounting_for_maybe(share)
            .and_maybe(waiting)
            .and_maybe(untold_handshakes_words(facts))
            .and(facts.cpu_words())
            .confirmed_with(confirm),
    )
}

/// As in `2nd`.
fn ordinal(number: u32) -> String {
    let is_teen = matches!(number % 100, 11..=13);
    let ending = match number % 10 {
        1 if !is_teen => "st",
        2 if !is_teen => "nd",
        3 if !is_teen => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_row_is_told_as_people_say_it() {
        let told = [1, 2, 3, 4, 10, 11, 12, 13, 21, 22, 23, 100, 101, 111, 1012].map(ordinal);
        let said = "1st 2nd 3rd 4th 10th 11th 12th 13th 21st 22nd 23rd 100th 101st 111th 1012th";
        assert_eq!(told.join(" "), said);
    }

    #[test]
    fn the_pause_is_the_engines() {
        assert!((RETRY_PAUSE_S - engine::RETRY_PAUSE.as_secs_f64()).abs() < f64::EPSILON);
    }

    /// 1, 3, 7 s: the longer a user may wait, the more each of the tries costs.
    #[test]
    fn later_tries_wait_for_longer() {
        for (limit_s, wait_s) in [(0.5, 1.0), (1.5, 1.0), (3.0, 1.5), (5.0, 5.0 / 3.0), (7.0, 7.0 / 3.0)] {
            let told = longest_wait_s(limit_s);
            assert!((told - wait_s).abs() < 1e-9, "{limit_s} s: {told}");
        }
        assert!(longest_wait_s(f64::MAX) >= 63.0 / 6.0);
    }
}
