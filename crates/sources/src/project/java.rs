//! A project in Java or Kotlin, by Maven or Gradle.

use plan::shell::quoted;
use serde_json::Value;

use super::{Build, Project, ProjectFile, Service, listens, plain_name, texts};

/// The JDK that a project takes that does not say: the oldest that current frameworks run on.
const JDK_DEFAULT: u32 = 17;
const SOURCES: [&str; 5] = [".java", ".kt", ".properties", ".yml", ".yaml"];
const POMS: [&str; 1] = ["pom.xml"];
const SCRIPTS: [&str; 2] = ["build.gradle", "build.gradle.kts"];
/// Plugins of Gradle that make a folder of a program and all that it takes.
const APPLICATIONS: [&str; 3] = ["application", "io.ktor.plugin", "io.micronaut.application"];
/// Where Quarkus has its program, in the folder of what is built.
const OF_QUARKUS: &str = "quarkus-app";
/// What Quarkus calls a jar that has all in it.
const UBER_JAR: &str = "uber-jar";

/// What a service is made with, as far as it is known how it is told its port.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framework {
    SpringBoot,
    Quarkus,
    Micronaut,
}

impl Framework {
    /// By the scripts of a build; Spring Boot is told by its plugins.
    fn of(scripts: &[&str], is_spring: bool) -> Option<Self> {
        let has = |group: &str| scripts.iter().any(|it| it.contains(group));
        if is_spring {
            Some(Self::SpringBoot)
        } else if has("io.quarkus") {
            Some(Self::Quarkus)
        } else {
            has("io.micronaut").then_some(Self::Micronaut)
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::SpringBoot => "Spring Boot",
            Self::Quarkus => "Quarkus",
            Self::Micronaut => "Micronaut",
        }
    }

    /// The variable that goes before whatever its own configuration says of the port.
    const fn port(self) -> &'static str {
        match self {
            Self::SpringBoot => "SERVER_PORT",
            Self::Quarkus => "QUARKUS_HTTP_PORT",
            Self::Micronaut => "MICRONAUT_SERVER_PORT",
        }
    }
}

/// What a build leaves behind, and how that is started.
struct Made {
    /// Removes what an earlier version left there: it is not to be taken for the one that is built.
    clear: String,
    /// Copies it to `$1`.
    copy: String,
    /// What it is there.
    output: String,
    command: Vec<String>,
    /// Whether nobody knows that it starts by itself.
    is_doubtful: bool,
}

impl Made {
    /// A jar or a war, the one that `list` names among `archives`. How its name ends is its kind, by which a server within knows where
    /// its pages are.
    fn archive(kind: &str, archives: &str, list: &str) -> Self {
        Self {
            clear: format!("rm -f {archives}"),
            copy: format!("cp \"$({list})\" \"$1/service.{kind}\""),
            output: format!("service.{kind}"),
            command: vec!["java".into(), "-jar".into(), format!("{{build_dir}}/service.{kind}")],
            is_doubtful: true,
        }
    }

    /// A folder of jars. What there is of it in the build folder goes first: `cp` would put the new one within.
    fn folder(clear: &str, folder: &str, main: &str, command: &[&str]) -> Self {
        Self {
            clear: format!("rm -rf {clear}"),
            copy: format!("rm -rf \"$1/app\" && cp -R {folder} \"$1/app\""),
            output: format!("app{main}"),
            command: texts(command),
            is_doubtful: false,
        }
    }

    /// Quarkus's own, which lies in `build`.
    fn quarkus(project: &Project, part: Part<'_>, build: &str) -> Self {
        if is_one_jar(project, part) {
            let jars = part.path(&format!("{build}/*-runner.jar"));
            let only = format!("ls {jars} | head -1");
            return Self { is_doubtful: false, ..Self::archive("jar", &jars, &only) };
        }
        let folder = part.path(&format!("{build}/{OF_QUARKUS}"));
        let command = ["java", "-jar", "{build_dir}/app/quarkus-run.jar"];
        Self::folder(&folder, &folder, "/quarkus-run.jar", &command)
    }

    /// Of Gradle's application, whose main class is known. Its script would be a shell between.
    fn application(part: Part<'_>, main_class: &str) -> Self {
        let installed = part.path("build/install");
        let command = ["java", "-cp", "{build_dir}/app/*", main_class];
        Self::folder(&installed, &format!("{installed}/*/lib"), "", &command)
    }
}

/// What of a project is the service: all of it, or a module.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// The module's folder; empty of all of it.
    folder: &'a str,
    /// The text of its own pom.xml or build.gradle.
    script: &'a str,
}

