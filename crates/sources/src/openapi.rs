//! An OpenAPI 3 document, JSON or YAML: each operation whose parameters and body have examples is a request.

mod examples;
mod written;

use percent_encoding::percent_decode_str;
use plan::PlanError;
use scenario::{Pick, RequestStep, Step};
use serde_json::{Map, Value};
use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;
use url::Url;

use self::written::{encoded, of_query, plain, simple, written};
use crate::along::Along;
use crate::step::{SourceOptions, Sourced, request};

const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
/// References within references beyond which a document is taken to refer to itself, and schemas within schemas.
const REFERENCES_MAX: u32 = 32;
/// What all examples of a document may come to: parts that are looked at, and bytes that are copied. A document whose schemas
/// have each several of the next, or that refers to a long example from many places, comes to more than any machine holds.
const EXAMPLES_MAX: u64 = 64 << 20;
/// Parameters of an operation at most, its path's included.
const PARAMETERS_MAX: usize = 500;
/// What is written around each part of a form, in bytes and no less.
const PART_BYTES: u64 = 256;

/// Where the operations of a document go.
enum Goal {
    /// To the first server that it names for each.
    Documented,
    /// All to this one.
    At(Url),
    /// To this host, whose URL says no path: below the path of the server that is named for each.
    OnHost(Url),
}

impl Goal {
    fn of(options: &SourceOptions) -> Result<Self, PlanError> {
        Ok(match options.base_url()? {
            None => Self::Documented,
            Some(base) if options.base_says_path() => Self::At(base),
            Some(base) => Self::OnHost(base),
        })
    }

    /// Where operations go for which these `servers` are named.
    fn server(&self, servers: Option<&Value>) -> Result<Url, PlanError> {
        match self {
            Self::Documented => server(servers),
            Self::At(base) => Ok(base.clone()),
            Self::OnHost(base) => Ok(on_host(base, servers)),
        }
    }
}

/// The operations of the document `text`, one at random at a time. They go to `options.base`, or to the first server that the
/// document names for each. A base without a path is another host, and the server's path stays.
pub fn parse_openapi(name: &str, text: &str, options: &SourceOptions) -> Result<Sourced, PlanError> {
    let document = document(text)?;
    let goal = Goal::of(options)?;
    let base = goal.server(document.get("servers"))?;
    let (mut steps, mut left_out, mut told) = (Vec::new(), Vec::new(), Told::default());
    let (room, mut along) = (Cell::new(EXAMPLES_MAX), Along::of(&options.fields));
    for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
        // What begins so is of whoever wrote the document, and no path.
        if path.starts_with("x-") {
            continue;
        }
        let item = match check_path(path).and_then(|()| found(&document, item)) {
            Ok(item) => item,
            Err(why) => {
                left_out.push(format!("{path}: {why}"));
                continue;
            }
        };
        for method in METHODS {
            let Some(described) = item.get(method) else { continue };
            let open = RefCell::default();
            let operation = Operation { document: &document, path, item, described, room: &room, open };
            let own = operation.own_servers().map(|servers| goal.server(Some(servers))).transpose();
            let step = own.map_err(|error| error.what).and_then(|own| {
                let server = own.as_ref().unwrap_or(&base);
                let (mut step, is_bare) = operation.step(method, server)?;
                along.put_on(&mut step, server);
                told.add(&operation, method, server, (is_bare, &along));
                Ok(Step::Request(Box::new(step)))
            });
            if room.get() == 0 {
                let what = format!("the examples of its operations come to more than {EXAMPLES_MAX} bytes");
                return Err(PlanError::new(
                    what,
                    "shorten them, or schemas that have several of one another",
                ));
            }
            match step {
                Ok(step) => steps.push((NonZeroU32::MIN, step)),
                Err(why) => left_out.push(format!("{} {path}: {why}", method.to_ascii_uppercase())),
            }
        }
    }
    let steps = if steps.is_empty() { Vec::new() } else { vec![Step::OneOf { pick: Pick::Random, steps }] };
    let mut sourced = options.scenario(name.to_owned(), steps, left_out)?;
    along.complete(&mut sourced.scenario)?;
    Ok(Sourced { notes: told.notes(&goal), ..sourced })
}

