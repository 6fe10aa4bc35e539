//! A project in Python.

use super::{Build, Project, ProjectFile, Service, listens, plain_name, texts};

pub(super) fn found(project: &Project) -> Option<Service> {
    let marks = ["pyproject.toml", "requirements.txt", "Pipfile", "setup.py", "manage.py"];
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
        django(&mut service, project, manage);
    } else if let Some(app) = app(project, &["FastAPI(", "Starlette(", "Litestar("]) {
        serve(&mut service, project, &app, Server::Uvicorn);
    } else if let Some(app) = app(project, &["Flask("]) {
        let packages = requirements(project);
        let server = [Server::Gunicorn, Server::Waitress].into_iter().find(|it| has(&packages, it.name()));
        if let Some(server) = server {
            serve(&mut service, project, &app, server);
        } else {
            service.command.extend(texts(&["-m", "flask", "--app", &app.name, "run", "--port", "{port}"]));
            of_application(&mut service, project, &app, "flask");
            service.unsure.push(for_development("flask run", project));
        }
    } else {
        program(&mut service, project);
    }
    Some(service)
}

/// What serves applications in production.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    Gunicorn,
    Uvicorn,
    Waitress,
}

impl Server {
    /// Its package, and the module that starts it.
    const fn name(self) -> &'static str {
        match self {
            Self::Gunicorn => "gunicorn",
            Self::Uvicorn => "uvicorn",
            Self::Waitress => "waitress",
        }
    }

    /// The file in which Django has the application that it serves.
    const fn file(self) -> &'static str {
        match self {
            Self::Gunicorn | Self::Waitress => "wsgi.py",
            Self::Uvicorn => "asgi.py",
        }
    }

    /// How it is started, behind the interpreter.
    fn command(self, App { name, is_factory, .. }: &App) -> Vec<String> {
        let start = texts(&["-m", self.name()]);
        let if_factory = |option: &str| if *is_factory { texts(&[option]) } else { Vec::new() };
        match self {
            Self::Gunicorn => {
                let call = if *is_factory { "()" } else { "" };
                [start, texts(&["--bind", "127.0.0.1:{port}"]), vec![format!("{name}{call}")]].concat()
            }
            Self::Uvicorn => {
                let listen = texts(&["--host", "127.0.0.1", "--port", "{port}"]);
                [start, vec![name.clone()], if_factory("--factory"), listen].concat()
            }
            Self::Waitress => {
                let listen = texts(&["--listen=127.0.0.1:{port}"]);
                [start, listen, if_factory("--call"), vec![name.clone()]].concat()
            }
        }
    }
}

/// Starts an application by a server for production.
fn serve(service: &mut Service, project: &Project, app: &App, server: Server) {
    service.command.extend(server.command(app));
    of_application(service, project, app, server.name());
    // It looks for that file by itself.
    if server == Server::Gunicorn && !project.has("gunicorn.conf.py") {
        service.unsure.push(
            "how many workers it has: gunicorn starts one of one thread where nothing says more, as --workers or a \
             gunicorn.conf.py does"
                .into(),
        );
    }
}

/// Django, by a server for production where its packages have one.
fn django(service: &mut Service, project: &Project, manage: &str) {
    let folder = manage.strip_suffix("manage.py").unwrap_or_default();
    let packages = requirements(project);
    let application = |server: Server| -> Option<App> {
        let is_it = |path: &str| path.rsplit('/').next() == Some(server.file());
        let mut files = project.sources(&["sgi.py"]).filter_map(|it| it.path.strip_prefix(folder));
        let path = files.find(|path| is_it(path))?.strip_suffix(".py")?;
        let name = format!("{}:application", path.replace('/', "."));
        Some(App { name, is_factory: false, is_in_src: false })
    };
    let servers = [Server::Gunicorn, Server::Uvicorn, Server::Waitress].into_iter();
    let served = servers.filter(|it| has(&packages, it.name())).find_map(|it| Some((application(it)?, it)));
    if let Some((app, server)) = served {
        if !folder.is_empty() {
            service.env.push(("PYTHONPATH".into(), folder.trim_end_matches('/').into()));
        }
        serve(service, project, &app, server);
    } else {
        service.command.extend(texts(&[manage, "runserver", "--noreload", "127.0.0.1:{port}"]));
        service.unsure.push(for_development("manage.py runserver", project));
    }
    let is_debugged = |it: &&ProjectFile| it.text.lines().any(|line| line.trim_end() == "DEBUG = True");
    if let Some(file) = project.sources(&[".py"]).find(is_debugged) {
        service.unsure.push(format!("whether it runs as in production: {} has DEBUG = True", file.path));
    }
}

/// A server that nobody has in production has figures of its own.
fn for_development(server: &str, project: &Project) -> String {
    let list = packages(project).map_or("its packages", |it| it.named_by);
    format!(
        "whether that is what you want to know: `{server}` is a development server, whose figures say nothing of \
         production; add gunicorn to {list} and run `proofload init --force`, or write here what you start in production, \
         which is to listen at {{port}}"
    )
}

