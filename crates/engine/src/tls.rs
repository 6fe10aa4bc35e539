//! How a connection that TLS is to secure comes to nothing. What TLS is, the engine does not know.

/// Why a handshake brought no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TlsFailure {
    /// The server's certificate is not to be trusted.
    Certificate,
    /// The server ended it with this alert (RFC 8446, section 6).
    Alert(u8),
    /// Client and server have no protocol in common.
    Alpn,
    /// The server closed or reset the connection within it.
    Closed,
    /// It was not over within the connect timeout.
    TimedOut,
    /// What came was no TLS, or broke its rules.
    Protocol,
}

impl TlsFailure {
    /// The name in records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Certificate => "certificate",
            Self::Alert(code) => alert_name(code),
            Self::Alpn => "alpn",
            Self::Closed => "closed",
            Self::TimedOut => "timed_out",
            Self::Protocol => "protocol",
        }
    }
}

/// The name of an alert after RFC 8446 and RFC 5246.
const fn alert_name(code: u8) -> &'static str {
    match code {
        0 => "alert_close_notify",
        10 => "alert_unexpected_message",
        20 => "alert_bad_record_mac",
        22 => "alert_record_overflow",
        40 => "alert_handshake_failure",
        42 => "alert_bad_certificate",
        43 => "alert_unsupported_certificate",
        44 => "alert_certificate_revoked",
        45 => "alert_certificate_expired",
        46 => "alert_certificate_unknown",
        47 => "alert_illegal_parameter",
        48 => "alert_unknown_ca",
        49 => "alert_access_denied",
        50 => "alert_decode_error",
        51 => "alert_decrypt_error",
        70 => "alert_protocol_version",
        71 => "alert_insufficient_security",
        80 => "alert_internal_error",
        86 => "alert_inappropriate_fallback",
        90 => "alert_user_canceled",
        100 => "alert_no_renegotiation",
        109 => "alert_missing_extension",
        110 => "alert_unsupported_extension",
        112 => "alert_unrecognized_name",
        113 => "alert_bad_certificate_status_response",
        115 => "alert_unknown_psk_identity",
        116 => "alert_certificate_required",
        120 => "alert_no_application_protocol",
        _ => "alert_other",
    }
}
