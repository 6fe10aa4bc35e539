//! Services that are running already, as a manifest has them.

use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;
use units::Duration;

use super::super::raw::{Raw, RawEndpoint, RawScheme};
use super::super::speaks::Protocols;
use super::super::{Endpoint, Origin, Ready, ReadyWhen, Site, Spoken};
use super::Source;
use crate::error::PlanError;

/// What is up already answers at once; this is for one that is just being restarted.
pub(super) const READY_TIMEOUT_DEFAULT: Duration = Duration::from_secs(5);

/// The keys that are about a service that is running already.
pub(super) struct RawRunning {
    pub(super) url: Spanned<String>,
    pub(super) protocol: Option<Spanned<Protocols>>,
    pub(super) insecure: Option<Spanned<bool>>,
    pub(super) cacert: Option<Spanned<PathBuf>>,
}

impl Source<'_> {
    /// Whether the keys of `raw` go together: what is running already is not started, and what is started says how.
    pub(super) fn is_of_one_origin(&self, raw: &Raw) -> Result<(), PlanError> {
        let Some(url) = &raw.url else { return self.says_nothing_of_a_url(raw) };
        if let Some(key) = of_what_is_started(raw) {
            let what =
                format!("`{}` is running already, at its url, and {key} is for what is started", self.id);
            return Err(self.error(url.span(), what, format!("leave {key} out, or the url")));
        }
        match raw.endpoints.iter().find_map(of_watched_processes) {
            Some((key, at)) => {
                let what =
                    format!("`{}` is running already, and `{key}` is looked up in its processes", self.id);
                Err(self.error(at, what, format!("leave {key} out")))
            }
            None => Ok(()),
        }
    }

    fn says_nothing_of_a_url(&self, raw: &Raw) -> Result<(), PlanError> {
        let of_url = [
            raw.insecure.as_ref().map(|it| ("insecure", it.span())),
            raw.cacert.as_ref().map(|it| ("cacert", it.span())),
        ];
        if let Some((key, at)) = of_url.into_iter().flatten().next() {
            let what = format!("{key} is for what is running already, at a url");
            return Err(self.error(
                at,
                what,
                "leave it out: what is started here shows a certificate of its own",
            ));
        }
        match &raw.protocol {
            Some(protocol) => {
                let what = "protocol stands here beside a url only";
                Err(self.error(protocol.span(), what, "write it into [run]"))
            }
            None => Ok(()),
        }
    }

    /// Where it is, and what is spoken there.
    pub(super) fn running(&self, raw: RawRunning) -> Result<(Origin, Spoken), PlanError> {
        let RawRunning { url, protocol, insecure, cacert } = raw;
        let at = url.span();
        let mut site = Site::new(url.get_ref()).map_err(|error| self.error(at, error.what, error.help))?;
        let about_tls = [
            insecure.as_ref().map(|it| ("insecure", it.span())),
            cacert.as_ref().map(|it| ("cacert", it.span())),
        ];
        let about_tls: Vec<(&str, Range<usize>)> = about_tls.into_iter().flatten().collect();
        if let Some((key, at)) = about_tls.first().filter(|_| !site.is_secured) {
            let what = format!("{key} is about https, and {} is not", site.url);
            return Err(self.error(at.clone(), what, "leave it out, or write https:// for http://"));
        }
        site.insecure = insecure.is_some_and(Spanned::into_inner);
        if let Some(at) = cacert.as_ref().map(Spanned::span).filter(|_| site.insecure) {
            let what = "any certificate is taken, and one is named";
            return Err(self.error(at, what, "leave cacert or insecure out"));
        }
        site.trusted = cacert.map(|file| self.certificates(&file)).transpose()?;
        let scheme = if site.is_secured { RawScheme::Https } else { RawScheme::Http };
        let spoken = self.spoken(scheme, protocol)?;
        Ok((Origin::Running(site), spoken))
    }

    fn certificates(&self, file: &Spanned<PathBuf>) -> Result<PathBuf, PlanError> {
        let path = self.dir.join(file.get_ref());
        if path.is_file() {
            return Ok(path);
        }
        let what = format!("there is no file `{}`", file.get_ref().display());
        Err(self.error(file.span(), what, "name a file, relative to this file's folder"))
    }
}

/// The first key that is about what is started.
fn of_what_is_started(raw: &Raw) -> Option<&'static str> {
    let needs = &raw.needs;
    let needs_something =
        !needs.tools.is_empty() || needs.jdk.is_some() || needs.java.is_some() || !needs.libraries.is_empty();
    let is_limited = raw.limits.cpu.is_some() || raw.limits.open_files.is_some();
    let all = [
        (raw.run.is_some(), "[run]"),
        (raw.build.is_some(), "[build]"),
        (needs_something, "[needs]"),
        (is_limited, "[limits]"),
        (!raw.parameters.is_empty(), "[parameters]"),
        (raw.upstream.is_some(), "upstream"),
        (!raw.files.is_empty(), "[[file]]"),
        (!raw.variants.is_empty(), "[[variant]]"),
    ];
    all.into_iter().find(|(given, _)| *given).map(|(_, key)| key)
}

