//! Servers as anybody writes them: one file each in `planted/servers`, with nothing but its language's standard library, and
//! the manifest by which `proofload` builds and starts one.

use std::path::{Path, PathBuf};

use crate::speaks::Speaks;

/// A server of one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    pub(crate) language: Language,
    /// The file's name without its extension.
    pub(crate) file: &'static str,
    /// What it is told behind the port, as it is typed.
    pub(crate) arguments: &'static str,
    /// Whether it closes the connection after each answer, and says so.
    pub(crate) closes: bool,
    /// What it speaks.
    pub(crate) speaks: Speaks,
}

/// What it is written in, and run by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Node,
    Python,
    Go,
    /// Java of a version: the lowest that it needs.
    Java(u32),
}

impl Program {
    /// Its manifest; `servers` is the folder of all of them, absolute.
    pub(crate) fn manifest(&self, servers: &Path) -> String {
        let Self { language, file, arguments, closes, speaks } = *self;
        let connection = if closes { "close" } else { "keep-alive" };
        let command = language.command(file, servers).into_iter().chain(["{port}".to_owned()]);
        let command = quoted(command.chain(arguments.split_whitespace().map(str::to_owned)));
        format!(
            r#"title = "Planted"
family = "planted"
generation = "timeless"

[needs]
{needs}
{build}
[run]
command = [{command}]
{speaks}
[[endpoint]]
name = "hello"
path = "/"
body = "hello"
connection = "{connection}"
"#,
            speaks = speaks.lines(),
            needs = language.needs(),
            build = language.build(file, servers),
        )
    }
}

impl Program {
    /// Its file, where `servers` is the folder of all of them.
    pub(crate) fn source(&self, servers: &Path) -> PathBuf {
        let (folder, extension) = match self.language {
            Language::Node => ("node", "js"),
            Language::Python => ("python", "py"),
            Language::Go => ("go", "go"),
            Language::Java(_) => ("java", "java"),
        };
        servers.join(folder).join(self.file).with_extension(extension)
    }
}

impl Language {
    fn needs(self) -> String {
        match self {
            Self::Node => "tools = [\"node\"]".to_owned(),
            Self::Python => "tools = [\"python3\"]".to_owned(),
            Self::Go => "tools = [\"go\"]".to_owned(),
            Self::Java(version) => format!("jdk = {version}"),
        }
    }

    /// The program and what comes before the port.
    fn command(self, file: &str, servers: &Path) -> Vec<String> {
        let script = |name: &str| servers.join(name).display().to_string();
        match self {
            Self::Node => vec!["node".to_owned(), script(&format!("node/{file}.js"))],
            Self::Python => vec!["python3".to_owned(), script(&format!("python/{file}.py"))],
            Self::Go => vec![format!("{{build_dir}}/{file}")],
            // Without it head and body of an answer are two packets, and the second waits for the first's acknowledgement.
            Self::Java(version) => ["java", "-Dsun.net.httpserver.nodelay=true", "-cp"]
                .map(str::to_owned)
                .into_iter()
                .chain([format!("{{build_dir}}/{version}"), file.to_owned()])
                .collect(),
        }
    }

    fn build(self, file: &str, servers: &Path) -> String {
        let section = |folder: &str, command: &[&str], input: &str, output: &str| {
            format!(
                "\n[build]\ndir = \"{}\"\ncommand = [{}]\ninputs = [\"{input}\"]\noutput = \"{output}\"\n",
                servers.join(folder).display(),
                quoted(command.iter().map(|word| (*word).to_owned())),
            )
        };
        match self {
            Self::Node | Self::Python => String::new(),
            Self::Go => {
                let (source, made) = (format!("{file}.go"), format!("{{build_dir}}/{file}"));
                section("go", &["go", "build", "-trimpath", "-o", &made, &source], &source, file)
            }
            Self::Java(version) => {
                let (source, release) = (format!("{file}.java"), version.to_string());
                let folder = format!("{{build_dir}}/{version}");
                let command = ["javac", "--release", &release, "-d", &folder, &source];
                section("java", &command, &source, &format!("{version}/{file}.class"))
            }
        }
    }
}

/// As a list of TOML's.
fn quoted(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
    words.join(", ")
}
