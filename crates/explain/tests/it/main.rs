//! Tables of what is concluded from made-up records.

mod agents;
mod alone;
mod audit;
mod calibration;
mod capacity;
mod claims;
mod compare;
mod gate;
mod idle;
mod levels;
mod looks;
mod other_servers;
mod pauses;
mod protocols;
mod reasons;
mod samples;
mod simulated;
mod streams;
mod typical;
mod unwatched;
mod versions;
mod workers;
