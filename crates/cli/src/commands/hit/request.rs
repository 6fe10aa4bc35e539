//! What options as curl has them make of a request.

use std::path::Path;

use driver::UnixSocket;
use plan::{PlanError, RequestArguments, without_user};
use sources::{Elsewhere, Fields, FormField, Proxy, basic_authorization, multipart};

use super::read_body;
use crate::arguments::Hit;
use crate::arguments::request::RequestOptions;

/// Programs whose command lines are taken for curl's: those that people use for a request, and what browsers copy one as.
const OTHER_PROGRAMS: [&str; 12] = [
    "wget",
    "wget2",
    "http",
    "https",
    "xh",
    "xhs",
    "ab",
    "fetch",
    "iwr",
    "irm",
    "invoke-webrequest",
    "invoke-restmethod",
];

/// Fields that each request has, given or not: they can't be taken out, and without a value they go out so.
const ALWAYS_SENT: [&str; 2] = ["host", "user-agent"];

/// Refuses a URL as other tools take it, without a scheme or with a user, and says how that is written here.
pub fn typed_url(text: &str) -> Result<(), PlanError> {
    let of_scheme = |it: char| it.is_ascii_alphanumeric() || "+-.".contains(it);
    let Some((_, rest)) = text.split_once("://").filter(|(scheme, _)| scheme.chars().all(of_scheme)) else {
        let is_named = ["http:", "https:"]
            .iter()
            .any(|scheme| text.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme)));
        if is_named || !text.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '[') {
            return Ok(());
        }
        // What stands before an @ may be a password, and nobody can type what is left of it.
        let help = if text.contains('@') {
            "write it like http://127.0.0.1:8080/path".to_owned()
        } else {
            format!("write http://{text}, or https:// before it")
        };
        let what = format!("`{}` is not a URL: it does not say http:// or https://", without_user(text));
        return Err(PlanError::new(what, help));
    };
    // Behind it there may be an @ in a path or a query.
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') && !authority.contains("{{") {
        let what = format!("`{}` carries a user name or password", without_user(text));
        return Err(PlanError::new(what, "take it out of the URL, and give it by -u USER:PASSWORD"));
    }
    Ok(())
}

/// The request of a copied curl command.
pub fn of_curl(command: &str) -> Result<RequestArguments, PlanError> {
    let of_name = |it: char| it.is_ascii_alphanumeric() || it == '-';
    let command = command.trim_start();
    let (first, rest) = command.split_at(command.find(|it: char| !of_name(it)).unwrap_or(command.len()));
    // By itself, or before a port or a path, it is the name of a host.
    let is_called = rest.starts_with(|it: char| it.is_whitespace() || it == '(');
    let other = Some(first).filter(|it| is_called && OTHER_PROGRAMS.contains(&&*it.to_ascii_lowercase()));
    // What browsers copy for it begins by setting a variable.
    let set = command.strip_prefix('$').and_then(|it| it.split_once('=')).map(|(name, _)| name.trim());
    let is_of_powershell = set.is_some_and(|it| !it.is_empty() && it.chars().all(of_name));
    if let Some(other) = other.or(is_of_powershell.then_some("PowerShell")) {
        let what = format!("--curl takes a command of curl, and this is one of {other}");
        return Err(PlanError::new(
            what,
            "write it as curl has it, or give its URL and options to hit itself",
        ));
    }
    sources::parse_curl(command)
}

/// A line of `-H` as it is sent, as curl has it: `Name:` takes the field out, be it a copied one or an option's, and `Name;` is one
/// without a value.
fn sent(line: &str) -> Option<String> {
    let Some((_, value)) = line.split_once(':') else {
        let without_value = line.trim_end().strip_suffix(';').map(|name| format!("{name}:"));
        return Some(without_value.unwrap_or_else(|| line.to_owned()));
    };
    let is_sent = !value.trim().is_empty() || ALWAYS_SENT.contains(&name(line).as_str());
    is_sent.then(|| line.to_owned())
}

/// Adds what `-H` and the other options say.
pub fn apply(arguments: &Hit, request: &mut RequestArguments) -> Result<(), PlanError> {
    let options = &arguments.request;
    add_fields(arguments, request)?;
    if let Some(file) = &options.query_from_file {
        request.url = sources::with_query_of(&request.url, file)?;
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
    if has_field(request, &header) || is_taken_out(arguments, &header) {
        let what = "--form has a Content-Type of its own, which says where its parts end";
        return Err(PlanError::new(what, "leave -H 'Content-Type: …' out"));
    }
    request.headers.push(header);
    request.body = body;
    Ok(())
}

/// What `-H`, `-u` and `-b` say of every request of a recording or a document, as of one that was copied.
pub fn along(arguments: &Hit) -> Result<Fields, PlanError> {
    let mut request = RequestArguments::default();
    add_fields(arguments, &mut request)?;
    Fields::new(&request.headers, said_anew(arguments))
}

/// Adds the fields of `-H`, `-u` and `-b`.
fn add_fields(arguments: &Hit, request: &mut RequestArguments) -> Result<(), PlanError> {
    let options = &arguments.request;
    request.headers.extend(arguments.headers.iter().filter_map(|line| sent(line)));
    if options.cookie.as_deref().is_some_and(|it| !it.contains('=')) {
        let help =
            "write 'name=value; other=value': files of cookies, as curl takes them there, are not read";
        return Err(PlanError::new("--cookie names no cookie", help));
    }
    let by_options = options.user.as_deref().map(basic_authorization).into_iter();
    for line in by_options.chain(options.cookie.as_deref().map(|it| format!("Cookie: {it}"))) {
        // A field that is written out goes before what an option would make of it, as in curl.
        if !has_field(request, &line) && !is_taken_out(arguments, &line) {
            request.headers.push(line);
        }
    }
    Ok(())
}

/// Whether `-H` says that the field of this line is not sent.
fn is_taken_out(arguments: &Hit, line: &str) -> bool {
    arguments.headers.iter().any(|given| sent(given).is_none() && name(given) == name(line))
}

/// Whether a request has the field of this line already.
fn has_field(request: &RequestArguments, line: &str) -> bool {
    request.headers.iter().any(|other| name(other) == name(line))
}

/// The name of the field in a line, by which it is told from others.
fn name(line: &str) -> String {
    line.split([':', ';']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Takes the fields out of a copied request that options say anew.
pub fn leave_room(arguments: &Hit, request: &mut RequestArguments) {
    let anew = said_anew(arguments);
    request.headers.retain(|line| !anew.contains(&name(line)));
}

/// The names of the fields that options say, or take out.
fn said_anew(arguments: &Hit) -> Vec<String> {
    let RequestOptions { user, cookie, form, .. } = &arguments.request;
    let by_options =
        [("authorization", user.is_some()), ("cookie", cookie.is_some()), ("content-type", !form.is_empty())];
    let mut anew: Vec<String> = arguments.headers.iter().map(|line| name(line)).collect();
    anew.extend(by_options.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_owned()));
    anew
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
    // Where it was meant to go elsewhere, a load must not go where it was not.
    if first.is_none() && !all.is_empty() {
        let what =
            format!("no --connect-to and no --resolve is about {host} and port {port}, where the URL leads");
        return Err(PlanError::new(what, "name that host and port in one of them, or leave them out"));
    }
    Ok(first.unwrap_or_else(|| (host.to_owned(), port)))
}
