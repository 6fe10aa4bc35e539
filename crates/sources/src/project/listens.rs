//! How a service learns where to listen, as its sources show.

use std::sync::LazyLock;

use fancy_regex::Regex;

use super::{Project, Service};

/// What reads a variable of the environment, in any language, and its name where that is one of a port or an address.
static FROM_ENV: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:process\.env|Bun\.env|env::var(?:_os)?|[gG]etenv|LookupEnv|environ(?:\.get)?|envOr|getEnv)\W{0,4}([A-Z_]*(?:PORT|ADDR|ADDRESS))\b",
    )
});
/// Variables that Node is asked for several at once: `const { PORT = 3000 } = process.env`.
static AT_ONCE: LazyLock<Regex> = LazyLock::new(|| regex(r"\{(?<names>[^{}]*)\}\s*=\s*process\.env\b"));
static NAME: LazyLock<Regex> = LazyLock::new(|| regex(r"\b[A-Z_]*(?:PORT|ADDR|ADDRESS)\b"));
/// Ports of what stands behind a service.
const OF_OTHERS: [&str; 10] =
    ["DB", "DATABASE", "POSTGRES", "PG", "MYSQL", "REDIS", "MONGO", "KAFKA", "SMTP", "METRICS"];
/// What is in the name of a service's own port or address.
const OF_ITSELF: [&str; 6] = ["LISTEN", "BIND", "SERVER", "HTTP", "APP", "WEB"];
/// Where databases, caches, queues and mail servers listen, if nothing else is said.
const USUAL_OF_OTHERS: [u16; 10] = [1433, 1521, 2181, 3306, 5432, 5672, 6379, 9092, 11211, 27017];
/// What stands in a line that reaches another service.
const REACHES: [&str; 9] =
    ["dial", "connect(", "client", "redis", "postgres", "mongo", "upstream", "backend", "broker"];
/// A port as a number, in a place where one listens.
static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x)
        ["'](?:\[::\]|[0-9.]*|localhost):(?<address>[0-9]{2,5})["']   # ":8080", "0.0.0.0:3000"
        | \.listen\(\s*(?<listen>[0-9]{2,5})                          # server.listen(3000)
        | \],\s*(?<pair>[0-9]{2,5})\s*\)                              # ([127, 0, 0, 1], 3000)
        | \(["'][0-9.a-z]*["'],\s*(?<python>[0-9]{2,5})\s*\)          # ("", 8000)
        | \b(?i:port)\b\s*(?::\s*\w+\s*)?[:=]\s*(?<named>[0-9]{2,5})  # port = 8080
        "#,
    )
});
/// A flag of Go's that takes an address or a port.
static GO_FLAG: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"flag\.(?:String|Int|Uint)(?:Var)?\([^"\n]*"(?<name>addr|address|listen|bind|port|http)",\s*"?(?<default>[^",)\s]*)"#,
    )
});

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that is tried by tests")
}

/// Tells the service where to listen: by a variable that it reads, by a flag, or by writing down where it listens anyway.
pub(super) fn tell(service: &mut Service, project: &Project) {
    if service.reads_port {
        service.env.push(("PORT".into(), "{port}".into()));
        return;
    }
    let sources = || project.sources(service.sources).map(|it| it.text.as_str());
    let variables = variables(sources());
    if let Some(variable) = variables.first() {
        let value = if variable.ends_with("PORT") { "{port}" } else { "127.0.0.1:{port}" };
        service.env.push((variable.clone(), value.into()));
        let others: Vec<&str> = variables[1..].iter().map(String::as_str).collect();
        if variable != "PORT" && others.iter().any(|it| is_of_itself(it) == is_of_itself(variable)) {
            service.unsure.push(format!(
                "which variable tells it where to listen: the sources read {variable}, {}",
                others.join(", ")
            ));
        }
        return;
    }
    if let Some((name, is_address)) = go_flag(sources()) {
        let value = if is_address { "127.0.0.1:{port}" } else { "{port}" };
        service.command.extend([format!("-{name}"), value.into()]);
        return;
    }
    // Gin reads the variable itself where it is told nothing.
    if sources().any(|text| text.contains("gin.") && text.contains(".Run()")) {
        service.env.push(("PORT".into(), "{port}".into()));
        return;
    }
    let exposed = || project.text("Dockerfile").and_then(exposed);
    service.port = literal(sources()).or_else(exposed);
    if service.port.is_none() {
        service.env.push(("PORT".into(), "{port}".into()));
        service.unsure.push(
            "where it listens: nothing in the sources shows it; put {port} where it is told, or write port = 8080".into(),
        );
    }
}

