//! In which seconds of a load the pauses of a JVM's collections ended.
//!
//! Pure. A JVM counts a pause when it is over, so what its count grew by between two readings ended between them. Where both lie
//! within a second, it ended in that second; where an end of the second lies between them, it may have ended on either side of it.

use record::{GcPauses, JvmReading, PausedSecond};
use units::Instant;

use crate::sampler::{Reading, Sampled};
use crate::summary::busiest_jvm;

/// How much more than the time at safepoints a collector may count, as a share, and still have stopped the program for all of it: what
/// two counts differ by that may be read on either side of a pause's end.
const BEYOND_SAFEPOINTS_MAX: f64 = 0.05;

/// Of each server, in which of these seconds, each from an instant to another and in their order, pauses ended. `None` of what is no
/// JVM or keeps no counters, of a collector that works beside the program, since what it counts is no pause, and of no second.
pub fn pauses_by_second(sampled: &Sampled, seconds: &[(Instant, Instant)]) -> Vec<Option<GcPauses>> {
    (0..sampled.limits.len()).map(|index| of_server(&sampled.readings, index, seconds)).collect()
}

fn of_server(readings: &[Reading], index: usize, seconds: &[(Instant, Instant)]) -> Option<GcPauses> {
    let pid = busiest_jvm(readings, index)?;
    let told = |reading: &Reading| {
        let jvm = reading.servers.get(index)?.jvms.iter().find(|it| it.pid == pid)?;
        Some((reading.at, jvm.reading))
    };
    let counted: Vec<(Instant, JvmReading)> = readings.iter().filter_map(told).collect();
    let is_told = !seconds.is_empty() && is_at_safepoints(&counted);
    is_told.then(|| {
        let paused: Vec<(Instant, f64)> = counted.iter().map(|(at, jvm)| (*at, jvm.gc_s)).collect();
        by_second(&paused, seconds)
    })
}

/// Whether the program stood still for all that its collector counts. Whoever stops it does so at a safepoint; where no time was ever
/// counted at one, nobody counted it.
fn is_at_safepoints(counted: &[(Instant, JvmReading)]) -> bool {
    let Some(((_, first), (_, last))) = counted.first().zip(counted.last()) else { return false };
    let (collected_s, stopped_s) = (last.gc_s - first.gc_s, last.safepoint_s - first.safepoint_s);
    last.safepoint_s <= 0.0 || collected_s <= (1.0 + BEYOND_SAFEPOINTS_MAX) * stopped_s
}

/// Of a count of time in pauses, by when it was read.
fn by_second(paused: &[(Instant, f64)], seconds: &[(Instant, Instant)]) -> GcPauses {
    let ends = paused.first().zip(paused.last());
    let is_watched =
        |from: Instant, to: Instant| ends.is_some_and(|(first, last)| first.0 <= from && last.0 >= to);
    let watched = seconds.iter().take_while(|(from, to)| is_watched(*from, *to)).count();
    let ended = seconds[..watched].iter().enumerate().filter_map(|(second, it)| {
        let (least_s, most_s) = ended_within(paused, *it);
        (most_s > 0.0).then_some(PausedSecond { second: second as u32, least_s, most_s })
    });
    GcPauses { seconds: watched as u32, ended: ended.collect() }
}

