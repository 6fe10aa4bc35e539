//! https: the calibration server with a certificate of its own, and what is said of servers that are not to be trusted.
#![cfg(feature = "tls")]

use serde_json::Value;

use crate::common::{Target, ends_with, json, proofload, run, stdout, text};
use crate::loads::{hit, outcome, outcomes_add_up, service_did_well};

#[test]
fn every_model_of_the_target_is_loaded_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    for model in ["single", "thread-per-connection", "pool", "event-loop"] {
        let file = folder.path().join(model).display().to_string();
        let target =
            Target::start(&["--tls", "--certificate", &file, "--model", model, "--body-bytes", "40KiB"]);
        assert!(target.url.starts_with("https://"), "{}", target.url);
        for io in ["epoll", "auto"] {
            let (result, code) = hit(&target.url, &["-c", "4", "-n", "200", "--cacert", &file, "--io", io]);
            assert!(service_did_well(&result), "{model}: {code}: {result:#}");
            outcomes_add_up(&result);
            assert_eq!(outcome(&result, "answered"), 200);
            let tls = &result["tls"];
            assert_eq!(tls["agreed"]["version"], "TLS 1.3");
            assert_eq!(tls["agreed"]["alpn"], "http/1.1");
            assert_eq!((&tls["verified"], &tls["full_handshakes"]), (&true.into(), &4.into()), "{tls}");
            assert_eq!(tls["handshake_us"]["count"], 4);
        }
    }
}

#[test]
fn what_tls_agreed_on_is_shown() {
    let target = Target::start(&["--tls"]);
    let output =
        run(&["hit", &target.url, "-n", "50", "-c", "2", "-q", "-k", "--tls-max", "1.2", "--no-keep-alive"]);
    let shown = stdout(&output);
    assert!(shown.contains("\ntls         TLS 1.2, TLS_ECDHE_"), "{shown}");
    assert!(shown.contains("ALPN http/1.1; certificates were not checked (--insecure)"), "{shown}");
    assert!(shown.contains("\nhandshakes  50 full, 0 resumed; mean "), "{shown}");
}

#[test]
fn a_share_of_the_connections_makes_a_full_handshake_where_others_resume() {
    let target = Target::start(&["--tls"]);
    let again = ["hit", &target.url, "-n", "20", "-c", "1", "-q", "-k", "--no-keep-alive", "--tls-resume"];
    let shown = stdout(&run(&[&again[..], &["--full-handshakes", "50%"]].concat()));
    // Every second one, and the first, unless the handshake before the load left it a session.
    let is_share =
        |full: u32| shown.contains(&format!("\nhandshakes  {full} full, {} resumed; mean ", 20 - full));
    assert!(is_share(11) || is_share(10), "{shown}");
    for share in ["0%", "101%", "10"] {
        let said = ends_with(2, &[&again[..], &["--full-handshakes", share]].concat());
        assert!(said.contains("--full-handshakes"), "{said}");
    }
    let said = ends_with(2, &["hit", &target.url, "-n", "1", "-k", "--full-handshakes", "10%"]);
    assert!(said.contains("--tls-resume"), "{said}");
}

#[test]
fn a_server_that_is_not_to_be_trusted_is_told_of_before_any_load() {
    let target = Target::start(&["--tls"]);
    let said = ends_with(3, &["hit", &target.url, "-n", "10"]);
    assert!(said.contains("trust it with --cacert FILE, or skip the check with --insecure"), "{said}");
    let plain = Target::start(&[]);
    let said = ends_with(3, &["hit", &plain.url.replace("http:", "https:"), "-n", "10", "-k"]);
    assert!(said.contains("is not TLS") && said.contains("write http:// for https://"), "{said}");
    let said = ends_with(2, &["hit", &plain.url, "-n", "10", "-k"]);
    assert!(said.contains("--insecure is about https"), "{said}");
    let said = ends_with(2, &["hit", &target.url, "-n", "10", "-k", "--ciphers", "RC4"]);
    assert!(said.contains("`RC4`"), "{said}");
}

