//! The rules, by what they look at.

pub(crate) mod client;
pub(crate) mod cpu;
pub(crate) mod exclusions;
pub(crate) mod inside;
pub(crate) mod network;
pub(crate) mod no_limit;
pub(crate) mod pools;
pub(crate) mod protocols;
pub(crate) mod steady;
pub(crate) mod work;
