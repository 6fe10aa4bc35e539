//! `proofload run --driver`: the real wrk and the real JMeter in our place.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use rustix::process::Signal;

use crate::common::{processes_with, signal, texts, wait_until};
use crate::driven::{EXPERIMENT, lab, run};
use crate::lab::{Lab, target_stack, trials};

#[test]
fn what_a_driver_cannot_do_is_said_before_anything_runs() {
    for (key, arguments, part) in [
        ("rate = \"100\"", ["--driver", "wrk"], "wrk keeps no rate"),
        ("think = \"1s\"", ["--driver", "all"], "wrk knows no think time"),
        ("rate = \"100\"", ["--driver", "jmeter"], "keeps no rate"),
        ("idle_timeout = \"1s\"", ["--driver", "proofload,jmeter"], "has no idle timeout"),
    ] {
        let lab = lab(&EXPERIMENT.replace("[[round]]", &format!("{key}\n[[round]]")), 20);
        let output = run(&lab, &arguments);
        let (text, errors) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{text}{errors}");
        assert!(errors.contains(part) && errors.trim_end().lines().count() == 1, "{errors}");
        assert!(errors.contains("test.toml:"), "it says where: {errors}");
        assert!(!lab.path("runs").exists(), "nothing was made");
    }
    let output = run(&lab(EXPERIMENT, 20), &["--driver", "ab"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(texts(&output).1.contains("no driver"));
}

#[test]
fn a_driver_that_is_not_installed_is_named_with_what_installs_it() {
    let lab = lab(EXPERIMENT, 20);
    let mut command = lab.command();
    command.args(["--driver", "wrk"]).arg(lab.path("test.toml")).env("PATH", "/nonexistent");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(texts(&output).1.contains("apt-get install wrk"), "{}", texts(&output).1);
    assert!(!lab.path("runs").exists(), "nothing was made");
}

/// The log lies in the run's folder, which goes where a run never began.
#[test]
fn a_jmeter_that_cannot_be_built_leaves_the_log_that_it_names() {
    let lab = Lab::new(EXPERIMENT, &[("pool", &target_stack(r#""--model", "pool""#))]);
    let build = lab.path("stacks/_builds/jmeter");
    fs::create_dir_all(build.join(".mvn")).unwrap();
    for name in ["pom.xml", "libraries.sha256", "../maven.sh"] {
        fs::write(build.join(name), "echo no network; exit 7").unwrap();
    }
    // A JDK and Maven, as far as anybody looks.
    let jdk = lab.path("jdk");
    fs::create_dir_all(jdk.join("bin")).unwrap();
    fs::write(jdk.join("release"), "JAVA_VERSION=\"17.0.1\"\n").unwrap();
    for name in ["java", "javac", "mvn"] {
        let program = jdk.join("bin").join(name);
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", jdk.join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = lab.command();
    command.args(["--driver", "jmeter"]).arg(lab.path("test.toml"));
    let output = command.env("JAVA_HOME", &jdk).env("HOME", lab.root()).env("PATH", path).output().unwrap();
    let errors = texts(&output).1;
    assert!(!output.status.success() && errors.contains("cannot build stack `jmeter`"), "{errors}");
    let log = errors.lines().find_map(|line| line.trim().strip_prefix("last lines of ")?.strip_suffix(':'));
    let log = log.unwrap_or_else(|| panic!("it names no log: {errors}"));
    assert!(fs::read_to_string(log).unwrap().contains("no network"), "{errors}");
}

#[test]
fn only_a_part_of_an_experiment_is_measured() {
    let two = EXPERIMENT.replace("[16]", "[4, 16]").replace("\"2s\"", "\"500ms\"");
    let other = "[[round]]\nname = \"hello\"\nendpoint = \"hello\"\nstacks = [\"pool\"]\n";
    let lab = lab(&format!("{two}{other}"), 20);
    let output = run(&lab, &["--only", "round=hello", "--only", "connections=4"]);
    assert_eq!(output.status.code(), Some(0), "{}", texts(&output).1);
    let all = trials(&lab.run_dir());
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0]["round"], &all[0]["load"]), (&"hello".into(), &"4 connections".into()));
    for (only, part) in [("round=nothing", "no cell of round `nothing`"), ("size=4", "names no part")] {
        let output = run(&lab, &["--only", only]);
        assert_eq!(output.status.code(), Some(2));
        assert!(texts(&output).1.contains(part), "{}", texts(&output).1);
    }
}

#[test]
#[ignore = "slow: two runs, and the ends of them"]
fn no_driver_survives_an_interruption_or_a_kill() {
    // The load is on the driver's command line, by which it is found.
    let experiment = EXPERIMENT.replace("\"2s\"", "\"47s\"").replace("[16]", "[13]");
    let load = "-c13 -d47s";
    for (how, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        let lab = lab(&experiment, 20);
        let mut command = lab.command();
        command.args(["--driver", "wrk"]).arg(lab.path("test.toml"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("wrk runs", || !processes_with(load).is_empty());
        signal(&child, how);
        assert_eq!(child.wait().unwrap().code(), code);
        wait_until("every process is gone", || lab.nothing_runs() && processes_with(load).is_empty());
    }
}