/// The interpreter: one that a build makes of the packages that the project names, as a pipeline and another version have them,
/// too; else that of a virtual environment that there is; else the system's.
fn python(service: &mut Service, project: &Project) -> String {
    let Some(Packages { named_by, lock, tools, install }) = packages(project) else {
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
    service.tools = texts(tools);
    if named_by == LIST && project.text(LIST).is_some_and(|text| text.lines().any(is_own)) {
        service.unsure.push(format!(
            "what it is built from: {LIST} installs what lies beside it; list that in `inputs`, or it is not built again"
        ));
    }
    service.build = Some(Build {
        command: vec![
            "sh".into(),
            "-c".into(),
            // The folder is an argument of its own: whatever its name holds, none of it is a command.
            install,
            "sh".into(),
            "{build_dir}".into(),
        ],
        inputs: [lists(project, named_by), lock.into_iter().map(str::to_owned).collect()].concat(),
        output: "venv/bin/python".into(),
    });
    "{build_dir}/venv/bin/python".to_owned()
}

/// The packages of a project.
struct Packages {
    /// The file that names them.
    named_by: &'static str,
    /// The file that says which versions of them and of all that they take, where there is one beside it.
    lock: Option<&'static str>,
    tools: &'static [&'static str],
    /// What makes `$1/venv` and installs them there.
    install: String,
}

/// How pip's own lists are called.
const LIST: &str = "requirements.txt";
/// The tools that lock versions, with what names the packages, and what installs them as they are locked.
const LOCKED: [(&str, &str, &[&str], &str); 3] = [
    (
        "uv.lock",
        "pyproject.toml",
        &["uv"],
        "UV_PROJECT_ENVIRONMENT=\"$1/venv\" uv sync --frozen --no-dev --no-install-project",
    ),
    // It takes the environment that is active, but for one that it was told to use for the project, of which it has a note in the
    // folder of its environments.
    (
        "poetry.lock",
        "pyproject.toml",
        &["python3", "poetry"],
        "python3 -m venv \"$1/venv\" && VIRTUAL_ENV=\"$1/venv\" POETRY_VIRTUALENVS_PATH=\"$1\" poetry install --only main --no-root \
         --no-interaction",
    ),
    (
        "Pipfile.lock",
        "Pipfile",
        &["python3", "pipenv"],
        "python3 -m venv \"$1/venv\" && pipenv requirements >\"$1/requirements.txt\" && \
         \"$1/venv/bin/pip\" install --quiet --requirement \"$1/requirements.txt\"",
    ),
];

fn packages(project: &Project) -> Option<Packages> {
    let by_pip = |named_by, make_list: &str, list: &str| Packages {
        named_by,
        lock: None,
        tools: &["python3"],
        install: format!(
            "python3 -m venv \"$1/venv\" && {make_list}\"$1/venv/bin/pip\" install --quiet --requirement {list}"
        ),
    };
    if project.text(LIST).is_some_and(|text| !text.trim().is_empty()) {
        return Some(by_pip(LIST, "", LIST));
    }
    let is_there =
        |(lock, named_by, ..): &(&str, &str, &[&str], &str)| project.has(lock) && project.has(named_by);
    if let Some((lock, named_by, tools, install)) = LOCKED.into_iter().find(is_there) {
        return Some(Packages { named_by, lock: Some(lock), tools, install: install.into() });
    }
    // `pip install .` would install the project itself, too, and leave folders among its sources.
    let make_list = "python3 -c 'import tomllib; print(*tomllib.load(open(\"pyproject.toml\", \"rb\"))[\"project\"][\"dependencies\"], \
                     sep=\"\\n\")' >\"$1/requirements.txt\" && ";
    let has_some = project.text("pyproject.toml").and_then(dependencies).is_some();
    has_some.then(|| by_pip("pyproject.toml", make_list, "\"$1/requirements.txt\""))
}

/// The packages that the project names, in lower case, each with what is said of its version.
fn requirements(project: &Project) -> Vec<String> {
    let named_by = packages(project).map_or("pyproject.toml", |it| it.named_by);
    let text = project.text(named_by).unwrap_or_default();
    let entries: Vec<&str> = if named_by == LIST {
        let lists = lists(project, named_by).into_iter();
        lists.filter_map(|it| project.text(&it)).flat_map(str::lines).collect()
    } else {
        // Else those of a tool that has a table of its own for them.
        dependencies(text).map_or_else(|| text.split(['\n', '"', '\'']).collect(), quoted)
    };
    entries.into_iter().map(|it| it.trim().to_ascii_lowercase()).collect()
}

/// The texts of a list, up to its end.
fn quoted(list: &str) -> Vec<&str> {
    // Every other part is between quotes, and a bracket there one of an extra.
    let is_quoted = |at: usize| at % 2 == 1;
    let parts = list.split(['"', '\'']).enumerate();
    let own = parts.take_while(|(at, part)| is_quoted(*at) || !part.contains(']'));
    own.filter(|(at, _)| is_quoted(*at)).map(|(_, part)| part).collect()
}

/// Whether a package is among those that are named; not one whose name only begins so.
fn has(packages: &[String], name: &str) -> bool {
    let goes_on = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    packages.iter().any(|it| it.strip_prefix(name).is_some_and(|behind| !behind.starts_with(goes_on)))
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
    let packages = requirements(project);
    // FastAPI brings it along with its usual extras.
    let is_extra = |it: &String| server == "uvicorn" && it.starts_with("fastapi[");
    let is_there = service.command[0].contains("{stack_dir}");
    if !is_there && !has(&packages, server) && !packages.iter().any(is_extra) {
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