impl Part<'_> {
    /// A path in it, as a shell takes it, whatever the folder is called.
    fn path(self, path: &str) -> String {
        if self.folder.is_empty() { path.to_owned() } else { format!("{}/{path}", quoted(self.folder)) }
    }

    /// What its build is made of: of a module, whatever others it takes.
    fn inputs(self, project: &Project, usual: &[&str]) -> Vec<String> {
        if self.folder.is_empty() { project.those_of(usual) } else { texts(&["."]) }
    }
}

pub(super) fn maven(project: &Project) -> Option<Service> {
    let root = project.text("pom.xml")?;
    let has_modules = is_parent(root);
    let modules = if has_modules { programs(project, &POMS, is_boot_module) } else { Vec::new() };
    let part = modules.first().copied().unwrap_or(Part { folder: "", script: root });
    let artifact = element(own(part.script), "artifactId").unwrap_or(&project.folder);
    let has_wrapper = project.has("mvnw");
    let maven = if has_wrapper { "./mvnw" } else { "mvn" };
    let only =
        if part.folder.is_empty() { String::new() } else { format!(" -pl {} -am", quoted(part.folder)) };
    let kind = if element(own(part.script), "packaging") == Some("war") { "war" } else { "jar" };
    let is_spring = [part.script, root].iter().any(|pom| pom.contains("spring-boot"));
    let framework = Framework::of(&[part.script, root], is_spring);
    let archives = part.path(&format!("target/*.{kind}"));
    let packaged = format!("ls {archives} | grep -v -e '-sources' -e '-javadoc' -e '/original-' | head -1");
    let made = if framework == Some(Framework::Quarkus) {
        Made::quarkus(project, part, "target")
    } else {
        Made::archive(kind, &archives, &packaged)
    };
    let script = format!("{} && {maven} -B -q -DskipTests{only} package && {}", made.clear, made.copy);
    let names = ["java.version", "maven.compiler.release", "maven.compiler.target"];
    let of_pom = |pom: &str| names.iter().find_map(|name| version(element(pom, name)?));
    let jdk = of_pom(part.script).or_else(|| of_pom(root));
    let mut service = Service {
        kind: "Java (pom.xml)".into(),
        name: plain_name(artifact),
        folder: part.folder.to_owned(),
        tools: if has_wrapper { Vec::new() } else { texts(&["mvn"]) },
        build: Some(build(script, part.inputs(project, &["pom.xml", "mvnw", ".mvn", "src"]), &made)),
        ..started(jdk, &made)
    };
    service.unsure.extend(which_module(has_modules, modules.len()));
    Some(told(service, project, framework, made.is_doubtful.then_some(kind)))
}

pub(super) fn gradle(project: &Project) -> Option<Service> {
    let script = SCRIPTS.into_iter().find(|it| project.has(it))?;
    let root = project.text(script).unwrap_or_default();
    let has_others = project.sources(&SCRIPTS).any(|it| it.path.contains('/'));
    // What has sources of its own is the service, whatever is built beside it.
    let has_modules = !project.has("src") && has_others;
    let modules = if has_modules { programs(project, &SCRIPTS, makes_program) } else { Vec::new() };
    let part = modules.first().copied().unwrap_or(Part { folder: "", script: root });
    let is_spring = part.script.contains("org.springframework.boot");
    let has_wrapper = project.has("gradlew");
    let gradle = if has_wrapper { "./gradlew" } else { "gradle" };
    // Pages of a war are in no jar of it.
    let is_war = part.script.lines().any(|line| takes(line, &["war"]));
    let framework = Framework::of(&[part.script], is_spring);
    let main_class = main_class(part.script).filter(|_| framework != Some(Framework::Quarkus));
    let (task, without, kind) = match (is_spring, is_war) {
        (true, true) => ("bootWar", "", "war"),
        (true, false) => ("bootJar", "", "jar"),
        (false, _) if main_class.is_some() => ("installDist", "", "jar"),
        (false, _) => ("build", " -x test", "jar"),
    };
    let of_module =
        if part.folder.is_empty() { String::new() } else { format!(":{}:", part.folder.replace('/', ":")) };
    let task = format!("{of_module}{task}");
    let archives = part.path(&format!("build/libs/*.{kind}"));
    let list = format!("ls -S {archives} | grep -v -e '-plain' -e '-sources' | head -1");
    let made = match (framework, main_class) {
        (Some(Framework::Quarkus), _) => Made::quarkus(project, part, "build"),
        (Some(Framework::SpringBoot), _) | (_, None) => Made::archive(kind, &archives, &list),
        (_, Some(main_class)) => Made::application(part, main_class),
    };
    let command = format!("{} && {gradle} -q {}{without} && {}", made.clear, quoted(&task), made.copy);
    let named = ["settings.gradle", "settings.gradle.kts"].into_iter().find_map(|it| project.text(it));
    let name = named.and_then(|it| {
        let line = it.lines().find(|line| line.contains("rootProject.name"))?;
        line.split(['"', '\'']).nth(1)
    });
    let of_folder = part.folder.rsplit('/').next().filter(|it| !it.is_empty());
    let usual =
        [script, "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradlew", "gradle", "src"];
    // It may take any of the others.
    let inputs = if has_others { texts(&["."]) } else { part.inputs(project, &usual) };
    let mut service = Service {
        kind: format!("Java ({script})"),
        name: plain_name(of_folder.or(name).unwrap_or(&project.folder)),
        folder: part.folder.to_owned(),
        tools: if has_wrapper { Vec::new() } else { texts(&["gradle"]) },
        build: Some(build(command, inputs, &made)),
        ..started(jdk_of(part.script).or_else(|| jdk_of(root)), &made)
    };
    service.unsure.extend(which_module(has_modules, modules.len()));
    if part.script.contains("applicationDefaultJvmArgs") {
        service.unsure.push(format!("which flags its JVM has: {script} names some, for `jvm_flags`"));
    }
    Some(told(service, project, framework, made.is_doubtful.then_some(kind)))
}

