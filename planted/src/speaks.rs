//! What servers speak, as a case and a manifest have it.

/// What a server speaks with those who load it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// HTTP/1.1 without TLS.
    Http,
    /// HTTP/1.1 within TLS.
    Https,
    /// HTTP/2 without TLS.
    H2c,
}

impl Speaks {
    /// The lines of a manifest's `[run]` that say so.
    pub(crate) const fn lines(self) -> &'static str {
        match self {
            Self::Http => "",
            Self::Https => "scheme = \"https\"\n",
            Self::H2c => "protocol = \"h2c\"\n",
        }
    }
}
