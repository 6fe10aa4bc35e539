//! What the environment says that a load does not follow.

use plan::proxy;

use crate::output::say;

/// Says on standard error, on one line, that loads of `servers` (whether over https, host and port) go past a proxy of the
/// environment, where other clients would use it. Its address is not shown: it may hold a password.
pub fn note_proxy<'a>(quiet: bool, servers: impl IntoIterator<Item = (bool, &'a str, u16)>) {
    let variable = |name: &str| std::env::var(name).ok();
    let passed_by = |(is_secured, host, port)| {
        proxy::passed_by(is_secured, host, port, variable).map(|name| (name, host))
    };
    if quiet {
        return;
    }
    if let Some((name, host)) = servers.into_iter().find_map(passed_by) {
        say(format_args!(
            "proofload: {name} is set and not used: a load goes to {host} itself, or it would measure the proxy"
        ));
    }
}
