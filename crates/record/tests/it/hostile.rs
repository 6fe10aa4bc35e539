//! Records that somebody else made to do harm: nothing of ours is written over, and no figure of them takes memory or time
//! beyond its bound.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use record::{LoadResult, RunDir, ServerSignals, Trial, TrialResult, read_interval_log, read_signals};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::samples::{failed, load, manifest, measured};

/// A run of `trials`, and a file beside it that is none of its business.
fn run_of(trials: &[Trial]) -> (TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (path, ours) = (dir.path().join("run"), dir.path().join("ours"));
    let mut run = RunDir::create(&path, "").unwrap();
    run.write_manifest(&manifest()).unwrap();
    for trial in trials {
        run.append(trial).unwrap();
    }
    fs::write(&ours, "ours").unwrap();
    (dir, path, ours)
}

fn link(to: &Path, at: &Path) {
    let _ = fs::remove_file(at);
    symlink(to, at).unwrap();
}

#[test]
fn a_link_in_a_run_directory_has_no_file_of_ours_written_over() {
    for name in ["lock", "trials.jsonl"] {
        let (_dir, path, ours) = run_of(&[failed(0)]);
        link(&ours, &path.join(name));
        let told = RunDir::resume(&path).unwrap_err().to_string();
        assert!(told.contains(name), "{told}");
        assert_eq!(fs::read_to_string(&ours).unwrap(), "ours", "{name}");
    }
    // What is written under another name first is not written through a link of that name.
    let (_dir, path, ours) = run_of(&[failed(0)]);
    link(&ours, &path.join("manifest.partial"));
    let (run, ..) = RunDir::resume(&path).unwrap();
    run.write_manifest(&manifest()).unwrap();
    assert_eq!(fs::read_to_string(&ours).unwrap(), "ours");
    assert!(path.join("manifest.json").symlink_metadata().unwrap().is_file());
}

#[test]
fn a_lock_that_is_held_keeps_what_is_in_it() {
    let (_dir, path, _) = run_of(&[]);
    fs::write(path.join("lock"), "kept").unwrap();
    let (_run, ..) = RunDir::resume(&path).unwrap();
    assert!(RunDir::resume(&path).is_err());
    assert_eq!(fs::read_to_string(path.join("lock")).unwrap(), "kept");
}

#[test]
fn a_trial_gets_a_directory_of_its_own_whatever_was_there() {
    let (dir, path, _) = run_of(&[]);
    let (run, ..) = RunDir::resume(&path).unwrap();
    let elsewhere = dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("kept"), "").unwrap();
    link(&elsewhere, &path.join("trials/0003"));
    fs::create_dir(path.join("trials/0004")).unwrap();
    symlink(dir.path().join("ours"), path.join("trials/0004/server.log")).unwrap();
    for index in [3, 4] {
        let made = run.trial_dir(index).unwrap();
        assert!(made.symlink_metadata().unwrap().is_dir());
        assert_eq!(fs::read_dir(made).unwrap().count(), 0);
    }
    assert!(elsewhere.join("kept").exists());
    drop(run);
    fs::remove_dir_all(path.join("trials")).unwrap();
    symlink(&elsewhere, path.join("trials")).unwrap();
    assert!(RunDir::resume(&path).unwrap_err().to_string().contains("trials"));
}

/// A trial as JSON with the value at `pointer` replaced.
fn with(pointer: &str, value: Value) -> String {
    let lost_attempts = vec!["agent 1 of 2 (b) was lost: it ended".to_owned()];
    let mut trial = serde_json::to_value(Trial { lost_attempts, ..measured(1) }).unwrap();
    *trial.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
    trial.to_string()
}