/// What is told of operations that are sent.
#[derive(Default)]
struct Told {
    /// The first path of a server that one of them is below.
    below: Option<String>,
    /// Those that the document wants a key for, and that bring none.
    guarded: Vec<String>,
    /// Those that have a body by the document, and are sent without.
    bare: Vec<String>,
}

impl Told {
    /// Adds one to this server: whether it is sent without a body that is described, and what is sent along.
    fn add(
        &mut self,
        operation: &Operation<'_>,
        method: &str,
        server: &Url,
        (is_bare, along): (bool, &Along<'_>),
    ) {
        let name = || format!("{} {}", method.to_ascii_uppercase(), operation.path);
        if self.below.is_none() && server.path() != "/" {
            self.below = Some(server.path().to_owned());
        }
        if lacks_key(operation.document, operation.described, along) {
            self.guarded.push(name());
        }
        if is_bare {
            self.bare.push(name());
        }
    }

    fn notes(self, goal: &Goal) -> Vec<String> {
        let below = self.below.filter(|_| matches!(goal, Goal::OnHost(_))).map(|below| {
            format!(
                "requests go below the path of the server that the document names for them, as `{below}`; with a / at the \
                 end of --base they do not"
            )
        });
        let guarded = of_some(&self.guarded).map(|them| {
            format!(
                "no key is sent, which the document wants for {them}: a server that asks for one refuses what has \
                 none; -H, -u or -b sends it, and one in the URL a scenario (docs/sources.md)"
            )
        });
        let bare = of_some(&self.bare).map(|them| {
            format!(
                "no body is sent with {them}: it has no example, and the document does not say that it is \
                 required"
            )
        });
        [below, guarded, bare].into_iter().flatten().collect()
    }
}

/// The first of some operations, and how many more there are; none of none.
fn of_some(names: &[String]) -> Option<String> {
    let (first, others) = names.split_first()?;
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    Some(format!("`{first}`{more}"))
}

/// Refuses what is no path, as with a `?` or a `#`, by which some tell operations of one path apart.
fn check_path(path: &str) -> Result<(), String> {
    if !path.starts_with('/') {
        return Err("it does not begin with a /, as paths do".into());
    }
    if path.contains(['?', '#']) {
        return Err("it has a ? or a #, which no path has; describe its query by parameters".into());
    }
    Ok(())
}

/// Whether an operation, by how it is `described`, is refused to whoever brings no key: by what it says itself, else by what the
/// document says for all.
pub(crate) fn wants_key(document: &Value, described: &Value) -> bool {
    // Each is enough, and one that is empty lets anybody in.
    let has_some = |it: &Value| it.as_object().is_some_and(|keys| !keys.is_empty());
    let all = security(document, described);
    !all.is_empty() && all.iter().all(has_some)
}

/// The sets of keys of which an operation wants one, whole.
fn security<'a>(document: &'a Value, described: &'a Value) -> &'a [Value] {
    let all = described.get("security").or_else(|| document.get("security")).and_then(Value::as_array);
    all.map(Vec::as_slice).unwrap_or_default()
}

/// Whether an operation wants a key, and none that it would take is sent `along`.
fn lacks_key(document: &Value, described: &Value, along: &Along<'_>) -> bool {
    let is_whole = |keys: &Map<String, Value>| keys.keys().all(|name| brings(document, name, along));
    let is_enough = |it: &Value| it.as_object().is_some_and(is_whole);
    wants_key(document, described) && !security(document, described).iter().any(is_enough)
}

/// Whether the key of the scheme `name` is sent `along`, where a field can be it.
fn brings(document: &Value, name: &str, along: &Along<'_>) -> bool {
    let all = document.get("components").and_then(|it| it.get("securitySchemes"));
    let scheme = all.and_then(|all| all.get(name)).and_then(|it| found(document, it).ok());
    let of = |key: &str| scheme.and_then(|it| it.get(key)).and_then(Value::as_str);
    match (of("type"), of("in"), of("name")) {
        (Some("http" | "oauth2" | "openIdConnect"), ..) => along.value("authorization").is_some(),
        (Some("apiKey"), Some("header"), Some(key)) => along.value(key).is_some(),
        (Some("apiKey"), Some("cookie"), Some(key)) => along.value("cookie").is_some_and(|cookies| {
            cookies.split(';').filter_map(|it| it.split_once('=')).any(|(name, _)| name.trim() == key)
        }),
        _ => false,
    }
}

/// The document, if it is one of OpenAPI 3.
fn document(text: &str) -> Result<Value, PlanError> {
    let help = "give an OpenAPI 3 document, JSON or YAML";
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // All JSON is YAML, whose reader has bounds for what is written by hand: long documents of programs are beyond them.
    let document: Value = serde_json::from_str(text).or_else(|_| {
        // As YAML 1.2 has them, which OpenAPI asks for: `no` is Norway, and 01234 is where somebody lives.
        let options = serde_saphyr::options! {
            strict_booleans: true,
            leading_zero_numbers_as_strings: true,
            underscored_numbers_as_strings: true,
        };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            // The lines after the first show the place once more.
            let why = error.to_string();
            let why = why.lines().next().unwrap_or_default();
            PlanError::new(format!("it is no OpenAPI document ({why})"), help)
        })
    })?;
    // In YAML a 3.1 without quotes is a number.
    let of = |key: &str| document.get(key).filter(|it| it.is_string() || it.is_number()).map(plain);
    match (of("openapi"), of("swagger")) {
        (Some(version), _) if version.starts_with("3.") => Ok(document),
        (Some(version), _) => Err(PlanError::new(format!("its `openapi` is `{version}` and not 3"), help)),
        (None, Some(version)) => {
            let what = format!("it is a document of Swagger {version} and not 3");
            Err(PlanError::new(what, "convert it to OpenAPI 3, as with Swagger's converter"))
        }
        (None, None) => Err(PlanError::new("its `openapi` is missing, and not 3", help)),
    }
}

