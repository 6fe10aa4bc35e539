//! The cookies of one user, by RFC 6265: which are taken, for how long they are kept, and which go where.
//!
//! What is left out: no list of public suffixes (a domain without a dot is refused).

use std::cmp::Reverse;

use cookie::Cookie;
use url::{Host, Url};

use crate::model::OwnCookie;
use crate::template::Template;

/// Cookies of one user at most; the oldest goes.
const COOKIES_MAX: usize = 180;
/// Bytes of a cookie at most, as browsers have it; a longer one is not taken.
const COOKIE_BYTES_MAX: usize = 4096;

/// Cookies, the oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jar {
    kept: Vec<Kept>,
    /// Which of the cookies of the group's own a server has replaced.
    replaced: Vec<usize>,
}

/// A cookie of the group's own, put together.
pub(crate) struct Own {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) domain: String,
    pub(crate) with_subdomains: bool,
    pub(crate) path: String,
    pub(crate) secure: bool,
}

#[derive(Debug, Clone)]
struct Kept {
    name: Box<str>,
    value: Box<str>,
    domain: Box<str>,
    /// Whether it goes to this very host and none below it.
    host_only: bool,
    path: Box<str>,
    /// Whether it goes to secured servers alone.
    secure: bool,
    /// Milliseconds since 1970; `None` as long as the user lives.
    expires_ms: Option<i64>,
}

impl Jar {
    /// Forgets all, so that those of the group's own are there again.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        self.replaced.clear();
    }

    /// Takes the value of a `Set-Cookie` field of an answer to `url`; what is no cookie is not taken. `own` are the group's own
    /// cookies.
    pub(crate) fn take(&mut self, field: &str, url: &Url, epoch_ms: i64, own: &[OwnCookie]) {
        if field.len() > COOKIE_BYTES_MAX {
            return;
        }
        let Ok(cookie) = Cookie::parse(field) else { return };
        let Some(kept) = kept(&cookie, url, epoch_ms) else { return };
        let replaced = own.iter().enumerate().filter(|(_, own)| kept.replaces(own));
        self.replaced.extend(replaced.map(|(place, _)| place));
        self.replaced.sort_unstable();
        self.replaced.dedup();
        self.kept.retain(|other| {
            !(other.name == kept.name && other.domain == kept.domain && other.path == kept.path)
        });
        if kept.expires_ms.is_some_and(|end| end <= epoch_ms) {
            return;
        }
        if self.kept.len() >= COOKIES_MAX {
            self.kept.remove(0);
        }
        self.kept.push(kept);
    }

    /// Whether a server has replaced the cookie at this place among the group's own.
    pub(crate) fn is_replaced(&self, place: usize) -> bool {
        self.replaced.binary_search(&place).is_ok()
    }

    /// The value of the `Cookie` field of a request to `url`, if there is one: longer paths first, and of those with equal ones
    /// `own`.
    pub(crate) fn header(&mut self, url: &Url, epoch_ms: i64, own: &[Own]) -> Option<String> {
        self.kept.retain(|kept| kept.expires_ms.is_none_or(|end| end > epoch_ms));
        let own = own.iter().filter(|own| own.goes_to(url)).map(|own| (own.path.len(), own.pair()));
        let kept = self.kept.iter().filter(|kept| kept.goes_to(url));
        let kept = kept.map(|kept| (kept.path.len(), format!("{}={}", kept.name, kept.value)));
        let mut found: Vec<(usize, String)> = own.chain(kept).collect();
        found.sort_by_key(|(length, _)| Reverse(*length));
        let pairs: Vec<String> = found.into_iter().map(|(_, pair)| pair).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

impl Own {
    fn goes_to(&self, url: &Url) -> bool {
        let domain = self.domain.strip_prefix('.').unwrap_or(&self.domain).to_ascii_lowercase();
        let is_host = url.host_str() == Some(&*domain);
        let path = self.path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(&self.path);
        (is_host || (self.with_subdomains && is_within(url, &domain)))
            && path_fits(url.path(), path)
            && (!self.secure || is_secured(url))
    }

    /// Name and value; one that would end it is quoted.
    fn pair(&self) -> String {
        let Self { name, value, .. } = self;
        if !value.contains([' ', '"', ',', ';', '\\']) {
            return format!("{name}={value}");
        }
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{name}=\"{value}\"")
    }
}

