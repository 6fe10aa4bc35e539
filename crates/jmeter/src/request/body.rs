//! Where a request's parameters go: its query, a form, or its body.

use std::path::PathBuf;

use scenario::{Call, FormContent, FormPart, Function, Multipart, Piece, Template};

use super::{Argument, Contents, SentFile};
use crate::values::joined;

/// What JMeter sends with a form, and with a body that no header manager gives a type.
const FORM_TYPE: &str = "application/x-www-form-urlencoded; charset=UTF-8";
const TEXT_TYPE: &str = "text/plain; charset=UTF-8";

/// What a request carries.
#[derive(Default)]
pub(super) struct Payload {
    /// Behind the URL.
    pub query: Option<Template>,
    /// A form, as the scenario's [`scenario::RequestStep::form`].
    pub form: Vec<(Template, Template, bool)>,
    /// The body.
    pub body: Template,
    /// A file that is the body.
    pub body_file: Option<PathBuf>,
    /// A body of several parts.
    pub multipart: Option<Multipart>,
    /// The body's type, unless a header field says it.
    pub content_type: Option<Template>,
}

/// What a request of this method carries. `is_whole` is whether its URL is whole as it stands, to which JMeter adds no query.
pub(super) fn payload(
    method: Option<&str>,
    is_whole: bool,
    mut contents: Contents,
) -> Result<Payload, String> {
    let is_body = matches!(contents.files.as_slice(), [file] if file.name.0.is_empty());
    let are_parts = !contents.files.is_empty() && !is_body;
    if contents.in_parts || are_parts {
        return in_parts(method, contents);
    }
    match contents.files.pop() {
        Some(file) => of_file(method, &contents, file),
        None => of_arguments(method, contents.raw, is_whole, contents.arguments),
    }
}

/// The same of parameters alone.
fn of_arguments(
    method: Option<&str>,
    raw: bool,
    is_whole: bool,
    arguments: Vec<Argument>,
) -> Result<Payload, String> {
    let nameless = !arguments.is_empty() && arguments.iter().all(|argument| argument.name.0.is_empty());
    let is_body = raw || nameless;
    let in_query = |arguments| if is_whole { Vec::new() } else { form(arguments) };
    match method {
        Some("POST" | "PUT" | "PATCH") if is_body => Ok(body(arguments)),
        // JMeter gives these a body only where there is one.
        Some("GET" | "DELETE") if is_body && !arguments.is_empty() => Ok(body(arguments)),
        Some("POST" | "PUT" | "PATCH") => Ok(Payload {
            form: body_form(arguments),
            content_type: Some(Template::text(FORM_TYPE)),
            ..Payload::default()
        }),
        Some("GET") => Ok(Payload { form: in_query(arguments), ..Payload::default() }),
        // JMeter sends them twice: in the query, and as a form.
        Some("DELETE") => Ok(Payload {
            body: encoded_form(&body_form(arguments.clone())),
            form: in_query(arguments),
            content_type: Some(Template::text(FORM_TYPE)),
            ..Payload::default()
        }),
        Some("OPTIONS") if !is_body => {
            let query = encoded_form(&in_query(arguments));
            Ok(Payload { query: (!query.0.is_empty()).then_some(query), ..Payload::default() })
        }
        _ if arguments.is_empty() => Ok(Payload::default()),
        Some(method) => {
            Err(format!("parameters of a {method} request are not sent, by JMeter neither; remove them"))
        }
        None => Err("its method is known only later, and with it where its parameters go".into()),
    }
}

/// The same where a file is the body, which JMeter sends without parameters only.
fn of_file(method: Option<&str>, contents: &Contents, file: SentFile) -> Result<Payload, String> {
    match method {
        Some("POST" | "PUT" | "PATCH") if contents.arguments.is_empty() && !contents.raw => Ok(Payload {
            body_file: Some(file.path),
            content_type: (!file.kind.0.is_empty()).then_some(file.kind),
            ..Payload::default()
        }),
        _ => {
            Err("HTTPsampler.Files: a file is sent by POST, PUT and PATCH only, and without parameters"
                .into())
        }
    }
}