#[test]
fn scenarios_and_copied_commands_go_over_tls() {
    let target = Target::start(&["--tls"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users.toml");
    let text = format!(
        "base = \"{}\"\n[load]\nusers = 3\niterations = 5\n[[steps]]\nrequest = \"/hello\"\n",
        target.url
    );
    std::fs::write(&file, text).unwrap();
    let file = file.display().to_string();
    let result = json(&run(&["hit", "--scenario", &file, "-k", "--json", "-q"]));
    assert_eq!(result["answered_as_expected"], 15, "{result:#}");
    assert_eq!(result["tls"]["full_handshakes"], 3);
    let curl = format!("curl --insecure '{}/hello'", target.url);
    let result = json(&run(&["hit", "--curl", &curl, "-n", "20", "-c", "2", "--json", "-q"]));
    assert_eq!(result["answered_as_expected"], 20, "{result:#}");
    let curl = format!("curl --insecure '{}/hello' -H 'X-Id: {{{{uuid}}}}'", target.url);
    let result = json(&run(&["hit", "--curl", &curl, "-n", "20", "-c", "2", "--json", "-q"]));
    assert_eq!(result["answered_as_expected"], 20, "{result:#}");
}

#[test]
fn wrk_takes_any_certificate_as_it_does() {
    let target = Target::start(&["--tls", "--path", "/=2ms"]);
    let output = run(&["wrk", "-t1", "-c2", "-d1s", "--json", &target.url]);
    let result = json(&output);
    assert!(service_did_well(&result), "{result:#}");
    assert_eq!(result["tls"]["verified"], false);
}

#[test]
#[ignore = "slow: a calibration"]
fn a_calibration_goes_over_tls() {
    let output = run(&["calibrate", "--quick", "--tls", "--case", "fixed-5ms", "--json", "-q"]);
    let result = json(&output);
    let case = &result["cases"][0];
    assert!(case["failed"].is_null(), "{result:#}");
    assert_eq!(case["tries"][0]["load"]["tls"]["agreed"]["version"], "TLS 1.3");
}

/// The secrets of each connection, as other tools read them to look into what was captured.
#[test]
fn keys_are_written_down_where_somebody_asks_for_them() {
    let target = Target::start(&["--tls"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.txt");
    let mut hit = proofload();
    let load = ["hit", &target.url, "-n", "4", "-c", "2", "-q", "-k", "--tlsv1.3", "--fail-if", "errors>0"];
    hit.args(load).env("SSLKEYLOGFILE", &file);
    assert_eq!(hit.output().unwrap().status.code(), Some(0));
    let keys = std::fs::read_to_string(&file).unwrap();
    assert!(keys.matches("CLIENT_TRAFFIC_SECRET_0 ").count() >= 2, "{keys}");
}

/// sb is a program of .NET, which trusts what the system trusts; JMeter trusts everybody.
#[test]
fn sb_checks_certificates_and_jmeter_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.pem").display().to_string();
    let target = Target::start(&["--tls", "--certificate", &file]);
    let sb = |authorities: Option<&str>| {
        let mut sb = proofload();
        sb.args(["sb", "-u", &target.url, "-n", "20", "-c", "2"]);
        sb.envs(authorities.map(|file| ("SSL_CERT_FILE", file)));
        let output = sb.output().unwrap();
        (output.status.code(), text(&output))
    };
    let (code, said) = sb(None);
    assert!(code != Some(0) && said.contains("certificate"), "{code:?}: {said}");
    let (code, said) = sb(Some(&file));
    assert!(code == Some(0) && said.contains("Status 200:    20"), "{code:?}: {said}");

    let plan = folder.path().join("secured.jmx");
    let (port, sampler) = (target.url.rsplit(':').next().unwrap().trim_end_matches('/'), "HTTPSamplerProxy");
    let text_of = |name: &str, value: &str| format!("<stringProp name=\"{name}\">{value}</stringProp>");
    let one = [
        text_of("HTTPSampler.domain", "127.0.0.1"),
        text_of("HTTPSampler.port", port),
        text_of("HTTPSampler.protocol", "https"),
        text_of("HTTPSampler.path", "/"),
        text_of("HTTPSampler.method", "GET"),
    ]
    .concat();
    let group = [text_of("ThreadGroup.num_threads", "3"), text_of("ThreadGroup.ramp_time", "0")].concat();
    let loops =
        [text_of("LoopController.continue_forever", "false"), text_of("LoopController.loops", "4")].concat();
    let written = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\"><hashTree>\
         <TestPlan guiclass=\"TestPlanGui\" testclass=\"TestPlan\" testname=\"p\"/><hashTree>\
         <ThreadGroup guiclass=\"ThreadGroupGui\" testclass=\"ThreadGroup\" testname=\"g\">\
         <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">{loops}</elementProp>{group}\
         </ThreadGroup><hashTree><{sampler} guiclass=\"HttpTestSampleGui\" testclass=\"{sampler}\" testname=\"s\">{one}</{sampler}>\
         <hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"
    );
    std::fs::write(&plan, written).unwrap();
    let output = run(&["jmeter", "-n", "-t", &plan.display().to_string()]);
    let said = text(&output);
    assert!(output.status.code() == Some(0) && said.contains("summary =     12 in "), "{said}");
    assert!(said.contains("Err:     0 (0.00%)"), "{said}");
}

/// The file is gone before there are agents: they are told what is in it.
#[test]
fn three_machines_secure_a_load_by_what_one_has_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let agent = format!("exec '{}' agent # {{host}}", env!("CARGO_BIN_EXE_proofload"));
    for (version, alpn) in [("1.1", "http/1.1"), ("2", "h2")] {
        let file = folder.path().join("own.pem").display().to_string();
        let spoken: &[&str] = if version == "2" { &["--http2"] } else { &[] };
        let target = Target::start(&[&["--tls", "--certificate", &file], spoken].concat());
        let version = ["--http-version", version];
        let gone = format!("rm -f '{file}'; {agent}");
        let three = ["--hosts", "a,b,c", "--agent-command", &gone, "--cacert", &file, "-c", "6", "-n", "600"];
        let (result, code) = hit(&target.url, &[&three[..], &version].concat());
        assert!(service_did_well(&result), "{code}: {result:#}");
        outcomes_add_up(&result);
        assert_eq!(outcome(&result, "answered"), 600);
        let tls = &result["tls"];
        assert_eq!(
            (&tls["agreed"]["version"], &tls["agreed"]["alpn"]),
            (&"TLS 1.3".into(), &alpn.into()),
            "{tls}"
        );
        let counted = [&tls["full_handshakes"], &tls["connect_us"]["count"], &tls["handshake_us"]["count"]];
        assert_eq!((&tls["verified"], counted), (&true.into(), [&Value::from(6); 3]), "{tls}");
        let agents = result["agents"].as_array().unwrap();
        assert_eq!(agents.iter().map(|it| &it["connections"]).collect::<Vec<_>>(), [2, 2, 2]);

        let both = ["hit", &target.url, "--hosts", "a,b", "--agent-command", &agent, "-c", "4"];
        let said = ends_with(3, &[&both[..], &version].concat());
        assert!(said.contains("(a)") && said.contains("(b)") && said.contains("--cacert"), "{said}");
    }
}