impl Kept {
    /// Whether it takes the place of a cookie of the group's own, as far as that is known without a user's variables.
    fn replaces(&self, own: &OwnCookie) -> bool {
        let is = |template: &Template, text: &str| template.constant() == Some(text);
        is(&own.name, &self.name) && is(&own.domain, &self.domain) && is(&own.path, &self.path)
    }

    fn goes_to(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let domain_fits = if self.host_only { *self.domain == *host } else { is_within(url, &self.domain) };
        let secure_fits = !self.secure || is_secured(url);
        domain_fits && path_fits(url.path(), &self.path) && secure_fits
    }
}

/// What is kept of a cookie, if it may be set by `url`.
fn kept(cookie: &Cookie<'_>, url: &Url, epoch_ms: i64) -> Option<Kept> {
    let secure = cookie.secure() == Some(true);
    // Who reads along might have set it.
    if cookie.name().is_empty() || (secure && !is_secured(url)) {
        return None;
    }
    let host = url.host_str()?;
    let domain = cookie.domain().map(|domain| domain.trim_start_matches('.').to_ascii_lowercase());
    let (domain, host_only) = match domain {
        Some(domain) if !domain.is_empty() && domain != host => {
            if !domain.contains('.') || !is_within(url, &domain) {
                return None;
            }
            (domain, false)
        }
        Some(domain) if domain == host => (domain, matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_)))),
        _ => (host.to_owned(), true),
    };
    let path = match cookie.path() {
        Some(path) if path.starts_with('/') => path,
        _ => default_path(url.path()),
    };
    let at = |seconds: i64| seconds.saturating_mul(1000);
    let expires_ms = match (cookie.max_age(), cookie.expires_datetime()) {
        (Some(age), _) => Some(epoch_ms.saturating_add(at(age.whole_seconds()))),
        (None, expires) => expires.map(|instant| at(instant.unix_timestamp())),
    };
    Some(Kept {
        name: cookie.name().into(),
        value: cookie.value().into(),
        domain: domain.into(),
        host_only,
        path: path.into(),
        secure,
        expires_ms,
    })
}

fn is_secured(url: &Url) -> bool {
    url.scheme() == "https"
}

