//! Users who do what a script says, several to a connection: each gets the answers to what it asked for and no others, whatever
//! the server does.

use std::num::NonZeroU32;

use engine::{Config, Counters, Due, Engine, Load, Next, Outcome, Sample, Script, Waits};
use h2::{H2, Settings};
use http::{AnswerHead, Protocol, RequestKind, RequestSpec, Response};
use sim::{Scenario, ServerPlan, drive_until, laws};
use units::{Duration, Instant, Seed};

use super::laws::Draw;
use super::server::{BODY, Chances, Seen, Server};

/// A request that a user has out.
#[derive(Debug, Default)]
struct Out {
    path: String,
    body_bytes: usize,
    /// How often it went out.
    asked: u32,
    begun: bool,
    status: Option<u16>,
    body: Vec<u8>,
}

#[derive(Debug, Default)]
struct User {
    left_to_send: u64,
    out: Option<Out>,
    asked_back_at: Option<Instant>,
}

/// Users who send, pause and change servers at random, and leave after some requests.
struct Wanderers {
    draw: Draw,
    servers: u64,
    users: Vec<User>,
    made: u64,
    /// With which of the times that it is asked one of them ends the load, and how.
    end: Option<(u64, Next)>,
    asked: u64,
    has_ended: bool,
}

impl Wanderers {
    fn new(seed: Seed, users: u32, servers: u64, end: Option<(u64, Next)>) -> Self {
        let mut draw = Draw(seed.derive(77), 0);
        let users = (0..users).map(|_| User { left_to_send: draw.below(20), ..User::default() }).collect();
        Self { draw, servers, users, made: 0, end, asked: 0, has_ended: false }
    }

    fn wanted(&self) -> u64 {
        self.users.iter().map(|user| user.left_to_send).sum()
    }

    fn out(&mut self, user: u32) -> &mut Out {
        let out = self.users[user as usize].out.as_mut();
        out.unwrap_or_else(|| panic!("user {user} has nothing out"))
    }
}

impl Script<H2> for Wanderers {
    fn next(&mut self, user: u32, now: Instant) -> Next {
        assert!(!self.has_ended, "nobody is asked once the load was ended");
        self.asked += 1;
        if let Some((at, how)) = self.end
            && at == self.asked
        {
            self.has_ended = true;
            return how;
        }
        let (coin, length) = (self.draw.below(3), Duration::from_micros(self.draw.below(5_000)));
        let target = self.draw.below(self.servers) as u32;
        let body_bytes = self.draw.pick(&[0, 0, 5, 3000]);
        let it = &mut self.users[user as usize];
        assert!(it.out.is_none(), "user {user} is asked while its request is out");
        if let Some(at) = it.asked_back_at.take() {
            assert_eq!(now, at, "a pause is as long as it was said to be");
        }
        if it.left_to_send == 0 {
            return Next::Leave;
        }
        if coin == 0 {
            it.asked_back_at = Some(now + length);
            return Next::Pause(length);
        }
        it.left_to_send -= 1;
        self.made += 1;
        let path = format!("/{target}/{user}/{}", self.made);
        it.out = Some(Out { path, body_bytes, ..Out::default() });
        Next::Send(Due { intended: now, kind: RequestKind::Ordinary, target, waits: Waits::OF_LOAD })
    }

    fn ask(&mut self, user: u32, place: u32, protocol: &mut H2, out: &mut Vec<u8>) {
        let token = format!("token-{}", self.draw.below(9));
        let it = self.out(user);
        let (path, body_bytes, asked) = (it.path.clone(), it.body_bytes, it.asked + 1);
        assert!(asked <= 2, "a request goes out twice at most");
        *it = Out { path: path.clone(), body_bytes, asked, ..Out::default() };
        let body = vec![b'?'; body_bytes];
        let method = if body.is_empty() { "GET" } else { "POST" };
        let headers = [("X-Token", &*token), ("Accept", "*/*")];
        let spec = RequestSpec {
            method,
            target: &path,
            host: "a.test",
            headers: &headers,
            body: &body,
            close: false,
        };
        h2::check(&spec).expect("a request");
        protocol.ask_for(place, &spec, false, out);
    }

