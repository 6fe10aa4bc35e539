//! The public interface, as a caller sees it.

mod limits;
mod malformed;
mod model;
mod properties;
mod protocol;
mod request;
mod responses;
mod support;