/// Whether Quarkus is told to make one jar with all that it takes in it, and no folder.
fn is_one_jar(project: &Project, part: Part<'_>) -> bool {
    let own = project.within(part.folder);
    let names = ["quarkus.package.jar.type", "quarkus.package.type"];
    let is_said = |name: &str| property(&own, name).is_some_and(|it| it == UBER_JAR);
    part.script.contains(UBER_JAR) || names.into_iter().any(is_said)
}

/// The class that Gradle's application begins with, where a script has that plugin.
fn main_class(script: &str) -> Option<&str> {
    let is_application =
        |line: &str| takes(line, &APPLICATIONS) || line.trim_start().starts_with("application {");
    if !script.lines().any(is_application) {
        return None;
    }
    script.lines().find_map(|line| {
        let (_, named) = line.split_once("mainClass")?;
        named.split(['"', '\'']).nth(1).filter(|it| !it.is_empty() && !it.contains(['$', '{', '}']))
    })
}

/// The modules of a project that are programs, as their build scripts say; where none says so, those with a `main`.
fn programs<'a>(project: &'a Project, scripts: &'a [&'a str], says_so: fn(&str) -> bool) -> Vec<Part<'a>> {
    let module = |file: &'a ProjectFile| {
        let (folder, name) = file.path.rsplit_once('/')?;
        scripts.contains(&name).then_some(Part { folder, script: file.text.as_str() })
    };
    let all: Vec<Part<'a>> = project.sources(scripts).filter_map(module).collect();
    let by_script: Vec<Part<'a>> = all.iter().filter(|it| says_so(it.script)).copied().collect();
    if !by_script.is_empty() {
        return by_script;
    }
    let has_main = |module: &Part<'a>| {
        let sources = format!("{}/src/main/", module.folder);
        let is_main = |text: &str| text.contains("static void main(") || text.contains("fun main(");
        project.sources(&SOURCES).any(|it| it.path.starts_with(&sources) && is_main(&it.text))
    };
    all.into_iter().filter(has_main).collect()
}

/// What is to be asked where there are modules, of which so many are programs.
fn which_module(has_modules: bool, programs: usize) -> Option<String> {
    match programs {
        1 => None,
        _ if !has_modules => None,
        0 => Some("which of its modules is the service: none looks like one".into()),
        count => Some(format!("which of its modules is the service: {count} look like one")),
    }
}

/// Whether it is of modules, and no program itself.
fn is_parent(pom: &str) -> bool {
    element(own(pom), "packaging") == Some("pom")
}

fn is_boot_module(pom: &str) -> bool {
    let plugins = ["spring-boot-maven-plugin", "quarkus-maven-plugin", "micronaut-maven-plugin"];
    plugins.iter().any(|it| pom.contains(it)) && !is_parent(pom)
}

/// Whether a script of Gradle takes a plugin that makes programs.
fn makes_program(script: &str) -> bool {
    let plugins = [&["org.springframework.boot", "io.quarkus"][..], &APPLICATIONS[..]].concat();
    script.lines().any(|line| takes(line, &plugins))
}