    fn begun(&mut self, user: u32, _: Instant) {
        let it = self.out(user);
        assert!(it.asked > 0 && !std::mem::replace(&mut it.begun, true), "user {user}: once an answer");
    }

    fn head(&mut self, user: u32, head: &AnswerHead<'_>, _: Instant) {
        let it = self.out(user);
        assert!(it.begun && it.body.is_empty(), "user {user}: a head without a beginning, or after its body");
        assert_eq!(it.status.replace(head.status), None, "user {user}: a second head");
        let of = head.fields().find(|(name, _)| *name == "x-path").map(|(_, value)| value);
        assert_eq!(of, Some(it.path.as_bytes()), "user {user}: the answer to another request");
    }

    fn body(&mut self, user: u32, piece: &[u8]) {
        let it = self.out(user);
        assert!(it.status.is_some(), "user {user}: a body without a head");
        it.body.extend_from_slice(piece);
    }

    fn ended(&mut self, user: u32, sample: &Sample, response: Option<&Response>) -> bool {
        let it = self.users[user as usize].out.take().expect("it has a request out");
        assert_eq!(response.is_some(), sample.outcome.is_answered(), "{sample:?}");
        // One that was about to go out on a connection that never did anything is dated as if it had.
        assert!(it.asked > 0 || sample.sent.is_none_or(|sent| sent == sample.done), "{sample:?}");
        if let Some(response) = response {
            assert_eq!(
                (it.begun, it.status),
                (true, Some(response.status)),
                "the script was told of the answer"
            );
            assert_eq!(it.body.len() as u64, response.body_bytes, "and saw all of the body");
        }
        it.body == BODY
    }
}

struct Ran {
    samples: Vec<Sample>,
    seen: Seen,
    counters: Counters,
    script: Wanderers,
}

impl Ran {
    fn count(&self, outcome: &str) -> u64 {
        self.samples.iter().filter(|sample| sample.outcome.name() == outcome).count() as u64
    }
}

/// Users, how they share connections, and to how many servers.
fn crowd(draw: &mut Draw) -> (Config, Settings, u64) {
    let (users, streams) = (1 + draw.below(12) as u32, draw.pick(&[1, 2, 3, 8]));
    let servers = draw.pick(&[1, 1, 2, 3]);
    let plan = ServerPlan::healthy(1, Duration::ZERO);
    let connections = users.div_ceil(streams) * servers as u32;
    let mut config = Scenario::closed(connections, Duration::from_secs(600), plan).config;
    config.load = Load::Scripted { users: NonZeroU32::new(users).expect("some") };
    let settings = Settings {
        streams,
        window_bits: draw.pick(&[10, 30]),
        connection_window_bits: draw.pick(&[16, 30]),
        header_table_bytes: draw.pick(&[0, 100, 4096]),
    };
    (config, settings, servers)
}

fn run(
    config: &Config,
    settings: Settings,
    script: Wanderers,
    mut io: Server,
    interrupt_at: Option<Instant>,
) -> Ran {
    let mut samples = Vec::new();
    let sink = |sample: &Sample| samples.push(*sample);
    let mut engine =
        Engine::<_, _, H2>::scripted_over(config.clone(), settings, sink, script, Instant::ORIGIN);
    drive_until(&mut engine, &mut io, interrupt_at);
    assert_eq!(engine.outstanding(), 0, "each request has its outcome");
    assert!(io.links.is_empty(), "each connection has its end");
    let counters = engine.counters();
    let (_, script) = engine.into_sink_and_script();
    Ran { samples, seen: io.seen, counters, script: script.expect("it was given one") }
}

/// With a server that keeps to the rules all users make all of their requests, on the connections that they share and no others.
fn users_who_share_a_connection_each_get_their_own_answers(seed: Seed) {
    let mut draw = Draw(seed, 0);
    let (config, settings, servers) = crowd(&mut draw);
    let Load::Scripted { users } = config.load else { unreachable!("it is scripted") };
    let (limit, window) = (draw.pick(&[1, 2, 5, 100]), draw.pick(&[1000, 65_535, 1 << 20]));
    let chances = Chances { settings: draw.pick(&[0, 0, 50]), ..Chances::default() };
    let again = || {
        let script = Wanderers::new(seed, users.get(), servers, None);
        let wanted = script.wanted();
        (run(&config, settings, script, Server::new(seed.0, chances, limit, window), None), wanted)
    };
    let (ran, wanted) = again();
    let good = Outcome::Answered { status: 200, expected: true };
    let bad = ran.samples.iter().find(|sample| sample.outcome != good);
    assert_eq!((ran.samples.len() as u64, bad), (wanted, None));
    assert_eq!((ran.counters.intended, ran.seen.asked, ran.counters.resent), (wanted, wanted, 0));
    assert!(ran.seen.connects <= config.connections.get().into(), "{:?}", ran.seen);
    assert!(ran.script.users.iter().all(|user| user.out.is_none() && user.left_to_send == 0));
    assert_eq!(again().0.samples, ran.samples, "not the same run again");
}

