//! How connections were secured, for a person.

use std::collections::BTreeMap;
use std::fmt::Write;

use record::{Agreed, Distribution, Tls};

use crate::figure::{figure, plain_line};

/// The lines that `hit` shows of it.
pub(crate) fn tls_text(tls: &Tls) -> String {
    let checked = if tls.verified { "" } else { "; certificates were not checked (--insecure)" };
    let mut text = match &tls.agreed {
        Some(agreed) => format!("tls         {}{checked}\n", agreed_text(agreed)),
        None => format!("tls         no handshake succeeded{checked}\n"),
    };
    // Writing into a String cannot fail.
    if tls.agreed_otherwise > 0 {
        let _ = writeln!(text, "            {} connections agreed on something else", tls.agreed_otherwise);
    }
    let _ = writeln!(
        text,
        "handshakes  {} full, {} resumed; {}; connecting before it: {}",
        tls.full_handshakes,
        tls.resumed_handshakes,
        times(&tls.handshake_us),
        times(&tls.connect_us)
    );
    for (what, kinds) in
        [("handshakes failed", &tls.failed_handshakes), ("connections were ended by TLS", &tls.broken)]
    {
        if !kinds.is_empty() {
            let _ = writeln!(text, "            {} {what} ({})", kinds.values().sum::<u64>(), named(kinds));
        }
    }
    text
}

fn agreed_text(agreed: &Agreed) -> String {
    let group = agreed.group.as_deref().map_or_else(String::new, |it| format!(", {}", plain_line(it)));
    let alpn =
        agreed.alpn.as_deref().map_or_else(|| "no ALPN".to_owned(), |it| format!("ALPN {}", plain_line(it)));
    format!("{}, {}{group}, {alpn}", plain_line(&agreed.version), plain_line(&agreed.cipher))
}

fn times(times: &Distribution) -> String {
    format!("mean {}, p99 {}, max {}", figure(times, "mean"), figure(times, "p99"), figure(times, "max"))
}

fn named(kinds: &BTreeMap<String, u64>) -> String {
    let all: Vec<String> =
        kinds.iter().map(|(kind, count)| format!("{}: {count}", plain_line(kind))).collect();
    all.join(", ")
}
