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

impl FormField {
    /// Of `name=value`, or of `name=@path` and `name=<path`, whose file `read` reads, the latter as a text and no file; each
    /// with `;type=` behind it.
    pub fn parse(
        text: &str,
        read: impl FnOnce(&str) -> Result<Vec<u8>, PlanError>,
    ) -> Result<Self, PlanError> {
        let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| {
            let help = "write name=value, name=@FILE for a file, or name=<FILE for the text in one";
            PlanError::new(format!("`{text}` is no field of a form"), help)
        })?;
        if name.contains(['"', '\r', '\n']) {
            let what = format!("`{name}` can't be the name of a field");
            return Err(PlanError::new(what, "leave quotes and line ends out of it"));
        }
        let (value, kind) = value.split_once(";type=").map_or((value, None), |(it, kind)| (it, Some(kind)));
        if !kind.unwrap_or_default().bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
            let what = format!("`{}` can't be the type of a field", kind.unwrap_or_default());
            return Err(PlanError::new(what, "write it like image/png"));
        }
        let content_type = kind.map(str::to_owned);
        let Some(path) = value.strip_prefix('@') else {
            let content = match value.strip_prefix('<') {
                Some(path) => read(path)?,
                None => value.as_bytes().to_vec(),
            };
            return Ok(Self { name: name.into(), file_name: None, content_type, content });
        };
        let file_name = path.rsplit('/').next().unwrap_or(path).replace(['"', '\r', '\n'], "_");
        Ok(Self {
            name: name.into(),
            file_name: Some(file_name),
            content_type: content_type.or_else(|| Some("application/octet-stream".into())),
            content: read(path)?,
        })
    }
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
