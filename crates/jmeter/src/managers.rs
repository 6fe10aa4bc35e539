//! Managers of headers, cookies, names and passwords, and lookups: what each of them says.

use scenario::{OwnCookie, Template};

use crate::element;
use crate::level::{Kept, Login};
use crate::values::{Fields, joined};

/// How long a cookie manager keeps cookies, and those of its own.
pub(crate) fn cookies(fields: Fields<'_>) -> Result<(Kept, Vec<OwnCookie>), String> {
    const POLICY: &str = "CookieManager.policy";
    let policy = fields.properties.text(POLICY).trim();
    if policy.eq_ignore_ascii_case("ignorecookies") {
        return Ok((Kept::Never, Vec::new()));
    }
    let rows = fields.properties.rows("CookieManager.cookies");
    let own: Vec<OwnCookie> =
        rows.map(|row| own_cookie(Fields::new(row, fields.values))).collect::<Result<_, _>>()?;
    let is_standard = ["", "standard", "standard-strict"].iter().any(|it| policy.eq_ignore_ascii_case(it));
    if !own.is_empty() && !is_standard {
        return Err(format!(
            "{POLICY} is '{policy}', by which cookies of its own are written otherwise; choose standard"
        ));
    }
    if fields.is_true("CookieManager.controlledByThreadGroup", false)? {
        return Ok((Kept::AsGroupSays, own));
    }
    let clears = fields.is_true("CookieManager.clearEachIteration", false)?;
    Ok((if clears { Kept::ForIteration } else { Kept::ForUser }, own))
}

/// JMeter looks at none of the times at which such a cookie expires.
fn own_cookie(row: Fields<'_>) -> Result<OwnCookie, String> {
    Ok(OwnCookie {
        name: row.template(element::NAME)?,
        value: row.template("Cookie.value")?,
        domain: row.template("Cookie.domain")?,
        with_subdomains: row.is_true("Cookie.domain_specified", false)?,
        path: row.template("Cookie.path")?,
        secure: row.is_true("Cookie.secure", false)?,
    })
}

/// The fields of a header manager: those without a name are none.
pub(crate) fn headers(fields: Fields<'_>) -> Result<Vec<(Template, Template)>, String> {
    let mut headers = Vec::new();
    for row in fields.properties.rows("HeaderManager.headers") {
        let row = Fields::new(row, fields.values);
        let name = row.template("Header.name")?;
        if name.constant().is_some_and(|name| name.trim().is_empty()) {
            continue;
        }
        headers.push((name, row.template("Header.value")?));
    }
    Ok(headers)
}

/// The names and passwords of an authorization manager, and what should be known of them.
pub(crate) fn logins(fields: Fields<'_>) -> Result<(Vec<Login>, Option<String>), String> {
    let mut logins = Vec::new();
    let mut note = None;
    for row in fields.properties.rows("AuthManager.auth_list") {
        match row.text("Authorization.mechanism").trim() {
            "BASIC" => {}
            "BASIC_DIGEST" | "" => {
                note = Some(
                    "HTTP Authorization Manager: name and password are sent with every request (Basic), and no \
                     Digest is answered"
                        .to_owned(),
                );
            }
            other => return Err(format!("Authorization.mechanism is {other}; only BASIC is supported")),
        }
        let row = Fields::new(row, fields.values);
        let (user, password) =
            (row.template("Authorization.username")?, row.template("Authorization.password")?);
        let credentials = joined([user, Template::text(":"), password]);
        logins.push(Login { url: row.fixed("Authorization.url")?.trim().to_owned(), credentials });
    }
    Ok((logins, note))
}

/// Makes sure that a DNS cache manager has the system look names up, as JMeter does without one. What should be known of it: it keeps
/// what was found for a thread, or for an iteration.
pub(crate) fn lookups(fields: Fields<'_>) -> Result<Option<String>, String> {
    const HOSTS: &str = "DNSCacheManager.hosts";
    const SERVERS: &str = "DNSCacheManager.servers";
    if fields.properties.rows(HOSTS).next().is_some() {
        return Err(format!(
            "{HOSTS} has addresses of its own for names; write the address where the name is, or both into /etc/hosts"
        ));
    }
    // Without a server JMeter asks the system all the same.
    let has_servers = !fields.properties.texts(SERVERS).is_empty();
    if has_servers && fields.is_true("DNSCacheManager.isCustomResolver", false)? {
        return Err(format!("{SERVERS} are asked for names; here the system looks them up"));
    }
    let note =
        "DNS Cache Manager: names are looked up once, before the start, and in JMeter with each iteration";
    Ok(fields.is_true("DNSCacheManager.clearEachIteration", false)?.then(|| note.to_owned()))
}
