//! The conformance suite against the simulator.

use sim::conformance::{Behaviour, EARLY_ANSWER, Harness, suite};
use sim::{Answer, Fault, Faults, ServerPlan, SimIo};
use units::{Duration, Seed};

struct Simulated;

impl Harness for Simulated {
    type Io = SimIo;

    fn start(&mut self, behaviour: &Behaviour, _connections: u32, _request: &[u8]) -> SimIo {
        let mut plan = ServerPlan::healthy(1000, Duration::from_micros(50));
        let always = |fault| Faults { per_mille: vec![(fault, 1000)], ..Faults::default() };
        match behaviour {
            Behaviour::Answers { framing, body_bytes, piece_bytes } => {
                plan.answer = *framing;
                plan.body = Behaviour::body(*body_bytes);
                plan.faults.split_reads = piece_bytes < body_bytes;
            }
            Behaviour::ClosesEvery(count) => plan.close_every = Some(*count),
            Behaviour::Resets => plan.faults = always(Fault::Reset),
            Behaviour::ClosesWithin => plan.faults = always(Fault::HalfClose),
            Behaviour::NeverAnswers => plan.faults = always(Fault::NeverAnswer),
            Behaviour::Garbage => plan.faults = always(Fault::Garbage),
            Behaviour::Refuses => plan.faults.refused_per_mille = 1000,
            Behaviour::AnswersEarly => plan.early_answer = Some(EARLY_ANSWER),
            Behaviour::ResetsEarly => plan.early_answer = Some(&[]),
        }
        assert!(plan.answer != Answer::CloseDelimited || plan.close_every.is_none());
        SimIo::new(plan, Seed(1))
    }
}

#[test]
fn the_simulator_conforms() {
    suite(&mut Simulated);
}