/// The variables that may name the port, the likeliest first: `PORT` itself if it is among them.
fn variables<'a>(sources: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = sources
        .flat_map(read_in)
        .filter(|name| !OF_OTHERS.iter().any(|other| name.split('_').any(|part| part == *other)))
        .collect();
    names.sort();
    names.dedup();
    // The shorter the more general: PORT before ADMIN_PORT.
    names.sort_by_key(|name| (!is_of_itself(name), !name.ends_with("PORT"), name.len()));
    names
}

/// The names of ports and addresses that a source reads from the environment, one by one and several at once.
fn read_in(text: &str) -> Vec<String> {
    let one_by_one = FROM_ENV.captures_iter(text).flatten().filter_map(|found| found.get(1));
    let lists = AT_ONCE.captures_iter(text).flatten().filter_map(|found| found.name("names"));
    let at_once = lists.flat_map(|list| NAME.find_iter(list.as_str()).flatten());
    one_by_one.chain(at_once).map(|name| name.as_str().to_owned()).collect()
}

/// Whether a variable's name says that it is of the service, and not of something that it asks.
fn is_of_itself(name: &str) -> bool {
    ["PORT", "ADDR", "ADDRESS"].contains(&name) || name.split('_').any(|part| OF_ITSELF.contains(&part))
}

fn go_flag<'a>(mut sources: impl Iterator<Item = &'a str>) -> Option<(String, bool)> {
    sources.find_map(|text| {
        let found = GO_FLAG.captures(text).ok()??;
        let default = found.name("default").map_or("", |it| it.as_str());
        Some((found.name("name")?.as_str().to_owned(), default.contains(':')))
    })
}

fn literal<'a>(mut sources: impl Iterator<Item = &'a str>) -> Option<u16> {
    let names = ["address", "listen", "pair", "python", "named"];
    sources.find_map(|text| {
        LITERAL.captures_iter(text).flatten().find_map(|found| {
            let number = names.iter().find_map(|name| found.name(name))?;
            let port = number.as_str().parse().ok()?;
            // A port below is a system's own, and a number there is mostly something else.
            (port >= 80 && !USUAL_OF_OTHERS.contains(&port) && !is_of_another(text, number.start()))
                .then_some(port)
        })
    })
}

/// Whether the number at `at` is part of what reaches another service, by the words of its line.
fn is_of_another(text: &str, at: usize) -> bool {
    let from = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let to = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let line = text[from..to].to_ascii_lowercase();
    let words = || line.split(|char: char| !char.is_ascii_alphanumeric());
    OF_OTHERS.iter().any(|other| words().any(|word| word == other.to_ascii_lowercase()))
        || REACHES.iter().any(|word| line.contains(word))
}

/// The first port that a Dockerfile exposes, by what it sets itself where that is a variable.
fn exposed(dockerfile: &str) -> Option<u16> {
    let mut set: Vec<(&str, &str)> = Vec::new();
    for line in dockerfile.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some((instruction, rest)) = words.split_first() else { continue };
        match (instruction.to_ascii_uppercase().as_str(), rest) {
            ("EXPOSE", ports) => {
                if let Some(port) = ports.iter().find_map(|port| port_of(port, &set)) {
                    return Some(port);
                }
            }
            // As it was written before there was `=`.
            ("ENV", [name, value]) if !name.contains('=') => set.push((*name, *value)),
            ("ARG" | "ENV", pairs) => set.extend(pairs.iter().filter_map(|it| it.split_once('='))),
            _ => {}
        }
    }
    None
}

/// A port as a Dockerfile writes it: `8080`, `8080/tcp`, `$PORT`, `${PORT:-8080}`.
fn port_of(written: &str, set: &[(&str, &str)]) -> Option<u16> {
    let (port, protocol) = written.split_once('/').unwrap_or((written, "tcp"));
    let value_of = |variable: &str| {
        let variable = variable.trim_start_matches('{').trim_end_matches('}');
        let (name, default) = variable.split_once(":-").unwrap_or((variable, ""));
        let last = set.iter().rev().find(|(known, _)| *known == name);
        last.map_or(default, |(_, value)| *value).to_owned()
    };
    let port = port.strip_prefix('$').map_or_else(|| port.to_owned(), value_of);
    let port: u16 = port.trim_matches(['"', '\'']).parse().ok()?;
    (port > 0 && protocol.eq_ignore_ascii_case("tcp")).then_some(port)
}
