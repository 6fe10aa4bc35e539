//! Each check at its bounds.

use audit::{Kind, Level};

use crate::kinds;

/// An output of wrk with 10 s at 1000/s, so that N users have a mean of N ms.
fn wrk(command: &str, connections: u32, mean: &str, max: &str, more: &str) -> String {
    format!(
        "$ wrk {command}\nRunning 10s test @ http://h/x\n  1 threads and {connections} connections\n  Thread Stats   Avg  \
         Stdev  Max   +/- Stdev\n    Latency   {mean}  1.00ms  {max}  90.00%\n    Req/Sec  1.00k  0.00  1.00k  90.00%\n  \
         10000 requests in 10.00s, 1.00MB read\n{more}Requests/sec:   1000.00\nTransfer/sec:    100.00KB\n"
    )
}

#[test]
fn littles_law_allows_for_digits_and_for_innocent_causes() {
    let law = |connections, mean| kinds(&wrk("-t1", connections, mean, "900.00ms", ""));
    assert_eq!(law(100, "100.00ms"), []);
    assert_eq!(law(100, "95.50ms"), []);
    assert_eq!(law(100, "104.90ms"), []);
    assert_eq!(law(100, "92.00ms"), [(Level::Note, Kind::LittlesLaw)]);
    assert_eq!(law(100, "108.00ms"), [(Level::Note, Kind::LittlesLaw)]);
    assert_eq!(law(100, "88.00ms"), [(Level::Broken, Kind::LittlesLaw)]);
    assert_eq!(law(100, "111.00ms"), [(Level::Broken, Kind::LittlesLaw)]);
    // A script may wait; a connection a request is set up outside the latency.
    for command in ["-t1 -s think.lua", "-t1 -H 'Connection: close'"] {
        assert_eq!(
            kinds(&wrk(command, 100, "50.00ms", "900.00ms", "")),
            [(Level::Note, Kind::LittlesLaw)],
            "{command}"
        );
    }
    let failed = "  Socket errors: connect 40, read 0, write 0, timeout 0\n";
    assert_eq!(
        kinds(&wrk("-t1", 100, "60.00ms", "900.00ms", failed)),
        [(Level::Unknown, Kind::ConnectFailures)]
    );
}

/// All users send at once to a server that takes 1000/s in turn for ten seconds. Who is answered first has waited for less,
/// and who is not answered by the end is in no figure: wrk tells a mean of N / X · (1 - 1 / 2k), where the run is as long as
/// k times N / X, and nothing is wrong.
#[test]
fn what_was_under_way_at_the_end_of_a_short_run_may_be_the_rest() {
    let law = |connections, mean: &str| {
        let kinds = kinds(&wrk("-t1 -T30", connections, mean, "9.90s", ""));
        let levels = kinds.iter().filter(|it| it.1 == Kind::LittlesLaw).map(|it| it.0);
        levels.collect::<Vec<_>>()
    };
    // k is 10, 5, 4, 2 and 1.25; below one, half of the run is the mean.
    assert_eq!(law(1000, "0.95s"), []);
    assert_eq!(law(2000, "1.80s"), [Level::Note]);
    assert_eq!(law(2500, "2.19s"), [Level::Unknown]);
    assert_eq!(law(5000, "3.75s"), [Level::Unknown]);
    assert_eq!(law(8000, "4.80s"), [Level::Unknown]);
    assert_eq!(law(20_000, "5.00s"), [Level::Unknown]);
    // Half of the users' time is five seconds each, and who is served waits two.
    assert_eq!(law(2000, "1.00s"), [Level::Broken]);
    assert_eq!(law(5000, "2.00s"), [Level::Broken]);
    assert_eq!(law(1000, "0.85s"), [Level::Broken]);
    assert_eq!(law(2000, "2.40s"), [Level::Broken], "it makes no latency too high");
    let audit = crate::found(&wrk("-t1 -T30", 5000, "3.75s", "9.90s", ""));
    let all = crate::all(&audit);
    let text = &all.iter().find(|it| it.kind == Kind::LittlesLaw).unwrap().text;
    assert!(text.contains("under way when the run of 10 s ended are in no figure; 2.47 s each"), "{text}");
    assert!(text.ends_with("The mean is of the early ones; by N / X it is 5 s"), "{text}");
}

/// Seventy workers keep the connections that they have, and thirty more wait in the backlog for ever. wrk sees no error.
#[test]
fn who_is_never_answered_is_named_beside_a_latency_too_low() {
    let audit = crate::found(&wrk("-t1", 100, "70.00ms", "900.00ms", ""));
    let [law, ..] = &crate::all(&audit)[..] else { panic!("{audit:?}") };
    assert_eq!((law.level, law.kind), (Level::Broken, Kind::LittlesLaw));
    let both = "30 of 100 users are in no figure: so many were never answered or had no connection, or the latency is too low; if all \
                were served, the mean is N / X = 100 ms";
    assert!(law.text.ends_with(both), "{law:?}");
}

/// A run that is bounded by time has no number of requests a user, and its rate follows from no plan.
#[test]
fn a_short_ramp_of_a_run_for_a_time_is_no_arithmetic() {
    // Seven users, one more each quarter of a second, make as many requests of 100 ms as they can in 20 s.
    let mut lines: Vec<(u64, String)> = Vec::new();
    for user in 0..7u64 {
        for start in (user * 250..=19_900).step_by(100) {
            let active = (start / 250 + 1).min(7);
            lines
                .push((start, format!("{},100,GET /,200,{user},true,{active}\n", 1_700_000_000_000 + start)));
        }
    }
    lines.sort();
    let lines: String = lines.into_iter().map(|it| it.1).collect();
    let jtl = format!("timeStamp,elapsed,label,responseCode,threadName,success,allThreads\n{lines}");
    let rows = crate::read(&jtl).rows;
    assert!(rows[0].loops.unwrap().fract() > 0.1 && rows[0].ramp_s == Some(1.5), "{rows:?}");
    assert_eq!(kinds(&jtl), [(Level::Note, Kind::NoVariance)]);
    // Whole loops of a table are a plan's, and so is a rate that all users at once would exceed.
    let table = |loops: &str, ramp: u32, rate: u32| {
        let header = "system,path,driver,connections,loops,ramp_up_s,requests_per_s,latency_avg_ms\n";
        kinds(&format!("{header}a,/x,jmeter,100,{loops},{ramp},{rate},1000\n"))
    };
    assert_eq!(table("200", 12, 95), [(Level::Unknown, Kind::RampUp)]);
    assert_eq!(table("200.5", 12, 95), []);
    assert_eq!(table("10.5", 10, 51), [(Level::Unknown, Kind::RampUp)]);
}