/// Any script against any server: one outcome a request, and instants in their order.
fn users_who_share_a_connection_have_one_outcome_a_request(seed: Seed) {
    let mut draw = Draw(seed, 0);
    let random = Scenario::from_seed(seed);
    let (mut config, settings, servers) = crowd(&mut draw);
    let Load::Scripted { users } = config.load else { unreachable!("it is scripted") };
    config.timeouts = random.config.timeouts;
    config.stop = random.config.stop;
    let mut chance = |often: &[u64]| if draw.below(3) == 0 { draw.pick(often) } else { 0 };
    let chances = Chances {
        silent: chance(&[5, 50]),
        reset_stream: chance(&[5, 50]),
        refused: chance(&[5, 100]),
        go_away: chance(&[5, 100, 500]),
        closes: chance(&[5, 50]),
        resets: chance(&[5, 50]),
        garbage: chance(&[3, 20]),
        connect_refused: chance(&[30, 300]),
        other_protocol: chance(&[30, 300]),
        settings: chance(&[10, 100]),
    };
    let (limit, window) = (draw.pick(&[1, 2, 5, 100]), draw.pick(&[1000, 65_535]));
    let how = draw.pick(&[None, None, Some(Next::EndLoad), Some(Next::EndNow)]);
    let end = how.map(|how| (1 + draw.below(100), how));
    let script = Wanderers::new(seed, users.get(), servers, end);
    let ran =
        run(&config, settings, script, Server::new(seed.0, chances, limit, window), random.interrupt_at);
    assert_eq!(ran.samples.len() as u64, ran.counters.intended, "one sample a request");
    assert_eq!(ran.counters.intended, ran.script.made, "each request that was said is one");
    assert!(ran.script.users.iter().all(|user| user.out.is_none()), "a request without its end");
    for sample in &ran.samples {
        assert!(sample.intended <= sample.ready && sample.intended <= sample.done, "{sample:?}");
        if let Some(sent) = sample.sent {
            assert!(sample.ready <= sent && sent <= sample.done, "{sample:?}");
            assert!(sample.done.since(sent) <= config.timeouts.request, "{sample:?}");
        }
    }
    if chances.go_away == 0 {
        assert_eq!((ran.counters.resent, ran.count("gone_away")), (0, 0));
    }
}

laws! {
    users_who_share_a_connection_each_get_their_own_answers,
    users_who_share_a_connection_have_one_outcome_a_request,
}

/// The laws are of little worth if they meet hardly anything.
#[test]
fn the_first_seeds_try_what_there_is_to_try() {
    let mut seen = [0_u64; 6];
    for seed in 0..40 {
        let seed = Seed(seed);
        let mut draw = Draw(seed, 0);
        let (config, settings, servers) = crowd(&mut draw);
        let Load::Scripted { users } = config.load else { unreachable!("it is scripted") };
        let chances =
            Chances { go_away: 30, settings: 30, refused: 5, reset_stream: 5, ..Chances::default() };
        let script = Wanderers::new(seed, users.get(), servers, None);
        let ran = run(&config, settings, script, Server::new(seed.0, chances, 3, 1000), None);
        let Seen { stalls, go_aways, refused, broken_off, .. } = ran.seen;
        let these = [stalls, go_aways, refused, broken_off, ran.counters.resent, ran.counters.stream_waits];
        seen.iter_mut().zip(these).for_each(|(sum, one)| *sum += one);
    }
    assert!(seen.iter().all(|count| *count > 5), "stalls, goaways, refused, reset, resent, waits: {seen:?}");
}