/// The same where the parameters and the files are parts of the body.
fn in_parts(method: Option<&str>, contents: Contents) -> Result<Payload, String> {
    let Contents { raw, arguments, files, as_browsers, .. } = contents;
    if !matches!(method, Some("POST" | "PUT" | "PATCH")) {
        return Err(
            "HTTPSampler.DO_MULTIPART_POST: a body of several parts is sent by POST, PUT and PATCH only"
                .into(),
        );
    }
    if raw {
        return Err(
            "HTTPSampler.postBodyRaw: JMeter leaves the body out where it is to have several parts; give its \
             parameters names"
                .into(),
        );
    }
    // One without a name is left out, as in JMeter.
    let named = arguments.into_iter().filter(|argument| !argument.name.0.is_empty());
    let texts = named.map(|Argument { name, value, kind, .. }| {
        type_of_text(&kind).map(|kind| FormPart { name, kind, content: FormContent::Text(value) })
    });
    let files = files.into_iter().map(|SentFile { path, name, kind }| {
        if name.0.is_empty() || kind.constant().is_some_and(|kind| kind.trim().is_empty()) {
            let file = path.display();
            return Err(format!(
                "HTTPsampler.Files: {file} has no parameter name or no MIME type, and JMeter does not send it"
            ));
        }
        Ok(FormPart { name, kind: type_of_file(kind), content: FormContent::File(path) })
    });
    let parts = texts.chain(files).collect::<Result<_, String>>()?;
    Ok(Payload { multipart: Some(Multipart { parts, explicit: !as_browsers }), ..Payload::default() })
}

/// The type of a text that is a part of a body.
fn type_of_text(kind: &Template) -> Result<Template, String> {
    match kind.constant().map(str::trim) {
        Some("") => Ok(Template::text("text/plain; charset=UTF-8")),
        Some(kind) if kind.contains(';') => Ok(type_of_file(Template::text(kind))),
        Some(kind) => Ok(Template::text(format!("{}; charset=UTF-8", kind.to_ascii_lowercase()))),
        None => Err("HTTPArgument.content_type may differ from request to request".into()),
    }
}

/// A type as JMeter writes it, which reads it and puts it together again.
fn type_of_file(kind: Template) -> Template {
    match kind.constant() {
        Some(text) => Template::text(text.split(';').map(str::trim).collect::<Vec<_>>().join("; ")),
        None => kind,
    }
}

fn body(arguments: Vec<Argument>) -> Payload {
    let value = |argument: Argument| if argument.encode { encoded(argument.value) } else { argument.value };
    let body = joined(arguments.into_iter().map(value));
    Payload { body, content_type: Some(Template::text(TEXT_TYPE)), ..Payload::default() }
}

/// Parameters without a name are left out, as in JMeter.
fn form(arguments: Vec<Argument>) -> Vec<(Template, Template, bool)> {
    let named = arguments.into_iter().filter(|argument| !argument.name.0.is_empty());
    named.map(|argument| (argument.name, argument.value, argument.encode)).collect()
}

/// The same in a body. What is said to be encoded already is decoded there and encoded again, as in JMeter, so that a blank is
/// none in what is sent.
fn body_form(arguments: Vec<Argument>) -> Vec<(Template, Template, bool)> {
    let encoded = |(name, value, is_plain): (Template, Template, bool)| {
        if is_plain { (name, value, true) } else { (decoded(name), decoded(value), true) }
    };
    form(arguments).into_iter().map(encoded).collect()
}

/// The text as whoever reads a form takes it.
fn decoded(text: Template) -> Template {
    if text.constant().is_some_and(|it| !it.contains(['%', '+'])) {
        return text;
    }
    Template(vec![Piece::Call(Call { function: Function::UrlDecode, arguments: vec![text] })])
}

/// Fields as a query or a form has them.
fn encoded_form(fields: &[(Template, Template, bool)]) -> Template {
    let mut parts = Vec::new();
    for (name, value, encode) in fields {
        if !parts.is_empty() {
            parts.push(Template::text("&"));
        }
        let part = |text: &Template| if *encode { encoded(text.clone()) } else { text.clone() };
        parts.extend([part(name), Template::text("="), part(value)]);
    }
    joined(parts)
}

/// The text as forms write it.
fn encoded(text: Template) -> Template {
    match text.constant() {
        Some(text) => {
            Template::text(url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>())
        }
        None => Template(vec![Piece::Call(Call { function: Function::UrlEncode, arguments: vec![text] })]),
    }
}
