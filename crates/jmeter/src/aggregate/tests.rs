use proptest::prelude::*;

use super::*;
use crate::SampleResult;

fn sample(label: &str, start_ms: u64, elapsed_ms: u64, success: bool) -> SampleResult<'_> {
    SampleResult {
        start_ms,
        elapsed_ms,
        label,
        success,
        bytes: 2048,
        sent_bytes: 512,
        ..SampleResult::default()
    }
}

#[test]
fn reports_have_jmeters_columns_and_formats() {
    let mut reports = Aggregate::default();
    for (label, start_ms, elapsed_ms, success) in [
        ("home", 1000, 10, true),
        ("log in, \"safe\"", 1200, 25, true),
        ("home", 2000, 21, false),
        ("home", 2500, 500, true),
    ] {
        reports.sample(&sample(label, start_ms, elapsed_ms, success));
    }
    assert_eq!(
        reports.aggregate_csv(),
        "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput,Received KB/sec,Sent KB/sec\n\
         home,3,177,21,500,500,500,10,500,33.333%,1.50000,3.00,0.75\n\
         \"log in, \"\"safe\"\"\",1,25,25,25,25,25,25,25,0.000%,40.00000,80.00,20.00\n\
         TOTAL,4,139,21,500,500,500,10,500,25.000%,2.00000,4.00,1.00\n"
    );
    assert_eq!(
        reports.summary_csv(),
        "Label,# Samples,Average,Min,Max,Std. Dev.,Error %,Throughput,Received KB/sec,Sent KB/sec,Avg. Bytes\n\
         home,3,177,10,500,228.44,33.333%,1.50000,3.00,0.75,2048.0\n\
         \"log in, \"\"safe\"\"\",1,25,25,25,0.00,0.000%,40.00000,80.00,20.00,2048.0\n\
         TOTAL,4,139,10,500,208.50,25.000%,2.00000,4.00,1.00,2048.0\n"
    );
}

#[test]
fn nothing_is_a_row_of_zeros() {
    let reports = Aggregate::default();
    assert_eq!(reports.aggregate_csv().lines().last(), Some("TOTAL,0,0,0,0,0,0,0,0,0.000%,.00000,0.00,0.00"));
    assert_eq!(reports.summary_csv().lines().last(), Some("TOTAL,0,0,0,0,0.00,0.000%,.00000,0.00,0.00,.0"));
}

#[test]
fn labels_and_times_without_end_stay_bounded() {
    let mut reports = Aggregate::default();
    for number in 0..LABELS_MAX + 5 {
        reports.sample(&sample(&format!("label {number}"), 0, ELAPSED_MAX_MS + number as u64, true));
    }
    let text = reports.aggregate_csv();
    assert_eq!(text.lines().count(), LABELS_MAX + 3);
    assert!(text.contains(&format!("\n{OTHER_LABELS},5,")), "what is beyond is counted under one name");
    assert_eq!(reports.total.counts.len(), 1);
    assert_eq!(reports.total.max_ms, ELAPSED_MAX_MS + LABELS_MAX as u64 + 4);
}

proptest! {
    /// JMeter's rule, by sorting: the time of rank round(count × share), and that of rank 1 where it is below.
    #[test]
    fn percentiles_are_those_of_a_sorted_list(mut times in proptest::collection::vec(0_u64..3000, 1..400)) {
        let mut reports = Aggregate::default();
        for (at, elapsed_ms) in times.iter().enumerate() {
            reports.sample(&sample("x", at as u64, *elapsed_ms, true));
        }
        times.sort_unstable();
        for share in [0.5, 0.9, 0.95, 0.99] {
            let rank = ((times.len() as f64 * share).round() as usize).max(1);
            prop_assert_eq!(reports.total.percentile(share), times[rank - 1]);
        }
        let mean = times.iter().sum::<u64>() / times.len() as u64;
        prop_assert_eq!(reports.total.average(), u128::from(mean));
        let exact = times.iter().sum::<u64>() as f64 / times.len() as f64;
        let variance = times.iter().map(|ms| (*ms as f64 - exact).powi(2)).sum::<f64>() / times.len() as f64;
        prop_assert!((reports.total.deviation_ms() - variance.sqrt()).abs() < 1e-6 * (1.0 + variance));
    }
}
