//! Whether a warm-up has come to an end.

/// Bursts that a slope is taken over, and so the fewest that can be steady.
pub const STEADY_BURSTS_MIN: usize = 3;
/// How far the last two bursts may be apart, and how far the line through the last ones may rise or fall from burst to
/// burst, as a share of their mean.
pub const STEADY_CHANGE_MAX: f64 = 0.02;
/// How far bursts may swing that go up and down, and how far those of a server may be apart that compiles nothing: what warms
/// up goes one way and by more; the rest is the machine's noise, which does not end with more bursts.
pub const STEADY_SWING_MAX: f64 = 0.10;
/// How busy the JVM's compilers may be from one burst to the next, as a share of one core. They never stop for good:
/// Tomcat's were seen at 0 to 3 % long after its rate had settled, and at 15 to 110 % before.
pub const STEADY_JIT_SHARE_MAX: f64 = 0.05;

/// What is known of a burst of load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurstFigures {
    /// Answers a second.
    pub rate_per_s: f64,
    /// Time that compilers were busy, as a share of one core; `None` where nothing compiles.
    pub jit_share: Option<f64>,
}

/// What bursts tell. Barrett et al. (2017, "Virtual Machine Warmup Blows Hot and Cold") show that many programs never
/// get steady, so that this is asked and not assumed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steadiness {
    /// The last bursts are alike.
    Steady,
    /// There are too few of them to tell.
    TooFew,
    /// Nothing was answered.
    Nothing,
    /// The last two are apart by this share.
    Apart(f64),
    /// The last ones rise or fall by this share a burst.
    Drifting(f64),
    /// The compilers are busy for this share of a core.
    Compiling(f64),
}

impl Steadiness {
    /// Why bursts are not steady, in words.
    pub fn unsteady_why(self) -> String {
        let percent = |share: f64| format!("{:+.1} %", share * 100.0);
        match self {
            // As few as are alike may still be fewer than are asked for.
            Self::Steady | Self::TooFew => "too few bursts".into(),
            Self::Nothing => "nothing was answered as expected".into(),
            Self::Apart(share) => format!("the last two bursts are {} apart", percent(share)),
            Self::Drifting(share) => format!("the rate drifts by {} a burst", percent(share)),
            Self::Compiling(share) => {
                format!("the JVM's compilers are busy for {:.0} % of a core", share * 100.0)
            }
        }
    }
}

/// Looks at the last bursts.
pub fn steadiness(bursts: &[BurstFigures]) -> Steadiness {
    let Some(last) = bursts.len().checked_sub(STEADY_BURSTS_MIN).map(|from| &bursts[from..]) else {
        return Steadiness::TooFew;
    };
    let count = last.len() as f64;
    let mean = last.iter().map(|it| it.rate_per_s).sum::<f64>() / count;
    if !(mean.is_finite() && mean > 0.0) {
        return Steadiness::Nothing;
    }
    let [first, before, end] = last else { return Steadiness::TooFew };
    let (earlier, apart) = (change(first, before), change(before, end));
    let are_near = [earlier, apart, change(first, end)].iter().all(|it| it.abs() < STEADY_SWING_MAX);
    let is_noise = are_near && (earlier * apart < 0.0 || end.jit_share.is_none());
    if !is_noise {
        if apart.abs() >= STEADY_CHANGE_MAX {
            return Steadiness::Apart(apart);
        }
        let slope = slope(last.iter().map(|it| it.rate_per_s)) / mean;
        if slope.abs() >= STEADY_CHANGE_MAX {
            return Steadiness::Drifting(slope);
        }
    }
    match end.jit_share {
        Some(share) if share >= STEADY_JIT_SHARE_MAX => Steadiness::Compiling(share),
        _ => Steadiness::Steady,
    }
}

/// By what share the rate changed from one burst to the next.
fn change(before: &BurstFigures, after: &BurstFigures) -> f64 {
    (after.rate_per_s - before.rate_per_s) / before.rate_per_s.max(f64::MIN_POSITIVE)
}

/// Of the least-squares line through values at 0, 1, 2, …
fn slope(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (at, value) in values.enumerate() {
        let off = at as f64 - middle;
        products += off * value;
        squares += off * off;
    }
    products / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(rates: &[f64], jit: Option<f64>) -> Steadiness {
        let bursts: Vec<BurstFigures> =
            rates.iter().map(|rate| BurstFigures { rate_per_s: *rate, jit_share: jit }).collect();
        steadiness(&bursts)
    }

    #[test]
    fn a_warm_up_ends_when_the_last_bursts_are_alike_and_nothing_compiles() {
        assert_eq!(told(&[50.0, 100.0, 101.0, 100.5], Some(0.01)), Steadiness::Steady);
        assert_eq!(told(&[50.0, 100.0, 101.0, 100.5], None), Steadiness::Steady);
        assert_eq!(told(&[100.0, 100.0], None), Steadiness::TooFew);
        assert_eq!(told(&[0.0, 0.0, 0.0], None), Steadiness::Nothing);
        assert_eq!(told(&[100.0, 100.0, 100.0], Some(0.5)), Steadiness::Compiling(0.5));
        assert!(matches!(told(&[100.0, 100.0, 90.0], None), Steadiness::Apart(share) if share < -0.09));
    }

    /// Seen of a server that has nothing to compile, on a machine with a noise of 5 %.
    #[test]
    fn what_goes_up_and_down_is_noise_and_no_warm_up() {
        assert_eq!(told(&[91_147.0, 95_623.0, 93_615.0], None), Steadiness::Steady);
        assert!(
            matches!(told(&[80_000.0, 95_623.0, 93_615.0], None), Steadiness::Apart(_)),
            "it rose by a fifth"
        );
        assert_eq!(told(&[91_147.0, 95_623.0, 93_615.0], Some(0.3)), Steadiness::Compiling(0.3));
        assert_eq!(told(&[97_000.0, 93_000.0, 92_000.0], None), Steadiness::Steady);
        assert!(
            matches!(told(&[90_000.0, 95_000.0, 101_000.0], None), Steadiness::Apart(_)),
            "it rose by a tenth"
        );
        assert!(
            matches!(told(&[92_000.0, 95_000.0, 98_000.0], Some(0.01)), Steadiness::Apart(_)),
            "it may warm up"
        );
    }

    /// Each step is below the bound, and all of them go one way.
    #[test]
    fn a_slow_rise_is_seen_over_three_bursts() {
        assert!(
            matches!(told(&[100.0, 105.0, 106.5], Some(0.0)), Steadiness::Drifting(share) if share > 0.03)
        );
    }

    #[test]
    fn the_slope_is_that_of_the_least_squares_line() {
        assert!((slope([1.0, 3.0, 2.0, 5.0].into_iter()) - 1.1).abs() < 1e-12);
    }
}
