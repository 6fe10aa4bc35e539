//! Parts of a request as curl's options say them: who asks, a form, and where the connection goes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use plan::PlanError;

/// The header by which somebody is known: `user:password`. Whoever names no password has an empty one: without a colon it would be
/// none of this scheme (RFC 7617, section 2).
pub fn basic_authorization(user: &str) -> String {
    let colon = if user.contains(':') { "" } else { ":" };
    format!("Authorization: Basic {}", STANDARD.encode(format!("{user}{colon}")))
}

/// A field of a form, filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormField {
    /// Its name.
    pub name: String,
    /// Of a file, its name.
    pub file_name: Option<String>,
    /// Of a file, what it is.
    pub content_type: Option<String>,
    /// What is in it.
    pub content: Vec<u8>,
}

/// What may stand behind the value of a field, each behind a `;`.
const OF_A_PART: [&str; 4] = ["type=", "filename=", "headers=", "encoder="];

impl FormField {
    /// Of `name=value`, or of `name=@path` and `name=<path`, whose file `read` reads, the latter as a text and no file; each
    /// with `;type=` and `;filename=` behind it. A value or a path between double quotes is what is between them, as in curl.
    pub fn parse(
        text: &str,
        read: impl FnOnce(&str) -> Result<Vec<u8>, PlanError>,
    ) -> Result<Self, PlanError> {
        let (name, value) = named(text)?;
        let (is_file, is_read, value) = match value.as_bytes().first() {
            Some(b'@') => (true, true, &value[1..]),
            Some(b'<') => (false, true, &value[1..]),
            _ => (false, false, value),
        };
        let (value, behind) = quoted(value).unwrap_or_else(|| {
            let end = part_in(value).map_or(value.len(), |(at, ..)| at);
            (value[..end].to_owned(), &value[end..])
        });
        let (mut content_type, mut file_name) = (None, None);
        let mut rest = behind;
        while let Some((_, what, said)) = part_in(rest) {
            let end = part_in(said).map_or(said.len(), |(at, ..)| at);
            let (own, next) = said.split_at(end);
            let own = quoted(own).map_or_else(|| own.trim_end().to_owned(), |(own, _)| own);
            match what {
                "type=" => content_type = Some(kind(own)?),
                "filename=" => file_name = Some(own),
                other => {
                    let what = format!("`;{other}` behind a field of a form is not understood");
                    return Err(PlanError::new(what, "leave it out, or put the value between double quotes"));
                }
            }
            rest = next;
        }
        if is_file {
            // Without more said it is a file of its own name.
            file_name = file_name.or_else(|| Some(value.rsplit('/').next().unwrap_or(&value).to_owned()));
            content_type = content_type.or_else(|| Some("application/octet-stream".into()));
        }
        Ok(Self {
            name: name.into(),
            file_name: file_name.map(|it| it.replace(['"', '\r', '\n'], "_")),
            content_type,
            content: if is_read { read(&value)? } else { value.into_bytes() },
        })
    }

    /// Of `name=value`, of which all is the value (`--form-string`).
    pub fn as_it_stands(text: &str) -> Result<Self, PlanError> {
        let (name, value) = named(text)?;
        Ok(Self { name: name.into(), file_name: None, content_type: None, content: value.into() })
    }
}

/// The name of a field, and what stands behind its `=`.
fn named(text: &str) -> Result<(&str, &str), PlanError> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
        let help = "write name=value, name=@FILE for a file, or name=<FILE for the text in one";
        PlanError::new(format!("`{text}` is no field of a form"), help)
    })?;
    if name.contains(['"', '\r', '\n']) {
        let what = format!("`{name}` can't be the name of a field");
        return Err(PlanError::new(what, "leave quotes and line ends out of it"));
    }
    Ok((name, value))
}

/// What a text between double quotes is, and what stands behind it: nothing, or a part of its own. Otherwise the quotes are its
/// own.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?.chars();
    let mut inside = String::new();
    loop {
        match rest.next()? {
            '"' => break,
            // No other letter needs one, so that paths of Windows stay what they are.
            '\\' if rest.as_str().starts_with(['"', '\\']) => inside.extend(rest.next()),
            other => inside.push(other),
        }
    }
    let behind = rest.as_str().trim_start();
    let is_part = part_in(behind).is_some_and(|(at, ..)| at == 0);
    (behind.is_empty() || is_part).then_some((inside, behind))
}

/// The first that stands behind a value: where its `;` is, what it is, and all that follows.
fn part_in(text: &str) -> Option<(usize, &'static str, &str)> {
    text.match_indices(';').find_map(|(at, _)| {
        let behind = text[at + 1..].trim_start();
        OF_A_PART.into_iter().find_map(|what| Some((at, what, behind.strip_prefix(what)?)))
    })
}

