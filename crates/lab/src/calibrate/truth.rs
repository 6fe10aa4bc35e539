//! What the server's own log says of a load: every figure from every line, sorted, without a histogram.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use record::{Distribution, RecordError, ResponseFrom, Truth};
use units::Rate;

/// One line of the log: a request that the server read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Logged {
    /// When its head was read, ns.
    pub(super) arrived_ns: u64,
    /// When its answer was handed to the kernel, ns; `None` if it never was.
    pub(super) answered_ns: Option<u64>,
    /// Which connection it came on.
    pub(super) connection: u64,
}

/// Reads a log.
pub(super) fn read(path: &Path) -> Result<Vec<Logged>, RecordError> {
    let text = std::fs::read_to_string(path).map_err(|error| RecordError::io(path, "reading", error))?;
    // Our own target wrote it: nobody named it.
    parse(&text).map_err(|line| RecordError::Io {
        path: path.to_owned(),
        action: "reading",
        source: std::io::Error::new(
            std::io::ErrorKind::InvalidData,
            format!("line {line} is none of a target's truth file"),
        ),
        help: "it was changed or damaged: calibrate again",
    })
}

/// The lines of a log, or the number of the first that is none.
fn parse(text: &str) -> Result<Vec<Logged>, usize> {
    let numbered = (1..).zip(text.lines()).skip(1);
    numbered.map(|(number, line)| logged(line).ok_or(number)).collect()
}

fn logged(line: &str) -> Option<Logged> {
    let mut fields = line.split(',');
    let arrived_ns = fields.next()?.parse().ok()?;
    let answered_ns = match fields.next()? {
        "" => None,
        ns => Some(ns.parse().ok()?),
    };
    Some(Logged { arrived_ns, answered_ns, connection: fields.next()?.parse().ok()? })
}

/// When the requests of an open model with constant arrivals are due: number i, from 0, at start + i / rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub(super) start_ns: u64,
    pub(super) rate: Rate,
}

impl Due {
    /// The schedule of a generator that does not say when it began: one by which a hundredth of the requests of
    /// `log` arrive before they are due, for a pacer is now and then a little early. It is not far more, because
    /// where a queue grows all but the first are late.
    pub(super) fn guess(log: &mut [Logged], rate: Rate) -> Self {
        log.sort_unstable_by_key(|request| request.arrived_ns);
        let gap_ns = rate.mean_gap_ns();
        let starts = log.iter().enumerate();
        let mut starts: Vec<u64> = starts
            .map(|(index, request)| request.arrived_ns.saturating_sub((index as f64 * gap_ns) as u64))
            .collect();
        starts.sort_unstable();
        Self { start_ns: starts.get(starts.len() / 100).copied().unwrap_or(0), rate }
    }

    fn of(self, index: usize) -> u64 {
        self.start_ns + (index as f64 * self.rate.mean_gap_ns()) as u64
    }
}

/// The requests of `log` that arrived at `from_ns` or later: not those that asked whether the server is up.
pub(super) fn since(mut log: Vec<Logged>, from_ns: u64) -> Vec<Logged> {
    log.retain(|request| request.arrived_ns >= from_ns);
    log
}

/// The truth of an open load: the i-th request to arrive is the i-th that was due, for the load sends in the order
/// in which requests are due. Of the requests due within `window`. Several machines may begin `apart_ns` from each other.
pub(super) fn of_open(mut log: Vec<Logged>, due: Due, window: &Range<u64>, apart_ns: u64) -> Truth {
    log.sort_unstable_by_key(|request| request.arrived_ns);
    let mut times = Times { apart_ns, ..Times::default() };
    for (index, request) in log.iter().enumerate() {
        let due_ns = due.of(index);
        if window.contains(&due_ns) {
            times.add(due_ns, request);
        }
    }
    times.truth(ResponseFrom::Due)
}

/// The truth of a closed load: a user wants the next answer when the last one has come, so its response time is
/// from answer to answer on its connection. Where `users` share a connection, each of them lets the next request come with
/// its answer: that is as many requests behind the one whose turn the answer was. Of the requests wanted within `window`; the
/// first ones of a connection have no answer before them and are left out, and so must lie in the warm-up, with which all
/// users are there.
pub(super) fn of_closed(log: &[Logged], window: &Range<u64>, users: u32) -> Truth {
    let mut connections: BTreeMap<u64, Vec<&Logged>> = BTreeMap::new();
    for request in log {
        connections.entry(request.connection).or_default().push(request);
    }
    let mut times = Times::default();
    for requests in connections.values_mut() {
        let mut answered_ns: Vec<u64> = requests.iter().filter_map(|request| request.answered_ns).collect();
        answered_ns.sort_unstable();
        requests.sort_unstable_by_key(|request| request.arrived_ns);
        for (wanted_ns, request) in answered_ns.into_iter().zip(requests.iter().skip(users as usize)) {
            if window.contains(&wanted_ns) {
                times.add(wanted_ns, request);
            }
        }
    }
    times.truth(ResponseFrom::PreviousAnswer)
}

