//! Frames that bring no answer: what the server allows, asks and ends.

use alloc::vec::Vec;

use http::{Failure, Fed, Malformed};

use super::sending::Table;
use super::{H2, code};
use crate::frame::{self, FrameHead, Kind, TABLE_BYTES_START, code_at, flag, number_at};
use crate::peer::WINDOW_BYTES_MAX;

impl H2 {
    /// SETTINGS (RFC 9113 6.5): acknowledged within the turn.
    pub(super) fn on_settings(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        self.count_idle_frame()?;
        if head.has(flag::ACK) {
            return Ok(Fed::NeedMore);
        }
        self.greeted = true;
        let window_before = self.peer.window_bytes;
        self.peer.read(payload)?;
        if self.peer.table_bytes_least < TABLE_BYTES_START && self.table != Table::Unused {
            self.table = Table::Refused;
        }
        frame::put(out, Kind::Settings, flag::ACK, 0, &[]);
        let more = self.peer.window_bytes - window_before;
        for stream in self.streams.iter_mut() {
            // It may fall below zero (RFC 9113 6.9.2).
            stream.send_window += more;
            if stream.send_window > WINDOW_BYTES_MAX {
                return Err(Malformed::FlowControl);
            }
        }
        if more > 0 {
            self.send_unsent(out);
        }
        // Before anything is due, it must be known how many streams there may be.
        let is_ready = !self.ready && self.peer.streams_max > 0;
        self.ready |= is_ready;
        self.bound_streams();
        Ok(if is_ready { Fed::Ready } else { Fed::NeedMore })
    }

    /// PING (RFC 9113 6.7).
    pub(super) fn on_ping(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        self.count_idle_frame()?;
        if !head.has(flag::ACK) {
            frame::put(out, Kind::Ping, flag::ACK, 0, payload);
        }
        Ok(Fed::NeedMore)
    }

    /// RST_STREAM (RFC 9113 6.4).
    pub(super) fn on_reset_stream(&mut self, head: FrameHead, payload: &[u8]) -> Result<Fed, Malformed> {
        let Some(place) = self.streams.place_of(head.stream) else {
            return self.count_late_frame().map(|()| Fed::NeedMore);
        };
        // A request is at its end with that.
        self.idle_frames = 0;
        self.close(place);
        let code = code_at(payload, 0).unwrap_or(code::NO_ERROR);
        let failure =
            if code == code::REFUSED_STREAM { Failure::RefusedStream } else { Failure::StreamReset(code) };
        Ok(Fed::Failed { place, failure })
    }

    /// GOAWAY (RFC 9113 6.8): what is asked on streams above the last was not looked at.
    pub(super) fn on_go_away(&mut self, payload: &[u8]) -> Result<Fed, Malformed> {
        self.count_idle_frame()?;
        let last = number_at(payload, 0).ok_or(Malformed::FrameSize)?;
        self.last_id = Some(self.last_id.map_or(last, |before| before.min(last)));
        // One that first asks to be left may find an error later: what it says last counts.
        self.end_code = Some(code_at(payload, size_of_val(&last)).unwrap_or(code::NO_ERROR));
        self.unprocessed_from = Some(0);
        self.bound_streams();
        Ok(Fed::NeedMore)
    }

    /// How many streams there may be has changed.
    pub(super) fn bound_streams(&mut self) {
        let takes_more = self.ready && self.last_id.is_none() && !self.is_retired;
        self.streams_max = if takes_more { self.peer.streams_max.min(self.settings.streams) } else { 0 };
    }

    /// WINDOW_UPDATE (RFC 9113 6.9).
    pub(super) fn on_window_update(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        let more = i64::from(number_at(payload, 0).ok_or(Malformed::FrameSize)?);
        let out_before = out.len();
        if head.stream == 0 {
            self.send_window += more;
            if more == 0 || self.send_window > WINDOW_BYTES_MAX {
                return Err(Malformed::FlowControl);
            }
            self.send_unsent(out);
        } else if let Some(place) = self.streams.place_of(head.stream) {
            let stream = self.streams.at(place);
            stream.send_window += more;
            if more == 0 {
                // That is no violation of windows (RFC 9113 6.9), as one beyond their bound is (6.9.1).
                let why = (Malformed::FlowControl, code::PROTOCOL_ERROR);
                return Ok(self.fail_with(place, why, out));
            }
            if stream.send_window > WINDOW_BYTES_MAX {
                return Ok(self.fail(place, Malformed::FlowControl, out));
            }
            self.send_unsent_of(place, out);
        } else {
            return self.count_late_frame().map(|()| Fed::NeedMore);
        }
        // One that lets more of a request out brings it nearer to its end. Servers send them in pairs, of which the first, where
        // both windows are used up, lets nothing out.
        if out.len() == out_before {
            self.count_idle_frame()?;
        } else {
            self.idle_frames = 0;
        }
        Ok(Fed::NeedMore)
    }
}
