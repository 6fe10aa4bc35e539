//! Did the server do its work, and was it kept from it by something with a counter of its own?

use record::{LoadResult, Outcomes, Server, ServerSignals};

use super::{inside, no_limit, pools};
use crate::audit::unconnected_by_client;
use crate::facts::{Facts, ONE_THREAD_CORES, THROTTLED_MAX, stood_still};
use crate::idle::POOL_TOLERANCE;
use crate::rates::whole_rate_words;
use crate::verdict::{Confidence, Intervention, Setting, Verdict, VerdictKind};

/// Descriptors that are free when a server has none for a connection: it may keep one or two back to say so.
const FILES_LEFT_MAX: u64 = 2;
/// Share of wrong answers from which a service is incorrect: see the audit.
const WRONG_SHARE_MAX: f64 = 0.001;
/// *Bad Gateway* and *Gateway Timeout* (RFC 9110).
const OF_GATEWAY: [&str; 2] = ["502", "504"];
/// Share of its quota that a server uses when the quota is its limit.
const QUOTA_USED_MIN: f64 = 0.8;
/// Share of a quota that one user alone uses, up to which the idle server is not kept from running by it.
const QUOTA_ALONE_MAX: f64 = 0.5;
/// Share of the time from which a quota keeps threads from running for most of what they would.
const THROTTLED_MOST: f64 = 0.5;
/// Share of the time in collections from which taking them away would raise the rate by more than any noise here.
pub(super) const GC_SHARE_MIN: f64 = 0.1;
/// Share of the heap in use from which more of it helps: collectors begin their work at about half.
const HEAP_SHORT_SHARE: f64 = 0.5;
/// Bytes to a disk a request that are more than a server has any need for: a line of an access log has a hundred or two.
const LOG_BYTES_MIN: f64 = 1024.0;
/// Bytes a second that keep a disk busy at all: a slow one takes a hundred times as much.
const LOG_BYTES_PER_S_MIN: f64 = 1e6;
/// Share of the time in which a thread of the server waited for a disk: where it is less, a tenth at most could be won.
const DISK_WAIT_MIN: f64 = 0.1;
/// Share of the time from which waiting for a disk is most of what is done.
const DISK_WAIT_MOST: f64 = 0.5;
/// Share of the time up to which nobody waited for a disk. Whoever waits for a journal to be written is not counted, so that of
/// more than this the whole is not known; but a disk that is waited for shows in some of it.
const DISK_WAIT_NONE: f64 = stats::LEAST_EFFECT;
/// A log line a request: as much as an access log has.
const LOG_LINE_BYTES: f64 = 64.0;

pub(crate) fn descriptor_limit(facts: &Facts<'_>) -> Option<Verdict> {
    facts.servers().find_map(|(of, server)| {
        let signals = server.signals.as_ref()?;
        let (max, limit) = (signals.open_files_max?, signals.open_files_limit?);
        (max + FILES_LEFT_MAX >= limit).then(|| {
            let whose = of.map_or_else(String::new, |stack| format!(" of {stack}"));
            let text = format!("{max} open files{whose}, of {limit} that are allowed");
            // A limit that is reached by those who are served keeps nobody out.
            let failed = failed_share(&facts.trial.load);
            let own = signals.connections.filter(|_| of.is_none());
            let unserved = own.map(|held| (1.0 - facts.users_of(held.mean) / facts.users).max(failed));
            let waiting = signals
                .accept_queue
                .filter(|queue| queue.max > 0)
                .map(|queue| format!("up to {} connections waited to be accepted", queue.max));
            // Where nobody counted who is served, they may be as many as there are files.
            let confidence = if unserved.is_some() { Confidence::Sure } else { Confidence::Likely };
            let phrase = format!("{limit} file descriptors");
            Verdict::new(VerdictKind::DescriptorLimit, confidence, phrase, text)
                .accounting_for_maybe(unserved)
                .and_maybe(waiting)
                .confirmed_by("raise the limit of open files; all connections should be served", facts.rate)
        })
    })
}

/// Share of the requests that brought no good answer.
fn failed_share(load: &LoadResult) -> f64 {
    load.intended.saturating_sub(load.answered_as_expected) as f64 / load.intended.max(1) as f64
}