#[derive(Debug, Default)]
struct Times {
    /// How much sooner than it was due a request may come.
    apart_ns: u64,
    response_ns: Vec<u64>,
    service_ns: Vec<u64>,
    unanswered: u64,
    arrived_early: u64,
}

impl Times {
    /// Adds a request of the window that somebody waited for from `from_ns` on.
    fn add(&mut self, from_ns: u64, request: &Logged) {
        self.arrived_early += u64::from(request.arrived_ns + self.apart_ns < from_ns);
        let Some(answered_ns) = request.answered_ns else {
            self.unanswered += 1;
            return;
        };
        self.response_ns.push(answered_ns.saturating_sub(from_ns));
        self.service_ns.push(answered_ns.saturating_sub(request.arrived_ns));
    }

    fn truth(self, response_from: ResponseFrom) -> Truth {
        Truth {
            response_from,
            response_time_us: exact(self.response_ns),
            service_time_us: exact(self.service_ns),
            unanswered: self.unanswered,
            arrived_early: self.arrived_early,
        }
    }
}

/// The figures of `values_ns` by nearest rank, as the load's distributions have them, to the nanosecond.
pub(super) fn exact(mut values_ns: Vec<u64>) -> Distribution {
    values_ns.sort_unstable();
    let count = values_ns.len();
    let us = |ns: u64| ns as f64 / 1e3;
    let figure = |quantile: f64| {
        let rank = ((quantile * count as f64).ceil() as usize).clamp(1, count.max(1));
        values_ns.get(rank - 1).map(|ns| us(*ns))
    };
    let sum: u128 = values_ns.iter().map(|ns| u128::from(*ns)).sum();
    Distribution {
        count: count as u64,
        mean: (count > 0).then(|| sum as f64 / count as f64 / 1e3),
        p50: figure(0.5),
        p75: figure(0.75),
        p90: figure(0.9),
        p95: figure(0.95),
        p99: figure(0.99),
        p99_9: figure(0.999),
        p99_99: figure(0.9999),
        max: values_ns.last().map(|ns| us(*ns)),
        ..Distribution::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    fn request(arrived_us: u64, answered_us: u64, connection: u64) -> Logged {
        Logged { arrived_ns: arrived_us * US, answered_ns: Some(answered_us * US), connection }
    }

    /// 1000 a second from 10 ms on.
    fn due() -> Due {
        Due { start_ns: 10_000 * US, rate: Rate::per_sec(1000.0).unwrap() }
    }

    fn from_to(from_us: u64, to_us: u64) -> Range<u64> {
        from_us * US..to_us * US
    }

    #[test]
    fn a_log_is_read_line_by_line() {
        let head = "arrived_ns,answered_ns,connection,status\n";
        let good = parse(&format!("{head}5,9,1,200\n6,,2,\n")).unwrap();
        assert_eq!(good[0], Logged { arrived_ns: 5, answered_ns: Some(9), connection: 1 });
        assert_eq!(good[1], Logged { arrived_ns: 6, answered_ns: None, connection: 2 });
        assert_eq!(parse(&format!("{head}5,9,1,200\n6,x,2,\n")), Err(3));
        assert_eq!(parse(head), Ok(Vec::new()));
    }

    /// The first line is the question whether the server is up; the log's order is that of threads.
    #[test]
    fn an_open_loads_requests_are_paired_with_their_dues_in_order_of_arrival() {
        let log = vec![
            request(9_000, 9_100, 1),
            request(12_050, 13_050, 2),
            request(10_020, 12_020, 2),
            request(11_030, 11_530, 3),
        ];
        let truth = of_open(since(log, due().start_ns), due(), &from_to(10_000, 13_000), 0);
        let (response, service) = (&truth.response_time_us, &truth.service_time_us);
        assert_eq!((response.count, response.p50, response.max), (3, Some(1_050.0), Some(2_020.0)));
        assert_eq!(
            (service.p50, service.max, service.mean),
            (Some(1_000.0), Some(2_000.0), Some(3_500.0 / 3.0))
        );
        assert_eq!((truth.unanswered, truth.arrived_early), (0, 0));
    }

    #[test]
    fn a_window_holds_what_is_due_from_its_start_to_before_its_end_whenever_it_arrives() {
        let log: Vec<Logged> = (0..10).map(|i| request(10_000 + i * 1_000 + 900, 30_000, 1)).collect();
        // Due at 12, 13 and 14 ms; all of them arrive 0.9 ms late, the last one after the window's end.
        let truth = of_open(log, due(), &from_to(12_000, 15_000), 0);
        assert_eq!(truth.response_time_us.count, 3);
        assert_eq!(
            (truth.response_time_us.p50, truth.response_time_us.max),
            (Some(17_000.0), Some(18_000.0))
        );
    }

    /// Nothing is read for 100 ms from 60 ms on; then all of it is read and answered at once.
    #[test]
    fn a_stall_is_in_the_response_times_of_all_who_were_due_in_it() {
        let log: Vec<Logged> = (0..200)
            .map(|i| {
                let due_us = 10_000 + i * 1_000;
                let read_us = match due_us {
                    ..60_000 => due_us + 10,
                    60_000..160_000 => 160_000 + i - 50,
                    _ => due_us + 150,
                };
                request(read_us, read_us + 10, i % 7)
            })
            .collect();
        let truth = of_open(log, due(), &from_to(10_000, 210_000), 0);
        assert_eq!(truth.response_time_us.count, 200);
        assert_eq!(truth.arrived_early, 0);
        // Half of 200 lie in the stall, the longest of them for 100 ms.
        assert_eq!(truth.response_time_us.p50, Some(160.0));
        assert!((truth.response_time_us.p75.unwrap() - 50_000.0).abs() < 1_100.0);
        assert_eq!(truth.response_time_us.max, Some(100_010.0));
        assert_eq!(truth.service_time_us.max, Some(10.0), "the log begins after the wait");
    }

    #[test]
    fn a_request_that_the_load_did_not_make_shows_as_early_arrivals() {
        let mut log: Vec<Logged> = (0..10).map(|i| request(10_000 + i * 1_000 + 5, 30_000, 1)).collect();
        log.insert(3, request(12_500, 30_000, 1));
        let truth = of_open(log, due(), &from_to(10_000, 20_000), 0);
        assert_eq!(truth.arrived_early, 7, "one too many: each that follows is paired with a later due");
    }

    /// Every fifth request is late by 300 µs, and the last forty queue ever longer.
    #[test]
    fn a_schedule_that_is_not_known_is_that_of_the_earliest_but_a_few() {
        let late_us = |i: u64| if i < 160 { (i % 5 / 4) * 300 + i % 7 } else { (i - 160) * 1_000 };
        let mut log: Vec<Logged> = (0..200)
            .map(|i| {
                let arrived_us = 10_000 + i * 1_000 + late_us(i);
                request(arrived_us, arrived_us + 100, 1)
            })
            .collect();
        log.reverse();
        let due = Due::guess(&mut log, due().rate);
        assert!((10_000 * US..=10_007 * US).contains(&due.start_ns), "{}", due.start_ns);
        let truth = of_open(log, due, &(0..u64::MAX), 0);
        assert!((truth.response_time_us.max.unwrap() - 39_100.0).abs() < 10.0);
        assert_eq!(Due::guess(&mut [], due.rate).start_ns, 0);
    }

    #[test]
    fn what_was_never_answered_is_counted_and_has_no_times() {
        let lost = Logged { arrived_ns: 11_010 * US, answered_ns: None, connection: 2 };
        let truth = of_open(vec![request(10_010, 10_110, 1), lost], due(), &from_to(10_000, 20_000), 0);
        assert_eq!((truth.response_time_us.count, truth.unanswered), (1, 1));
    }

    #[test]
    fn a_closed_loads_response_times_are_from_answer_to_answer_on_a_connection() {
        let log = [
            // The question whether the server is up.
            request(1_000, 1_010, 1),
            request(5_000, 6_000, 2),
            request(5_100, 6_500, 3),
            request(6_100, 7_100, 2),
            request(6_550, 8_500, 3),
            // Wanted before the window's end, answered after it.
            request(7_150, 20_000, 2),
            // Wanted after its end.
            request(8_600, 9_600, 3),
        ];
        let truth = of_closed(&log, &from_to(6_000, 8_500), 1);
        assert_eq!(truth.response_from, ResponseFrom::PreviousAnswer);
        assert_eq!(truth.response_time_us.count, 3);
        assert_eq!((truth.response_time_us.p50, truth.response_time_us.max), (Some(2_000.0), Some(12_900.0)));
        assert_eq!(truth.service_time_us.p50, Some(1_950.0));
        assert_eq!(truth.arrived_early, 0);
    }

    /// The second user comes when the first has had an answer already; from then on each answer is followed by a request.
    #[test]
    fn users_who_share_a_connection_have_their_requests_where_an_answer_lets_them() {
        let log = [
            request(1_000, 2_000, 1),
            request(2_010, 5_000, 1),
            request(2_500, 4_000, 1),
            request(4_010, 6_000, 1),
            request(5_020, 9_000, 1),
            request(6_030, 9_500, 1),
        ];
        let truth = of_closed(&log, &from_to(3_900, 6_500), 2);
        let response = &truth.response_time_us;
        assert_eq!((response.count, truth.arrived_early), (3, 0));
        // From 4.0 to 6.0, from 5.0 to 9.0, from 6.0 to 9.5 ms.
        assert_eq!((response.p50, response.max), (Some(3_500.0), Some(4_000.0)));
    }

    #[test]
    fn figures_are_nearest_ranks() {
        let all = exact((1..=10_000).map(|i| i * US).collect());
        assert_eq!((all.count, all.p50, all.p99_9), (10_000, Some(5_000.0), Some(9_990.0)));
        assert_eq!((all.p99_99, all.max), (Some(9_999.0), Some(10_000.0)));
        let none = exact(Vec::new());
        assert_eq!((none.count, none.mean, none.p50, none.max), (0, None, None, None));
    }
}