/// What a part of a form says that it is.
fn kind(said: String) -> Result<String, PlanError> {
    if said.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
        return Ok(said);
    }
    Err(PlanError::new(format!("`{said}` can't be the type of a field"), "write it like image/png"))
}

/// The header and the body of a form (`multipart/form-data`, RFC 7578): the same of the same fields.
pub fn multipart(fields: &[FormField]) -> (String, Vec<u8>) {
    let boundary_of = |number: u64| format!("proofload-form-{number:016x}");
    let is_within =
        |boundary: &str| fields.iter().any(|it| memmem::find(&it.content, boundary.as_bytes()).is_some());
    let mut number = 0_u64;
    let mut boundary = boundary_of(number);
    while is_within(&boundary) {
        number += 1;
        boundary = boundary_of(number);
    }
    let mut body = Vec::new();
    for field in fields {
        body.extend_from_slice(
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", field.name).as_bytes(),
        );
        if let Some(file_name) = &field.file_name {
            body.extend_from_slice(format!("; filename=\"{file_name}\"").as_bytes());
        }
        if let Some(content_type) = &field.content_type {
            body.extend_from_slice(format!("\r\nContent-Type: {content_type}").as_bytes());
        }
        body.extend_from_slice(b"\r\n\r\n");
        body.extend_from_slice(&field.content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    (format!("Content-Type: multipart/form-data; boundary={boundary}"), body)
}

/// Another place for the connections of a load, as `--connect-to` and `--resolve` of curl say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// For whom it holds; `None` for any host.
    host: Option<String>,
    /// Likewise.
    port: Option<u16>,
    to_host: Option<String>,
    to_port: Option<u16>,
}

impl Elsewhere {
    /// `HOST1:PORT1:HOST2:PORT2`; what is left empty holds for any, or stays.
    pub fn connect_to(text: &str) -> Result<Self, PlanError> {
        let wrong = || {
            let help = "write it as HOST:PORT:OTHER:PORT, as in api.example.org:80:127.0.0.1:8080 or ::127.0.0.1:8080";
            PlanError::new(format!("`{text}` leads nowhere"), help)
        };
        let parts = parts(text);
        let [host, port, to_host, to_port] = parts.as_slice() else { return Err(wrong()) };
        let number = |text: &String| match text.as_str() {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| wrong()),
        };
        let name = |text: &String| (!text.is_empty()).then(|| text.clone());
        Ok(Self { host: name(host), port: number(port)?, to_host: name(to_host), to_port: number(to_port)? })
    }

    /// `HOST:PORT:ADDRESS`.
    pub fn resolve(text: &str) -> Result<Self, PlanError> {
        let wrong = || {
            let help = "write it as HOST:PORT:ADDRESS, as in api.example.org:80:127.0.0.1";
            PlanError::new(format!("`{text}` resolves nothing"), help)
        };
        let parts = parts(text);
        let [host, port, address] = parts.as_slice() else { return Err(wrong()) };
        address.parse::<core::net::IpAddr>().map_err(|_| wrong())?;
        let port = port.parse().map_err(|_| wrong())?;
        Ok(Self {
            host: Some(host.clone()).filter(|it| !it.is_empty() && it != "*"),
            port: Some(port),
            to_host: Some(address.clone()),
            to_port: None,
        })
    }

    /// Where connections to `host` and `port` go, if it says something of them.
    pub fn of(&self, host: &str, port: u16) -> Option<(String, u16)> {
        let is_of = self.host.as_ref().is_none_or(|it| it.eq_ignore_ascii_case(host))
            && self.port.is_none_or(|it| it == port);
        let to_host = || self.to_host.clone().unwrap_or_else(|| host.to_owned());
        is_of.then(|| (to_host(), self.to_port.unwrap_or(port)))
    }
}