/// Answers that are wrong, or none. What came late or was never sent is a matter of speed.
pub(crate) fn incorrect_service(facts: &Facts<'_>) -> Option<Verdict> {
    let load = &facts.trial.load;
    let Outcomes { answered, connect_failed, tls_failed, reset, closed_early, malformed, .. } = load.outcomes;
    let Outcomes { refused_stream, stream_reset, gone_away, .. } = load.outcomes;
    let unexpected = answered.saturating_sub(load.answered_as_expected);
    let of_client = unconnected_by_client(load);
    let connect_failed = connect_failed - of_client;
    let kinds = [
        (unexpected, "answered otherwise than expected"),
        (connect_failed, "not connected"),
        (tls_failed, "not secured by TLS"),
        (reset, "reset"),
        (closed_early, "closed early"),
        (malformed, "malformed"),
        (refused_stream, "refused as streams"),
        (stream_reset, "reset as streams"),
        (gone_away, "gone away"),
    ];
    let wrong: u64 = kinds.iter().map(|(count, _)| count).sum();
    let asked = load.intended.saturating_sub(load.outcomes.never_sent() + of_client).max(1);
    let share = wrong as f64 / asked as f64;
    if share <= WRONG_SHARE_MAX {
        return None;
    }
    let named: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let text = format!("{:.1} % of {asked} requests: {}", share * 100.0, named.join(", "));
    let statuses = (unexpected > 0).then(|| {
        let all: Vec<String> =
            load.statuses.iter().map(|(status, count)| format!("{count} × {status}")).collect();
        format!(
            "statuses: {}; what fails fast makes a rate look good, goodput is {}",
            all.join(", "),
            whole_rate_words(load.goodput_per_s)
        )
    });
    let phrase = format!("wrong answers ({:.1} %)", share * 100.0);
    let verdict =
        Verdict::new(VerdictKind::IncorrectService, Confidence::Sure, phrase, text).and_maybe(statuses);
    let verdict = verdict.and_maybe(gateway_words(load, unexpected)).accounting_for(share);
    Some(verdict.confirmed_by("mend the errors and measure again", load.goodput_per_s))
}

/// Where most of so many unexpected answers are such as only a gateway gives: that whom it asks did not answer it.
fn gateway_words(load: &LoadResult, unexpected: u64) -> Option<String> {
    let of_gateway: u64 = OF_GATEWAY.iter().filter_map(|status| load.statuses.get(*status)).sum();
    (unexpected > 0 && of_gateway <= unexpected && of_gateway >= unexpected.div_ceil(2)).then(|| {
        "502 and 504 are what a gateway says of whom it asks: that one could not be reached, broke off or took too long; the \
         gateway's own log says which"
            .to_owned()
    })
}

/// A CPU quota that kept threads from running.
struct QuotaUse {
    allowed: f64,
    /// Of it, by everybody whom it holds back.
    used: f64,
    throttled: f64,
    /// Whether the client is one of them.
    is_shared: bool,
}

impl QuotaUse {
    fn of(facts: &Facts<'_>, server: &Server) -> Option<Self> {
        let quota = server.signals.as_ref()?.quota?;
        let (allowed, own) = (quota.cores?, server.cpu_cores?);
        let is_shared = facts.holds_client(&quota);
        let used = if is_shared { facts.servers_cores? + facts.generator_cores } else { own };
        let throttled = quota.throttled_cores;
        (throttled > THROTTLED_MAX).then_some(Self { allowed, used, throttled, is_shared })
    }

    fn is_used_up(&self) -> bool {
        self.used >= QUOTA_USED_MIN * self.allowed
    }

    /// Without the quota those threads would have run: so much more could have been done, at most. A rate that was asked for has
    /// lost no more than was missed of it.
    fn accounts_for(&self, facts: &Facts<'_>) -> f64 {
        self.of_time().min(facts.missed_share()).min(self.short_of_idle_pace(facts))
    }

    fn of_time(&self) -> f64 {
        self.throttled / (self.throttled + self.used)
    }

    /// By how much of it the rate falls short of what users, or those who have their turn at a time, have at an idle server's pace:
    /// what keeps threads from running makes answers take longer than that. Where one user alone comes near the quota, the idle server
    /// was kept from running as well, and its pace tells nothing.
    fn short_of_idle_pace(&self, facts: &Facts<'_>) -> f64 {
        let Some(under_way) = facts.concurrency() else { return 1.0 };
        let is_possible = under_way.mid <= (1.0 + POOL_TOLERANCE) * facts.users;
        if !is_possible || self.used > QUOTA_ALONE_MAX * self.allowed * under_way.mid {
            return 1.0;
        }
        if no_limit::idle_pace(facts).is_some() {
            return 0.0;
        }
        // A number that nobody has may fit by chance; time that was counted does not.
        let by_number = || inside::limit(facts).filter(|_| self.of_time() < THROTTLED_MOST);
        let at_a_time = sure_pool(facts).or_else(by_number).and_then(|limit| limit.accounts_for);
        let of_users = under_way.low / facts.users;
        (1.0 - at_a_time.map_or(of_users, |share| share.max(of_users))).max(0.0)
    }