#[test]
fn a_figure_that_no_run_has_is_refused_with_its_file_line_value_and_bound() {
    let load = "/measured/load";
    for (pointer, value, told) in [
        ("/block".to_owned(), json!(u32::MAX), "`block` is 4294967295, and at most 10000"),
        ("/index".into(), json!(u32::MAX), "`index` is 4294967295"),
        ("/round".into(), json!("r".repeat(5000)), "the length of `round` is 5000, and at most 4096"),
        (
            "/lost_attempts".into(),
            json!(vec![""; 101]),
            "the number of `lost_attempts` is 101, and at most 100",
        ),
        (
            "/lost_attempts/0".into(),
            json!("w".repeat(12_289)),
            "the length of why an attempt was lost is 12289",
        ),
        ("/load_id/connections".into(), json!(u32::MAX), "the connections of `load_id` is 4294967295"),
        (format!("{load}/load/connections"), json!(u32::MAX), "`connections` is 4294967295"),
        (format!("{load}/load/threads"), json!(u32::MAX), "`threads` is"),
        (format!("{load}/intended"), json!(u64::MAX), "`intended` is 18446744073709551615"),
        (format!("{load}/outcomes/timed_out"), json!(u64::MAX), "timed_out is"),
        (format!("{load}/outcomes/answered"), json!(u64::MAX), "`answered` is"),
        (format!("{load}/answered_as_expected"), json!(u64::MAX), "`answered_as_expected` is"),
        (format!("{load}/statuses"), json!({"200": u64::MAX, "201": 1}), "the sum of `statuses` is"),
        (format!("{load}/malformations"), json!({"x": u64::MAX}), "the sum of `malformations` is"),
        (format!("{load}/go_aways"), json!({"x": u64::MAX}), "the sum of `go_aways` is"),
        (format!("{load}/response_time_us/count"), json!(u64::MAX), "`count` is"),
        (format!("{load}/lag_us/censored"), json!(u64::MAX), "`censored` is"),
        (format!("{load}/connections/opened"), json!(u64::MAX), "`opened` is"),
        ("/measured/server/threads_max".into(), json!(u32::MAX), "`threads_max` is"),
        ("/measured/server/rss_bytes_max".into(), json!(u64::MAX), "`rss_bytes_max` is"),
        ("/measured/server/thread_groups".into(), json!({"a": u32::MAX}), "the sum of `thread_groups` is"),
        ("/measured/contract/deviations".into(), json!(vec![""; 100_001]), "the length of `deviations` is"),
        (
            "/measured/server/signals/anonymous_bytes".into(),
            json!([1, u64::MAX, 1]),
            "`anonymous_bytes` is 18446744073709551615",
        ),
        ("/measured/server/signals/threads".into(), json!([1, 1, u32::MAX]), "`threads` is 4294967295"),
        (
            "/measured/server/signals/gc_pauses/seconds".into(),
            json!(u32::MAX),
            "the `seconds` of `gc_pauses` is 4294967295",
        ),
        ("/measured/host/cores".into(), json!(u32::MAX), "`cores` is"),
        ("/measured/host/others/0/name".into(), json!("a".repeat(5000)), "the name of a process"),
    ] {
        let (_dir, path, _) = run_of(&[failed(0)]);
        let file = path.join("trials.jsonl");
        let text = fs::read_to_string(&file).unwrap() + &with(&pointer, value) + "\n";
        fs::write(&file, text).unwrap();
        for error in [RunDir::read_trials(&path).unwrap_err(), RunDir::resume(&path).unwrap_err()] {
            let error = error.to_string();
            assert!(error.contains("trials.jsonl:2: ") && error.contains(told), "{pointer}: {error}");
        }
    }
}

#[test]
fn what_an_old_record_calls_its_load_is_bounded_and_a_load_that_cannot_be_is_none() {
    for (value, told) in [
        (json!(null), "the length of `load` is 5000, and at most 4096"),
        (json!({"model": "closed", "connections": 0}), "nonzero"),
        (json!({"model": "unknown", "label": "x"}), "unknown variant"),
        (
            json!({"model": "open", "rate_per_s": -1, "arrivals": "constant", "connections": 1}),
            "a rate of -1/s is not above 0",
        ),
    ] {
        let (_dir, path, _) = run_of(&[]);
        let mut trial = serde_json::to_value(failed(0)).unwrap();
        (trial["load"], trial["load_id"]) = (json!("x".repeat(5000)), value);
        fs::write(path.join("trials.jsonl"), trial.to_string() + "\n").unwrap();
        let error = RunDir::read_trials(&path).unwrap_err().to_string();
        assert!(error.contains("trials.jsonl:1: ") && error.contains(told), "{error}");
    }
}