#[test]
fn users_that_end_at_different_times_are_fewer() {
    let text = "spawning thread #0: 100 total client(s). 10000 total requests\nApplication protocol: http/1.1\nfinished in \
                15.66s, 638.47 req/s, 166.04KB/s\nrequests: 10000 total, 10000 started, 10000 done, 10000 succeeded, 0 \
                failed, 0 errored, 0 timeout\ntime for request: 3.12ms 498.72ms 128.90ms 60.07ms 74.42%\n";
    assert_eq!(kinds(&format!("starting benchmark...\n{text}")), []);
    // So do oha's, where it was told how many requests to make.
    let text = crate::format("oha.json");
    let asked = |how: &str| format!("$ oha -c 70 {how} --output-format json http://h/hello\n{text}");
    assert_eq!(kinds(&asked("-n 200")), []);
    assert!(kinds(&asked("-z 1s")).contains(&(Level::Broken, Kind::LittlesLaw)));
}

#[test]
fn wrk_drops_the_connections_that_do_not_divide_by_threads() {
    let text = wrk("-t3", 100, "99.00ms", "500.00ms", "").replace("1 threads", "3 threads");
    assert_eq!(kinds(&text), []);
    let text = wrk("-t60", 119, "60.00ms", "500.00ms", "").replace("1 threads", "60 threads");
    assert_eq!(kinds(&text), [], "119 connections over 60 threads are 60");
}

#[test]
fn late_answers_explain_a_latency_that_is_too_low() {
    let errors = "  Socket errors: connect 0, read 0, write 0, timeout 5000\n";
    let text = wrk("-t1", 1000, "500.00ms", "1.50s", errors);
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::Censored)]);
    let text = wrk("-t1", 1000, "500.00ms", "1.99s", errors);
    assert_eq!(kinds(&text), [(Level::Unknown, Kind::Censored), (Level::Unknown, Kind::MaxAtTimeout)]);
    // They can't explain one that is too high.
    let text = wrk("-t1", 100, "500.00ms", "1.50s", errors);
    assert!(kinds(&text).contains(&(Level::Broken, Kind::LittlesLaw)));
}

/// A thousand a second for ten seconds: each late one has kept one user busy at most.
#[test]
fn late_answers_explain_no_more_users_than_they_are() {
    let late = "  Socket errors: connect 0, read 0, write 0, timeout 48\n";
    // 300 of 900 users are seen, and 48 may have waited for what came late.
    let text = wrk("-t1", 900, "300.00ms", "1.50s", late);
    assert_eq!(kinds(&text), [(Level::Broken, Kind::LittlesLaw), (Level::Unknown, Kind::Censored)]);
    let audit = crate::found(&text);
    let law = &crate::all(&audit)[0].text;
    assert!(law.contains("the 48 requests that failed or came late") && law.contains("552 of 900"), "{law}");
    // 48 of 348 are all that is missing.
    assert_eq!(kinds(&wrk("-t1", 348, "300.00ms", "1.50s", late)), [(Level::Unknown, Kind::Censored)]);
    // A mean of 19 s is longer than the run, and the end of the run may be the rest: not known, and said.
    assert_eq!(
        kinds(&wrk("-t1", 19_000, "300.00ms", "1.50s", late)),
        [
            (Level::Unknown, Kind::LittlesLaw),
            (Level::Unknown, Kind::Censored),
            (Level::Unknown, Kind::TooShort)
        ]
    );
    // Three late ones of ten thousand are few, and ten users are, too.
    let few = "  Socket errors: connect 0, read 0, write 0, timeout 3\n";
    assert_eq!(
        kinds(&wrk("-t1", 10, "7.50ms", "1.50s", few)),
        [(Level::Unknown, Kind::LittlesLaw), (Level::Note, Kind::Censored)]
    );
    // One connection that did not come up is one user.
    let one = "  Socket errors: connect 1, read 0, write 0, timeout 0\n";
    assert_eq!(
        kinds(&wrk("-t1", 100, "60.00ms", "900.00ms", one)),
        [(Level::Broken, Kind::LittlesLaw), (Level::Unknown, Kind::ConnectFailures)]
    );
}

#[test]
fn all_four_kinds_of_socket_errors_count() {
    let found = |errors: &str| {
        let text = wrk("-t1", 100, "100.00ms", "900.00ms", &format!("  Socket errors: {errors}\n"));
        let audit = crate::found(&text);
        let all = crate::all(&audit).into_iter().filter(|it| it.kind != Kind::NoRepeats);
        all.map(|it| (it.level, it.kind, it.text.clone())).collect::<Vec<_>>()
    };
    assert_eq!(found("connect 0, read 0, write 0, timeout 0"), []);
    assert_eq!(found("connect 0, read 9, write 0, timeout 0"), [], "one in a thousand is no finding");
    let [(Level::Note, Kind::SocketErrors, text)] = &found("connect 0, read 20, write 40, timeout 0")[..]
    else {
        panic!("six in a thousand are a note")
    };
    assert!(text.contains("20 could not be read and 40 could not be written (0.6 %"), "{text}");
    let [(Level::Unknown, Kind::SocketErrors, text)] = &found("connect 0, read 8000, write 0, timeout 0")[..]
    else {
        panic!("a server that closes")
    };
    assert!(text.contains("44.4 %") && text.contains("after 1.2 answers on average"), "{text}");
    assert!(!text.contains("more failed than"), "{text}");
    let [(Level::Unknown, Kind::SocketErrors, text)] =
        &found("connect 0, read 0, write 20000, timeout 0")[..]
    else {
        panic!("more errors than answers")
    };
    assert!(text.contains("with 20000 errors in all, more failed than was answered"), "{text}");
    let [(Level::Unknown, Kind::ConnectFailures, text)] =
        &found("connect 20000, read 0, write 0, timeout 0")[..]
    else {
        panic!("connects that were tried again")
    };
    assert!(text.contains("only 10000 requests were answered"), "{text}");
    let late = found("connect 0, read 0, write 0, timeout 20000");
    assert!(late[0].2.starts_with("20000 timeouts of 2 s and 10000 answers: more were late"), "{late:?}");
}

