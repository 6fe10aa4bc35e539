//! Names of cipher suites and groups, as IANA and OpenSSL have them.

use rustls::crypto::CryptoProvider;
use rustls::{CipherSuite, NamedGroup, ProtocolVersion};

use crate::error::TlsError;
use crate::settings::Settings;

/// A cipher suite: its name at IANA and in OpenSSL.
struct Suite(&'static str, &'static str, CipherSuite);

const TLS13: [Suite; 3] = [
    Suite("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384", CipherSuite::TLS13_AES_256_GCM_SHA384),
    Suite("TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", CipherSuite::TLS13_AES_128_GCM_SHA256),
    Suite(
        "TLS_CHACHA20_POLY1305_SHA256",
        "TLS_CHACHA20_POLY1305_SHA256",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
    ),
];

const TLS12: [Suite; 6] = [
    Suite(
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "ECDHE-ECDSA-AES256-GCM-SHA384",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    ),
    Suite(
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "ECDHE-ECDSA-AES128-GCM-SHA256",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    ),
    Suite(
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "ECDHE-ECDSA-CHACHA20-POLY1305",
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    Suite(
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        "ECDHE-RSA-AES256-GCM-SHA384",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ),
    Suite(
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "ECDHE-RSA-AES128-GCM-SHA256",
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    ),
    Suite(
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        "ECDHE-RSA-CHACHA20-POLY1305",
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
];

/// Groups by the name that is shown, and the one that OpenSSL has beside it.
const GROUPS: [(&str, &str, NamedGroup); 4] = [
    ("X25519", "X25519", NamedGroup::X25519),
    ("secp256r1", "P-256", NamedGroup::secp256r1),
    ("secp384r1", "P-384", NamedGroup::secp384r1),
    ("X25519MLKEM768", "X25519MLKEM768", NamedGroup::X25519MLKEM768),
];

/// The name of a cipher suite at IANA.
pub(crate) fn of_suite(suite: CipherSuite) -> &'static str {
    TLS13.iter().chain(&TLS12).find(|it| it.2 == suite).map_or("another", |it| it.0)
}

/// The name of a group.
pub(crate) fn of_group(group: NamedGroup) -> &'static str {
    GROUPS.iter().find(|it| it.2 == group).map_or("another", |it| it.0)
}

/// The name of a version.
pub(crate) fn of_version(version: ProtocolVersion) -> &'static str {
    match version {
        ProtocolVersion::TLSv1_3 => "TLS 1.3",
        ProtocolVersion::TLSv1_2 => "TLS 1.2",
        _ => "another",
    }
}

/// All that there is, without what was not asked for and in the order that was.
pub(crate) fn chosen(mut provider: CryptoProvider, settings: &Settings) -> Result<CryptoProvider, TlsError> {
    let lists = [
        ("--tls13-ciphers", &settings.tls13_ciphers, &TLS13[..]),
        ("--ciphers", &settings.ciphers, &TLS12[..]),
    ];
    for (option, list, known) in lists {
        let Some(list) = list else { continue };
        let wanted = wanted(option, list, known, |it| [it.0, it.1])?;
        let is_of_it = |suite: CipherSuite| known.iter().any(|it| it.2 == suite);
        let (mut of_it, others): (Vec<_>, Vec<_>) =
            provider.cipher_suites.into_iter().partition(|it| is_of_it(it.suite()));
        of_it.retain(|it| wanted.iter().any(|suite| suite.2 == it.suite()));
        of_it.sort_by_key(|it| wanted.iter().position(|suite| suite.2 == it.suite()));
        provider.cipher_suites = of_it.into_iter().chain(others).collect();
    }
    if let Some(list) = &settings.groups {
        let wanted = wanted("--groups", list, &GROUPS, |it| [it.0, it.1])?;
        provider.kx_groups.retain(|it| wanted.iter().any(|group| group.2 == it.name()));
        provider.kx_groups.sort_by_key(|it| wanted.iter().position(|group| group.2 == it.name()));
    }
    Ok(provider)
}

/// Those of `known` that a list with colons names, in its order.
fn wanted<'a, T>(
    option: &str,
    list: &str,
    known: &'a [T],
    names: impl Fn(&T) -> [&'static str; 2],
) -> Result<Vec<&'a T>, TlsError> {
    let find = |name: &str| {
        let is_it = |it: &&T| names(it).iter().any(|other| other.eq_ignore_ascii_case(name));
        known.iter().find(is_it).ok_or_else(|| {
            let all: Vec<&str> = known.iter().map(|it| names(it)[1]).collect();
            TlsError::setting(
                format!("{option} names `{name}`, which is not spoken here"),
                format!("choose from {}", all.join(":")),
            )
        })
    };
    list.split(':').map(find).collect()
}

#[cfg(test)]
mod tests {
    use rustls::crypto::aws_lc_rs::default_provider;

    use super::*;

    #[test]
    fn lists_choose_and_order_and_an_unknown_name_is_refused_with_the_known_ones() {
        let settings = Settings {
            tls13_ciphers: Some("TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384".into()),
            ciphers: Some("ECDHE-RSA-AES128-GCM-SHA256".into()),
            groups: Some("P-256:X25519".into()),
            ..Settings::default()
        };
        let provider = chosen(default_provider(), &settings).unwrap();
        let mut suites: Vec<&str> = provider.cipher_suites.iter().map(|it| of_suite(it.suite())).collect();
        assert_eq!(suites.remove(0), "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
        assert_eq!(suites, ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"]);
        let groups: Vec<&str> = provider.kx_groups.iter().map(|it| of_group(it.name())).collect();
        assert_eq!(groups, ["secp256r1", "X25519"]);
        let wrong = Settings { ciphers: Some("RC4-SHA".into()), ..Settings::default() };
        let error = chosen(default_provider(), &wrong).unwrap_err().to_string();
        assert!(error.contains("`RC4-SHA`") && error.contains("ECDHE-RSA-AES128-GCM-SHA256"), "{error}");
    }

    #[test]
    fn all_that_is_spoken_has_a_name() {
        let provider = default_provider();
        assert!(provider.cipher_suites.iter().all(|it| of_suite(it.suite()) != "another"));
        assert!(provider.kx_groups.iter().all(|it| of_group(it.name()) != "another"));
    }
}
