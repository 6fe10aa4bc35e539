//! What options as curl has them make of a request.

use std::path::Path;

use driver::UnixSocket;
use plan::{PlanError, RequestArguments};
use sources::{Elsewhere, FormField, Proxy, basic_authorization, multipart};

use super::read_body;
use crate::arguments::Hit;
use crate::arguments::request::RequestOptions;

/// Adds what the options say.
pub fn apply(options: &RequestOptions, request: &mut RequestArguments) -> Result<(), PlanError> {
    if let Some(file) = &options.query_from_file {
        request.url = sources::with_query_of(&request.url, file)?;
    }
    let by_options = options.user.as_deref().map(basic_authorization).into_iter();
    for line in by_options.chain(options.cookie.as_deref().map(|it| format!("Cookie: {it}"))) {
        // A field that is written out goes before what an option would make of it, as in curl.
        if !has_field(request, &line) {
            request.headers.push(line);
        }
    }
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
    if has_field(request, &header) {
        let what = "--form has a Content-Type of its own, which says where its parts end";
        return Err(PlanError::new(what, "leave -H 'Content-Type: …' out"));
    }
    request.headers.push(header);
    request.body = body;
    Ok(())
}

/// Whether a request has the field of this line already.
fn has_field(request: &RequestArguments, line: &str) -> bool {
    request.headers.iter().any(|other| name(other) == name(line))
}

/// The name of the field in a line, by which it is told from others.
fn name(line: &str) -> String {
    line.split(':').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Takes the fields out of a copied request that options say anew.
pub fn leave_room(arguments: &Hit, request: &mut RequestArguments) {
    let RequestOptions { user, cookie, form, .. } = &arguments.request;
    let by_options =
        [("authorization", user.is_some()), ("cookie", cookie.is_some()), ("content-type", !form.is_empty())];
    let mut anew: Vec<String> = arguments.headers.iter().map(|line| name(line)).collect();
    anew.extend(by_options.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_owned()));
    request.headers.retain(|line| !anew.contains(&name(line)));
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
