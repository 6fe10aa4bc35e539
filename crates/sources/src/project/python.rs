//! A project in Python.

use super::{Build, Project, ProjectFile, Service, listens, plain_name, texts};

pub(super) fn found(project: &Project) -> Option<Service> {
    let marks = ["pyproject.toml", "requirements.txt", "setup.py", "manage.py"];
    let mark = marks.into_iter().find(|it| project.has(it))?;
    let named = project.text("pyproject.toml").and_then(|text| {
        let line = text.lines().find(|line| line.trim_start().starts_with("name"))?;
        line.split(['"', '\'']).nth(1)
    });
    let mut service = Service {
        kind: format!("Python ({mark})"),
        sources: &[".py"],
        name: plain_name(named.unwrap_or(&project.folder)),
        ..Service::default()
    };
    let python = python(&mut service, project);
    service.command = vec![python];
    // It finds its project from wherever it is started.
    let manage = project
        .sources(&["manage.py"])
        .map(|it| it.path.as_str())
        .filter(|path| path.rsplit('/').next() == Some("manage.py"))
        .min_by_key(|path| path.matches('/').count());
    if let Some(manage) = manage {
        service.command.extend(texts(&[manage, "runserver", "--noreload", "127.0.0.1:{port}"]));
        service.unsure.push(for_development("runserver"));
    } else if let Some(app) = app(project, &["FastAPI(", "Starlette(", "Litestar("]) {
        let factory: &[&str] = if app.is_factory { &["--factory"] } else { &[] };
        service.command.extend(texts(&["-m", "uvicorn", &app.name]));
        service.command.extend(texts(factory));
        service.command.extend(texts(&["--host", "127.0.0.1", "--port", "{port}"]));
        of_application(&mut service, project, &app, "uvicorn");
    } else if let Some(app) = app(project, &["Flask("]) {
        service.command.extend(texts(&["-m", "flask", "--app", &app.name, "run", "--port", "{port}"]));
        of_application(&mut service, project, &app, "flask");
        service.unsure.push(for_development("flask run"));
    } else {
        program(&mut service, project);
    }
    Some(service)
}

/// A server that nobody has in production has figures of its own.
fn for_development(server: &str) -> String {
    format!(
        "whether it is served so: `{server}` is for development; have the server that you run listen at {{port}}"
    )
}

/// The interpreter: one that a build makes of the packages that the project names, as a pipeline and another version have them,
/// too; else that of a virtual environment that there is; else the system's.
fn python(service: &mut Service, project: &Project) -> String {
    let Some((input, list)) = packages(project) else {
        let made = [".venv", "venv"].into_iter().find(|it| project.has(&format!("{it}/bin/python")));
        let Some(made) = made else {
            service.tools = texts(&["python3"]);
            return "python3".to_owned();
        };
        service.unsure.push(format!(
            "where its packages come from elsewhere: {made} is of this machine, and neither a pipeline nor `proofload diff` has it"
        ));
        // Paths of programs are taken as they are.
        return format!("{{stack_dir}}/{made}/bin/python");
    };
    service.tools = texts(&["python3"]);
    if input == "requirements.txt" && project.text(input).is_some_and(|text| text.lines().any(is_own)) {
        service.unsure.push(format!(
            "what it is built from: {input} installs what lies beside it; list that in `inputs`, or it is not built again"
        ));
    }
    let install = format!("{list}\"$1/venv/bin/pip\" install --quiet --requirement");
    let requirements = if list.is_empty() { input } else { "\"$1/requirements.txt\"" };
    service.build = Some(Build {
        command: vec![
            "sh".into(),
            "-c".into(),
            // The folder is an argument of its own: whatever its name holds, none of it is a command.
            format!("python3 -m venv \"$1/venv\" && {install} {requirements}"),
            "sh".into(),
            "{build_dir}".into(),
        ],
        inputs: lists(project, input),
        output: "venv/bin/python".into(),
    });
    "{build_dir}/venv/bin/python".to_owned()
}

/// The file that names the packages, and what makes a list of it that pip takes.
fn packages(project: &Project) -> Option<(&'static str, &'static str)> {
    if project.text("requirements.txt").is_some_and(|text| !text.trim().is_empty()) {
        return Some(("requirements.txt", ""));
    }
    // `pip install .` would install the project itself, too, and leave folders among its sources.
    let list = "python3 -c 'import tomllib; print(*tomllib.load(open(\"pyproject.toml\", \"rb\"))[\"project\"][\"dependencies\"], \
                sep=\"\\n\")' >\"$1/requirements.txt\" && ";
    dependencies(project.text("pyproject.toml")?).map(|_| ("pyproject.toml", list))
}

