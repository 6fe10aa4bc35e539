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
    let both = "30 of 100 users are in no figure: so many connections were never answered, or the latency is too low; if all \
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
    ] {
        assert_eq!(with(sound), [], "{sound}");
    }
    assert_eq!(with("- 1100 QPS\n"), [(Level::Broken, Kind::Summary)]);
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

/// wrk takes the time of all requests that a script sends at once, and counts each of them.
#[test]
fn without_a_command_requests_may_have_been_sent_several_at_a_time() {
    let bare = |mean: &str| {
        let text = wrk("-t1", 100, mean, "1.90s", "");
        kinds(text.split_once('\n').unwrap().1)
    };
    assert_eq!(bare("1.60s"), [(Level::Unknown, Kind::LittlesLaw), (Level::Unknown, Kind::TooShort)]);
    assert_eq!(bare("800.00ms"), [(Level::Unknown, Kind::LittlesLaw)]);
    assert_eq!(bare("250.00ms"), [(Level::Broken, Kind::LittlesLaw)], "no script sends two and a half");
    assert_eq!(bare("130.00ms"), [(Level::Broken, Kind::LittlesLaw)]);
    // Where the command tells, there is no such script.
    assert_eq!(kinds(&wrk("-t1", 100, "800.00ms", "1.90s", "")), [(Level::Broken, Kind::LittlesLaw)]);
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
