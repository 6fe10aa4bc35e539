//! What options as curl has them make of a request.

use std::path::Path;

use driver::UnixSocket;
use plan::{PlanError, RequestArguments};
use sources::{Elsewhere, FormField, Proxy, basic_authorization, multipart};

use super::read_body;
use crate::arguments::request::RequestOptions;

/// Adds what the options say.
pub fn apply(options: &RequestOptions, request: &mut RequestArguments) -> Result<(), PlanError> {
    request.headers.extend(options.user.as_deref().map(basic_authorization));
    request.headers.extend(options.cookie.as_deref().map(|it| format!("Cookie: {it}")));
    // Through a tunnel the server would be told.
    let is_secured = request.url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    if let Some(proxy) = options.proxy.as_deref().filter(|_| !is_secured) {
        let proxy = Proxy::new(proxy, options.proxy_user.as_deref())?;
        request.headers.extend(proxy.header().map(str::to_owned));
    }
    if options.form.is_empty() {
        return Ok(());
    }
    let field = |text: &String| FormField::parse(text, |path| read_body(Path::new(path), "check --form"));
    let fields: Vec<FormField> = options.form.iter().map(field).collect::<Result<_, _>>()?;
    let (header, body) = multipart(&fields);
    request.headers.push(header);
    request.body = body;
    Ok(())
}

/// The socket of this machine that connections go to, where one is named.
pub fn socket(options: &RequestOptions) -> Result<Option<UnixSocket>, PlanError> {
    let Some(path) = &options.unix_socket else { return Ok(None) };
    let most = UnixSocket::PATH_BYTES_MAX;
    let wrong = || {
        let what = format!("--unix-socket {} can't be the path of a socket", path.display());
        PlanError::new(what, format!("write one of 1 to {most} bytes, perhaps from the folder that it is in"))
    };
    UnixSocket::new(path).map(Some).ok_or_else(wrong)
}

/// Where connections to the URL's host and port go.
pub fn where_to(options: &RequestOptions, host: &str, port: u16) -> Result<(String, u16), PlanError> {
    let connect_to = options.connect_to.iter().map(|it| Elsewhere::connect_to(it));
    let all: Vec<Elsewhere> = connect_to
        .chain(options.resolve.iter().map(|it| Elsewhere::resolve(it)))
        .collect::<Result<_, _>>()?;
    let first = all.iter().find_map(|it| it.of(host, port));
    Ok(first.unwrap_or_else(|| (host.to_owned(), port)))
}