/// Who waits for one answer after another waits for as many as go into the run.
#[test]
fn more_timeouts_than_the_users_have_time_for_cannot_be() {
    let found = |command: &str, max: &str, timeouts: u32| {
        let errors = format!("  Socket errors: connect 0, read 0, write 0, timeout {timeouts}\n");
        let text = wrk(command, 300, "290.00ms", max, &errors);
        let audit = crate::found(&text);
        let all = crate::all(&audit).into_iter().filter(|it| it.kind == Kind::Censored);
        all.map(|it| (it.level, it.text.clone())).next().expect("it is told of")
    };
    let (level, text) = found("-t1", "1.50s", 400_000);
    assert_eq!(level, Level::Broken, "{text}");
    let sum =
        "; but 400000 x 2 s = 800000 s, and 300 users have 3000 s in a run of 10 s: so many were not so late";
    assert!(text.ends_with(sum), "{text}");
    // Each user may have waited for six, the last of them at the end of the run.
    assert_eq!(found("-t1", "1.50s", 1800).0, Level::Unknown);
    assert_eq!(found("-t1", "1.50s", 1801).0, Level::Broken);
    // There are versions of wrk that count a request every two seconds for which it is late.
    assert_eq!(found("-t1 -T5s", "1.50s", 2250).0, Level::Unknown);
    assert_eq!(found("-t1 -T5s", "1.50s", 2251).0, Level::Broken);
    assert_eq!(found("-t1 -T1s", "900.00ms", 3300).0, Level::Unknown);
    // A script may send several at once.
    assert_eq!(found("-t1 -s pipeline.lua", "1.50s", 400_000).0, Level::Unknown);
}

/// Without a command the timeout may be a short one, but for what was kept of the latency.
#[test]
fn without_a_command_timeouts_are_held_against_the_maximum() {
    let found = |max: &str| {
        let errors = "  Socket errors: connect 0, read 0, write 0, timeout 400000\n";
        let text = wrk("-t1", 300, "5.00ms", max, errors);
        let audit = crate::found(text.split_once('\n').unwrap().1);
        let all = crate::all(&audit).into_iter().filter(|it| it.kind == Kind::Censored);
        all.map(|it| (it.level, it.text.clone())).next().expect("it is told of")
    };
    let (level, text) = found("1.50s");
    assert!(level == Level::Broken && text.contains("; but by the maximum 400000 x 1.49 s = "), "{text}");
    assert_eq!(found("6.00ms").0, Level::Unknown);
}