/// A key of an endpoint that takes a look at processes, and where it is.
fn of_watched_processes(raw: &RawEndpoint) -> Option<(&'static str, Range<usize>)> {
    let thread = raw.thread.as_ref().map(|it| ("thread", it.span()));
    thread.or_else(|| raw.upstream_connections_max.as_ref().map(|it| ("upstream_connections_max", it.span())))
}

/// Puts `base` before every path.
pub(super) fn put_before(base: &str, ready: &mut Ready, endpoints: &mut [Endpoint]) {
    let asked = match &mut ready.when {
        ReadyWhen::Answers { path, .. } => Some(path),
        ReadyWhen::Accepts => None,
    };
    for path in endpoints.iter_mut().map(|it| &mut it.path).chain(asked) {
        path.insert_str(0, base);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::super::{ConnectionUse, StackManifest};
    use super::*;

    const ENDPOINT: &str = "[[service.cart.endpoint]]\nname = \"main\"\npath = \"/items?all=1\"\n";

    fn read(text: &str) -> Result<StackManifest, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let all = StackManifest::services(Path::new("x.toml"), text, here);
        all.map(|mut all| all.remove(0)).map_err(|error| error.to_string())
    }

    fn cart(keys: &str, more: &str) -> Result<StackManifest, String> {
        read(&format!("[service.cart]\n{keys}\n{ENDPOINT}{more}"))
    }

    #[test]
    fn what_is_running_already_has_a_place_and_nothing_to_start() {
        let it = cart("url = \"https://shop.test:8443/api/\"\nprotocol = \"h2\"", "").unwrap();
        let site = it.site().unwrap();
        assert_eq!((site.url.as_str(), site.insecure), ("https://shop.test:8443/api", false));
        assert!(it.run().is_none() && it.build.is_none() && it.spoken.first().http2);
        let [endpoint] = it.endpoints.as_slice() else { panic!("{it:?}") };
        assert_eq!(
            (endpoint.path.as_str(), endpoint.connection),
            ("/api/items?all=1", ConnectionUse::KeepAlive)
        );
        assert_eq!((it.ready.path(), it.ready.timeout), (Some("/api/items?all=1"), READY_TIMEOUT_DEFAULT));
        let ready = "[service.cart.ready]\npath = \"/up\"\ntimeout = \"1s\"\n";
        let it = cart("url = \"https://shop.test/api\"\ninsecure = true", ready).unwrap();
        assert_eq!((it.ready.path(), it.ready.timeout), (Some("/api/up"), Duration::from_secs(1)));
        assert!(it.site().unwrap().insecure);
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_what_to_do() {
        let url = "url = \"http://127.0.0.1:1\"\n";
        for (keys, more, part) in [
            (
                url.to_owned(),
                "[service.cart.run]\ncommand = [\"x\"]\n",
                "[run] is for what is started; leave [run] out",
            ),
            (format!("{url}upstream = \"db\""), "", "upstream is for what is started"),
            (url.to_owned(), "[service.cart.limits]\ncpu = 0.5\n", "[limits] is for what is started"),
            (url.to_owned(), "[service.cart.needs]\njdk = 21\n", "[needs] is for what is started"),
            (format!("{url}insecure = true"), "", "insecure is about https"),
            (format!("{url}protocol = \"h2\""), "", "h2 is agreed on within TLS"),
            ("url = \"https://x\"\ncacert = \"no-such.pem\"".into(), "", "there is no file `no-such.pem`"),
            (
                "url = \"https://x\"\ncacert = \"Cargo.toml\"\ninsecure = true".into(),
                "",
                "any certificate is taken",
            ),
            ("url = \"shop.test\"".into(), "", "is not a URL"),
            ("url = \"http://x/?a=b\"".into(), "", "more behind its path"),
            (
                "protocol = \"h2c\"".into(),
                "[service.cart.run]\ncommand = [\"x\", \"{port}\"]\n",
                "write it into [run]",
            ),
            (
                "insecure = true".into(),
                "[service.cart.run]\ncommand = [\"x\", \"{port}\"]\n",
                "insecure is for what is running",
            ),
            (String::new(), "", "`cart` has no [run]; add [run]"),
        ] {
            let error = cart(&keys, more).unwrap_err();
            assert!(error.starts_with("x.toml") && error.contains(part), "{keys} {more}: {error}");
        }
        let watched = ENDPOINT.replace("path =", "thread = \"http-\"\npath =");
        let error = read(&format!("[service.cart]\n{url}{watched}")).unwrap_err();
        assert!(error.contains("`thread` is looked up in its processes"), "{error}");
    }
}
