//! Proxies that the environment names. A load goes past them: what it measured else were the proxy.

/// Variables that name a proxy for `http://`, as curl and most other clients read them.
const VARIABLES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
/// The same for `https://`.
const SECURED_VARIABLES: [&str; 4] = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
/// Variables that list whom no proxy is used for.
const EXCEPTIONS: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// The variable by which another client would go to `host` through a proxy; `None` where it would go there directly.
/// `is_secured` says whether it is loaded over https; `variable` gives a variable of the environment.
pub fn passed_by(
    is_secured: bool,
    host: &str,
    port: u16,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<&'static str> {
    let is_set = |name: &&str| variable(name).is_some_and(|value| !value.trim().is_empty());
    let variables = if is_secured { SECURED_VARIABLES } else { VARIABLES };
    let named = variables.into_iter().find(|name| is_set(name))?;
    let exceptions =
        EXCEPTIONS.into_iter().find_map(|name| variable(name).filter(|it| !it.trim().is_empty()));
    let is_excepted = exceptions.is_some_and(|list| {
        list.split([',', ' '])
            .map(str::trim)
            .filter(|it| !it.is_empty())
            .any(|entry| is_for(entry, host, port))
    });
    (!is_excepted).then_some(named)
}

/// Whether an entry of `no_proxy` is for `host`: the name, a domain that it is in, an address or a network, or `*`; perhaps
/// with a port.
fn is_for(entry: &str, host: &str, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    let bare = |text: &str| text.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    let host = bare(host);
    // A second colon makes it an address of version 6, which has its port behind a bracket.
    let (name, of_port) = match entry.rsplit_once(':') {
        Some((name, of_port)) if !name.contains(':') || name.ends_with(']') => (name, of_port.parse().ok()),
        _ => (entry, None),
    };
    if of_port.is_some_and(|it: u16| it != port) {
        return false;
    }
    let name = bare(name);
    if let (Some((network, bits)), Ok(address)) = (name.split_once('/'), host.parse()) {
        return is_within(address, network, bits);
    }
    let domain = name.trim_start_matches('*').trim_start_matches('.');
    !domain.is_empty() && host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Whether an address is in `network/bits`.
fn is_within(address: std::net::IpAddr, network: &str, bits: &str) -> bool {
    use std::net::IpAddr::{V4, V6};
    let Ok(bits) = bits.parse::<u32>() else { return false };
    match (address, network.parse()) {
        (V4(address), Ok(V4(network))) => {
            let differing = address.to_bits() ^ network.to_bits();
            bits <= 32 && differing.leading_zeros() >= bits
        }
        (V6(address), Ok(V6(network))) => {
            let differing = address.to_bits() ^ network.to_bits();
            bits <= 128 && differing.leading_zeros() >= bits
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed_by_in(environment: &[(&str, &str)], host: &str) -> Option<&'static str> {
        over(false, environment, host)
    }

    fn over(is_secured: bool, environment: &[(&str, &str)], host: &str) -> Option<&'static str> {
        passed_by(is_secured, host, 8080, |name| {
            environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_proxy_of_the_environment_is_named_by_its_variable() {
        assert_eq!(passed_by_in(&[], "shop.test"), None);
        assert_eq!(passed_by_in(&[("http_proxy", "")], "shop.test"), None);
        assert_eq!(passed_by_in(&[("https_proxy", "http://p:1")], "shop.test"), None);
        assert_eq!(over(true, &[("http_proxy", "http://p:1")], "shop.test"), None);
        for name in SECURED_VARIABLES {
            assert_eq!(over(true, &[(name, "http://p:1")], "shop.test"), Some(name));
        }
        for name in VARIABLES {
            assert_eq!(passed_by_in(&[(name, "http://user:secret@p:1")], "shop.test"), Some(name));
        }
    }

    #[test]
    fn whom_no_proxy_is_for_is_left_out_of_it() {
        for (list, host, is_direct) in [
            ("shop.test", "shop.test", true),
            ("shop.test", "api.shop.test", true),
            (".shop.test", "shop.test", true),
            ("*.shop.test", "api.shop.test", true),
            ("shop.test", "workshop.test", false),
            ("other, SHOP.test", "shop.test", true),
            ("other shop.test", "shop.test", true),
            ("*", "shop.test", true),
            ("shop.test:8080", "shop.test", true),
            ("shop.test:80", "shop.test", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("0.0.0.0/0", "11.1.2.3", true),
            ("::1", "[::1]", true),
            ("[::1]:8080", "::1", true),
            ("fd00::/8", "fd12::1", true),
            (",", "shop.test", false),
        ] {
            for name in EXCEPTIONS {
                let passed_by = passed_by_in(&[("http_proxy", "http://p:1"), (name, list)], host);
                assert_eq!(passed_by.is_none(), is_direct, "{name}={list} {host}");
            }
        }
    }
}