/// A file that has no command is told of none.
#[test]
fn without_a_command_nothing_is_said_of_one() {
    let bare = |mean: &str, max: &str, more: &str| {
        let text = wrk("-t1", 100, mean, max, more);
        text.split_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(kinds(&bare("100.00ms", "2.37s", "")), [], "the run was given a timeout, and that is all");
    let late = "  Socket errors: connect 0, read 0, write 0, timeout 500\n";
    for text in
        [bare("100.00ms", "2.37s", ""), bare("80.00ms", "1.99s", late), bare("80.00ms", "2.99s", late)]
    {
        let audit = crate::found(&text);
        for finding in crate::all(&audit) {
            assert!(!finding.text.contains("command"), "{finding:?}");
            assert!(!finding.text.contains("timeout of 2 s"), "nobody told it: {finding:?}");
        }
    }
    // A table is none either.
    let table = "system,path,driver,connections,timeout_s,requests_per_s,latency_avg_ms,latency_max_ms\n\
                 a,/x,wrk,100,2,1000,100,2370\n";
    let audit = crate::found(table);
    let [finding] = &crate::all(&audit)[..] else { panic!("{audit:?}") };
    assert_eq!(finding.kind, Kind::BeyondTimeout);
    assert!(finding.text.contains("by the table is 2 s") && !finding.text.contains("command"), "{finding:?}");
}

#[test]
fn a_run_shorter_than_ten_response_times_says_so() {
    let slow = |mean| kinds(&wrk("-t1 -T30", 1010, mean, "9.00s", ""));
    assert_eq!(slow("990.00ms"), []);
    assert_eq!(slow("1.01s"), [(Level::Unknown, Kind::TooShort)]);
    // A run of so many requests has no end that cuts anything off.
    let header = "system,path,driver,connections,loops,requests,elapsed_s,requests_per_s,latency_avg_ms\n";
    assert_eq!(kinds(&format!("{header}a,/x,jmeter,100,1,100,10,10,9000\n")), []);
}

#[test]
fn the_timeout_is_that_of_the_command() {
    // Just below the timeout, and none was late: an answer in time.
    assert_eq!(kinds(&wrk("-t1", 100, "100.00ms", "1.96s", "")), []);
    assert_eq!(kinds(&wrk("-t1", 100, "100.00ms", "2.37s", "")), [(Level::Unknown, Kind::BeyondTimeout)]);
    assert_eq!(kinds(&wrk("-t1 -T30", 100, "100.00ms", "2.37s", "")), []);
    assert_eq!(kinds(&wrk("-t1 --timeout 5s", 100, "100.00ms", "2.37s", "")), []);
}

#[test]
fn a_second_is_no_retry_by_itself() {
    assert_eq!(kinds(&wrk("-t1", 100, "100.00ms", "1.00s", "")), []);
    assert_eq!(kinds(&wrk("-t1", 10, "10.00ms", "1.02s", "")), [(Level::Note, Kind::SynRetry)]);
    assert_eq!(kinds(&wrk("-T30", 100, "100.00ms", "3.03s", "")), [(Level::Note, Kind::SynRetry)]);
    assert_eq!(kinds(&wrk("-T30", 100, "100.00ms", "3.23s", "")), []);
    assert_eq!(kinds(&wrk("-T30", 1000, "1.00s", "3.03s", "")), []);
}

#[test]
fn rate_times_time_is_the_count() {
    let text = wrk("-t1", 100, "100.00ms", "500.00ms", "");
    assert_eq!(kinds(&text.replace("1000.00\n", "1000.90\n")), []);
    assert_eq!(kinds(&text.replace("1000.00\n", "1046.00\n")), [(Level::Broken, Kind::RateTimesTime)]);
}

#[test]
fn a_mean_is_within_the_extremes_and_percentiles_rise() {
    let text = wrk("-t1", 100, "100.00ms", "99.00ms", "");
    assert_eq!(kinds(&text), [(Level::Broken, Kind::OutOfOrder)]);
    let spread = |p90: &str| {
        wrk("-t1", 100, "100.00ms", "500.00ms", "").replace(
            "    Req/Sec",
            &format!("  Latency Distribution\n 50% 90.00ms\n 90% {p90}\n 99% 300.00ms\n    Req/Sec"),
        )
    };
    assert_eq!(kinds(&spread("200.00ms")), []);
    assert_eq!(kinds(&spread("90.00ms")), []);
    assert_eq!(kinds(&spread("0.31s")), [], "within its digits");
    assert_eq!(kinds(&spread("0.35s")), [(Level::Broken, Kind::OutOfOrder)]);
}

#[test]
fn summaries_may_round_and_cut_off_and_may_not_differ() {
    let with = |summary: &str| kinds(&(wrk("-t1", 100, "100.46ms", "500.00ms", "") + summary));
    for sound in [
        "- 1000 QPS\n- 100.46ms Avg Latency\n",
        "QPS 1.0k, mean latency 100ms\n",
        "Requests/sec ~ 1000\n",
        "The rate is about 900 QPS.\n",
        "Others reach 5000 QPS > 4000 QPS\n",
        "p99 latency 450ms\n",
        "Faster than nginx with 40000 QPS\n",
        "QPS 1.0K\n",
        "QPS 0.1w\n",
        "100 connections: 1000 QPS\n",
        "c=100, QPS 1000\n",
        "0 errors, 1000 req/s\n",
        "Testing https://localhost:8443/plaintext\n",
        "rps of http://localhost:8080/\n",
        "Latency 99th: 450ms\n",
    ] {
        assert_eq!(with(sound), [], "{sound}");
    }
    assert_eq!(with("- 1100 QPS\n"), [(Level::Broken, Kind::Summary)]);
    assert_eq!(with("- 1.3kqps\n"), [(Level::Broken, Kind::Summary)]);
    assert_eq!(with("- 1003 QPS\n"), [(Level::Note, Kind::Summary)]);
    assert_eq!(with("- 1000 QPS\n- mean 18.46 ms\n"), [(Level::Broken, Kind::Summary)]);
}

#[test]
fn the_same_output_twice_is_one_run() {
    let text = wrk("-t1", 100, "100.00ms", "500.00ms", "");
    assert_eq!(kinds(&format!("## a\n{text}## b\n{text}")), [(Level::Note, Kind::Twice)]);
}

#[test]
fn repeats_give_a_spread_and_leads_within_it_are_told() {
    let header = "system,path,driver,connections,requests,elapsed_s,requests_per_s,latency_avg_ms\n";
    let row = |system: &str, requests: u32| {
        format!("{system},/x,wrk,100,{requests},10.00,{},{:.2}\n", requests / 10, 1e6 / f64::from(requests))
    };
    let text = |other| format!("{header}{}{}{}", row("a", 100_000), row("a", 104_000), row("b", other));
    assert_eq!(kinds(&text(102_000)).iter().filter(|it| it.1 == Kind::Lead).count(), 2);
    assert_eq!(kinds(&text(200_000)), []);
    let lone = format!("{header}{}{}", row("a", 100_000), row("b", 104_000));
    let audit = crate::found(&lone);
    let all = crate::all(&audit);
    assert_eq!(
        all.iter().map(|it| (it.level, it.kind)).collect::<Vec<_>>(),
        [(Level::Unknown, Kind::NoRepeats)]
    );
}

#[test]
fn a_rate_that_follows_the_connections_is_no_ceiling() {
    let header = "system,path,driver,connections,requests_per_s,latency_avg_ms,service_time_ms\n";
    assert_eq!(kinds(&format!("{header}a,/x,wrk,10,100,100,100\na,/x,wrk,50,500,100,100\n")), []);
    let flat = format!("{header}a,/x,wrk,100,200,500,100\na,/x,wrk,500,199,2512,100\n");
    assert_eq!(kinds(&flat), [(Level::Note, Kind::Pool)]);
}

#[test]
fn a_command_may_go_over_several_lines() {
    let timeout = "-t1 -c100 \\\n  -T30 --latency http://h/x";
    assert_eq!(kinds(&wrk(timeout, 100, "100.00ms", "2.37s", "")), []);
    let script = "-t1 \\\n  -s think.lua \\\n  http://h/x";
    assert_eq!(kinds(&wrk(script, 100, "50.00ms", "900.00ms", "")), [(Level::Note, Kind::LittlesLaw)]);
}

/// Of the times between two percentiles none is shorter than the one or longer than the other: that leaves room for some means,
/// and not for others.
#[test]
fn a_mean_must_fit_its_percentiles() {
    // A script may wait, so that Little's law breaks nothing here.
    let with = |mean: &str, percentiles: &str| {
        let text = wrk("-t1 -s think.lua", 100, mean, "500.00ms", "");
        let distribution = format!("  Latency Distribution\n{percentiles}    Req/Sec");
        text.replacen("    Req/Sec", &distribution, 1)
    };
    let percentiles = " 50% 90.00ms\n 90% 200.00ms\n 99% 300.00ms\n";
    // At least 0.4 x 90 + 0.09 x 200 + 0.01 x 300 = 57 ms, at most 0.5 x 90 + 0.4 x 200 + 0.09 x 300 + 0.01 x 500 = 157 ms.
    for (mean, is_found) in [("56.00ms", true), ("58.00ms", false), ("156.00ms", false), ("160.00ms", true)] {
        let found = kinds(&with(mean, percentiles));
        assert_eq!(found.contains(&(Level::Broken, Kind::NoSuchTimes)), is_found, "{mean}: {found:?}");
    }
    assert_eq!(kinds(&with("100.00ms", "")), []);
    let audit = crate::found(&with("100.00ms", " 50% 1.00ms\n 99% 2.00ms\n"));
    // 0.5 x 1.01 + 0.49 x 2.01 + 0.01 x 500.01 with the printed digits, and 2 of 10,000 ranks more of 500 ms.
    assert_eq!(
        crate::all(&audit)[0].text,
        "the mean of 100 ms is of other times than the percentiles: with these it is 6.59 ms at most"
    );
}

/// Times of 100 ms on average, 109 at most and none below 0 are 30 apart at most: (109 - 100) x (100 - 0) is 900.
#[test]
fn a_spread_must_fit_mean_and_maximum() {
    let with = |stdev: &str| kinds(&wrk("-t1", 100, "100.00ms", "109.00ms", "").replacen("1.00ms", stdev, 1));
    assert_eq!(with("30.00ms"), []);
    assert_eq!(with("31.00ms"), [(Level::Broken, Kind::NoSuchTimes)]);
    // What is out of order is told of once.
    let text = wrk("-t1", 100, "100.00ms", "99.00ms", "").replacen("1.00ms", "90.00ms", 1);
    assert_eq!(kinds(&text), [(Level::Broken, Kind::OutOfOrder)]);
}

#[test]
fn no_answer_takes_longer_than_the_run() {
    assert_eq!(kinds(&wrk("-t1 -T30", 100, "100.00ms", "10.05s", "")), []);
    let longer = wrk("-t1 -T30", 100, "100.00ms", "10.50s", "");
    assert_eq!(kinds(&longer), [(Level::Broken, Kind::NoSuchTimes)]);
    let audit = crate::found(&longer);
    assert_eq!(crate::all(&audit)[0].text, "the maximum of 10.50 s is longer than the run of 10 s");
}

#[test]
fn no_more_answers_are_bad_than_there_are() {
    let bad = |count: u32| {
        let more = format!("  Non-2xx or 3xx responses: {count}\n");
        kinds(&wrk("-t1", 100, "100.00ms", "900.00ms", &more))
    };
    assert_eq!(bad(10_000), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    assert_eq!(bad(10_001), [(Level::Broken, Kind::ErrorsAsAnswers)]);
}

/// wrk takes the time of all requests that a script sends at once, counts each of them, and adds times in between: three at a time
/// of 300 ms each, with N / X = 100 ms, are 300 and 200 ms, and 250 on average.
#[test]
fn without_a_command_requests_may_have_been_sent_several_at_a_time() {
    let bare = |mean: &str, percentiles: &str| {
        let text = wrk("-t1", 100, mean, "1.90s", "").replacen(
            "    Req/Sec",
            &format!("  Latency Distribution\n{percentiles}    Req/Sec"),
            1,
        );
        text.split_once('\n').unwrap().1.to_owned()
    };
    for mean in ["130.00ms", "250.00ms", "800.00ms", "1.05s"] {
        let found = kinds(&bare(mean, ""));
        assert!(found.contains(&(Level::Unknown, Kind::LittlesLaw)), "{mean}: {found:?}");
    }
    // Whatever a script does, wrk's mean is half of the maximum and N / X at most: 955 + 100.1 ms, and 10 ms of digits.
    let absurd = kinds(&bare("1.10s", ""));
    assert_eq!(absurd, [(Level::Broken, Kind::LittlesLaw), (Level::Unknown, Kind::TooShort)]);
    // Of requests that are sent several at a time less than half take N / X or less.
    assert_eq!(kinds(&bare("250.00ms", " 50% 250.00ms\n")), [(Level::Unknown, Kind::LittlesLaw)]);
    assert_eq!(kinds(&bare("250.00ms", " 50% 95.00ms\n")), [(Level::Unknown, Kind::LittlesLaw)]);
    assert_eq!(kinds(&bare("250.00ms", " 50% 89.00ms\n")), [(Level::Broken, Kind::LittlesLaw)]);
    // Where the command tells, there is no such script.
    assert_eq!(kinds(&wrk("-t1", 100, "800.00ms", "1.90s", "")), [(Level::Broken, Kind::LittlesLaw)]);
}

/// A script sends 64 at a time at most, as far as anybody does.
#[test]
fn more_requests_at_a_time_than_anybody_sends_are_not_believed() {
    let bare = |connections: u32, mean: &str| {
        let text = wrk("-t1 -T30", connections, mean, "9.90s", "");
        let kinds = kinds(text.split_once('\n').unwrap().1);
        kinds.into_iter().find(|it| it.1 == Kind::LittlesLaw)
    };
    // 1000/s of 60 and of 66 ms are 60 and 66 at a time for one connection.
    assert_eq!(bare(1, "60.00ms"), Some((Level::Unknown, Kind::LittlesLaw)));
    assert_eq!(bare(1, "66.00ms"), Some((Level::Broken, Kind::LittlesLaw)));
}

/// As in a run of sixteen at a time: what wrk adds below the quickest answer counts, and is looked for nowhere.
#[test]
fn a_zero_behind_a_percentile_is_no_time() {
    let distribution =
        "  Latency Distribution\n 50% 0.98ms\n 75% 1.43ms\n 90% 0.00us\n 99% 0.00us\n    Req/Sec";
    // 64 users, 690,000/s: N / X is 93 us.
    let text = |command: &str| {
        wrk(command, 64, "1.20ms", "404.09ms", "")
            .replacen("    Req/Sec", distribution, 1)
            .replace("10000 requests in 10.00s", "6900000 requests in 10.00s")
            .replace("Requests/sec:   1000.00", "Requests/sec: 690000.00")
    };
    let told = text("-t1 -s pipeline.lua");
    let row = &crate::read(&told).rows[0];
    assert_eq!((row.percentiles_ms.len(), row.zero_from), (2, Some(90.0)));
    assert_eq!(kinds(&told), [(Level::Unknown, Kind::Percentiles), (Level::Note, Kind::LittlesLaw)]);
    let bare = told.split_once('\n').unwrap().1;
    assert_eq!(kinds(bare), [(Level::Unknown, Kind::LittlesLaw), (Level::Unknown, Kind::Percentiles)]);
    let audit = crate::found(bare);
    let law = &crate::all(&audit)[0].text;
    assert!(law.contains("one sent several requests at a time: not even the quickest answer"), "{law}");
    // A run without an answer in time has zeros all along.
    let none = wrk("-t1", 64, "0.00us", "0.00us", "").replacen(
        "    Req/Sec",
        "  Latency Distribution\n 50% 0.00us\n    Req/Sec",
        1,
    );
    assert_eq!(crate::read(&none).rows[0].zero_from, None);
}

#[test]
fn an_open_model_makes_no_more_than_was_asked_for() {
    let asked = |rate: &str| kinds(&wrk(&format!("-t1 -R{rate}"), 100, "10.00ms", "90.00ms", ""));
    assert_eq!(asked("1000"), []);
    // A hundred users may make one each at the begin.
    assert_eq!(asked("945"), []);
    assert_eq!(asked("500"), [(Level::Unknown, Kind::OfferedRate)]);
    assert_eq!(asked("2000"), [(Level::Unknown, Kind::OfferedRate)]);
}

/// An output of ab: 10 s, 10,000 requests, so that N users have a `Total` of N ms.
fn ab(command: &str, level: u32, total: &str, more: &str) -> String {
    format!(
        "$ ab {command} http://h/x\nBenchmarking h (be patient)\n\n\nServer Software:        x\nServer Hostname:        h\nServer \
         Port:            80\n\nDocument Path:          /x\nDocument Length:        13 bytes\n\nConcurrency Level:      {level}\n\
         Time taken for tests:   10.000 seconds\nComplete requests:      10000\n{more}Total transferred:      1550000 bytes\n\
         HTML transferred:       130000 bytes\nRequests per second:    1000.00 [#/sec] (mean)\nTime per request:       \
         {level}.000 [ms] (mean)\nTime per request:       1.000 [ms] (mean, across all concurrent requests)\nTransfer rate:  \
         \u{20}       151.37 [Kbytes/sec] received\n\nConnection Times (ms)\n              min  mean[+/-sd] median   max\n\
         Connect:        0    0   0.1      0       3\nProcessing:     1 {total}   9.0  {total}    1900\n\
         Waiting:        1 {total}   9.0  {total}    1900\nTotal:          1 {total}   9.0  {total}    1900\n"
    )
}

const KEPT: &str = "Failed requests:        0\nKeep-Alive requests:    10000\n";

#[test]
fn a_time_by_definition_is_noted_and_one_of_another_run_is_not_believed() {
    let texts = |text: &str| {
        let audit = crate::found(text);
        let all = crate::all(&audit);
        all.iter().map(|it| (it.level, it.kind, it.text.clone())).collect::<Vec<_>>()
    };
    let [(Level::Note, Kind::ByDefinition, text)] = &texts(&ab("-k -c 100", 100, "100", KEPT))[..] else {
        panic!("it is noted, and nothing else is")
    };
    let due = "`Time per request`, 100 ms, is 100 x 10 s / 10000 requests by definition, and no latency; what it measured is the \
               mean of `Total`, 100 ms to the millisecond";
    assert_eq!(text, due);
    let without = &texts(&ab("-c 100", 100, "100", "Failed requests:        0\n"))[0].2;
    assert!(
        without.ends_with("Each request opened a connection of its own (no -k), and that is in it"),
        "{without}"
    );
    let closed = KEPT.replace("10000", "0");
    assert!(texts(&ab("-k -c 100", 100, "100", &closed))[0].2.contains("no connection was kept"));
    let half = KEPT.replace("10000", "4000");
    assert!(texts(&ab("-k -c 100", 100, "100", &half))[0].2.contains("4000 of 10000 requests alone"));
    let other = ab("-k -c 100", 100, "100", KEPT).replace("100.000 [ms] (mean)", "90.000 [ms] (mean)");
    let [(Level::Broken, Kind::ByDefinition, text)] = &texts(&other)[..] else {
        panic!("{:?}", texts(&other))
    };
    assert!(
        text.starts_with("`Time per request` is 90 ms, and 100 x 10 s / 10000 requests, which"),
        "{text}"
    );
}

/// What ab measured is held against its users; what it computes of them can't be.
#[test]
fn littles_law_is_asked_of_what_ab_measured() {
    let law = |command: &str, total: &str| {
        let kinds = kinds(&ab(command, 100, total, KEPT));
        kinds.into_iter().filter(|it| it.1 != Kind::ByDefinition).collect::<Vec<_>>()
    };
    // A millisecond is a hundredth of it, and one that is printed may be off by as much.
    assert_eq!(law("-k -c 100 -n 10000", "105"), []);
    assert_eq!(law("-k -c 100 -n 10000", "108"), [(Level::Note, Kind::LittlesLaw)]);
    assert_eq!(law("-k -c 100 -n 10000", "120"), [(Level::Broken, Kind::LittlesLaw)]);
    // Users of a run by count end one after another; those of a run for a time don't.
    assert_eq!(law("-k -c 100 -n 10000", "70"), []);
    assert_eq!(law("-k -c 100 -t 10", "70"), [(Level::Broken, Kind::LittlesLaw)]);
    // Later versions tell how many connections there were.
    let fewer =
        ab("-k -c 100", 100, "50", KEPT).replace("Time taken", "Concurrency achieved:   50\nTime taken");
    assert_eq!(crate::read(&fewer).rows[0].connections, Some(50));
    assert_eq!(kinds(&fewer), [(Level::Note, Kind::ByDefinition)]);
}

/// Answers that differ in length may be sound, and one failure has several names.
#[test]
fn what_ab_calls_failed_is_told_apart() {
    let failed = |lines: &str| {
        let kinds = kinds(&ab("-k -c 100", 100, "100", &format!("{lines}Keep-Alive requests:    10000\n")));
        kinds.into_iter().filter(|it| it.1 != Kind::ByDefinition).collect::<Vec<_>>()
    };
    let lengths = "Failed requests:        9000\n   (Connect: 0, Receive: 0, Length: 9000, Exceptions: 0)\n";
    assert_eq!(failed(lengths), [(Level::Note, Kind::OtherLengths)]);
    // Of an error page both are told.
    let pages = format!("{lengths}Non-2xx responses:      9000\n");
    assert_eq!(failed(&pages), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    // A socket that failed is a receive, a length and an exception: 12,000 of 10,000 in all, and 4000 at least.
    let sockets =
        "Failed requests:        12000\n   (Connect: 0, Receive: 4000, Length: 4000, Exceptions: 4000)\n";
    assert_eq!(failed(sockets), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    let rows = crate::read(&ab("-c 100", 100, "100", sockets)).rows;
    assert_eq!((rows[0].errors.bad_answers, rows[0].of_ab.unwrap().other_lengths), (Some(4000), 0));
    // Heads that came when the run ended count as well.
    let heads = "Failed requests:        0\nNon-2xx responses:      10007\n";
    assert_eq!(failed(heads), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
    let connects = "Failed requests:        7\n   (Connect: 7, Receive: 0, Length: 0, Exceptions: 0)\n";
    assert_eq!(failed(connects), [(Level::Unknown, Kind::ConnectFailures)]);
}

/// A summary of hey with so many answers in 100 s, of which it keeps the first million. With 100 users a mean of M ms wants
/// 100 / M answers a millisecond.
fn hey(command: &str, average: &str, rate: &str, statuses: &str) -> String {
    format!(
        "$ hey {command} http://h/x\n\nSummary:\n  Total:\t100.0000 secs\n  Slowest:\t0.9000 secs\n  Fastest:\t0.0010 secs\n  \
         Average:\t{average} secs\n  Requests/sec:\t{rate}\n\nLatency distribution:\n  50% in 0.0250 secs\n  99% in 0.0400 \
         secs\n\nStatus code distribution:\n{statuses}\n\n\n"
    )
}

#[test]
fn hey_keeps_the_first_million_and_divides_by_it() {
    let found = |text: &str| {
        let audit = crate::found(text);
        let all = crate::all(&audit);
        all.iter().map(|it| (it.level, it.kind, it.text.clone())).collect::<Vec<_>>()
    };
    // Four million of 25 ms each are printed as 100 ms, and so are the statuses as those of one million.
    let later = hey("-z 100s -c 1000", "0.1000", "40000.0000", "  [200]\t1000000 responses");
    let [(Level::Broken, Kind::FirstAnswers, text)] = &found(&later)[..] else {
        panic!("{:?}", found(&later))
    };
    let due = "hey keeps the times of the first 1000000 of 4000000 answers: percentiles and extremes are of these; the average is \
               the time of all divided by the number of these: it is told as 100 ms, and is 25 ms";
    assert_eq!(text, due);
    assert_eq!(crate::read(&later).rows[0].requests, Some(4_000_000));
    // Earlier versions count all statuses, and take the rate of what they keep.
    let earlier = hey("-z 100s -c 1000", "0.1000", "10000.0000", "  [200]\t4000000 responses");
    let kinds: Vec<_> = found(&earlier).into_iter().map(|it| (it.0, it.1)).collect();
    assert_eq!(kinds, [(Level::Broken, Kind::RateTimesTime), (Level::Broken, Kind::FirstAnswers)]);
    // Just a million are all.
    let all = hey("-n 1000000 -c 250", "0.0250", "10000.0000", "  [200]\t1000000 responses");
    assert_eq!(found(&all), []);
}

#[test]
fn littles_law_is_asked_of_hey_where_its_command_tells_the_users() {
    let law = |command: &str, average: &str| {
        kinds(&hey(command, average, "10000.0000", "  [200]\t1000000 responses"))
    };
    assert_eq!(law("-z 100s -c 250", "0.0250"), []);
    assert_eq!(law("-z 100s -c 200", "0.0250"), [(Level::Broken, Kind::LittlesLaw)]);
    // It waits for what is under way at the end, and some have nothing to do meanwhile.
    assert_eq!(law("-z 100s -c 300", "0.0250"), []);
    // With a rate each worker sends no more than it is asked to, and no sooner than it was answered.
    assert_eq!(law("-z 100s -c 1000 -q 10", "0.0250"), []);
    let asked = hey("-z 100s -c 1000 -q 20", "0.0250", "10000.0000", "  [200]\t1000000 responses");
    let audit = crate::found(&asked);
    let [finding] = &crate::all(&audit)[..] else { panic!("{audit:?}") };
    assert_eq!((finding.level, finding.kind), (Level::Unknown, Kind::OfferedRate));
    assert!(finding.text.contains("what was due then was never sent"), "{finding:?}");
}

/// An output of bombardier of 30 s: 60,000 requests.
fn bombardier(connections: u32, sampled: &str, mean: &str) -> String {
    format!(
        "Bombarding http://h/x for 30s using {connections} connection(s)\n[====] 30s\nDone!\nStatistics        Avg      Stdev      \
         \u{20} Max\n  Reqs/sec      {sampled}    5239.58  129714.63\n  Latency       {mean}     4.94ms   150.00ms\n  HTTP \
         codes:\n    1xx - 0, 2xx - 60000, 3xx - 0, 4xx - 0, 5xx - 0\n    others - 0\n  Throughput:    12.97MB/s\n"
    )
}

/// A client that pauses has short samples with many requests and long ones with few, which count alike.
#[test]
fn a_mean_of_samples_is_no_count_over_time() {
    assert_eq!(kinds(&bombardier(125, "2050.00", "62.00ms")), []);
    let text = bombardier(125, "2500.00", "62.00ms");
    let audit = crate::found(&text);
    let [finding] = &crate::all(&audit)[..] else { panic!("{audit:?}") };
    assert_eq!((finding.level, finding.kind), (Level::Note, Kind::RateTimesTime), "{finding:?}");
    assert!(finding.text.ends_with("60000 requests in 30 s are 2000/s"), "{finding:?}");
    assert_eq!(kinds(&bombardier(125, "1850.00", "62.00ms")), [(Level::Note, Kind::RateTimesTime)]);
    // 60,000 / 30.15 s x 70 ms are 139 users, and 62 ms are no more than 124, whatever the samples say.
    assert_eq!(kinds(&bombardier(125, "2000.00", "70.00ms")), [(Level::Broken, Kind::LittlesLaw)]);
    assert_eq!(kinds(&bombardier(200, "2000.00", "62.00ms")), []);
    let json = crate::format("autocannon.json")
        .replace("\"average\":10012.8,\"mean\"", "\"average\":9102.5,\"mean\"");
    assert!(kinds(&json).contains(&(Level::Note, Kind::RateTimesTime)), "{:?}", kinds(&json));
}

/// Ten seconds of autocannon, 1000/s of 100 ms.
#[test]
fn who_is_never_answered_is_missed_in_a_run_of_autocannon() {
    let text = |connections: u32, mean: &str| {
        format!(
            "Running 10s test @ http://h/x\n{connections} connections\n\n│ Stat │ 2.5% │ 50% │ 97.5% │ 99% │ Avg │ Stdev │ Max │\n│ \
             Latency │ 50 ms │ 99 ms │ 150 ms │ 160 ms │ {mean} │ 9 ms │ 900 ms │\n│ Stat │ 1% │ 2.5% │ 50% │ 97.5% │ Avg │ Stdev \
             │ Min │\n│ Req/Sec │ 990 │ 990 │ 1000 │ 1010 │ 1000 │ 5 │ 990 │\n\n10k requests in 10.00s, 1.5 MB read\n"
        )
    };
    assert_eq!(kinds(&text(100, "99.50 ms")), []);
    assert_eq!(kinds(&text(200, "99.50 ms")), [(Level::Broken, Kind::LittlesLaw)]);
    assert_eq!(kinds(&text(60, "99.50 ms")), [(Level::Broken, Kind::LittlesLaw)]);
}

#[test]
fn vegeta_that_falls_behind_measures_from_when_it_sent() {
    let text = |rate: &str| {
        format!(
            "$ vegeta attack -rate={rate} -duration=10s -targets=t.txt | vegeta report\nRequests  [total, rate, throughput]  1000, \
             100.10, 99.99\nDuration  [total, attack, wait]  10.001s, 9.99s, 11ms\nLatencies  [min, mean, 50, 90, 95, 99, max]  \
             1ms, 11ms, 10ms, 15ms, 20ms, 30ms, 90ms\nBytes In  [total, mean]  0, 0.00\nSuccess  [ratio]  100.00%\nStatus Codes  \
             [code:count]  200:1000\nError Set:\n"
        )
    };
    assert_eq!(kinds(&text("100")), []);
    assert_eq!(kinds(&text("0")), [], "as many as its workers make");
    let audit = crate::found(&text("200"));
    let [finding] = &crate::all(&audit)[..] else { panic!("{audit:?}") };
    assert_eq!((finding.level, finding.kind), (Level::Unknown, Kind::OfferedRate));
    assert!(
        finding.text.ends_with("its latency begins only then: how long it had waited is in no figure"),
        "{finding:?}"
    );
    assert_eq!(kinds(&text("50")), [(Level::Unknown, Kind::OfferedRate)], "another command ran");
    // Behind the last of ten there is no tenth of a second.
    let few =
        text("10").replace("1000, 100.10, 99.99", "10, 11.11, 9.99").replace("10.001s, 9.99s", "1s, 900ms");
    assert_eq!(kinds(&few.replace("200:1000", "200:10")), []);
}

/// A closing block of siege: 25 users, 40 s, and so many hits of so many ms on average.
fn siege(hits: u32, mean_s: &str, concurrency: &str, good: u32, failed: u32) -> String {
    format!(
        "** SIEGE 4.0.7\n** Preparing 25 concurrent users for battle.\nThe server is now under siege...\n\
         Transactions:\t\t{hits} hits\nAvailability:\t\t100.00 %\nElapsed time:\t\t40.00 secs\nData transferred:\t0.40 MB\n\
         Response time:\t\t{mean_s} secs\nTransaction rate:\t{:.2} trans/sec\nThroughput:\t\t0.01 MB/sec\n\
         Concurrency:\t\t{concurrency}\nSuccessful transactions:{good}\nFailed transactions:\t{failed}\nLongest transaction:\t2.50\n\
         Shortest transaction:\t0.01\n",
        f64::from(hits) / 40.0
    )
}

#[test]
fn concurrency_of_siege_is_rate_times_mean() {
    // 250/s of 100 ms are 25 users.
    assert_eq!(kinds(&siege(10_000, "0.10", "25.00", 10_000, 0)), []);
    // Users wait between their requests, be it that they write a line.
    assert_eq!(kinds(&siege(5000, "0.10", "12.50", 5000, 0)), []);
    // So many were never under way, and one of the figures is another run's.
    assert_eq!(kinds(&siege(10_000, "0.12", "30.00", 10_000, 0)), [(Level::Broken, Kind::LittlesLaw)]);
    let found = kinds(&siege(10_000, "0.10", "12.50", 10_000, 0));
    assert_eq!(found, [(Level::Broken, Kind::ByDefinition)]);
}

/// Answers with 5xx are in the time and not in the count; those with 4xx are in both.
#[test]
fn what_failed_is_in_the_mean_of_siege_alone() {
    let text = siege(9000, "0.11", "25.00", 9000, 1000);
    let audit = crate::found(&text);
    let [finding] = &crate::all(&audit)[..] else { panic!("{audit:?}") };
    assert_eq!((finding.level, finding.kind), (Level::Unknown, Kind::SocketErrors));
    // 25 x 40 s / 9000 are 111.11 ms, and over 10,000 they are 100 ms.
    assert!(finding.text.contains("(10.0 % of all): they are not in the rate"), "{finding:?}");
    assert!(finding.text.ends_with("it is 100 ms to 111.11 ms"), "{finding:?}");
    assert_eq!(kinds(&siege(10_000, "0.10", "25.00", 9000, 0)), [(Level::Unknown, Kind::ErrorsAsAnswers)]);
}

/// A summary of Gatling of which nothing failed.
fn gatling(count: u32, rate: &str, p99: &str, p99_ok: &str) -> String {
    format!(
        "---- Global Information ------------------------------------------------\n\
         > request count            {count} (OK={count} KO=0     )\n> min response time          5 (OK=5      KO=-     )\n\
         > max response time       2000 (OK=2000   KO=-     )\n> mean response time        46 (OK=46     KO=-     )\n\
         > response time 50th percentile    22 (OK=22     KO=-     )\n\
         > response time 99th percentile    {p99} (OK={p99_ok}  KO=-     )\n\
         > mean requests/sec       {rate} (OK={rate} KO=-     )\n\
         ---- Response Time Distribution ----------------------------------------\n"
    )
}

#[test]
fn a_rate_of_gatling_is_one_of_whole_seconds() {
    assert_eq!(kinds(&gatling(9000, "250", "1084", "1084")), [], "36 s");
    // Eleven seconds may be hardly more than ten.
    let short = gatling(1000, "90.909", "1084", "1084");
    let audit = crate::found(&short);
    let [finding] = &crate::all(&audit)[..] else { panic!("{audit:?}") };
    assert_eq!((finding.level, finding.kind), (Level::Note, Kind::RateTimesTime));
    assert!(finding.text.starts_with("the rate is the count over 11 s, rounded up"), "{finding:?}");
    assert!(finding.text.contains("may be 9.1 % too low"), "{finding:?}");
    // 1000 / 95.238 are ten seconds and a half.
    assert_eq!(kinds(&gatling(1000, "95.238", "1084", "1084")), [(Level::Broken, Kind::RateTimesTime)]);
}

/// All requests and those that did not fail are the same where none failed.
#[test]
fn percentiles_of_the_same_times_that_differ_are_estimates() {
    let found = |p99: &str, p99_ok: &str| {
        let audit = crate::found(&gatling(9000, "250", p99, p99_ok));
        let all = crate::all(&audit);
        all.iter().map(|it| (it.level, it.kind, it.text.clone())).collect::<Vec<_>>()
    };
    assert_eq!(found("1084", "1085"), [], "as the last digit may have it");
    let [(Level::Note, Kind::Percentiles, _)] = &found("1084", "1050")[..] else { panic!("3 %") };
    let [(Level::Unknown, Kind::Percentiles, text)] = &found("1954", "713")[..] else { panic!("a third") };
    assert!(
        text.starts_with("p99 is 1.95 s of all requests and 713 ms of those that did not fail"),
        "{text}"
    );
}

/// An arrival rate of k6 is kept while users are free.
#[test]
fn iterations_that_k6_dropped_were_never_made() {
    let text = |dropped: u32| {
        format!(
            "dropped_iterations......: {dropped} 1/s\nhttp_req_duration.......: avg=10ms min=1ms med=9.5ms max=99ms p(90)=15ms\n\
             http_reqs...............: 10000 100.5/s\niterations..............: 10000 100.5/s\n"
        )
    };
    assert_eq!(kinds(&text(0)), []);
    assert_eq!(kinds(&text(10)), [], "less than one in a thousand");
    assert_eq!(kinds(&text(50)), [(Level::Note, Kind::OfferedRate)]);
    assert_eq!(kinds(&text(500)), [(Level::Unknown, Kind::OfferedRate)]);
}
