//! How late requests arrived, as the server saw it: the same yardstick for every client.
//!
//! At a constant rate the k-th request is due k intervals after the first. What arrived after that is late. The
//! schedule is laid so that the request which is earliest against it is on time.

use crate::statistics::quantile;

/// What of a run is left out: connections are opened in it.
const SET_UP_S: f64 = 0.5;

/// Lateness of arrivals, in µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lag {
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
}

/// From the target's log (`proofload target --truth`); `None` without requests.
pub(crate) fn from_truth(truth: &str, rate_per_s: u32) -> Option<Lag> {
    let mut arrivals: Vec<u64> =
        truth.lines().skip(1).filter_map(|line| line.split(',').next()?.parse().ok()).collect();
    // Threads write their lines a buffer at a time.
    arrivals.sort_unstable();
    let first = *arrivals.first()?;
    let interval_us = 1e6 / f64::from(rate_per_s);
    let against_schedule =
        |(number, at): (usize, &u64)| (at - first) as f64 / 1e3 - number as f64 * interval_us;
    let set_up = (SET_UP_S * f64::from(rate_per_s)) as usize;
    let late: Vec<f64> = arrivals.iter().enumerate().skip(set_up).map(against_schedule).collect();
    let earliest = late.iter().copied().min_by(f64::total_cmp)?;
    let mut late: Vec<f64> = late.into_iter().map(|us| us - earliest).collect();
    late.sort_by(f64::total_cmp);
    Some(Lag { p50_us: quantile(&late, 0.5)?, p99_us: quantile(&late, 0.99)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(arrivals_us: impl Iterator<Item = f64>) -> String {
        let lines = arrivals_us.map(|us| format!("{:.0},1,0,200\n", us * 1e3));
        "arrived_ns,answered_ns,connection,status\n".to_owned() + &lines.collect::<String>()
    }

    #[test]
    fn one_in_fifty_that_is_late_shows_in_the_tail_alone() {
        let late = |number: u32| if number.is_multiple_of(50) { 700.0 } else { 0.0 };
        let lag = from_truth(&truth((0..3000).map(|k| 5e6 + f64::from(k) * 1000.0 + late(k))), 1000).unwrap();
        assert!(lag.p50_us < 0.01 && (lag.p99_us - 700.0).abs() < 0.01, "{lag:?}");
    }

    #[test]
    fn the_set_up_is_left_out_and_nothing_comes_of_nothing() {
        let slow_start = (0..3000).map(|k| f64::from(k) * 1000.0 + if k < 400 { 90_000.0 } else { 0.0 });
        assert!(from_truth(&truth(slow_start), 1000).unwrap().p99_us < 0.01);
        assert_eq!(from_truth("arrived_ns\n", 1000), None);
    }
}
