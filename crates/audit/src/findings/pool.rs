//! Rates that look like a pool's: so many at a time, each for as long as the service takes.

use crate::findings::{Finding, Kind, Level};
use outputs::Document;
use outputs::Row;
use outputs::shown;

/// A rate is flat if it stays within this share of its highest.
const FLAT: f64 = 0.05;
/// Connections must grow by this factor over the flat part; a rate that follows them is no ceiling.
const GROWTH_MIN: f64 = 3.0;
/// A pool is not quite kept busy: the number is at most so much below its size, and hardly above.
const BELOW_MAX: f64 = 0.05;
const ABOVE_MAX: f64 = 0.01;
/// Up to here every whole number is the size of some pool: cores, and their multiples.
const SMALL_MAX: f64 = 16.0;

/// Flat rates of services whose own time is known.
pub(super) fn ceilings(document: &Document) -> Vec<Finding> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in
        document.rows.iter().filter(|row| row.connections.is_some() && row.throughput_per_s().is_some())
    {
        let same = |other: &Row| other.work() == row.work() && other.system == row.system;
        match groups.iter_mut().find(|group| same(group[0])) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups.into_iter().filter_map(ceiling).collect()
}

fn ceiling(mut rows: Vec<&Row>) -> Option<Finding> {
    rows.sort_by_key(|row| row.connections);
    let rate = |row: &Row| row.throughput_per_s().map_or(0.0, |it| it.value);
    let highest = rows.iter().map(|row| rate(row)).fold(0.0, f64::max);
    let flat: Vec<&Row> = rows.into_iter().filter(|row| rate(row) >= highest * (1.0 - FLAT)).collect();
    let (first, last) = (flat.first()?, flat.last()?);
    let (few, many) = (first.connections?, last.connections?);
    let (service_ms, said) = first.service_time_ms.clone()?;
    // The answers must wait for something: a service that is as fast as it can be has no ceiling in sight.
    let waits = last.users()? > 1.5 * highest * service_ms / 1e3;
    if f64::from(many) < GROWTH_MIN * f64::from(few) || highest <= 0.0 || service_ms <= 0.0 || !waits {
        return None;
    }
    let busy = highest * service_ms / 1e3;
    let guess = size(busy).map_or_else(
        || ", no number that a pool would have".to_owned(),
        |size| format!(": a pool of {size:.0}?"),
    );
    let text = format!(
        "the rate stays at {} from {few} to {many} connections; at {} an answer ({said}) that is {} busy at a time{guess}",
        shown::rate(highest),
        shown::time(service_ms),
        shown::count(busy)
    );
    Some(Finding::of(first, Level::Note, Kind::Pool, text))
}

/// The size that a pool would have of which so many are busy.
fn size(busy: f64) -> Option<f64> {
    let near =
        |size: f64| busy >= size * (1.0 - BELOW_MAX) && busy <= size * (1.0 + ABOVE_MAX) && size >= 1.0;
    let candidates = |unit: f64| [(busy / unit).ceil() * unit, (busy / unit).floor() * unit];
    if busy <= SMALL_MAX {
        return candidates(1.0).into_iter().find(|it| near(*it));
    }
    // The roundest first, then powers of two, then what is less round.
    let scale = 10f64.powf(busy.log10().floor());
    let fine = [scale / 2.0, scale / 10.0].into_iter().filter(|unit| *unit >= 5.0);
    let power = 2f64.powf(busy.log2().ceil());
    candidates(scale).into_iter().chain([power]).chain(fine.flat_map(candidates)).find(|it| near(*it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_round() {
        for (busy, expected) in [
            (198.9, Some(200.0)),
            (3.96, Some(4.0)),
            (19.8, Some(20.0)),
            (63.0, Some(64.0)),
            (145.0, Some(150.0)),
            (33.0, None),
        ] {
            assert_eq!(size(busy), expected, "{busy}");
        }
    }
}
