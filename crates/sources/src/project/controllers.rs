//! The paths that the controllers of NestJS and Micronaut answer to a GET: a method's beneath that of its class, and all beneath the
//! application's.

use std::sync::LazyLock;

use fancy_regex::Regex;

use super::routes::Path;
use super::{Project, java};

/// What stands in a file that has controllers.
const MARKS: [&str; 2] = ["@nestjs/", "io.micronaut.http.annotation"];
/// What puts a version before paths, or into a header.
const VERSIONED: &str = "enableVersioning(";
/// What is taken of a file.
const MAPPED_MAX: usize = 1_000;

/// A class or a method that is mapped, and its path, if it has one.
static MAPPED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"@(?<of>Controller|Get)\b(?:\s*\(\s*(?:\{[^}]*?\bpath\s*:\s*|\[\s*|(?:value|uri)\s*=\s*)?["'`](?<path>[^"'`]*)["'`])?"#,
    )
});
/// What is before all paths of an application in NestJS.
static PREFIX: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\.setGlobalPrefix\(\s*["'`](?<prefix>[^"'`]*)["'`]"#));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that is tried by tests")
}

/// Paths of the controllers in files of `project` that end so.
pub(super) fn of(project: &Project, endings: &[&str]) -> Vec<Path> {
    let texts = || project.sources(endings).map(|it| it.text.as_str());
    let is_whole = !texts().any(|it| it.contains(VERSIONED));
    let of_nest = texts().find_map(|it| Some(PREFIX.captures(it).ok()??.name("prefix")?.as_str().to_owned()));
    let prefix = of_nest.or_else(|| java::property(project, "micronaut.server.context-path"));
    let base = beneath("", &prefix.unwrap_or_default());
    let has_some = |text: &&str| MARKS.iter().any(|it| text.contains(it));
    let paths = texts().filter(has_some).flat_map(|it| of_file(it, &base));
    paths.map(|text| Path { text, is_whole }).collect()
}

fn of_file(text: &str, base: &str) -> Vec<String> {
    let mut class = base.to_owned();
    let mut paths = Vec::new();
    for found in MAPPED.captures_iter(text).flatten().take(MAPPED_MAX) {
        let path = found.name("path").map_or("", |it| it.as_str());
        if found.name("of").is_some_and(|it| it.as_str() == "Controller") {
            class = beneath(base, path);
        } else {
            let whole = beneath(&class, path);
            paths.push(if whole.is_empty() { "/".to_owned() } else { whole });
        }
    }
    paths
}

/// One behind the other. A `/` at either end says nothing.
fn beneath(base: &str, path: &str) -> String {
    let path = path.trim_matches('/');
    if path.is_empty() { base.to_owned() } else { format!("{base}/{path}") }
}

#[cfg(test)]
mod tests {
    use super::super::ProjectFile;
    use super::*;

    fn paths(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| ProjectFile { path: (*path).into(), text: (*text).into() };
        let project = Project { files: files.iter().map(file).collect(), ..Project::default() };
        let found = of(&project, &[".ts", ".java", ".kt"]);
        found.into_iter().map(|it| it.text + if it.is_whole { "" } else { "?" }).collect()
    }

    #[test]
    fn a_controller_of_nestjs_answers_beneath_its_class_and_the_prefix() {
        let cats = "import { Controller, Get } from '@nestjs/common';\n@Controller('cats')\nexport class Cats {\n\
                    @Get()\nall() {}\n@Get('/new/')\none() {}\n@Post()\nadd() {}\n}\n\
                    @Controller({ host: 'a', path: \"dogs\" })\nexport class Dogs {\n@Get([`old`, 'o'])\nall() {}\n}\n\
                    @Controller()\nexport class App {\n@Get()\nroot() {}\n}";
        let controllers = ("src/cats.controller.ts", cats);
        assert_eq!(paths(&[controllers]), ["/cats", "/cats/new", "/dogs/old", "/"]);
        let prefixed = ("src/main.ts", "app.setGlobalPrefix('api/v1');");
        let due = ["/api/v1/cats", "/api/v1/cats/new", "/api/v1/dogs/old", "/api/v1"];
        assert_eq!(paths(&[controllers, prefixed]), due);
        let versioned = ("src/main.ts", "app.enableVersioning({ type: VersioningType.URI });");
        assert_eq!(paths(&[controllers, versioned])[0], "/cats?");
        // Nobody else's.
        assert!(paths(&[("src/a.ts", "@Controller('a')\nclass A {\n@Get()\nall() {}\n}")]).is_empty());
    }

    #[test]
    fn a_controller_of_micronaut_answers_beneath_its_class_and_the_context() {
        let code = "import io.micronaut.http.annotation.*;\n@Controller(\"/items\")\nclass Items {\n@Get\nList<Item> all() {}\n\
                    @Get(uri = \"/new\", produces = TEXT_PLAIN)\nItem one() {}\n@Get(produces = \"text/plain\")\nItem text() {}\n}";
        let items = ("src/main/java/Items.java", code);
        assert_eq!(paths(&[items]), ["/items", "/items/new", "/items"]);
        let settings = ("src/main/resources/application.properties", "micronaut.server.context-path=/shop\n");
        assert_eq!(paths(&[items, settings]), ["/shop/items", "/shop/items/new", "/shop/items"]);
    }
}