/// The file that names the packages, and those that it takes others from: what is installed changes with each.
fn lists(project: &Project, first: &str) -> Vec<String> {
    let mut all = vec![first.to_owned()];
    let mut looked = 0;
    while let Some(list) = all.get(looked).cloned() {
        looked += 1;
        let beneath = list.rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"));
        for named in project.text(&list).unwrap_or_default().lines().filter_map(list_in) {
            let path = format!("{beneath}{}", named.trim_start_matches("./"));
            if project.text(&path).is_some() && !all.contains(&path) {
                all.push(path);
            }
        }
    }
    all
}

/// The file that a line of such a list takes others from, as in `-r base.txt`.
fn list_in(line: &str) -> Option<&str> {
    let options = ["--requirement", "--constraint", "-r", "-c"];
    let named = options.iter().find_map(|it| line.trim().strip_prefix(it))?;
    named.trim_start_matches('=').split_whitespace().next()
}

/// Whether a line of it installs something of the project as it is then. With `-e` that is read where it lies.
fn is_own(line: &str) -> bool {
    let line = line.trim();
    line.starts_with(['.', '/']) || line.starts_with("file:")
}

/// What `[project]` says of the packages that it takes; `None` without any.
fn dependencies(pyproject: &str) -> Option<&str> {
    let (_, behind) = pyproject.split_once("[project]")?;
    let own = behind.split("\n[").next().unwrap_or(behind);
    let (_, list) = own.split_once("\ndependencies")?;
    list.trim_start()
        .trim_start_matches('=')
        .split_once('[')
        .map(|(_, list)| list)
        .filter(|it| !it.trim_start().starts_with(']'))
}

/// An application that a server of Python's runs.
struct App {
    /// Module and name, as `shop.main:app`.
    name: String,
    /// Whether that is a function that makes it.
    is_factory: bool,
    /// Whether its package lies in `src`.
    is_in_src: bool,
}

/// The application that a file makes: as a name of the module, or in a function that makes it.
fn app(project: &Project, makes: &[&str]) -> Option<App> {
    let whole = |file: &ProjectFile, name: &str, is_factory| {
        let is_in_src = file.path.starts_with("src/") && !project.has("src/__init__.py");
        App { name: format!("{}:{name}", module(file, is_in_src)), is_factory, is_in_src }
    };
    let made = |file: &ProjectFile, makes: &[&str]| {
        file.text.lines().find_map(|line| {
            let (name, made) = line.split_once('=')?;
            let name = name.split(':').next()?.trim_end();
            let is_one = makes.iter().any(|it| made.trim_start().starts_with(it));
            (is_one && !name.is_empty() && !name.contains([' ', '\t', '#'])).then(|| name.to_owned())
        })
    };
    let files = || project.sources(&[".py"]);
    if let Some(app) = files().find_map(|file| Some(whole(file, &made(file, makes)?, false))) {
        return Some(app);
    }
    let (file, factory) = files().find_map(|file| Some((file, factory(&file.text, makes)?)))?;
    let called = format!("{factory}(");
    let of_module = files().find_map(|file| Some(whole(file, &made(file, &[&called])?, false)));
    Some(of_module.unwrap_or_else(|| whole(file, factory, true)))
}

/// The function without arguments that makes an application.
fn factory<'a>(text: &'a str, makes: &[&str]) -> Option<&'a str> {
    let at = makes.iter().find_map(|it| text.find(&format!("= {it}")))?;
    let line = text[..at].lines().rev().find(|line| line.starts_with("def "))?;
    line.strip_prefix("def ")?.split_once('(').map(|(name, _)| name)
}

fn module(file: &ProjectFile, is_in_src: bool) -> String {
    let path = file.path.strip_suffix(".py").unwrap_or(&file.path);
    let path = if is_in_src { path.strip_prefix("src/").unwrap_or(path) } else { path };
    path.strip_suffix("/__init__").unwrap_or(path).replace('/', ".")
}

/// Where the application's package is, and whether there is what runs it.
fn of_application(service: &mut Service, project: &Project, app: &App, server: &str) {
    if app.is_in_src {
        service.env.push(("PYTHONPATH".into(), "src".into()));
    }
    let names =
        |path: &str| project.text(path).is_some_and(|it| it.contains(server) || it.contains("[standard]"));
    let is_there = service.command[0].contains("{stack_dir}");
    if !is_there && !["requirements.txt", "pyproject.toml"].into_iter().any(names) {
        service
            .unsure
            .push(format!("where {server} comes from: it is not among the packages that the project names"));
    } else if service.command[0] == "python3" {
        service.unsure.push(
            "where its packages come from: make a .venv with them, or write a [build] that does".into(),
        );
    }
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
    listens::tell(service, project);
}
