//! Whether what was refused is worth another try: remote write's and OTLP's rules, without a clock or a socket.

/// Tries of one message in all, the first included. With the pauses between them that is some 15 s of a receiver that
/// is just starting again, which is what it takes one.
pub const TRIES_MAX: u32 = 6;
/// The pause after the first try; each further one is twice as long.
const FIRST_PAUSE_MS: u64 = 500;
/// The longest pause, also where the receiver asks for more: who wants to wait longer starts the command again.
const PAUSE_MAX_MS: u64 = 10_000;

/// How a receiver answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// The status.
    pub status: u16,
    /// Its `Retry-After`, seconds.
    pub retry_after_s: Option<u64>,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTry {
    /// It has it.
    Done,
    /// Send the same again after so many milliseconds.
    After(u64),
    /// It won't take it, or not now.
    GiveUp,
}

/// What follows from the answer to try number `tries`, from 1 on. Remote write retries on 5xx and may on 429, and never on
/// another 4xx, since the same message would be refused again; OTLP asks for the same on 429, 502, 503 and 504, and what it
/// says of 500 is met by giving up in the end.
pub fn next_try(answered: Answered, tries: u32) -> NextTry {
    match answered.status {
        200..=299 => NextTry::Done,
        429 | 500..=599 if tries < TRIES_MAX => {
            let pause = FIRST_PAUSE_MS << tries.saturating_sub(1).min(16);
            let asked = answered.retry_after_s.map_or(pause, |seconds| seconds.saturating_mul(1000));
            NextTry::After(asked.min(PAUSE_MAX_MS))
        }
        _ => NextTry::GiveUp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(status: u16, retry_after_s: Option<u64>, tries: u32) -> NextTry {
        next_try(Answered { status, retry_after_s }, tries)
    }

    #[test]
    fn a_receiver_in_trouble_is_asked_again_and_one_that_says_no_is_not() {
        assert_eq!([200, 204].map(|it| after(it, None, 1)), [NextTry::Done; 2]);
        assert_eq!([400, 401, 404, 413, 301, 100].map(|it| after(it, None, 1)), [NextTry::GiveUp; 6]);
        assert_eq!([429, 500, 503].map(|it| after(it, None, 1)), [NextTry::After(500); 3]);
    }

    #[test]
    fn pauses_double_follow_what_is_asked_and_end() {
        let pauses: Vec<NextTry> = (1..=TRIES_MAX).map(|tries| after(503, None, tries)).collect();
        assert_eq!(pauses[1..4], [1000, 2000, 4000].map(NextTry::After));
        assert_eq!(pauses.last(), Some(&NextTry::GiveUp));
        assert_eq!(after(429, Some(3), 1), NextTry::After(3000));
        assert_eq!(after(429, Some(u64::MAX), 1), NextTry::After(PAUSE_MAX_MS));
    }
}
