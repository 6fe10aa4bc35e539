//! What can go wrong between a driver and the kernel without an answer being lost.

/// Counts of what went wrong in the driver itself and was made up for. Each delays what it befalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Incidents {
    /// Receives that stopped for want of a free buffer, and were started again (ENOBUFS).
    pub no_buffer: u64,
    /// Turns at whose beginning the kernel held completions back, since the ring had no room for them.
    pub completions_held_back: u64,
}