/// What `$ref` refers to, where there is one.
fn found<'a>(document: &'a Value, mut value: &'a Value) -> Result<&'a Value, String> {
    for _ in 0..REFERENCES_MAX {
        let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
        let pointer = reference.strip_prefix('#').map(|it| percent_decode_str(it).decode_utf8_lossy());
        let target = pointer.and_then(|pointer| document.pointer(&pointer));
        value = target.ok_or_else(|| format!("it refers to `{reference}`, which is not in the document"))?;
    }
    Err("it refers to itself".into())
}

/// The URL of the first of `servers`, as it is written and with its variables by their defaults.
fn first_of(servers: Option<&Value>) -> (&str, String) {
    let first = servers.and_then(|all| all.get(0));
    let written = first.and_then(|it| it.get("url")).and_then(Value::as_str).unwrap_or_default();
    let variables = first.and_then(|it| it.get("variables"));
    let mut url = String::new();
    let mut rest = written;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else { break };
        let default = variables.and_then(|all| all.get(name)?.get("default"));
        let Some(default) = default.filter(|_| url.len() as u64 <= EXAMPLES_MAX) else { break };
        url.extend([before, plain(default).as_str()]);
        rest = after;
    }
    url.push_str(rest);
    (written, url)
}

/// `base` with the path of the first of `servers`, which may be written without a host. With a variable that has no default it is
/// not known, and left out.
fn on_host(base: &Url, servers: Option<&Value>) -> Url {
    let (_, url) = first_of(servers);
    let documented = base.join(&url).ok().filter(|it| it.has_host() && !url.contains('{'));
    let mut moved = base.clone();
    moved.set_path(documented.as_ref().map_or("", Url::path));
    moved
}

/// The first of `servers`.
fn server(servers: Option<&Value>) -> Result<Url, PlanError> {
    let (written, url) = first_of(servers);
    match Url::parse(&url) {
        Ok(it) if ["http", "https"].contains(&it.scheme()) && it.has_host() && !url.contains('{') => Ok(it),
        _ => {
            let what = format!("the document's first server `{written}` is none that can be sent to");
            let path = if url.starts_with('/') { url.trim_end_matches('/') } else { "" };
            Err(PlanError::new(what, format!("give --base http://127.0.0.1:8080{path}")))
        }
    }
}

