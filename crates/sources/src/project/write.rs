//! The text of a `proofload.toml`.

use std::fmt::Write;

use plan::toml_file::string;

use super::asks::Asks;
use super::{Draft, Service};

/// The file of `service`, which is asked for `asks`; `others` is what else the project might be.
pub(super) fn draft(service: &Service, asks: &Asks, others: &[String]) -> Draft {
    let mut unsure = service.unsure.clone();
    if asks.told_by.is_none() {
        unsure.push(format!("what to ask: nothing names a path, and {} is a guess", asks.path));
    }
    if !asks.is_whole {
        unsure.push(format!(
            "what to ask: {} is put beneath something that the sources don't plainly show",
            asks.path
        ));
    }
    if let Some(told_by) = asks.told_by.as_ref().filter(|_| asks.is_guarded) {
        unsure.push(format!(
            "what to ask: by {told_by}, {} wants a key; name what answers without, or have the service let anybody in here",
            asks.path
        ));
    }
    if !others.is_empty() {
        unsure.push(format!("whether it is the right one: there is {} as well", others.join(", ")));
    }
    let text = [head(service, &unsure), of_service(service, asks), of_experiment(service)].concat();
    let listens = service.port.map_or_else(
        || "where it is told to".to_owned(),
        |port| format!("always at port {port}; several of it can't run at once"),
    );
    let by = asks.told_by.as_deref().map_or_else(String::new, |it| format!(", by {it}"));
    let seen = vec![
        format!("service   {}, {}", service.name, service.kind),
        format!("start     {}", plan::shell::command(&service.command)),
        format!("listens   {listens}"),
        format!("ask       GET {}{by}; ready when GET {} is answered", asks.path, asks.ready),
    ];
    Draft { text, seen, unsure }
}

fn head(service: &Service, unsure: &[String]) -> String {
    let mut text = format!(
        "# How fast is {name}, and does it keep to its objectives? Written by `proofload init`; yours to change.\n\
         #   proofload run            builds it, starts it, loads it, and holds it against the gate below\n\
         #   proofload run --quick    shows in seconds whether everything works, and claims nothing\n\
         #   proofload check {name}{pad}does it build, start and answer as is expected here?\n\
         # Every key: docs/own-service.md and docs/experiments.md. Leave `runs/` and `.proofload/` out of git.\n",
        name = service.name,
        pad = " ".repeat(9_usize.saturating_sub(service.name.len()).max(1)),
    );
    for what in unsure {
        // A file's name may have a line end in it, behind which nothing would be a comment.
        let what = what.replace(char::is_control, " ");
        // Writing into a String cannot fail.
        let _ = writeln!(text, "# CHECK {what}");
    }
    let _ = writeln!(text, "title = {}\n", string(&format!("{} keeps to its objectives", service.name)));
    // Seven blocks are the fewest that can decide a gate of two conditions.
    text.push_str(
        "# Each block starts the service anew. Seven are the fewest that decide two conditions of one service.\n\
         blocks = 8\nblocks_max = 8\n\
         # A second process of the service (twin) and the client by itself (control) tell more, and take as long again.\n\
         twin = false\ncontrol = false\n\n",
    );
    text
}

fn of_service(service: &Service, asks: &Asks) -> String {
    let Service { name, .. } = service;
    let mut text = format!("[service.{}]\n", key(name));
    if !service.tools.is_empty() || service.jdk.is_some() {
        let tools = (!service.tools.is_empty()).then(|| format!("tools = {}", list(&service.tools)));
        let jdk = service.jdk.map(|it| format!("jdk = {it}"));
        let needs: Vec<String> = tools.into_iter().chain(jdk).collect();
        let _ = writeln!(text, "needs = {{ {} }}", needs.join(", "));
    }
    if let Some(build) = &service.build {
        let _ = write!(
            text,
            "\n# Built again when one of the inputs has changed. What it makes goes to {{build_dir}}.\n\
             [service.{}.build]\ncommand = {}\ninputs = {}\noutput = {}\n",
            key(name),
            list(&build.command),
            list(&build.inputs),
            string(&build.output)
        );
    }
    let _ = write!(
        text,
        "\n# It runs in `dir`, from this file's folder on.\n[service.{}.run]\ncommand = {}\ndir = \".\"\n",
        key(name),
        list(&service.command)
    );
    if let Some(port) = service.port {
        let _ = writeln!(
            text,
            "# Where it always listens. Where it can be told: {{port}} in its command or env, and no port here.\nport = {port}"
        );
    }
    if let Some(hint) = service.hint {
        let _ = writeln!(text, "# {hint}");
    }
    if !service.env.is_empty() {
        let pairs: Vec<String> =
            service.env.iter().map(|(name, value)| format!("{} = {}", key(name), string(value))).collect();
        let _ = writeln!(text, "env = {{ {} }}", pairs.join(", "));
    }
    let Asks { status, ready_status, .. } = asks;
    // Without one it is that of the endpoint.
    let of_ready = if status == ready_status { String::new() } else { format!("status = {ready_status}\n") };
    let _ = write!(
        text,
        "\n# It is ready when this is answered with {ready_status}.\n[service.{name}.ready]\npath = {}\n{of_ready}timeout = \"60s\"\n\n\
         # What is asked, and the answer that is expected. With body = \"...\" the body must be that, to the byte.\n\
         [[service.{name}.endpoint]]\nname = \"main\"\npath = {}\nstatus = {status}\n",
        string(&asks.ready),
        string(&asks.path),
        name = key(name),
    );
    text
}

fn of_experiment(service: &Service) -> String {
    format!(
        "\n# Sixteen users who ask again when they are answered. With rate = \"200/s\" requests are due at that rate, whatever the\n\
         # service does; that is what percentiles are to be held against.\n\
         [load]\nconnections = 16\nwarm_up = \"2s\"\nduration = \"4s\"\n\n\
         [[round]]\nname = \"main\"\nendpoint = \"main\"\nstacks = [{}]\n\n\
         # Fails on evidence, passes on evidence, and says `could not tell` (exit code 5) where there is neither.\n\
         # Yours is another limit? A load is to be as long as ten answers at least, or it can't be told: see `duration`.\n\
         [gate]\nfail_if = [\"p99>200ms\", \"errors>1%\"]\n",
        string(&service.name)
    )
}

fn list(texts: &[String]) -> String {
    let strings: Vec<String> = texts.iter().map(|it| string(it)).collect();
    format!("[{}]", strings.join(", "))
}

/// A key: bare where it may be.
fn key(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-' || it == b'_');
    if is_bare { name.to_owned() } else { string(name) }
}