#[test]
fn a_run_of_more_than_its_bounds_is_refused() {
    let (_dir, path, _) = run_of(&[failed(0)]);
    let file = path.join("trials.jsonl");
    let line = |index: usize, round: &str, stack: &str| {
        let mut trial = serde_json::to_value(failed(0)).unwrap();
        (trial["index"], trial["round"], trial["stack"]) = (json!(index), json!(round), json!(stack));
        trial.to_string() + "\n"
    };
    for (lines, told) in [
        (
            (0..65).map(|it| line(it, "r", &format!("s{it}"))).collect::<String>(),
            "trials.jsonl:65: the number of stacks",
        ),
        (
            (0..2001).map(|it| line(it, &format!("r{it}"), "s")).collect(),
            "trials.jsonl:2001: the number of cells is 2001",
        ),
        (
            (0..20_001).map(|it| line(it, "r", "s")).collect(),
            "trials.jsonl:20001: the number of trials is 20001",
        ),
        ("x".repeat(5 << 20), "trials.jsonl:1: the line is longer than 4 MiB"),
    ] {
        fs::write(&file, lines).unwrap();
        let error = RunDir::read_trials(&path).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    fs::remove_file(&file).unwrap();
    symlink("/dev/zero", &file).unwrap();
    assert!(RunDir::read_trials(&path).is_err(), "not even looked at");
    assert!(RunDir::count_trials(&path).is_err());
}

#[test]
fn a_manifest_is_bounded_too() {
    let (_dir, path, _) = run_of(&[]);
    let file = path.join("manifest.json");
    let good = fs::read_to_string(&file).unwrap();
    for (pointer, value, told) in [
        ("/blocks", json!(u32::MAX), "`blocks` is 4294967295, and at most 10000"),
        ("/machine/cores", json!(u64::MAX), "`cores` is"),
    ] {
        let mut manifest: Value = serde_json::from_str(&good).unwrap();
        *manifest.pointer_mut(pointer).unwrap() = value;
        fs::write(&file, manifest.to_string()).unwrap();
        let error = RunDir::read_manifest(&path).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    fs::write(&file, good.clone() + &" ".repeat(5 << 20)).unwrap();
    assert!(RunDir::read_manifest(&path).unwrap_err().to_string().contains("longer than 4 MiB"));
    // A page shows what was asked for: no other file by way of it.
    let experiment = RunDir::experiment_path(&path);
    link(&file, &experiment);
    assert!(RunDir::read_experiment(&path).is_err());
}

#[test]
fn a_result_of_a_load_is_bounded_where_it_is_read_alone() {
    let mut result = load();
    result.intended = u64::MAX;
    let text = serde_json::to_string(&result).unwrap();
    let told = LoadResult::from_json(Path::new("r.json"), &text).unwrap_err().to_string();
    assert!(told.starts_with("r.json:1: `intended` is"), "{told}");
    assert!(matches!(measured(0).result, TrialResult::Measured(_)), "and what is sound is read");
}

#[test]
fn what_is_told_of_a_server_s_pods_is_bounded() {
    let pod = |name: &str, cpu_cores: f64, memory_bytes: u64| {
        let sample =
            json!({"at_s": 30.0, "window_s": 15.0, "cpu_cores": cpu_cores, "memory_bytes": memory_bytes});
        json!({"name": name, "samples": [sample]})
    };
    let read = |pods: Value| {
        let mut result = serde_json::to_value(load()).unwrap();
        result["server_pods"] = json!({"namespace": "shop", "labels": "app=shop", "pods": pods});
        LoadResult::from_json(Path::new("r.json"), &result.to_string())
    };
    let server = read(json!([pod("a", 1.5, 1 << 20)])).unwrap().server_pods.unwrap();
    assert_eq!((server.pods[0].samples.len(), server.not_known), (1, None));
    let many = vec![json!({"name": "", "samples": []}); 10_001];
    let within = |key: &str, value: Value| {
        let signals = serde_json::to_value(ServerSignals::default()).unwrap();
        let mut seen = json!({"rss_bytes_max": 1, "threads_max": 1, "signals": signals});
        seen[key] = value;
        json!([{"name": "a", "samples": [], "within": {"container": "c", "bound_s": 0.0, "seen": seen}}])
    };
    assert!(read(within("port", json!(8080))).is_ok());
    for (pods, told) in [
        (within("rss_bytes_max", json!(u64::MAX)), "`rss_bytes_max` is 18446744073709551615"),
        (within("threads_max", json!(u32::MAX)), "`threads_max` is 4294967295"),
        (within("cpu_cores", json!(1e300)), "a number of cores of a container is 1e300"),
        (within("cpu_cores", json!(-1.0)), "a number of cores of a container is -1e0"),
        (within("not_known", json!(["x".repeat(5000)])), "a line of `not_known` is 5000"),
        (json!([pod(&"p".repeat(5000), 1.0, 1)]), "the length of the `name` of a pod is 5000"),
        (json!([pod("a", 1e300, 1)]), "the number of cores of a pod is 18446744073709551615"),
        (json!([pod("a", 1.0, u64::MAX)]), "the `memory_bytes` of a pod is 18446744073709551615"),
        (json!(many), "the number of `server_pods` is 10001"),
    ] {
        let error = read(pods).unwrap_err().to_string();
        assert!(error.starts_with("r.json:1: ") && error.contains(told), "{error}");
    }
}

/// A line of an interval log with a histogram of this header and these counts.
fn log_line(length: u32, digits: u32, high: u64, counts: &[u8]) -> String {
    let mut plain = Vec::new();
    for number in [0x1c84_9313, length, 0, digits] {
        plain.extend(number.to_be_bytes());
    }
    plain.extend(1_u64.to_be_bytes());
    plain.extend(high.to_be_bytes());
    plain.extend(1_f64.to_be_bytes());
    plain.extend(counts);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&plain).unwrap();
    let deflated = encoder.finish().unwrap();
    let mut whole = vec![0x1c, 0x84, 0x93, 0x14];
    whole.extend((deflated.len() as u32).to_be_bytes());
    whole.extend(deflated);
    format!("0.000,1.000,1.000,{}\n", base64::engine::general_purpose::STANDARD.encode(whole))
}

#[test]
fn an_interval_log_takes_no_more_memory_than_it_has_figures() {
    let dir = tempfile::tempdir().unwrap();
    let hour_ns = 3_600_000_000_000;
    let told = |line: &str| {
        fs::write(dir.path().join("response_time.hlog"), line).unwrap();
        read_interval_log(dir.path()).map_err(|error| error.to_string())
    };
    assert_eq!(told(&log_line(1, 3, hour_ns, &[2])).unwrap()[0].times.count(), 1);
    let zeros = vec![0; 1 << 20];
    // The longest run of zeros there can be, whose negation overflows.
    let least = [0xff; 9];
    for (line, what) in [
        (log_line(u32::MAX, 3, hour_ns, &[]), "not as long as it says"),
        (log_line(0, 5, u64::MAX, &[]), "5 significant digits, and at most 3"),
        (log_line(1 << 20, 3, hour_ns, &zeros), "longer than 524288 bytes"),
        (log_line(9, 3, hour_ns, &least), "more zeros than places"),
        (log_line(1, 3, hour_ns, &[0x80]), "ends within a count"),
        (
            log_line(9, 3, hour_ns, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            "samples, and at most",
        ),
    ] {
        let error = told(&line).unwrap_err();
        assert!(error.contains("response_time.hlog:1: ") && error.contains(what), "{what}: {error}");
    }
}

#[test]
fn what_belongs_to_a_trial_is_no_link() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["response_time.hlog", "signals.jsonl"] {
        symlink("/etc/hostname", dir.path().join(name)).unwrap();
    }
    assert!(read_interval_log(dir.path()).is_err());
    assert!(read_signals(dir.path()).is_err());
}
