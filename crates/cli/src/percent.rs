//! Shares in percent, as commands say them.

/// A part of a whole with so many digits behind the point. Only nothing is 0 %, and only all of it is 100 %: what would be rounded
/// to either is a bound.
pub fn percent(part: u64, whole: u64, digits: usize) -> String {
    let step = (0..digits).fold(1.0, |step, _| step / 10.0);
    match part as f64 / whole.max(1) as f64 * 100.0 {
        share if part > 0 && share <= step / 2.0 => format!("<{step:.digits$} %"),
        share if part < whole && share >= 100.0 - step / 2.0 => format!(">{:.digits$} %", 100.0 - step),
        share => format!("{share:.digits$} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_nothing_is_0_percent_and_only_all_is_100() {
        for (part, whole, shown) in [
            (0, 70_800, "0.0 %"),
            (1, 70_800, "<0.1 %"),
            (1, 2_000, "<0.1 %"),
            (100, 70_800, "0.1 %"),
            (3, 50, "6.0 %"),
            (29_992, 30_000, ">99.9 %"),
            (1_999, 2_000, ">99.9 %"),
            (30_000, 30_000, "100.0 %"),
            (0, 0, "0.0 %"),
        ] {
            assert_eq!(percent(part, whole, 1), shown, "{part} of {whole}");
        }
        for (part, whole, shown) in
            [(0, 300, "0 %"), (1, 300, "<1 %"), (1, 200, "<1 %"), (199, 200, ">99 %"), (200, 200, "100 %")]
        {
            assert_eq!(percent(part, whole, 0), shown, "{part} of {whole}");
        }
    }
}