struct Operation<'a> {
    document: &'a Value,
    path: &'a str,
    item: &'a Value,
    described: &'a Value,
    /// What is left of [`EXAMPLES_MAX`]; 0 once it was not enough.
    room: &'a Cell<u64>,
    /// The schemas whose examples are being put together, each within the one before it.
    open: RefCell<Vec<&'a Value>>,
}

/// What is sent for a body.
enum Body {
    /// None is described.
    Nothing,
    /// One that may be left out, and has no example.
    LeftOut,
    /// Its media type, and its text.
    Written(String, String),
}

/// What parameters come to.
#[derive(Default)]
struct Filled {
    path: String,
    query: Vec<String>,
    headers: Vec<(String, String)>,
    cookies: Vec<String>,
}

impl<'a> Operation<'a> {
    /// The servers of this operation or of its path, where one of them has its own.
    fn own_servers(&self) -> Option<&'a Value> {
        let is_some = |it: &&Value| it.as_array().is_some_and(|all| !all.is_empty());
        [self.described, self.item].into_iter().find_map(|it| it.get("servers").filter(is_some))
    }

    /// The step, and whether it is sent without a body that is described.
    fn step(&self, method: &str, base: &Url) -> Result<(RequestStep, bool), String> {
        // Each operation has all of the server's URL in its own, and its parameters' names.
        self.take(base.as_str().len() as u64)?;
        let mut filled = Filled { path: self.path.to_owned(), ..Filled::default() };
        for parameter in self.parameters()? {
            self.fill(parameter, &mut filled)?;
        }
        let Filled { path, query, mut headers, cookies } = filled;
        if path.contains('{') {
            return Err("its path has a parameter that is not described".into());
        }
        if !cookies.is_empty() {
            headers.push(("Cookie".into(), cookies.join("; ")));
        }
        let body = self.body()?;
        let is_bare = matches!(body, Body::LeftOut);
        let text = match body {
            Body::Written(kind, text) => {
                headers.push(("Content-Type".into(), kind));
                text
            }
            Body::Nothing | Body::LeftOut => String::new(),
        };
        let mut url = base.clone();
        url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
        url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
        Ok((request(&method.to_ascii_uppercase(), &url, &headers, &text), is_bare))
    }

    /// Puts the example of a parameter to its place.
    fn fill(&self, parameter: &'a Value, filled: &mut Filled) -> Result<(), String> {
        let name = parameter.get("name").and_then(Value::as_str).unwrap_or_default();
        self.take(name.len() as u64)?;
        let place = parameter.get("in").and_then(Value::as_str);
        // It follows from the body (OpenAPI 3.1, section 4.8.12).
        if place == Some("header") && name.eq_ignore_ascii_case("content-type") {
            return Ok(());
        }
        // A path has each of its own, whatever is said.
        let is_required =
            place == Some("path") || parameter.get("required").and_then(Value::as_bool).unwrap_or(false);
        // Nothing is what is not sent, and no text `null`.
        let Some(value) = self.example_of(parameter).filter(|it| !it.is_null()) else {
            return if is_required { Err(format!("its parameter `{name}` has no example")) } else { Ok(()) };
        };
        let explodes = parameter.get("explode").and_then(Value::as_bool);
        let style = parameter.get("style").and_then(Value::as_str);
        let strange =
            |style: &str| format!("its parameter `{name}` is of the style {style}, which is not written");
        match place {
            Some("path") => {
                if let Some(style) = style.filter(|it| *it != "simple") {
                    return Err(strange(style));
                }
                let (place, value) = (format!("{{{name}}}"), simple(&value, explodes, encoded));
                if value.is_empty() {
                    return Err(format!(
                        "its parameter `{name}` has an empty example, which leads elsewhere"
                    ));
                }
                let places = filled.path.matches(&place).count() as u64;
                self.take(places.saturating_mul(value.len() as u64))?;
                filled.path = filled.path.replace(&place, &value);
            }
            Some("query") => {
                let style = style.unwrap_or("form");
                self.take((name.len() as u64).saturating_mul(parts(&value)))?;
                let written = of_query(name, &value, style, explodes).ok_or_else(|| strange(style))?;
                filled.query.extend((!written.is_empty()).then_some(written));
            }
            Some("header") => filled.headers.push((name.to_owned(), simple(&value, explodes, str::to_owned))),
            Some("cookie") => {
                filled.cookies.push(format!("{name}={}", simple(&value, explodes, str::to_owned)));
            }
            other => return Err(format!("its parameter `{name}` is in {other:?}")),
        }
        Ok(())
    }

    /// Of the operation and of its path; where both have one of a name and place, the operation's.
    fn parameters(&self) -> Result<Vec<&'a Value>, String> {
        let of = |it: &'a Value| it.get("parameters").and_then(Value::as_array).into_iter().flatten();
        let count = of(self.described).count() + of(self.item).count();
        if count > PARAMETERS_MAX {
            return Err(format!("it has {count} parameters, more than {PARAMETERS_MAX}"));
        }
        let mut all: Vec<&Value> =
            of(self.described).map(|it| found(self.document, it)).collect::<Result<_, _>>()?;
        let same = |a: &Value, b: &Value| ["name", "in"].iter().all(|key| a.get(key) == b.get(key));
        for shared in of(self.item).map(|it| found(self.document, it)) {
            let shared = shared?;
            if !all.iter().any(|own| same(own, shared)) {
                all.push(shared);
            }
        }
        Ok(all)
    }

    /// The body by its example; an error where one is required and has none.
    fn body(&self) -> Result<Body, String> {
        let Some(body) = self.described.get("requestBody") else { return Ok(Body::Nothing) };
        let body = found(self.document, body)?;
        let content = body.get("content").and_then(Value::as_object);
        let with_example = content.into_iter().flatten().find_map(|(kind, media)| {
            let example = self.example_of(media).filter(|it| !it.is_null())?;
            // Each part of a form has its name once more.
            let names = |(name, value): (&String, &Value)| {
                (name.len() as u64 + PART_BYTES).saturating_mul(parts(value))
            };
            let fields = example.as_object().filter(|_| kind.contains("form")).into_iter().flatten();
            self.takes(fields.map(names).fold(0, u64::saturating_add)).then_some(())?;
            let is_text = media.get("schema").is_some_and(|it| is_text(self.resolved(it)));
            written(kind, &example, is_text)
        });
        let is_required = body.get("required").and_then(Value::as_bool).unwrap_or(false);
        match with_example {
            Some((kind, text)) => Ok(Body::Written(kind, text)),
            None if is_required => Err("its body has no example".into()),
            None if content.is_none_or(Map::is_empty) => Ok(Body::Nothing),
            None => Ok(Body::LeftOut),
        }
    }

    /// What `$ref` refers to, or what refers to nothing, which has no example.
    fn resolved(&self, value: &'a Value) -> &'a Value {
        found(self.document, value).unwrap_or(value)
    }

    /// Takes some of the room; false where there is too little, and then there is none any more.
    fn takes(&self, size: u64) -> bool {
        let left = self.room.get().checked_sub(size);
        self.room.set(left.unwrap_or(0));
        left.is_some()
    }

    fn take(&self, size: u64) -> Result<(), String> {
        if self.takes(size) { Ok(()) } else { Err("there is no room for it".into()) }
    }
}

/// How often a field of this value is written where lists and objects are written by their parts.
fn parts(value: &Value) -> u64 {
    match value {
        Value::Array(all) => all.len() as u64,
        Value::Object(fields) => fields.len() as u64,
        _ => 1,
    }
}

/// Whether a schema says that it is a text; one of 3.1 may be other things as well.
fn is_text(schema: &Value) -> bool {
    let is_it = |it: &Value| it.as_str() == Some("string");
    schema.get("type").is_some_and(|it| is_it(it) || it.as_array().is_some_and(|all| all.iter().any(is_it)))
}