/// How long the pauses took that ended within a second: at least, and at most.
fn ended_within(paused: &[(Instant, f64)], (from, to): (Instant, Instant)) -> (f64, f64) {
    let first = paused.partition_point(|(at, _)| *at <= from).saturating_sub(1);
    let (mut least_s, mut most_s) = (0.0, 0.0);
    for pair in paused[first..].windows(2).take_while(|pair| pair[0].0 < to) {
        let grown_s = (pair[1].1 - pair[0].1).max(0.0);
        most_s += grown_s;
        if pair[0].0 >= from && pair[1].0 <= to {
            least_s += grown_s;
        }
    }
    (least_s, most_s)
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;
    use crate::sampler::{Jvm, Limits, Watched};

    fn at_ms(ms: u64) -> Instant {
        Instant::ORIGIN + Duration::from_millis(ms)
    }

    /// Four seconds that begin at 10 s.
    fn four_seconds() -> Vec<(Instant, Instant)> {
        (10..14).map(|second| (at_ms(1000 * second), at_ms(1000 * (second + 1)))).collect()
    }

    /// Readings of a server whose JVM had paused for so many milliseconds, and stood at safepoints for so many, by an instant.
    fn sampled(readings: &[(u64, u64, u64)]) -> Sampled {
        let reading = |(ms, paused_ms, stopped_ms): &(u64, u64, u64)| {
            let counted = JvmReading {
                gc_s: *paused_ms as f64 / 1e3,
                safepoint_s: *stopped_ms as f64 / 1e3,
                ..JvmReading::default()
            };
            let jvm = Jvm { pid: 7, cpu: Duration::from_millis(*ms), reading: counted };
            Reading {
                at: at_ms(*ms),
                host: record::HostReading::default(),
                generator: Watched::default(),
                servers: vec![Watched { jvms: vec![jvm], ..Watched::default() }],
                others: None,
            }
        };
        Sampled {
            readings: readings.iter().map(reading).collect(),
            limits: vec![Limits::default()],
            ..Sampled::default()
        }
    }

    /// What is told of the only server, in whole milliseconds: the seconds watched, and by second the least and the most.
    fn told(sampled: &Sampled, seconds: &[(Instant, Instant)]) -> Option<(u32, Vec<[u64; 3]>)> {
        let all = pauses_by_second(sampled, seconds);
        assert_eq!(all.len(), 1);
        let ms = |secs: f64| (secs * 1e3).round() as u64;
        let GcPauses { seconds, ended } = all[0].clone()?;
        let of = |it: &PausedSecond| [u64::from(it.second), ms(it.least_s), ms(it.most_s)];
        Some((seconds, ended.iter().map(of).collect()))
    }

    #[test]
    fn a_pause_is_of_the_second_between_whose_readings_it_ended() {
        let sampled = sampled(&[
            (9_950, 100, 120),
            (10_050, 100, 120),
            (10_150, 130, 152),
            (10_950, 130, 152),
            // It ended in the first second or in the next.
            (11_050, 180, 203),
            (12_000, 180, 203),
            // As long as two seconds, and over in the third of them.
            (13_200, 180, 203),
            (13_300, 2_380, 2_410),
            (14_010, 2_380, 2_410),
        ]);
        let expected = vec![[0, 30, 80], [1, 0, 50], [3, 2_200, 2_200]];
        assert_eq!(told(&sampled, &four_seconds()), Some((4, expected)));
    }

    #[test]
    fn a_second_that_no_reading_follows_is_not_known_and_a_gap_leaves_all_open() {
        let until_12 = sampled(&[(9_000, 0, 0), (10_500, 40, 41), (12_900, 40, 41)]);
        assert_eq!(told(&until_12, &four_seconds()), Some((2, vec![[0, 0, 40]])));
        let gap = sampled(&[(9_900, 0, 0), (13_100, 40, 41), (14_000, 40, 41)]);
        let expected: Vec<[u64; 3]> = (0..4).map(|second| [second, 0, 40]).collect();
        assert_eq!(told(&gap, &four_seconds()), Some((4, expected)));
        let late = sampled(&[(10_100, 0, 0), (14_000, 40, 41)]);
        assert_eq!(told(&late, &four_seconds()), Some((0, Vec::new())));
    }

    /// Shenandoah counts all of its cycle when that is over; the program stood still for some milliseconds of it, before.
    #[test]
    fn what_a_collector_does_beside_the_program_is_no_pause() {
        let beside = sampled(&[(9_900, 0, 5), (11_100, 0, 8), (14_000, 600, 9)]);
        assert_eq!(told(&beside, &four_seconds()), None);
        let uncounted = sampled(&[(9_900, 0, 0), (11_100, 0, 0), (11_200, 600, 0), (14_000, 600, 0)]);
        assert_eq!(told(&uncounted, &four_seconds()), Some((4, vec![[1, 600, 600]])));
    }

    #[test]
    fn of_no_jvm_and_of_no_second_nothing_is_told() {
        let mut jvm = sampled(&[(9_900, 0, 0), (14_000, 40, 41)]);
        assert_eq!(told(&jvm, &[]), None);
        jvm.readings.iter_mut().for_each(|it| it.servers[0].jvms.clear());
        assert_eq!(told(&jvm, &four_seconds()), None);
    }
}
