//! A project in Python.

use super::{Project, ProjectFile, Service, listens, plain_name, texts};

pub(super) fn found(project: &Project) -> Option<Service> {
    let marks = ["pyproject.toml", "requirements.txt", "setup.py", "manage.py"];
    let mark = marks.into_iter().find(|it| project.has(it))?;
    let named = project.text("pyproject.toml").and_then(|text| {
        let line = text.lines().find(|line| line.trim_start().starts_with("name"))?;
        line.split(['"', '\'']).nth(1)
    });
    let mut service = Service {
        kind: format!("Python ({mark})"),
        name: plain_name(named.unwrap_or(&project.folder)),
        ..Service::default()
    };
    // Paths of programs are taken as they are, and a virtual environment is where its packages are.
    let python = [".venv", "venv"].into_iter().find(|it| project.has(&format!("{it}/bin/python")));
    let python = python.map_or_else(|| "python3".to_owned(), |it| format!("{{stack_dir}}/{it}/bin/python"));
    if python == "python3" {
        service.tools = texts(&["python3"]);
    }
    service.command = vec![python];
    if project.has("manage.py") {
        let words = ["manage.py", "runserver", "--noreload", "127.0.0.1:{port}"];
        service.command.extend(texts(&words));
    } else if let Some((file, app)) = app(project, &["FastAPI(", "Starlette(", "Litestar("]) {
        let app = format!("{}:{app}", module(file));
        service.command.extend(texts(&["-m", "uvicorn", &app, "--host", "127.0.0.1", "--port", "{port}"]));
    } else if let Some((file, app)) = app(project, &["Flask("]) {
        let app = format!("{}:{app}", module(file));
        service.command.extend(texts(&["-m", "flask", "--app", &app, "run", "--port", "{port}"]));
    } else {
        program(&mut service, project);
    }
    Some(service)
}

/// A file that makes an application, and the name that it gives it.
fn app<'a>(project: &'a Project, makes: &[&str]) -> Option<(&'a ProjectFile, &'a str)> {
    project.sources(&[".py"]).find_map(|file| {
        file.text.lines().find_map(|line| {
            let (name, made) = line.split_once('=')?;
            let is_one = makes.iter().any(|it| made.trim_start().starts_with(it));
            let name = name.split(':').next()?.trim();
            (is_one && !name.is_empty() && !name.contains(' ')).then_some((file, name))
        })
    })
}

fn module(file: &ProjectFile) -> String {
    let path = file.path.strip_suffix(".py").unwrap_or(&file.path);
    path.strip_suffix("/__init__").unwrap_or(path).replace('/', ".")
}

/// A program that listens by itself.
fn program(service: &mut Service, project: &Project) {
    let is_program = |it: &&ProjectFile| it.text.contains("__main__") || it.text.contains("serve_forever");
    if let Some(file) = project.sources(&[".py"]).find(is_program) {
        service.command.push(file.path.clone());
        if file.text.contains("sys.argv[1]") {
            service.command.push("{port}".into());
            return;
        }
    } else {
        service.command.push("main.py".into());
        service.unsure.push("how it is started: no file of it looks like a program".into());
    }
    listens::tell(service, project, &[".py"]);
}