/// Whether the host of `url` is `domain` or lies below it. An address lies below nothing.
fn is_within(url: &Url, domain: &str) -> bool {
    let Some(Host::Domain(host)) = url.host() else { return url.host_str() == Some(domain) };
    host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

fn path_fits(request: &str, cookie: &str) -> bool {
    let Some(rest) = request.strip_prefix(cookie) else { return false };
    rest.is_empty() || cookie.ends_with('/') || rest.starts_with('/')
}

/// The folder that a path lies in (RFC 6265 5.1.4).
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(end) if end > 0 => &path[..end],
        _ => "/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_700_000_000_000;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    /// The cookies that go to `to` after `from` has set one.
    fn sent(field: &str, from: &str, to: &str) -> Option<String> {
        let mut jar = Jar::default();
        jar.take(field, &url(from), NOW_MS, &[]);
        jar.header(&url(to), NOW_MS, &[])
    }

    #[test]
    fn a_cookie_goes_where_its_domain_and_path_say() {
        let shop = "http://www.shop.example/a/login";
        for (field, to, goes) in [
            ("s=1", "http://www.shop.example/a/", true),
            ("s=1", "http://www.shop.example/a", true),
            ("s=1", "http://www.shop.example/ab", false),
            ("s=1; Path=/", "http://www.shop.example/ab", true),
            ("s=1; Path=/", "http://www.shop.example:81/", true),
            ("s=1; Path=/", "http://shop.example/", false),
            ("s=1; Path=/", "http://x.www.shop.example/", false),
            ("s=1; Path=/; Domain=www.shop.example", "http://x.www.shop.example/", true),
            ("s=1; Path=/; Domain=.shop.example", "http://shop.example/", true),
            ("s=1; Path=/; Domain=hop.example", "http://hop.example/", false),
            ("s=1; Path=/; Domain=other.example", "http://other.example/", false),
            ("s=1; Path=/; Domain=example", "http://shop.example/", false),
            ("s=1; Path=/; Secure", "https://www.shop.example/", false),
        ] {
            assert_eq!(sent(field, shop, to).is_some(), goes, "{field} to {to}");
        }
        let secured = "https://www.shop.example/";
        assert_eq!(sent("s=1; Path=/; Secure", secured, secured), Some("s=1".into()));
        assert_eq!(sent("s=1; Path=/; Secure", secured, "http://www.shop.example/"), None);
        assert_eq!(sent("s=1", "http://127.0.0.1/", "http://127.0.0.1/x"), Some("s=1".into()));
        assert_eq!(sent("s=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/"), None);
    }

    #[test]
    fn it_is_kept_until_it_expires_or_is_replaced() {
        let here = url("http://a.example/");
        let mut jar = Jar::default();
        for field in [
            "short=1; Max-Age=10",
            "past=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT",
            "dashes=1; Expires=Fri, 21-Oct-2095 07:28:00 GMT",
            "twice=1",
            "twice=2",
            "path=1; Path=/x",
            "gone=1",
            "gone=; Max-Age=0",
            "",
            "no cookie",
        ] {
            jar.take(field, &here, NOW_MS, &[]);
        }
        assert_eq!(jar.header(&here, NOW_MS, &[]).unwrap(), "short=1; dashes=1; twice=2");
        assert_eq!(
            jar.header(&url("http://a.example/x"), NOW_MS + 9_999, &[]).unwrap(),
            "path=1; short=1; dashes=1; twice=2"
        );
        assert_eq!(jar.header(&here, NOW_MS + 10_000, &[]).unwrap(), "dashes=1; twice=2");
    }

    #[test]
    fn no_server_can_fill_the_memory() {
        let here = url("http://a.example/");
        let mut jar = Jar::default();
        for number in 0..1000 {
            jar.take(&format!("c{number}=1"), &here, NOW_MS, &[]);
        }
        jar.take(&format!("long={}", "x".repeat(COOKIE_BYTES_MAX)), &here, NOW_MS, &[]);
        assert_eq!(jar.kept.len(), COOKIES_MAX);
        assert_eq!(&*jar.kept[0].name, "c820");
    }

    #[test]
    fn cookies_of_ones_own_go_where_they_are_said_to() {
        let own = |domain: &str, with_subdomains: bool, path: &str, secure: bool, value: &str| Own {
            name: "c".into(),
            value: value.into(),
            domain: domain.into(),
            with_subdomains,
            path: path.into(),
            secure,
        };
        for (own, to, expected) in [
            (own("a.example", false, "/", false, "1"), "http://a.example/x", Some("c=1")),
            (own("A.example", false, "", false, "1"), "http://a.example/x", Some("c=1")),
            (own("a.example", false, "/", false, "1"), "http://b.a.example/", None),
            (own("a.example", true, "/", false, "1"), "http://b.a.example/", Some("c=1")),
            (own(".a.example", true, "/", false, "1"), "http://a.example/", Some("c=1")),
            (own("", true, "/", false, "1"), "http://a.example/", None),
            (own("a.example", true, "/x/", false, "1"), "http://a.example/x", Some("c=1")),
            (own("a.example", true, "/x", false, "1"), "http://a.example/xy", None),
            (own("a.example", true, "/", true, "1"), "http://a.example/", None),
            (own("a.example", true, "/", true, "1"), "https://a.example/", Some("c=1")),
            (own("a.example", true, "/", false, ""), "http://a.example/", Some("c=")),
            (own("a.example", true, "/", false, "a \"b\\"), "http://a.example/", Some(r#"c="a \"b\\""#)),
        ] {
            let what = (own.domain.clone(), own.path.clone());
            assert_eq!(Jar::default().header(&url(to), NOW_MS, &[own]).as_deref(), expected, "{what:?} {to}");
        }
    }

    #[test]
    fn a_servers_cookie_replaces_one_of_ones_own() {
        let here = url("http://a.example/x/y");
        let own = |name: &str, path: &str| OwnCookie {
            name: Template::text(name),
            value: Template::text("own"),
            domain: Template::text("a.example"),
            with_subdomains: true,
            path: Template::text(path),
            secure: false,
        };
        let owns = [own("a", "/"), own("b", "/"), own("a", "/x")];
        let mut jar = Jar::default();
        let replaced = |jar: &Jar| [0, 1, 2].map(|place| jar.is_replaced(place));
        jar.take("a=1; Path=/", &here, NOW_MS, &owns);
        jar.take("a=2; Path=/", &here, NOW_MS, &owns);
        assert_eq!(replaced(&jar), [true, false, false]);
        jar.take("a=3; Max-Age=0", &here, NOW_MS, &owns);
        assert_eq!(replaced(&jar), [true, false, true], "also one that takes it away");
        jar.clear();
        assert_eq!(replaced(&jar), [false; 3]);
    }
}
