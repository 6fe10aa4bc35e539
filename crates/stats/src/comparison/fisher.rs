//! Counts of two samples: whether more of one kind came up in the second.

/// Fisher's exact test (1935), one-sided. Of `a` and of `b` trials so many (`.0`) of so many (`.1`) failed: if both were of
/// one kind, any choice of which trials failed would be as likely; how often would chance alone put at least as many of
/// them into `b`? 1 where either has no trial.
///
/// # Panics
/// If more failed than there are.
pub fn fisher_p((failed_a, a): (usize, usize), (failed_b, b): (usize, usize)) -> f64 {
    assert!(failed_a <= a && failed_b <= b, "more failed than were tried");
    if a == 0 || b == 0 {
        return 1.0;
    }
    let failed = failed_a + failed_b;
    let ways = |of_b: usize| ln_choose(b, of_b) + ln_choose(a, failed - of_b);
    let all = ln_choose(a + b, failed);
    // Those of `b` that fail: all of the failures at most, and as many as it has.
    (failed_b..=failed.min(b)).map(|of_b| libm::exp(ways(of_b) - all)).sum::<f64>().min(1.0)
}

/// ln of the number of ways to choose `k` of `n`; −∞ where there are none.
fn ln_choose(n: usize, k: usize) -> f64 {
    if k > n {
        return f64::NEG_INFINITY;
    }
    let ln_factorial = |it: usize| libm::lgamma(it as f64 + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Fisher's lady told three of four cups (1935): 17 of the 70 ways to choose are as good. And the example of R's
    /// `fisher.test`, criminal twins: 2 of 17 convicted where 10 of 13 were, p = 0.0004652 one-sided.
    #[test]
    fn it_agrees_with_published_examples() {
        assert!((fisher_p((1, 4), (3, 4)) - 17.0 / 70.0).abs() < 1e-12);
        assert!((fisher_p((2, 17), (10, 13)) - 0.000_465_2).abs() < 5e-8);
    }

    #[test]
    fn what_chance_brings_easily_is_nothing_and_what_it_does_not_is_something() {
        for (a, b) in [((0, 12), (0, 12)), ((3, 12), (0, 12)), ((0, 0), (5, 5)), ((1, 1), (0, 0))] {
            assert!((fisher_p(a, b) - 1.0).abs() < 1e-12, "{a:?} {b:?}");
        }
        assert!(fisher_p((0, 12), (3, 12)) > 0.05 && fisher_p((0, 12), (5, 12)) < 0.05);
        assert!(fisher_p((0, 12), (10, 12)) < 1e-4);
        // All of four against none of four: one of 70 ways.
        assert!((fisher_p((0, 4), (4, 4)) - 1.0 / 70.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn it_is_the_share_of_all_choices(a in 1_usize..7, b in 1_usize..7, failed_a in 0_usize..7, failed_b in 0_usize..7) {
            let (failed_a, failed_b) = (failed_a.min(a), failed_b.min(b));
            let (mut as_many, mut all) = (0_u32, 0_u32);
            for choice in 0_u32..1 << (a + b) {
                if choice.count_ones() as usize == failed_a + failed_b {
                    all += 1;
                    as_many += u32::from((choice >> a).count_ones() as usize >= failed_b);
                }
            }
            let told = fisher_p((failed_a, a), (failed_b, b));
            prop_assert!((told - f64::from(as_many) / f64::from(all)).abs() < 1e-9);
        }
    }
}