    fn verdict(&self, of: Option<&str>, confidence: Confidence) -> Verdict {
        let Self { allowed, used, throttled, is_shared } = self;
        let whose = of.map_or_else(String::new, |stack| format!(" of {stack}"));
        let (with, phrase) = if *is_shared {
            (", with the client in it,", format!("CPU quota of {allowed:.2} cores (client and server)"))
        } else {
            ("", format!("CPU quota of {allowed:.2} cores"))
        };
        let text = format!(
            "the control group{whose}{with} may use {allowed:.2} cores and used {used:.2}; threads were kept from running for \
             {throttled:.2} s a second",
        );
        Verdict::new(VerdictKind::QuotaBound, confidence, phrase, text)
    }
}

/// Whether a quota holds back client and server together, so that it is not the client's own.
pub(super) fn quota_holds_both(facts: &Facts<'_>) -> bool {
    let mut quotas = facts.servers().filter_map(|(_, server)| server.signals.as_ref()?.quota);
    quotas.any(|quota| facts.holds_client(&quota))
}

pub(crate) fn quota_bound(facts: &Facts<'_>) -> Option<Verdict> {
    facts.servers().find_map(|(of, server)| {
        let quota = QuotaUse::of(facts, server).filter(QuotaUse::is_used_up)?;
        // Of twice the quota one thread that fills a core has no use for the second half.
        let change = if busiest_of(server) >= ONE_THREAD_CORES {
            "double the quota and let more threads share its work: one of them fills a core by itself"
        } else {
            "double the quota; the rate should double, as far as there are cores"
        };
        let verdict = quota.verdict(of, Confidence::Sure).accounting_for(quota.accounts_for(facts));
        Some(verdict.confirmed_by(change, facts.rate))
    })
}

/// CPU time a second of its busiest thread.
fn busiest_of(server: &Server) -> f64 {
    let groups = server.signals.iter().flat_map(|signals| &signals.groups);
    groups.map(|group| group.busiest_cores).fold(0.0, f64::max)
}

/// A quota is of a period, a tenth of a second as a rule: work that comes in bursts, or on many threads at once, uses it up early in
/// one and stands still until the next, however much is left on average.
pub(crate) fn quota_in_bursts(facts: &Facts<'_>) -> Option<Verdict> {
    facts.servers().find_map(|(of, server)| {
        let quota = QuotaUse::of(facts, server).filter(|quota| !quota.is_used_up())?;
        let why = "some of it is left on average, unless others of its group take that: bursts use up what \
                   a period allows, and wait for the next";
        // Whoever is not held back by it finds the cores that are left, and no more.
        let share = quota.accounts_for(facts).min(facts.machine_left());
        let verdict = quota.verdict(of, Confidence::Likely).accounting_for(share).and(why);
        Some(verdict.confirmed_by("lift the quota; the rate should rise", facts.rate))
    })
}

/// A pool that is the limit for sure, by its size and by who works.
fn sure_pool(facts: &Facts<'_>) -> Option<Verdict> {
    pools::pool(facts).filter(|it| it.kind == VerdictKind::PoolLimit && it.confidence == Confidence::Sure)
}

pub(crate) fn log_bound(facts: &Facts<'_>) -> Option<Verdict> {
    facts.servers().find_map(|(of, server)| writes_to_a_disk(facts, of, server.signals.as_ref()?))
}

fn writes_to_a_disk(facts: &Facts<'_>, of: Option<&str>, signals: &ServerSignals) -> Option<Verdict> {
    let a_second = signals.disk_write_bytes_per_s?;
    let a_request = facts.a_request(a_second)?;
    let waited = signals.disk_wait_share;
    // Who reads waits for a disk as well, and so does whoever has less memory than it takes.
    let reads = read_words(signals);
    let memory = memory_wait_words(facts).filter(|_| waited.is_some());
    let is_waited_for = waited.is_some_and(|share| share >= DISK_WAIT_MIN) && a_request >= LOG_LINE_BYTES;
    let waits = is_waited_for && reads.is_none();
    // To write is what a database behind a server is for; only that it waits says anything.
    let is_much = of.is_none() && a_request >= LOG_BYTES_MIN && a_second >= LOG_BYTES_PER_S_MIN;
    (waits || is_much).then(|| {
        let text = format!("{a_request:.0} bytes a request to a disk, {:.1} MB/s", a_second / 1e6);
        let waiting = waited.map_or_else(
            || "how long it waited for the disk is not known".to_owned(),
            |share| format!("one of its threads waited for a disk in {:.0} % of the time", share * 100.0),
        );
        // Who waits need not be on the way of a request: a thread that writes behind all of them waits as well, and a database does
        // so for its own sake. Where a pool is full for sure, a thread of those may wait for a small part of its time.
        let is_most = of.is_none() && waited.is_some_and(|share| share >= DISK_WAIT_MOST);
        let confidence = if waits && is_most && memory.is_none() && sure_pool(facts).is_none() {
            Confidence::Sure
        } else if waits {
            Confidence::Likely
        } else {
            Confidence::Possible
        };
        // Cores that are used up and a thread that has no time left go on setting the rate, whoever waits for a disk.
        let hardly_any = waited.filter(|share| *share < DISK_WAIT_NONE);
        let left = Some(facts.headroom()).filter(|left| *left < 1.0);
        let phrase =
            of.map_or_else(|| "writes to a disk".to_owned(), |stack| format!("writes to a disk ({stack})"));
        Verdict::new(VerdictKind::LogBound, confidence, phrase, text)
            .accounting_for_maybe(hardly_any.into_iter().chain(left).reduce(f64::min))
            .and(waiting)
            .and_maybe(reads)
            .and_maybe(memory)
            .confirmed_by("log less, or without syncing; the rate should rise", facts.rate)
    })
}