/// The parts between colons, but for those of an address in brackets, which are taken off.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_bracketed = false;
    for char in text.chars() {
        match char {
            '[' => is_bracketed = true,
            ']' => is_bracketed = false,
            ':' if !is_bracketed => parts.push(String::new()),
            char => {
                if let Some(part) = parts.last_mut() {
                    part.push(char);
                }
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_names_no_password_has_an_empty_one() {
        assert_eq!(basic_authorization("me"), "Authorization: Basic bWU6");
        assert_eq!(basic_authorization("me:"), basic_authorization("me"));
    }

    #[test]
    fn a_form_is_written_as_browsers_do() {
        let read = |path: &str| {
            assert_eq!(path, "dir/cat.png");
            Ok(b"\x89PNG".to_vec())
        };
        let fields = [
            FormField::parse("name=O'Hara", |_| unreachable!("it names no file")).unwrap(),
            FormField::parse("photo=@dir/cat.png;type=image/png", read).unwrap(),
        ];
        let (header, body) = multipart(&fields);
        assert_eq!(header, "Content-Type: multipart/form-data; boundary=proofload-form-0000000000000000");
        let expected = "--proofload-form-0000000000000000\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nO'Hara\r\n\
                        --proofload-form-0000000000000000\r\nContent-Disposition: form-data; name=\"photo\"; \
                        filename=\"cat.png\"\r\nContent-Type: image/png\r\n\r\n\u{89}PNG\r\n\
                        --proofload-form-0000000000000000--\r\n";
        let expected: Vec<u8> = expected.chars().map(|char| char as u8).collect();
        assert_eq!(body, expected);
    }

    #[test]
    fn a_field_may_have_the_text_in_a_file() {
        let read = |path: &str| {
            assert_eq!(path, "note.txt");
            Ok(b"meow".to_vec())
        };
        let field = FormField::parse("note=<note.txt;type=text/plain", read).unwrap();
        assert_eq!((field.file_name, field.content_type.as_deref()), (None, Some("text/plain")));
        assert_eq!(field.content, b"meow");
    }

    #[test]
    fn a_field_has_the_type_that_is_said_behind_it() {
        let text = "meta={\"a\":1};type=application/json";
        let field = FormField::parse(text, |_| unreachable!("it names no file")).unwrap();
        assert_eq!(field.content, br#"{"a":1}"#);
        assert_eq!(field.content_type.as_deref(), Some("application/json"));
        let wrong = FormField::parse("a=b;type=x\r\nX-Other: 1", |_| Ok(Vec::new())).unwrap_err().to_string();
        assert!(wrong.contains("the type of a field"), "{wrong}");
    }

    /// Postman puts each value between quotes, which curl takes off.
    #[test]
    fn quotes_around_a_value_are_none_of_it() {
        let of = |text: &str| FormField::parse(text, |path| Ok(path.into())).unwrap();
        for (text, content) in [
            ("a=\"b\"", "b"),
            (r#"a="b \"c\" \\ \d""#, r#"b "c" \ \d"#),
            ("a=\"b;type=c\"", "b;type=c"),
            ("a=\"b", "\"b"),
            ("a=\"b\"c", "\"b\"c"),
            ("a=\"b\";c", "\"b\";c"),
            ("a=b\"c\"", "b\"c\""),
            ("a=b;c", "b;c"),
            ("a=", ""),
        ] {
            let due =
                FormField { name: "a".into(), file_name: None, content_type: None, content: content.into() };
            assert_eq!(of(text), due, "{text}");
        }
        let file = of("a=@\"/dir/my cat.png\"; filename=\"x.png\" ;type=image/png;q=1");
        assert_eq!(
            (file.file_name.as_deref(), file.content_type.as_deref()),
            (Some("x.png"), Some("image/png;q=1"))
        );
        assert_eq!(file.content, b"/dir/my cat.png");
        let file = of("a=@/dir/b.txt;type=text/plain;filename=c.txt");
        assert_eq!(
            (file.file_name.as_deref(), file.content_type.as_deref()),
            (Some("c.txt"), Some("text/plain"))
        );
        let refused = FormField::parse("a=b;headers=X-A: b", |_| Ok(Vec::new())).unwrap_err().to_string();
        assert!(refused.contains("`;headers=` behind a field"), "{refused}");
        assert_eq!(FormField::as_it_stands("a=@b;type=c").unwrap().content, b"@b;type=c");
    }

    #[test]
    fn a_boundary_is_in_no_field() {
        let fields = [FormField::parse("a=proofload-form-0000000000000000", |_| Ok(Vec::new())).unwrap()];
        assert!(multipart(&fields).0.ends_with("0000000000000001"));
    }

    #[test]
    fn connections_go_elsewhere_as_curl_has_it() {
        let of = |text: &str| Elsewhere::connect_to(text).unwrap().of("a.org", 80);
        assert_eq!(of("a.org:80:127.0.0.1:8080"), Some(("127.0.0.1".into(), 8080)));
        assert_eq!(of("::[::1]:8080"), Some(("::1".into(), 8080)));
        assert_eq!(of("b.org:80:127.0.0.1:8080"), None);
        assert_eq!(of("a.org:81:127.0.0.1:8080"), None);
        assert_eq!(of("A.org::b.org:"), Some(("b.org".into(), 80)));
        let resolved = Elsewhere::resolve("a.org:80:127.0.0.1").unwrap();
        assert_eq!(resolved.of("a.org", 80), Some(("127.0.0.1".into(), 80)));
        assert_eq!(resolved.of("a.org", 81), None);
        for wrong in ["a.org:80", "a.org:x:b:80", ""] {
            assert!(Elsewhere::connect_to(wrong).is_err(), "{wrong}");
        }
        for wrong in ["a.org:80", "a.org:80:localhost", "a.org::127.0.0.1"] {
            assert!(Elsewhere::resolve(wrong).is_err(), "{wrong}");
        }
    }
}
