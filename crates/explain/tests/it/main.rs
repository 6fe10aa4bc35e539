//! Tables of what is concluded from made-up records.

mod audit;
mod limit;
mod samples;