/// Who waited for a disk and for how long, whatever for.
pub(crate) fn disk_wait_words(facts: &Facts<'_>) -> Option<String> {
    facts.servers().find_map(|(of, server)| {
        let share = server.signals.as_ref()?.disk_wait_share.filter(|share| *share >= DISK_WAIT_MIN)?;
        let whose = of.map_or_else(|| "its threads".to_owned(), |stack| format!("the threads of {stack}"));
        Some(format!("one of {whose} waited for a disk in {:.0} % of the time", share * 100.0))
    })
}

/// Of who waited for a disk, whether that may have been for what it read.
pub(crate) fn disk_read_words(facts: &Facts<'_>) -> Option<String> {
    let waited =
        |signals: &ServerSignals| signals.disk_wait_share.is_some_and(|share| share >= DISK_WAIT_MIN);
    facts.servers().find_map(|(_, server)| read_words(server.signals.as_ref().filter(|it| waited(it))?))
}

/// Of who had more from a disk than it wrote, how much: the kernel counts as waiting what waits for either.
fn read_words(signals: &ServerSignals) -> Option<String> {
    let (read, written) = signals.disk_read_bytes_per_s.zip(signals.disk_write_bytes_per_s)?;
    (read > written).then(|| {
        format!(
            "{:.1} MB/s were read from a disk, and {:.1} written: what waits for a disk may wait for what it \
             reads",
            read / 1e6,
            written / 1e6
        )
    })
}

/// How long there was too little memory, of the whole machine, where that is long: what was not in it is read again, or swapped in.
pub(crate) fn memory_wait_words(facts: &Facts<'_>) -> Option<String> {
    let share = *facts.host()?.pressure.get("memory").filter(|share| **share >= DISK_WAIT_MIN)?;
    Some(format!("some task waited for memory in {:.0} % of the time", share * 100.0))
}

pub(crate) fn garbage_collection(facts: &Facts<'_>) -> Option<Verdict> {
    facts.servers().find_map(|(of, server)| {
        let jvm = server.signals.as_ref()?.jvm?;
        let share = Some(stood_still(&jvm)).filter(|share| *share >= GC_SHARE_MIN)?;
        let whose = of.map_or_else(String::new, |stack| format!(" of {stack}"));
        let mebibytes = |bytes: u64| bytes >> 20;
        let text = format!(
            "the JVM{whose} stood still for {:.0} % of the time in {:.1} collections a second",
            share * 100.0,
            jvm.gc_per_s
        );
        let heap = format!(
            "up to {} of {} MiB of heap in use",
            mebibytes(jvm.heap_used_bytes_max),
            mebibytes(jvm.heap_max_bytes)
        );
        let phrase = format!("garbage collection ({:.0} %)", share * 100.0);
        let without = facts.rate / (1.0 - share.min(0.99));
        let is_short = jvm.heap_used_bytes_max as f64 >= HEAP_SHORT_SHARE * jvm.heap_max_bytes as f64;
        let (change, setting) = if is_short {
            ("give it several times the heap; collections should be rare and the rate higher", Setting::Heap)
        } else {
            (
                "it has heap left, so take another collector; it should stand still for less",
                Setting::Collector,
            )
        };
        let confirm = Intervention {
            text: change.into(),
            setting: Some(setting),
            now: Some(jvm.heap_max_bytes as f64),
            threads: Vec::new(),
            rate_per_s: without,
            rate_max_per_s: Some(without),
        };
        let verdict = Verdict::new(VerdictKind::GarbageCollection, Confidence::Sure, phrase, text);
        Some(verdict.accounting_for(share).and(heap).confirmed_with(confirm))
    })
}