/// Whether a line of a script takes one of these plugins. A parent names the version alone.
fn takes(line: &str, plugins: &[&str]) -> bool {
    let is_named = |it: &&str| {
        line.trim() == *it || line.contains(&format!("\"{it}\"")) || line.contains(&format!("'{it}'"))
    };
    plugins.iter().any(is_named) && !line.contains("apply false")
}

fn jdk_of(script: &str) -> Option<u32> {
    let called = |name: &str| {
        let (_, rest) = script.split_once(name)?;
        version(rest.split(')').next()?)
    };
    let of_sources = || {
        let line = script.lines().find_map(|line| Some(line.split_once("sourceCompatibility")?.1))?;
        version(line.trim_start().trim_start_matches('='))
    };
    called("JavaLanguageVersion.of(").or_else(|| called("jvmToolchain(")).or_else(of_sources)
}

fn build(script: String, inputs: Vec<String>, made: &Made) -> Build {
    Build {
        // The folder is an argument of its own: whatever its name holds, none of it is a command.
        command: vec!["sh".into(), "-c".into(), script, "sh".into(), "{build_dir}".into()],
        inputs,
        output: made.output.clone(),
    }
}

fn started(jdk: Option<u32>, made: &Made) -> Service {
    let unsure = if jdk.is_none() {
        vec![format!("which JDK it takes: nothing says so, and {JDK_DEFAULT} is written down")]
    } else {
        Vec::new()
    };
    Service {
        sources: &SOURCES,
        jdk: Some(jdk.unwrap_or(JDK_DEFAULT)),
        command: made.command.clone(),
        unsure,
        ..Service::default()
    }
}

/// Tells it where to listen, and says where `doubtful` is an archive that may not start by itself; those of Spring Boot do.
fn told(
    mut service: Service,
    project: &Project,
    framework: Option<Framework>,
    doubtful: Option<&str>,
) -> Service {
    if let Some(framework) = framework {
        service.kind = service.kind.replace("Java", framework.name());
        service.env.push((framework.port().into(), "{port}".into()));
    } else {
        let part = project.within(&service.folder);
        listens::tell(&mut service, &part);
    }
    if let Some(kind) = doubtful.filter(|_| framework != Some(Framework::SpringBoot)) {
        service.unsure.push(format!("whether its {kind} starts by itself, with `java -jar`"));
    }
    service
}

/// `17`, `1.8`, `JavaVersion.VERSION_1_8`, or any of them in quotes. Before Java 9, version 8 called itself 1.8.
fn version(text: &str) -> Option<u32> {
    let text = text.trim().trim_matches(['"', '\'']);
    let text = text.strip_prefix("JavaVersion.VERSION_").unwrap_or(text).replace('_', ".");
    text.strip_prefix("1.").unwrap_or(&text).parse().ok()
}

/// What the application's own configuration says.
pub(super) fn property(project: &Project, name: &str) -> Option<String> {
    let text = |file: &str| project.text(&format!("src/main/resources/{file}"));
    let of_line = |line: &str| {
        let value = line.trim().strip_prefix(name)?.trim_start().strip_prefix(['=', ':'])?;
        Some(value.trim().to_owned())
    };
    // Where both say it, Spring goes by the properties.
    text("application.properties").and_then(|it| it.lines().find_map(of_line)).or_else(|| {
        let yaml = text("application.yml").or_else(|| text("application.yaml"))?;
        // Behind the first document are those of profiles.
        let settings: Value = serde_saphyr::from_str(yaml.split("\n---").next()?).ok()?;
        match value_of(&settings, name)? {
            Value::String(value) => Some(value.clone()),
            Value::Number(value) => Some(value.to_string()),
            _ => None,
        }
    })
}

/// A value by its name, whose parts may stand beneath each other or together.
fn value_of<'a>(settings: &'a Value, name: &str) -> Option<&'a Value> {
    let settings = settings.as_object()?;
    settings.get(name).or_else(|| {
        let mut dots = name.match_indices('.');
        dots.find_map(|(dot, _)| value_of(settings.get(&name[..dot])?, &name[dot + 1..]))
    })
}

/// What is of a project, and not of its parent.
fn own(pom: &str) -> &str {
    pom.split_once("</parent>").map_or(pom, |(_, own)| own)
}

/// The text of the first element of that name.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, behind) = xml.split_once(&format!("<{name}>"))?;
    Some(behind.split_once("</")?.0.trim())
}
