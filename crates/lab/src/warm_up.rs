//! Warming a stack up in bursts until it is steady, and what its load is then.
//!
//! A JVM compiles while it runs: what is measured too early is its interpreter. So load comes in bursts with rests
//! between them, in which compilers finish what they began, until the last bursts are alike and little is compiled
//! (`stats::steadiness`). A stack that is not steady after the last burst allowed is measured as it is and called so.

use std::time::Instant;

use driver::Control;
use events::Moment;
use plan::{Bursts, LoadPlan};
use record::{Burst, LoadResult, WarmUp};
use stack::Chain;
use stats::{BurstFigures, Steadiness, steadiness};
use units::Duration;

use crate::error::LabError;

/// Response times that settling takes.
const SETTLE_RESPONSE_TIMES: u64 = 2;
/// Response times that a window holds at least, as far as it may get so long.
const WINDOW_RESPONSE_TIMES: u64 = 10;
/// How often a rest looks whether it was interrupted.
const POLL: std::time::Duration = std::time::Duration::from_millis(50);

/// Who is told how a trial goes.
type Observe<'a> = &'a mut dyn FnMut(Moment<'_>);

/// Makes bursts with `burst` until the stack is steady. Gives what they were like and the mean response time of the last.
pub(crate) fn warm_up(
    bursts: &Bursts,
    chain: &Chain,
    interrupt: &Control,
    burst: &mut dyn FnMut(Observe<'_>) -> Result<LoadResult, LabError>,
    observe: Observe<'_>,
) -> Result<(WarmUp, Duration), LabError> {
    let mut made: Vec<Burst> = Vec::new();
    let mut response = Duration::ZERO;
    loop {
        let (begun, jit_before) = (Instant::now(), chain.jit_busy());
        observe(Moment::Burst { number: made.len() as u32 + 1, of: bursts.most });
        let load = burst(observe)?;
        if load.interrupted {
            return Ok((WarmUp::default(), response));
        }
        response = mean_response(&load);
        rest(bursts.pause, chain, interrupt);
        let jit_share = chain
            .jit_busy()
            .zip(jit_before)
            .map(|(now, before)| now.saturating_sub(before).as_secs_f64() / begun.elapsed().as_secs_f64());
        let last = Burst { goodput_per_s: load.goodput_per_s, jit_share };
        made.push(last);
        let told = steadiness(&made.iter().map(figures).collect::<Vec<_>>());
        observe(Moment::Warmed { burst: &last, told });
        let enough = made.len() as u32 >= bursts.least && told == Steadiness::Steady;
        let over = made.len() as u32 >= bursts.most || interrupt.is_interrupted() || chain.dead().is_some();
        if enough || over {
            let unsteady_why = (!enough).then(|| told.unsteady_why());
            return Ok((
                WarmUp { bursts: made, steady: enough, unsteady_why, loads_since: Some(0) },
                response,
            ));
        }
    }
}

/// The load after the bursts: settled before its window for as long as `bursts` say at least, and with a window of ten response
/// times where that is longer, both as far as they allow.
/// Users who come one after another are left as they are; their ramp-up is part of what is asked.
pub(crate) fn settled(plan: &LoadPlan, response: Duration, bursts: &Bursts) -> LoadPlan {
    let mut plan = plan.clone();
    if plan.stop.requests.is_some()
        || matches!(plan.load, engine::Load::Closed { start, .. } if is_ramp(start))
    {
        return plan;
    }
    plan.warm_up = (response * SETTLE_RESPONSE_TIMES).min(bursts.settle_max).max(bursts.settle);
    let wanted = (response * WINDOW_RESPONSE_TIMES).min(bursts.window_max);
    plan.stop.duration = plan.stop.duration.max(wanted);
    plan
}

const fn is_ramp(start: engine::UserStart) -> bool {
    matches!(start, engine::UserStart::RampUp { .. })
}

const fn figures(burst: &Burst) -> BurstFigures {
    BurstFigures { rate_per_s: burst.goodput_per_s, jit_share: burst.jit_share }
}

/// What an answer takes, those under way at the end of the burst included: users over rate, where the law holds.
fn mean_response(load: &LoadResult) -> Duration {
    let mean_us = load.response_time_us.mean.filter(|it| it.is_finite() && *it > 0.0).unwrap_or(0.0);
    Duration::from_nanos((mean_us * 1e3) as u64)
}

fn rest(pause: Duration, chain: &Chain, interrupt: &Control) {
    let deadline = Instant::now() + std::time::Duration::from(pause);
    while Instant::now() < deadline && !interrupt.is_interrupted() && chain.dead().is_none() {
        std::thread::sleep(POLL.min(deadline.saturating_duration_since(Instant::now())));
    }
}
