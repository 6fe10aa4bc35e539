//! Agents that make no load and tell of one: what a conductor has to do with a second of a load thread, without the cores that
//! the load would take.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use agent::{Agent, End, Frames, GREETING, Hello, Step, ThreadTotals, ToAgent, Told, encode};
use driver::monotonic_now;
use engine::{Outcome, Sample};
use stats::{Interval, RateSample};
use units::{Duration, Instant, Seed};

const SECOND: Duration = Duration::from_secs(1);
/// Requests that each makes a second, as one load thread does.
pub const RATE_PER_S: u64 = 50_000;
/// How soon it is seen that a second is over.
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);

/// So many of them, each at an address of loopback, for a load of so many seconds. They end with their loads.
pub fn start(agents: usize, seconds: u64) -> String {
    let template = full_interval();
    let addresses = (0..agents).map(|_| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
        let address = listener.local_addr().expect("it is bound").to_string();
        let template = template.clone();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().expect("the conductor comes");
            Scripted::new(template, seconds).serve(stream);
        });
        address
    });
    addresses.collect::<Vec<_>>().join(",")
}

/// A second of a load thread whose response times are anything from 0.1 ms to 100 ms.
fn full_interval() -> Interval {
    let mut interval = Interval::default();
    for number in 0..RATE_PER_S {
        let intended = Instant::ORIGIN + Duration::from_micros(number * 20);
        // As many in each of three decades.
        let decades = 3.0 * (Seed(number).derive(0).0 % 10_000) as f64 / 10_000.0;
        let done = intended + Duration::from_secs_f64(1e-4 * 10_f64.powf(decades));
        interval.record(&Sample {
            intended,
            ready: intended,
            sent: Some(intended + Duration::from_micros(2)),
            done,
            // At once, as most answers come.
            first_byte: Some(done),
            arrived: Some(done),
            outcome: Outcome::Answered { status: 200, expected: true },
            received_bytes: 100,
            due_in_window: true,
            done_in_window: true,
        });
    }
    interval
}

struct Scripted {
    agent: Agent,
    template: Interval,
    seconds: u64,
    begin: Option<Instant>,
    told: u64,
}

impl Scripted {
    fn new(template: Interval, seconds: u64) -> Self {
        let hello = Hello { version: env!("PROOFLOAD_VERSION").into(), node: "scripted".into(), cores: 1 };
        Self { agent: Agent::new(hello, monotonic_now()), template, seconds, begin: None, told: 0 }
    }

    fn serve(mut self, mut stream: TcpStream) {
        stream.set_nodelay(true).expect("it is TCP");
        stream.set_read_timeout(Some(LOOK)).expect("it is above zero");
        stream.write_all(GREETING).expect("the conductor reads");
        self.agent.attach();
        let (mut frames, mut bytes) = (Frames::default(), vec![0; 64 * 1024]);
        loop {
            self.tell_what_is_over();
            while let Some(message) = self.agent.poll_message() {
                stream.write_all(&encode(&message).expect("it is short")).expect("the conductor reads");
            }
            match stream.read(&mut bytes) {
                Ok(0) => return,
                Ok(count) => frames.push(&bytes[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => return,
            }
            while let Some(message) = frames.next().expect("a conductor speaks") {
                if self.heard(message) {
                    return;
                }
            }
        }
    }

    /// Whether it is to leave.
    fn heard(&mut self, message: ToAgent) -> bool {
        match self.agent.handle(monotonic_now(), message).expect("it says what it may") {
            Some(Step::Prepare(_)) => self.agent.ready(1, "epoll", None),
            Some(Step::Begin(at)) => self.begin = Some(at),
            Some(Step::Stop | Step::Leave(_)) => return true,
            None => {}
        }
        false
    }

    fn tell_what_is_over(&mut self) {
        let Some(begin) = self.begin else { return };
        while self.told < self.seconds && monotonic_now() >= begin + SECOND * (self.told + 1) {
            let (from, to) = (SECOND * self.told, SECOND * (self.told + 1));
            self.told += 1;
            let rates = [RateSample { answered: RATE_PER_S, span: SECOND }];
            let ends = self.told == self.seconds;
            self.agent.tell(Told::new(0, from, to, &self.template, &rates).ending(ends), RATE_PER_S);
            if ends {
                self.agent.end(self.end());
            }
        }
    }

    fn end(&self) -> End {
        let window_ns = (SECOND * self.seconds).as_nanos();
        let totals = ThreadTotals {
            exchanges: 1,
            intended: RATE_PER_S * self.seconds,
            connections_opened: 1,
            window_end_ns: window_ns,
            cpu_ns: window_ns / 2,
            wall_ns: window_ns,
            ..ThreadTotals::default()
        };
        End { threads: vec![totals], ..End::default() }
    }
}
