//! A project in Java or Kotlin, by Maven or Gradle.

use super::{Build, Project, Service, listens, plain_name, texts};

/// The JDK that a project takes that does not say: the oldest that current frameworks run on.
const JDK_DEFAULT: u32 = 17;
const SOURCES: [&str; 5] = [".java", ".kt", ".properties", ".yml", ".yaml"];

pub(super) fn maven(project: &Project) -> Option<Service> {
    let pom = project.text("pom.xml")?;
    // What is of the parent is not of the project.
    let own = pom.split_once("</parent>").map_or(pom, |(_, own)| own);
    let artifact = element(own, "artifactId").unwrap_or(&project.folder);
    let has_wrapper = project.has("mvnw");
    let maven = if has_wrapper { "./mvnw" } else { "mvn" };
    let packaged = "ls target/*.jar | grep -v -e '-sources' -e '-javadoc' -e '^target/original-' | head -1";
    // A jar of an earlier version is not to be taken for the one that is built.
    let script = format!(
        "rm -f target/*.jar && {maven} -B -q -DskipTests package && cp \"$({packaged})\" \"$1/service.jar\""
    );
    let jdk = ["java.version", "maven.compiler.release", "maven.compiler.target"]
        .iter()
        .find_map(|name| version(element(pom, name)?));
    let service = Service {
        kind: "Java (pom.xml)".into(),
        name: plain_name(artifact),
        tools: if has_wrapper { Vec::new() } else { texts(&["mvn"]) },
        build: Some(build(project, script, &["pom.xml", "mvnw", ".mvn", "src"])),
        ..jar(jdk)
    };
    Some(told(service, project, pom.contains("spring-boot")))
}

pub(super) fn gradle(project: &Project) -> Option<Service> {
    let script = ["build.gradle", "build.gradle.kts"].into_iter().find(|it| project.has(it))?;
    let text = project.text(script).unwrap_or_default();
    let is_spring = text.contains("org.springframework.boot");
    let has_wrapper = project.has("gradlew");
    let gradle = if has_wrapper { "./gradlew" } else { "gradle" };
    let task = if is_spring { "bootJar" } else { "build -x test" };
    let made = "ls -S build/libs/*.jar | grep -v -e '-plain' -e '-sources' | head -1";
    let command =
        format!("rm -f build/libs/*.jar && {gradle} -q {task} && cp \"$({made})\" \"$1/service.jar\"");
    let named = ["settings.gradle", "settings.gradle.kts"].into_iter().find_map(|it| project.text(it));
    let name = named.and_then(|it| {
        let line = it.lines().find(|line| line.contains("rootProject.name"))?;
        line.split(['"', '\'']).nth(1)
    });
    let of_toolchain =
        || text.split_once("JavaLanguageVersion.of(").and_then(|(_, rest)| version(rest.split(')').next()?));
    let of_sources = || {
        let line = text.lines().find_map(|line| Some(line.split_once("sourceCompatibility")?.1))?;
        version(line.trim_start().trim_start_matches('='))
    };
    let jdk = of_toolchain().or_else(of_sources);
    let service = Service {
        kind: format!("Java ({script})"),
        name: plain_name(name.unwrap_or(&project.folder)),
        tools: if has_wrapper { Vec::new() } else { texts(&["gradle"]) },
        build: Some(build(
            project,
            command,
            &[
                script,
                "settings.gradle",
                "settings.gradle.kts",
                "gradle.properties",
                "gradlew",
                "gradle",
                "src",
            ],
        )),
        ..jar(jdk)
    };
    Some(told(service, project, is_spring))
}

fn build(project: &Project, script: String, inputs: &[&str]) -> Build {
    Build {
        // The folder is an argument of its own: whatever its name holds, none of it is a command.
        command: vec!["sh".into(), "-c".into(), script, "sh".into(), "{build_dir}".into()],
        inputs: project.those_of(inputs),
        output: "service.jar".into(),
    }
}

fn jar(jdk: Option<u32>) -> Service {
    let unsure = if jdk.is_none() {
        vec![format!("which JDK it takes: nothing says so, and {JDK_DEFAULT} is written down")]
    } else {
        Vec::new()
    };
    Service {
        sources: &SOURCES,
        jdk: Some(jdk.unwrap_or(JDK_DEFAULT)),
        command: texts(&["java", "-jar", "{build_dir}/service.jar"]),
        unsure,
        ..Service::default()
    }
}

/// Spring reads the port from a variable, whatever its own configuration says.
fn told(mut service: Service, project: &Project, is_spring: bool) -> Service {
    if is_spring {
        service.kind = service.kind.replace("Java", "Spring Boot");
        service.env.push(("SERVER_PORT".into(), "{port}".into()));
    } else {
        listens::tell(&mut service, project);
        service.unsure.push("whether its jar starts by itself, with `java -jar`".into());
    }
    service
}

/// `17`, `1.8`, `JavaVersion.VERSION_1_8`, or any of them in quotes. Before Java 9, version 8 called itself 1.8.
fn version(text: &str) -> Option<u32> {
    let text = text.trim().trim_matches(['"', '\'']);
    let text = text.strip_prefix("JavaVersion.VERSION_").unwrap_or(text).replace('_', ".");
    text.strip_prefix("1.").unwrap_or(&text).parse().ok()
}

/// What the application's own configuration says, as properties.
pub(super) fn property<'a>(project: &'a Project, name: &str) -> Option<&'a str> {
    let text = project.text("src/main/resources/application.properties")?;
    let value =
        |line: &'a str| Some(line.trim().strip_prefix(name)?.trim_start().strip_prefix(['=', ':'])?.trim());
    text.lines().find_map(value)
}

/// The text of the first element of that name.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, behind) = xml.split_once(&format!("<{name}>"))?;
    Some(behind.split_once("</")?.0.trim())
}
