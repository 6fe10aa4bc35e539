//! The rate of a second that several threads tell of.

use units::Duration;

/// How long a thread's interval is, unless it was held up.
const SECOND: Duration = Duration::from_secs(1);

/// What threads did in one second, each over its own time. Whoever was held up tells of several seconds at once, and of each
/// of them has its share; whoever ended within the second did nothing in the rest of it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rate {
    /// Of those who were held up.
    longer_per_s: f64,
    /// Of the others.
    count: u64,
    /// The longest of their times, and no more than a second.
    length: Duration,
}

impl Rate {
    /// A thread did so many in so long.
    pub(crate) fn add(&mut self, count: u64, length: Duration) {
        if length > SECOND {
            self.add_per_s(per_s(count, length));
            self.length = SECOND;
        } else {
            self.count += count;
            self.length = self.length.max(length);
        }
    }

    /// A thread did so many a second, in a stretch that this second is within.
    pub(crate) fn add_per_s(&mut self, per_s: f64) {
        self.longer_per_s += per_s;
    }

    /// How long the second was; shorter than one at the end of a load.
    pub(crate) const fn length(&self) -> Duration {
        self.length
    }

    /// All of them together.
    pub(crate) fn per_s(&self) -> f64 {
        self.longer_per_s + per_s(self.count, self.length)
    }
}

/// A rate over a time; nothing in no time.
pub(crate) fn per_s(count: u64, length: Duration) -> f64 {
    if length.is_zero() { 0.0 } else { count as f64 / length.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(parts: &[(u64, u64)]) -> (f64, Duration) {
        let mut rate = Rate::default();
        for (count, ms) in parts {
            rate.add(*count, Duration::from_millis(*ms));
        }
        (rate.per_s(), rate.length())
    }

    #[test]
    fn each_thread_is_taken_over_its_own_time() {
        let ms = Duration::from_millis;
        assert_eq!(rate(&[]), (0.0, ms(0)));
        assert_eq!(rate(&[(30, 1000), (10, 1000)]), (40.0, ms(1000)));
        // One was held up for three seconds: its 60 are 20 a second.
        for parts in [[(100, 1000), (60, 3000)], [(60, 3000), (100, 1000)]] {
            assert_eq!(rate(&parts), (120.0, ms(1000)));
        }
        assert_eq!(rate(&[(60, 3000)]), (20.0, ms(1000)));
        // One ended within the second: it did nothing in the rest.
        assert_eq!(rate(&[(100, 1000), (25, 250)]), (125.0, ms(1000)));
        // The load ended within it.
        assert_eq!(rate(&[(50, 500), (30, 500)]), (160.0, ms(500)));
    }
}
