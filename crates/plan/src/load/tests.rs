use super::*;

fn fixed(threads: u32) -> Threads {
    Threads::Fixed(NonZeroU32::new(threads).unwrap())
}

#[test]
fn threads_are_a_number_or_auto() {
    assert_eq!("4".parse::<Threads>().unwrap(), fixed(4));
    assert_eq!("auto".parse::<Threads>().unwrap(), Threads::Auto);
    assert!("0".parse::<Threads>().unwrap_err().to_string().starts_with("zero threads"));
    assert!("many".parse::<Threads>().unwrap_err().to_string().contains("a number from 1, or auto"));
}

#[test]
fn contradictions_and_zeroes_are_refused() {
    let rate = Rate::per_sec(10.0);
    let think = Some(Duration::from_millis(1));
    let base = LoadArguments::default;
    let (ramp_up, each) = (Some(Duration::from_secs(1)), Some(5));
    let bursts = |size| ArrivalsName::Bursts(NonZeroU32::new(size).unwrap());
    for (arguments, part) in [
        (LoadArguments { connections: Some(0), ..base() }, "zero connections"),
        (LoadArguments { threads: Some(Threads::Auto), requests: Some(9), ..base() }, "counted out"),
        (LoadArguments { threads: Some(fixed(8)), connections: Some(4), ..base() }, "cannot share"),
        (LoadArguments { requests: Some(0), ..base() }, "zero requests"),
        (LoadArguments { duration: Some(Duration::ZERO), ..base() }, "duration of zero"),
        (LoadArguments { timeout: Some(Duration::ZERO), ..base() }, "timeout of zero"),
        (LoadArguments { idle_timeout: Some(Duration::ZERO), ..base() }, "an idle timeout of zero"),
        (LoadArguments { drain: Some(Duration::from_secs(3)), ..base() }, "a drain of 3.00s, and no answer"),
        (LoadArguments { arrivals: ArrivalsName::Poisson, ..base() }, "need a rate"),
        (LoadArguments { arrivals: bursts(5), ..base() }, "bursts need a rate"),
        (LoadArguments { rate, arrivals: bursts(1 << 25), ..base() }, "requests at once are more than"),
        (LoadArguments { rate, think, ..base() }, "exclude each other"),
        (LoadArguments { backlog_max: Some(4), ..base() }, "no backlog"),
        (LoadArguments { rate, ramp_up, ..base() }, "rate and a ramp-up exclude"),
        (LoadArguments { rate, requests_per_user: each, ..base() }, "requests per user exclude"),
        (LoadArguments { requests: Some(9), requests_per_user: each, ..base() }, "exclude each other"),
        (LoadArguments { ramp_up: Some(Duration::ZERO), ..base() }, "ramp-up of zero"),
        (LoadArguments { requests_per_user: Some(0), ..base() }, "zero requests per user"),
        (LoadArguments { connections: Some(2_000_000), ..base() }, "connections are more than 1000000"),
        (
            LoadArguments { threads: Some(fixed(2000)), connections: Some(4000), ..base() },
            "2000 threads are more than 1024",
        ),
        (
            LoadArguments { rate, threads: Some(fixed(3)), backlog_max: Some(2), ..base() },
            "3 threads cannot share a backlog of 2",
        ),
        (
            LoadArguments { rate, backlog_max: Some(u32::MAX), ..base() },
            "4294967295 waiting requests are more than 16777216",
        ),
        (
            LoadArguments { rate: Rate::per_sec(1e9), ..base() },
            "a rate of 1000000000/s is more than 100000000/s: each request takes a packet",
        ),
    ] {
        let error = LoadPlan::new(&arguments).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn threads_share_connections_and_requests_exactly() {
    let arguments = LoadArguments {
        connections: Some(10),
        threads: Some(fixed(3)),
        requests: Some(11),
        ..LoadArguments::default()
    };
    let plan = LoadPlan::new(&arguments).unwrap();
    let request = Request { bytes: [][..].into(), kind: http::RequestKind::Ordinary };
    let configs = plan.configs(NonZeroU32::new(3).unwrap(), &request, &Expect::default());
    let connections: Vec<u32> = configs.iter().map(|it| it.connections.get()).collect();
    let requests: Vec<u64> = configs.iter().map(|it| it.stop.requests.unwrap().get()).collect();
    assert_eq!(connections, [4, 3, 3]);
    assert_eq!(requests, [4, 4, 3]);
    assert!(configs.iter().all(|it| it.requests_of_all == plan.stop.requests), "all know when it ends");
}

#[test]
fn how_many_requests_there_are_at_most_is_known_of_counts_and_of_even_arrivals() {
    let most = |arguments: LoadArguments| LoadPlan::new(&arguments).unwrap().requests_max();
    let base = LoadArguments::default;
    let at = |per_sec: f64, duration_ms: u64| LoadArguments {
        rate: Rate::per_sec(per_sec),
        duration: Some(Duration::from_millis(duration_ms)),
        ..base()
    };
    assert_eq!(most(base()), None);
    assert_eq!(most(LoadArguments { requests: Some(100), ..base() }), Some(100));
    let each = LoadArguments { connections: Some(20), requests_per_user: Some(5), ..base() };
    assert_eq!(most(each), Some(100));
    assert_eq!(most(at(50.0, 2000)), Some(100));
    assert_eq!(most(at(7.0, 1500)), Some(11));
    let bursts = ArrivalsName::Bursts(NonZeroU32::new(40).unwrap());
    assert_eq!(most(LoadArguments { arrivals: bursts, ..at(50.0, 2000) }), Some(120));
    assert_eq!(most(LoadArguments { requests: Some(30), ..at(50.0, 2000) }), Some(30));
    assert_eq!(most(LoadArguments { arrivals: ArrivalsName::Poisson, ..at(50.0, 2000) }), None);
    let no_length = LoadArguments { rate: Rate::per_sec(50.0), requests: Some(30), ..base() };
    assert_eq!(most(no_length), Some(30));
}

/// JMeter's load of the write-ups.
#[test]
fn users_come_one_after_another_and_leave_after_their_requests() {
    let arguments = LoadArguments {
        connections: Some(1000),
        threads: Some(fixed(3)),
        ramp_up: Some(Duration::from_secs(50)),
        requests_per_user: Some(1000),
        ..LoadArguments::default()
    };
    let plan = LoadPlan::new(&arguments).unwrap();
    assert_eq!(plan.label(), "1000 users, ramp-up 50s, 1000 requests each");
    assert_eq!(plan.stop, Stop { duration: Duration::MAX, requests: NonZeroU64::new(1_000_000) });
    assert_eq!(plan.saturating_users(), None);
    let request = Request { bytes: [][..].into(), kind: http::RequestKind::Ordinary };
    let configs = plan.configs(NonZeroU32::new(3).unwrap(), &request, &Expect::default());
    assert_eq!(configs.iter().map(|it| it.connections.get()).sum::<u32>(), 1000);
    // A thread with one user more makes that user's requests: no share of the total may cut them.
    assert!(configs.iter().all(|it| it.stop.requests.is_none() && it.load == plan.load));
}

#[test]
fn a_label_says_what_is_not_plain() {
    let base = || LoadArguments { connections: Some(20), ..LoadArguments::default() };
    let think = Some(Duration::from_millis(5));
    for (arguments, label) in [
        (base(), "20 connections"),
        (LoadArguments { think, ..base() }, "20 connections, think 5ms"),
        (
            LoadArguments { ramp_up: Some(Duration::from_millis(90_001)), ..base() },
            "20 users, ramp-up 90001ms",
        ),
        (LoadArguments { requests_per_user: Some(5), ..base() }, "20 users, 5 requests each"),
        (
            LoadArguments { ramp_up: think, think, fresh_connections: true, ..base() },
            "20 users, ramp-up 5ms, think 5ms, fresh",
        ),
    ] {
        assert_eq!(LoadPlan::new(&arguments).unwrap().label(), label);
    }
}

#[test]
fn answers_behind_the_end_are_waited_for_as_long_as_any_may_take_or_as_is_said() {
    let drain = |drain: Option<Duration>| {
        let timeout = Some(Duration::from_secs(600));
        LoadPlan::new(&LoadArguments { timeout, drain, ..LoadArguments::default() }).unwrap().timeouts.drain
    };
    assert_eq!(drain(None), Duration::from_secs(600));
    assert_eq!(drain(Some(Duration::from_secs(1))), Duration::from_secs(1));
    assert_eq!(drain(Some(Duration::ZERO)), Duration::ZERO, "all that is out is cut off");
}
