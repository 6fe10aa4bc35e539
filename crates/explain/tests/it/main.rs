//! Tables of what is concluded from made-up records.

mod audit;
mod calibration;
mod limit;
mod samples;
