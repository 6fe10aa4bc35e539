use std::path::Path;

use plan::stack::{Catalogue, ReadyWhen, StackManifest};
use plan::{Experiment, Pace};

use super::*;

fn project(files: &[(&str, &str)]) -> Project {
    let files = files.iter().map(|(path, text)| ProjectFile { path: (*path).into(), text: (*text).into() });
    Project { folder: "My Shop".into(), files: files.collect(), around: None }
}

/// The draft, which must be a file that can be run.
fn drafted(files: &[(&str, &str)]) -> (Draft, StackManifest) {
    drafted_in("", files)
}

/// The same of a member of the workspace that the files are of.
fn drafted_in(member: &str, files: &[(&str, &str)]) -> (Draft, StackManifest) {
    let whole = project(files);
    let way = member.split('/').map(|_| "..").collect::<Vec<_>>().join("/");
    let around = Around { way, member: member.to_owned(), whole: whole.clone() };
    let around = (!member.is_empty()).then(|| Box::new(around));
    let own = Project { around, ..whole.within(member).into_owned() };
    let draft = draft(&own).unwrap_or_else(|error| panic!("{error}"));
    let dir = std::env::temp_dir().join(format!(
        "proofload-init-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    for (path, text) in files {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("it is ours");
        std::fs::write(path, text).expect("it is ours");
    }
    let file = Path::new("proofload.toml");
    let services = StackManifest::services(file, &draft.text, &dir.join(member));
    std::fs::remove_dir_all(&dir).expect("it is ours");
    let services = services.unwrap_or_else(|error| panic!("{error}:\n{}", draft.text));
    let service = services[0].clone();
    let catalogue = Catalogue::with_services(Path::new("/no/stacks"), services).expect("it needs no folder");
    let experiment = Experiment::parse(file, &draft.text, &catalogue, Pace::Full);
    experiment.unwrap_or_else(|error| panic!("{error}:\n{}", draft.text));
    (draft, service)
}

fn command(service: &StackManifest) -> String {
    let words: Vec<&str> = service.run().unwrap().command.iter().map(plan::stack::Template::as_str).collect();
    words.join(" ")
}

fn env(service: &StackManifest) -> Vec<(&str, &str)> {
    service.run().unwrap().env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn names_of(env: &[(&str, &str)]) -> String {
    let all: Vec<String> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    all.join(" ")
}

#[test]
fn a_service_in_go() {
    let main = "package main\nfunc main() { http.HandleFunc(\"/\", hello); http.HandleFunc(\"/healthz\", up)\n\
                http.ListenAndServe(\":\"+os.Getenv(\"PORT\"), nil) }";
    let (draft, service) = drafted(&[("go.mod", "module example.org/shop/Cart\n"), ("main.go", main)]);
    assert_eq!((service.id.as_str(), command(&service).as_str()), ("cart", "{build_dir}/service"));
    assert_eq!(env(&service), [("PORT", "{port}")]);
    assert_eq!((service.endpoints[0].path.as_str(), service.ready.path()), ("/", Some("/healthz")));
    assert_eq!(draft.unsure, Vec::<String>::new());
    assert!(service.run().unwrap().dir.is_some() && service.build.is_some());
}

#[test]
fn a_go_program_in_a_folder_with_a_flag_or_a_fixed_port() {
    let main = |listen: &str| format!("package main\nfunc main() {{ {listen}; r.GET(\"/items\", list) }}");
    let flag = main("addr := flag.String(\"addr\", \":8080\", \"where\")");
    let (_, service) = drafted(&[("go.mod", "module shop\n"), ("cmd/api/main.go", &flag)]);
    assert_eq!(command(&service), "{build_dir}/service -addr 127.0.0.1:{port}");
    let (draft, service) =
        drafted(&[("go.mod", "module shop\n"), ("main.go", &main("r := gin.Default(); r.Run()"))]);
    assert_eq!((env(&service), draft.unsure.len()), (vec![("PORT", "{port}")], 0));
    let fixed = main("http.ListenAndServe(\":8081\", nil)");
    let (draft, service) = drafted(&[("go.mod", "module shop\n"), ("cmd/api/main.go", &fixed)]);
    assert_eq!(service.run().unwrap().port.map(u16::from), Some(8081));
    assert_eq!(service.endpoints[0].path, "/items");
    assert!(draft.text.contains("\"./cmd/api\""), "{}", draft.text);
}

#[test]
fn of_several_programs_in_go_the_one_that_serves_is_taken_and_all_are_named() {
    let main = |body: &str| format!("package main\nfunc main() {{ {body} }}");
    let (plain, serves) = (main("run()"), main("http.ListenAndServe(\":8081\", nil)"));
    let module = ("go.mod", "module shop\n");
    for (files, taken) in [
        (&[("cmd/admin/main.go", &plain), ("cmd/shop/main.go", &serves)][..], "cmd/shop"),
        (&[("cmd/admin/main.go", &plain), ("cmd/server/main.go", &plain)], "cmd/server"),
        (&[("cmd/admin/main.go", &plain), ("cmd/jobs/main.go", &plain)], "cmd/admin"),
        (&[("cmd/server/main.go", &serves), ("main.go", &plain)], "."),
    ] {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let (draft, _) = drafted(&[&[module][..], &files[..]].concat());
        let asked = format!("), and {taken} is written down");
        assert!(draft.unsure.iter().any(|it| it.contains(&asked)), "{taken}: {:?}", draft.unsure);
    }
    // A main for each system is one program.
    let files = [module, ("cmd/a/main_linux.go", serves.as_str()), ("cmd/a/main_other.go", serves.as_str())];
    assert!(!drafted(&files).0.unsure.iter().any(|it| it.contains("which program")));
}

#[test]
fn modules_beside_a_program_in_go_are_a_question() {
    let main = "package main\nfunc main() { http.ListenAndServe(\":\"+os.Getenv(\"PORT\"), nil) }";
    let asked = |module: &str| {
        let (draft, _) = drafted(&[("go.mod", module), ("main.go", main)]);
        draft.unsure.iter().any(|it| it.contains("modules that lie beside it"))
    };
    assert!(asked("module shop\nreplace example.org/log => ../log\n"));
    assert!(asked("module shop\nreplace (\n\texample.org/log v1.0.0 => ../../log\n)\n"));
    assert!(!asked("module shop\nreplace example.org/log => ./log\n"));
    assert!(!asked("module shop\nreplace example.org/log => example.org/fork v1.1.0\n"));
}

#[test]
fn where_another_service_listens_is_not_where_this_one_does() {
    for other in [
        "conn, err := grpc.Dial(\"localhost:9000\")",
        "cache := redis.NewClient(&redis.Options{Addr: \"localhost:7000\"})",
        "users := newClient(\"10.0.0.7:9001\")",
        "db := open(\"db:5432\", \"localhost:5432\")",
        "upstream := \"127.0.0.1:9002\"",
    ] {
        let main = format!(
            "package main\nfunc main() {{\n{other}\nr.GET(\"/items\", list)\nhttp.ListenAndServe(\":8081\", nil) }}"
        );
        let (_, service) = drafted(&[("go.mod", "module shop\n"), ("main.go", &main)]);
        assert_eq!(service.run().unwrap().port.map(u16::from), Some(8081), "{other}");
    }
}

#[test]
fn of_several_variables_the_services_own_is_taken_or_asked_for() {
    let of = |names: &[&str]| {
        let reads: Vec<String> = names.iter().map(|name| format!("os.Getenv(\"{name}\")")).collect();
        let main = format!("package main\nfunc main() {{ r.GET(\"/\", f); {} }}", reads.join("; "));
        let (draft, service) = drafted(&[("go.mod", "module shop\n"), ("main.go", &main)]);
        (env(&service)[0].0.to_owned(), draft.unsure.join(" "))
    };
    for (names, taken) in [
        (&["MAIL_PORT", "APP_PORT"][..], "APP_PORT"),
        (&["JOBS_ADDR", "LISTEN_ADDR"], "LISTEN_ADDR"),
        (&["HTTP_PORT", "PORT"], "PORT"),
        (&["JOBS_PORT"], "JOBS_PORT"),
    ] {
        assert_eq!(of(names), (taken.to_owned(), String::new()));
    }
    let (_, unsure) = of(&["JOBS_PORT", "MAIL_PORT"]);
    assert!(unsure.contains("where to listen: the sources read JOBS_PORT, MAIL_PORT"), "{unsure}");
}

#[test]
fn a_dockerfile_exposes_a_port_in_several_ways() {
    let port = |dockerfile: &str| {
        let main = "package main\nfunc main() { serve() }";
        let (_, service) =
            drafted(&[("go.mod", "module shop\n"), ("main.go", main), ("Dockerfile", dockerfile)]);
        service.run().unwrap().port.map(u16::from)
    };
    for dockerfile in [
        "EXPOSE 8081",
        "expose\t8081/TCP",
        "EXPOSE  53/udp 8081 9000",
        "ARG PORT=8081\nEXPOSE $PORT",
        "ENV A=1 PORT=\"8081\"\nEXPOSE ${PORT}",
        "ENV PORT 8081\nEXPOSE ${PORT}/tcp",
        "EXPOSE ${PORT:-8081}",
        "EXPOSE 0\nEXPOSE $UNSET\nEXPOSE 8081",
    ] {
        assert_eq!(port(dockerfile), Some(8081), "{dockerfile}");
    }
    assert_eq!(port("EXPOSE $PORT\nEXPOSE 70000 8000-8010"), None);
}

#[test]
fn a_service_in_rust() {
    let main = "let app = Router::new().route(\"/users/{id}\", get(user)).route(\"/users\", get(users));\n\
                axum::serve(TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 3000))).await?, app)";
    let (_, service) = drafted(&[("Cargo.toml", "[package]\nname = \"user-api\"\n"), ("src/main.rs", main)]);
    assert_eq!(command(&service), "{build_dir}/target/release/user-api");
    assert_eq!(
        (service.run().unwrap().port.map(u16::from), service.endpoints[0].path.as_str()),
        (Some(3000), "/users")
    );
}

#[test]
fn a_spring_boot_module() {
    let pom = "<project><parent><artifactId>spring-boot-starter-parent</artifactId></parent>\
               <artifactId>petclinic</artifactId><properties><java.version>21</java.version></properties></project>";
    let code = "@RestController class A { @GetMapping(\"/owners\") List<Owner> owners() {} }";
    let (_, service) = drafted(&[("pom.xml", pom), ("src/main/java/A.java", code), ("mvnw", "")]);
    assert_eq!((service.id.as_str(), service.needs.jdk), ("petclinic", Some(21)));
    assert_eq!(env(&service), [("SERVER_PORT", "{port}")]);
    assert_eq!(service.endpoints[0].path, "/owners");
}

#[test]
fn springs_controllers_are_beneath_their_class_and_the_application() {
    let pom = "<project><artifactId>shop</artifactId><java.version>17</java.version>spring-boot-starter-actuator</project>";
    let items = "import org.springframework.web.bind.annotation.GetMapping;\n/** A class of items. */\n@RestController\n\
                 @RequestMapping(value = \"/items\", produces = \"application/json\")\npublic class Items {\n\
                 @RequestMapping(method = RequestMethod.POST)\nvoid add() {}\n@GetMapping(\"/{id}\")\nItem one() {}\n\
                 @GetMapping\nList<Item> all() {}\n}";
    let (_, service) = drafted(&[
        ("pom.xml", pom),
        ("src/main/java/org/example/Items.java", items),
        (
            "src/main/resources/application.properties",
            "server.port=81\nserver.servlet.context-path = /shop\n",
        ),
    ]);
    assert_eq!(
        (service.endpoints[0].path.as_str(), service.ready.path()),
        ("/shop/items", Some("/shop/actuator/health"))
    );
}

#[test]
fn a_gradle_build() {
    let build = "plugins { id 'org.springframework.boot' version '3.3.0' }\njava { toolchain { languageVersion = JavaLanguageVersion.of(21) } }";
    let (_, service) = drafted(&[
        ("build.gradle", build),
        ("settings.gradle", "rootProject.name = 'orders'"),
        ("gradlew", ""),
    ]);
    assert_eq!((service.id.as_str(), service.needs.jdk), ("orders", Some(21)));
    // With others beside it, whatever changes may be a part of it.
    let files = [("build.gradle", build), ("core/build.gradle", ""), ("src/main/java/A.java", "class A {}")];
    assert_eq!(drafted(&files).1.build.unwrap().inputs.len(), 1);
}

#[test]
fn a_war_is_built_and_started_under_its_own_ending() {
    let pom = |more: &str| {
        format!(
            "<project><parent><packaging>pom</packaging></parent><artifactId>shop</artifactId>\
             <packaging>war</packaging><java.version>17</java.version>{more}</project>"
        )
    };
    let boot = pom("spring-boot-maven-plugin");
    let (draft, service) = drafted(&[("pom.xml", &boot), ("src/main/java/A.java", "class A {}")]);
    assert_eq!(command(&service), "java -jar {build_dir}/service.war");
    let built = build(&service).unwrap();
    assert!(built.contains("package && cp \"$(ls target/*.war"), "{built}");
    assert!(built.contains("\"$1/service.war\""), "{built}");
    assert!(draft.text.contains("output = \"service.war\""), "{}", draft.text);
    let (draft, _) = drafted(&[("pom.xml", &pom("")), ("src/main/java/A.java", "class A {}")]);
    assert!(draft.unsure.join(" ").contains("whether its war starts by itself"), "{:?}", draft.unsure);
    let script = "plugins {\n    id 'war'\n    id 'org.springframework.boot' version '3.3.0'\n}\n";
    let (_, service) = drafted(&[("build.gradle", script), ("src/main/java/A.java", "class A {}")]);
    let built = build(&service).unwrap();
    assert!(built.contains("bootWar && cp \"$(ls -S build/libs/*.war"), "{built}");
}

#[test]
fn what_a_gradle_script_names_by_an_alias_is_looked_up() {
    let catalogue = "[versions]\njava = \"21\"\nboot = { strictly = \"3.3.0\" }\n\
                     [libraries]\nactuator = { module = \"org.springframework.boot:spring-boot-starter-actuator\" }\n\
                     parts = { group = \"org.example\", name = \"parts\", version = \"1\" }\n\
                     [plugins]\nspring = \"org.example.other:1.0\"\n\
                     spring-boot = { id = \"org.springframework.boot\", version.ref = \"boot\" }\n";
    let api = "plugins {\n    alias(libs.plugins.spring.boot)\n}\njava { toolchain { languageVersion = \
               JavaLanguageVersion.of(libs.versions.java.get()) } }\ndependencies {\n    implementation(libs.actuator)\n}\n";
    let code = "@RestController class A { @GetMapping(\"/owners\") List<Owner> owners() {} }";
    let files = [
        ("gradle/libs.versions.toml", catalogue),
        ("build.gradle.kts", "plugins { alias(libs.plugins.spring.boot) apply false }\n"),
        ("api/build.gradle.kts", api),
        ("api/src/main/kotlin/A.kt", code),
        ("core/build.gradle.kts", "plugins { alias(libs.plugins.spring) }\n"),
        ("gradlew", ""),
    ];
    let (draft, service) = drafted(&files);
    assert_eq!((service.id.as_str(), service.needs.jdk), ("api", Some(21)));
    assert!(build(&service).unwrap().contains("./gradlew -q :api:bootJar"), "{:?}", build(&service));
    assert_eq!(env(&service), [("SERVER_PORT", "{port}")]);
    assert_eq!(
        (service.endpoints[0].path.as_str(), service.ready.path()),
        ("/owners", Some("/actuator/health"))
    );
    assert_eq!(draft.unsure, Vec::<String>::new());
    // One that is broken says nothing, and keeps nobody from a draft.
    let script = ("build.gradle.kts", "kotlin { jvmToolchain(21) }");
    assert_eq!(drafted(&[("gradle/libs.versions.toml", "[plugins"), script]).1.needs.jdk, Some(21));
}

#[test]
fn variables_that_are_read_at_once_are_told_one_by_one() {
    let of = |line: &str| {
        let server = format!("const {{ {line} }} = process.env;\napp.get('/', f).listen(PORT)");
        let (_, service) = drafted(&[("package.json", r#"{"main": "a.js"}"#), ("a.js", &server)]);
        (service.run().unwrap().port.is_some(), env(&service).first().map(|(name, _)| (*name).to_owned()))
    };
    for line in ["PORT = 3000", "NODE_ENV, DB_PORT = 5433,\n  PORT: port = 3000"] {
        assert_eq!(of(line), (false, Some("PORT".to_owned())), "{line}");
    }
}

#[test]
fn django_is_started_wherever_its_program_lies() {
    let manage = "if __name__ == \"__main__\":\n    execute_from_command_line(sys.argv)\n";
    for path in ["manage.py", "backend/manage.py"] {
        let (_, service) = drafted(&[("requirements.txt", "django"), (path, manage)]);
        let due = format!("{{build_dir}}/venv/bin/python {path} runserver --noreload 127.0.0.1:{{port}}");
        assert_eq!(command(&service), due);
    }
}

/// What a development server does in a second says nothing of one in production.
#[test]
fn python_is_served_as_in_production_where_its_packages_can() {
    let made = "def create_app():\n    app = Flask(__name__)\n    return app\n@x.route(\"/items\")\n";
    let whole = "app = Flask(__name__)\n@app.route(\"/items\")\n";
    let pyproject = "[project]\nname = \"shop\"\ndependencies = [\"flask[async]>=3; python_version > '3'\", \
                     \"Waitress\"]\n[project.optional-dependencies]\nproduction = [\"gunicorn\"]\n";
    let of = |files: &[(&str, &str)]| {
        let (draft, service) = drafted(files);
        let command = command(&service);
        (command.split_once(" -m ").expect("a module").1.to_owned(), draft.unsure)
    };
    let listed = ("requirements.txt", "flask\nGunicorn==23.0 # served by\n");
    let (command, unsure) = of(&[listed, ("shop/web.py", whole)]);
    assert_eq!(command, "gunicorn --bind 127.0.0.1:{port} shop.web:app");
    assert!(unsure.len() == 1 && unsure[0].contains("gunicorn starts one"), "{unsure:?}");
    let settings = ("gunicorn.conf.py", "workers = 4\n");
    let listed = [("requirements.txt", "-r requirements/base.txt"), ("requirements/base.txt", "gunicorn")];
    let (command, unsure) = of(&[listed[0], listed[1], ("shop/web.py", made), settings]);
    assert_eq!(command, "gunicorn --bind 127.0.0.1:{port} shop.web:create_app()");
    assert_eq!(unsure, Vec::<String>::new());
    // What the build does not install can't serve.
    let (command, unsure) = of(&[("pyproject.toml", pyproject), ("web.py", made)]);
    assert_eq!(command, "waitress --listen=127.0.0.1:{port} --call web:create_app");
    assert_eq!(unsure, Vec::<String>::new());
    let listed = ("requirements.txt", "flask\ngunicorn-color\n# waitress\n");
    let (command, unsure) = of(&[listed, ("web.py", whole)]);
    assert!(command.starts_with("flask --app web:app run"), "{command}");
    assert!(unsure.len() == 1 && unsure[0].contains("development server"), "{unsure:?}");
}

#[test]
fn django_is_served_as_in_production_where_its_packages_can() {
    let manage = "if __name__ == \"__main__\":\n    execute_from_command_line(sys.argv)\n";
    let of = |packages: &str, settings: &str| {
        let (draft, service) = drafted(&[
            ("requirements.txt", packages),
            ("backend/manage.py", manage),
            ("backend/shop/asgi.py", "application = get_asgi_application()"),
            ("backend/shop/settings.py", settings),
            ("backend/shop/wsgi.py", "application = get_wsgi_application()"),
            ("gunicorn.conf.py", ""),
        ]);
        let command = command(&service).replace("{build_dir}/venv/bin/python ", "");
        let path = env(&service).first().map(|(name, value)| format!("{name}={value}"));
        (command, path.unwrap_or_default(), draft.unsure)
    };
    let served = |command: &str| (command.to_owned(), "PYTHONPATH=backend".to_owned());
    for (packages, due) in [
        // The first that there is.
        ("django\nuvicorn\ngunicorn", "-m gunicorn --bind 127.0.0.1:{port} shop.wsgi:application"),
        ("django\nuvicorn[standard]", "-m uvicorn shop.asgi:application --host 127.0.0.1 --port {port}"),
        ("django\nwaitress", "-m waitress --listen=127.0.0.1:{port} shop.wsgi:application"),
    ] {
        let (command, path, unsure) = of(packages, "DEBUG = False\n");
        assert_eq!((command, path), served(due));
        assert!(!unsure.iter().any(|it| it.contains("production")), "{unsure:?}");
    }
    let (command, path, unsure) = of("django", "import os\nDEBUG = True\n");
    assert_eq!(command, "backend/manage.py runserver --noreload 127.0.0.1:{port}");
    assert_eq!(path, "");
    assert!(unsure[0].contains("`manage.py runserver` is a development server"), "{unsure:?}");
    assert!(unsure[1].contains("backend/shop/settings.py has DEBUG = True"), "{unsure:?}");
}

#[test]
fn a_script_for_production_goes_before_one_that_builds_anew() {
    let of = |scripts: &str| {
        let package = format!("{{\"name\": \"shop\", \"scripts\": {{{scripts}}}}}");
        command(&drafted(&[("package.json", &package), ("src/main.ts", "process.env.PORT")]).1)
    };
    let (nest, production) = ("\"start\": \"nest start\"", "\"start:prod\": \"node dist/main\"");
    assert_eq!(of(&format!("{nest}, {production}")), "node dist/main");
    assert_eq!(of(&format!("\"start\": \"node a.js\", {production}")), "node a.js");
    assert_eq!(of(nest), "npm run --silent start");
    assert_eq!(of("\"start:prod\": \"pm2-runtime a.js\""), "npm run --silent start:prod");
}

/// What builds anew when a source changes has figures of its own.
#[test]
fn node_is_started_as_in_production_where_its_scripts_can() {
    let of = |scripts: &str| {
        let package = format!("{{\"name\": \"shop\", \"scripts\": {{{scripts}}}}}");
        let sources = ("server.js", "app.get('/', f).listen(process.env.PORT)");
        let (draft, service) = drafted(&[("package.json", &package), sources]);
        (command(&service), draft.unsure.join(" "))
    };
    let (npm, none) = ("npm run --silent start", "");
    for (scripts, due, said) in [
        (r#""start": "nodemon a.js", "start:prod": "node dist/main.js""#, "node dist/main.js", none),
        (r#""start": "npm run dev", "dev": "vite", "start:production": "node b.js""#, "node b.js", none),
        (r#""start": "vite build && node server.js""#, npm, none),
        (r#""start": "next start", "dev": "next dev""#, npm, none),
        (r#""start": "nodemon a.js""#, "node a.js", "runs `nodemon`, which is for development"),
        (r#""start": "node --watch --env-file=.env a.js""#, "node --env-file=.env a.js", "runs `--watch`"),
        (r#""start": "nodemon --exec ts-node a.ts""#, npm, "production; write a script `start:prod`"),
        (r#""start": "ng serve""#, npm, "`start` runs `ng serve`, for development"),
        (r#""start": "yarn dev", "dev": "cross-env A=b vite --port 1""#, npm, "runs `vite`"),
        (r#""start": "react-scripts start""#, npm, "`react-scripts start`"),
    ] {
        let (command, unsure) = of(scripts);
        assert_eq!((command.as_str(), unsure.is_empty()), (due, said.is_empty()), "{scripts}: {unsure}");
        assert!(unsure.contains(said), "{scripts}: {unsure}");
    }
    // Without a file that starts it.
    let package = ("package.json", r#"{"scripts": {"dev": "vite"}}"#);
    let (draft, service) = drafted(&[package, ("src/a.ts", "")]);
    assert_eq!(command(&service), "node index.js");
    assert!(draft.unsure[0].contains("`main`; `dev` runs `vite`, for development"), "{:?}", draft.unsure);
    assert!(draft.text.contains("# In production Express and React are"), "{}", draft.text);
    let pages = ("package.json", r#"{"scripts": {"start": "vite"}}"#);
    let error = super::draft(&project(&[("Gemfile", ""), pages])).unwrap_err().to_string();
    assert!(error.contains("Ruby (Gemfile)") && error.contains("not `rails server`"), "{error}");
}

#[test]
fn an_express_app() {
    let package = r#"{"name": "@acme/Shop", "scripts": {"start": "node src/server.js"}, "dependencies": {"express": "4"}}"#;
    let server = "const port = process.env.PORT || 3000;\napp.get('/ping', f); app.get('/items/:id', g); app.get('/items', h)\napp.listen(port)";
    let (_, service) =
        drafted(&[("package.json", package), ("package-lock.json", "{}"), ("src/server.js", server)]);
    assert_eq!((service.id.as_str(), command(&service).as_str()), ("acme-shop", "node src/server.js"));
    assert_eq!(env(&service), [("PORT", "{port}")]);
    assert_eq!((service.endpoints[0].path.as_str(), service.ready.path()), ("/items", Some("/ping")));
}

#[test]
fn packages_of_node_come_by_what_locked_them() {
    let package = (
        "package.json",
        r#"{"scripts": {"build": "tsc"}, "main": "a.js", "dependencies": {"express": "4"}}"#,
    );
    let of = |files: &[(&str, &str)]| {
        let (draft, service) = drafted(&[&[package, ("src/a.ts", "app.get('/', f)")], files].concat());
        let inputs: Vec<String> =
            service.build.iter().flat_map(|it| &it.inputs).map(|it| it.display().to_string()).collect();
        (build(&service).unwrap(), inputs.join(" "), draft.unsure.join(" "))
    };
    for (lock, command) in [
        ("pnpm-lock.yaml", "pnpm install --frozen-lockfile && pnpm run build"),
        ("yarn.lock", "yarn install --frozen-lockfile && yarn run build"),
        ("package-lock.json", "npm ci --no-audit --no-fund && npm run build"),
    ] {
        let (told, inputs, unsure) = of(&[(lock, "")]);
        assert!(told.contains(command) && inputs.contains(lock), "{lock}: {told} {inputs}");
        assert!(!unsure.contains("how its packages"), "{unsure}");
    }
    assert!(of(&[("yarn.lock", ""), (".yarnrc.yml", "")]).0.contains("yarn install --immutable"));
    let (told, inputs, unsure) = of(&[("bun.lock", "")]);
    assert!(told.contains("bun install --frozen-lockfile && bun run build"), "{told}");
    assert!(inputs.contains("bun.lock") && !unsure.contains("how its packages"), "{inputs}: {unsure}");
    // What is built again when a source has changed has them all, however a framework calls their folder.
    let (_, inputs, _) = of(&[("app/page.tsx", ""), ("next.config.mjs", ""), ("out/a.html", "")]);
    let names: Vec<&str> = inputs.split(' ').filter_map(|it| it.rsplit('/').next()).collect();
    assert_eq!(names, ["package.json", "src", "app", "next.config.mjs"]);
}

/// npm and a shell between would have memory, and take a start, of their own.
#[test]
fn what_a_script_sets_before_its_program_is_in_its_environment() {
    let of = |script: &str| {
        let package = format!("{{\"scripts\": {{\"start\": \"{script}\"}}}}");
        let server = "app.get('/', f).listen(process.env.PORT)";
        let (draft, service) = drafted(&[("package.json", &package), ("a.js", server)]);
        let set: Vec<String> = env(&service).iter().map(|(name, value)| format!("{name}={value}")).collect();
        (command(&service), set.join(" "), draft.text.contains("# In production Express"))
    };
    let npm = "npm run --silent start";
    for (script, due, set, is_told) in [
        ("node a.js", "node a.js", "PORT={port}", true),
        ("NODE_ENV=production node a.js", "node a.js", "NODE_ENV=production PORT={port}", false),
        ("cross-env  PORT=3000 A=b node a.js", "node a.js", "A=b PORT={port}", true),
        ("NODE_ENV=$STAGE node a.js", npm, "PORT={port}", true),
        ("A=b tsx a.ts", npm, "PORT={port}", true),
    ] {
        assert_eq!(of(script), (due.to_owned(), set.to_owned(), is_told), "{script}");
    }
}

#[test]
fn scripts_are_run_by_what_the_project_has() {
    let of = |script: &str, lock: &str| {
        let package =
            format!("{{\"scripts\": {{\"start\": \"{script}\"}}, \"dependencies\": {{\"hono\": \"4\"}}}}");
        let server = "app.get('/', f); Bun.serve({ port: Bun.env.PORT, fetch: app.fetch })";
        let (draft, service) = drafted(&[("package.json", &package), ("src/a.ts", server), (lock, "")]);
        assert_eq!(env(&service), [("PORT", "{port}")]);
        (command(&service), service.needs.tools.join(" "), draft.unsure.join(" "))
    };
    for (script, lock, due, tools) in [
        ("bun run src/a.ts", "bun.lock", "bun run src/a.ts", "bun"),
        ("bun --smol src/a.ts", "bun.lockb", "bun --smol src/a.ts", "bun"),
        ("tsx src/a.ts", "bun.lock", "bun run start", "bun"),
        ("tsx src/a.ts", "pnpm-lock.yaml", "pnpm run start", "node pnpm"),
        ("tsx src/a.ts", "yarn.lock", "yarn run start", "node yarn"),
        ("tsx src/a.ts", "package-lock.json", "npm run --silent start", "node npm"),
    ] {
        let told = of(script, lock);
        assert_eq!((told.0.as_str(), told.1.as_str(), told.2.as_str()), (due, tools, ""), "{script} {lock}");
    }
    assert!(of("bun --hot src/a.ts", "bun.lock").2.contains("`start` runs `--hot`, for development"));
}

#[test]
fn of_several_packages_or_services_the_folders_are_named() {
    let root = ("package.json", r#"{"workspaces": ["apps/*"], "scripts": {"build": "turbo build"}}"#);
    let api = ("apps/api/package.json", r#"{"scripts": {"start": "node a.js"}}"#);
    let beside = [("cart/go.mod", ""), ("cart/web/package.json", "{}"), ("Dockerfile", "")];
    for (files, said) in
        [(&[root, api, ("apps/web/package.json", "{}")][..], "apps/api, apps/web"), (&beside, "some: cart")]
    {
        let error = super::draft(&project(files)).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("proofload init "), "{error}");
        assert!(!error.contains("cart/web"), "{error}");
    }
    // Settings of the one package that there is.
    let alone = [root, ("pnpm-workspace.yaml", ""), ("index.js", "app.get('/', f).listen(process.env.PORT)")];
    assert_eq!(command(&drafted(&alone).1), "node index.js");
    let beside = r#"{"main": "a.js", "dependencies": {"@acme/log": "workspace:*"}}"#;
    let (draft, _) = drafted(&[("package.json", beside), ("a.js", "process.env.PORT")]);
    assert!(draft.unsure.join(" ").contains("some lie beside it, in a workspace"), "{:?}", draft.unsure);
    for name in ["docker-compose.yml", "compose.yaml", "Containerfile"] {
        let error = super::draft(&project(&[(name, "")])).unwrap_err().to_string();
        assert!(error.contains(&format!("there is a {name}")) && error.contains("`url`"), "{error}");
    }
}

#[test]
fn python_with_fastapi_flask_and_by_itself() {
    let fastapi = "app = FastAPI()\n@app.get(\"/items\")\ndef items(): ...";
    let (_, service) = drafted(&[("requirements.txt", "fastapi[standard]"), ("shop/main.py", fastapi)]);
    assert_eq!(
        command(&service),
        "{build_dir}/venv/bin/python -m uvicorn shop.main:app --host 127.0.0.1 --port {port}"
    );
    assert_eq!((service.id.as_str(), service.endpoints[0].path.as_str()), ("my-shop", "/items"));
    let flask = "api = Flask(__name__)\n@api.route('/')\ndef index(): ...";
    let (draft, service) = drafted(&[("requirements.txt", "flask"), ("app.py", flask)]);
    assert_eq!(command(&service), "{build_dir}/venv/bin/python -m flask --app app:api run --port {port}");
    let said = "`flask run` is a development server";
    assert!(draft.unsure[0].contains(said) && draft.text.contains(said), "{:?}", draft.unsure);
    assert!(draft.unsure[0].contains("add gunicorn to requirements.txt"), "{:?}", draft.unsure);
    let plain = "HTTPServer((\"127.0.0.1\", int(sys.argv[1])), Handler).serve_forever()";
    let (_, service) = drafted(&[("pyproject.toml", "[project]\nname = \"tiny\"\n"), ("server.py", plain)]);
    assert_eq!((service.id.as_str(), command(&service).as_str()), ("tiny", "python3 server.py {port}"));
}

fn build(service: &StackManifest) -> Option<String> {
    let words = service.build.as_ref()?.command.iter().map(plan::stack::Template::as_str);
    Some(words.collect::<Vec<&str>>().join(" "))
}

#[test]
fn packages_of_python_come_from_what_names_them() {
    let app = ("main.py", "app = FastAPI()\n@app.get(\"/items\")\ndef items(): ...");
    let (_, service) = drafted(&[app, ("requirements.txt", "fastapi\nuvicorn")]);
    assert!(build(&service).unwrap().contains("--requirement requirements.txt"), "{:?}", build(&service));
    let pyproject = "[project]\nname = \"shop\"\ndependencies = [\n  \"fastapi\", \"uvicorn\"]\n[tool.x]\n";
    let (draft, service) = drafted(&[app, ("pyproject.toml", pyproject)]);
    assert!(build(&service).unwrap().contains("tomllib"), "{:?}", build(&service));
    assert_eq!(draft.unsure, Vec::<String>::new());
    // One that there is has them already, and is nowhere else.
    let (_, service) = drafted(&[app, ("pyproject.toml", pyproject), (".venv/bin/python", "")]);
    assert!(build(&service).is_some() && command(&service).starts_with("{build_dir}/venv/bin/python"));
    let (draft, service) = drafted(&[app, ("pyproject.toml", "[project]\n"), (".venv/bin/python", "")]);
    assert_eq!(
        (build(&service), command(&service).starts_with("{stack_dir}/.venv/bin/python")),
        (None, true)
    );
    assert!(draft.unsure[0].contains(".venv is of this machine"), "{:?}", draft.unsure);
    let (draft, service) =
        drafted(&[app, ("pyproject.toml", "[tool.poetry.dependencies]\nfastapi = \"*\"\nuvicorn = \"*\"")]);
    assert_eq!(build(&service), None);
    assert!(draft.unsure[0].contains("where its packages come from"), "{:?}", draft.unsure);
    let requirements = ("requirements.txt", "-r more/base.txt\n--constraint=pins.txt\n./own\nuvicorn");
    let (draft, service) = drafted(&[app, requirements, ("more/base.txt", "-r web.txt"), ("pins.txt", "")]);
    assert_eq!(service.build.unwrap().inputs.len(), 3);
    assert!(draft.unsure[0].contains("installs what lies beside it"), "{:?}", draft.unsure);
    let (draft, _) = drafted(&[app, ("requirements.txt", "fastapi\nhypercorn")]);
    assert!(draft.unsure[0].contains("where uvicorn comes from"), "{:?}", draft.unsure);
}

/// Other versions of what it takes are another service.
#[test]
fn packages_of_python_have_the_versions_that_their_tool_has_locked() {
    let app = ("main.py", "app = FastAPI()\n@app.get(\"/items\")\ndef items(): ...");
    let project = "[project]\nname = \"shop\"\ndependencies = [\"fastapi\", \"uvicorn\"]\n";
    let poetry = "[tool.poetry.dependencies]\nfastapi = \"*\"\nuvicorn = \"*\"\n";
    let pipenv = "[packages]\nfastapi = \"*\"\nuvicorn = {extras = [\"standard\"], version = \"*\"}\n";
    for (named_by, text, lock, tool, installs) in [
        ("pyproject.toml", project, "uv.lock", "uv", "uv sync --frozen --no-dev --no-install-project"),
        ("pyproject.toml", poetry, "poetry.lock", "poetry", "poetry install --only main --no-root"),
        ("Pipfile", pipenv, "Pipfile.lock", "pipenv", "pipenv requirements >\"$1/requirements.txt\" && "),
    ] {
        let (draft, service) = drafted(&[app, (named_by, text), (lock, "")]);
        let built = build(&service).unwrap();
        assert!(built.contains(installs), "{built}");
        assert!(service.needs.tools.iter().any(|it| it == tool), "{:?}", service.needs.tools);
        let due = "{build_dir}/venv/bin/python -m uvicorn main:app --host 127.0.0.1 --port {port}";
        assert_eq!(command(&service), due);
        let inputs = &service.build.as_ref().unwrap().inputs;
        let names: Vec<String> = inputs.iter().map(|it| it.display().to_string()).collect();
        assert!(names.len() == 2 && names[0].ends_with(named_by) && names[1].ends_with(lock), "{names:?}");
        assert_eq!(draft.unsure, Vec::<String>::new(), "{lock}");
    }
    let listed = ("requirements.txt", "fastapi\nuvicorn");
    let (_, service) = drafted(&[app, listed, ("pyproject.toml", project), ("uv.lock", "")]);
    assert!(build(&service).unwrap().contains("--requirement requirements.txt"), "{:?}", build(&service));
}

#[test]
fn an_application_of_python_in_a_function_or_in_src() {
    let factory = "def create_app():\n    app = FastAPI()\n    return app\n@x.get(\"/items\")\n";
    let requirements = ("requirements.txt", "uvicorn");
    let (_, service) = drafted(&[("shop/web.py", factory), requirements]);
    assert!(
        command(&service).contains("uvicorn shop.web:create_app --factory --host"),
        "{}",
        command(&service)
    );
    let (_, service) =
        drafted(&[("main.py", "app = create_app()\n"), ("shop/web.py", factory), requirements]);
    assert!(command(&service).contains("uvicorn main:app --host"), "{}", command(&service));
    let (_, service) =
        drafted(&[("src/shop/main.py", "app = FastAPI()\n@app.get(\"/items\")"), requirements]);
    assert!(command(&service).contains("uvicorn shop.main:app --host"), "{}", command(&service));
    assert_eq!(env(&service), [("PYTHONPATH", "src")]);
}

#[test]
fn a_path_that_may_be_beneath_another_one_is_a_question() {
    let package = r#"{"name": "shop", "main": "app.js"}"#;
    let router = "const router = Router();\nrouter.get('/items', all);\nprocess.env.PORT";
    let (draft, _) = drafted(&[("package.json", package), ("app.js", router)]);
    assert!(
        draft.unsure.len() == 1 && draft.unsure[0].contains("/items is put beneath"),
        "{:?}",
        draft.unsure
    );
    let asked = [("package.json", package), ("app.js", router), ("b.js", "app.get('/orders', all)")];
    assert_eq!(drafted(&asked).0.unsure, Vec::<String>::new());
}

#[test]
fn an_openapi_document_goes_before_the_sources() {
    let document = "openapi: 3.0.0\npaths:\n  /orders/{id}:\n    get: {}\n  /health:\n    get: {}\n  /orders:\n    post: {}\n    get: {}\n";
    let main = "package main\nfunc main() { http.HandleFunc(\"/other\", f); http.ListenAndServe(os.Getenv(\"LISTEN_ADDR\"), nil) }";
    let (draft, service) =
        drafted(&[("go.mod", "module shop\n"), ("api/openapi.yaml", document), ("main.go", main)]);
    assert_eq!((service.endpoints[0].path.as_str(), service.ready.path()), ("/orders", Some("/health")));
    assert_eq!(env(&service), [("LISTEN_ADDR", "127.0.0.1:{port}")]);
    assert!(draft.seen.iter().any(|it| it.contains("by api/openapi.yaml")), "{:?}", draft.seen);
}

#[test]
fn paths_of_an_openapi_document_are_beneath_its_base() {
    let main = "package main\nfunc main() { http.ListenAndServe(os.Getenv(\"LISTEN_ADDR\"), nil) }";
    let path = |head: &str| {
        let paths = "parameters:\n  key: {name: key, in: header, required: true}\npaths:\n  /a:\n    parameters: [{$ref: '#/parameters/key'}]\n    get: {}\n  /find:\n    get:\n      parameters: [{name: q, in: query, required: true}]\n  /orders:\n    get: {}\n";
        let document = format!("{head}{paths}");
        let (_, service) =
            drafted(&[("go.mod", "module shop\n"), ("openapi.yaml", &document), ("main.go", main)]);
        service.endpoints[0].path.clone()
    };
    for (head, due) in [
        ("", "/orders"),
        ("basePath: /api/v1\n", "/api/v1/orders"),
        ("basePath: /\n", "/orders"),
        ("servers: [{url: /api/v1}]\n", "/api/v1/orders"),
        ("servers: [{url: 'http://localhost:8080/api/v1/'}]\n", "/api/v1/orders"),
        ("servers: [{url: 'https://example.com'}]\n", "/orders"),
        ("servers: [{url: '/{version}'}]\n", "/orders"),
    ] {
        assert_eq!(path(head), due, "{head}");
    }
}

#[test]
fn a_good_answer_has_the_status_that_the_document_says() {
    let main = "package main\nfunc main() { http.ListenAndServe(os.Getenv(\"LISTEN_ADDR\"), nil) }";
    for (responses, due) in [
        ("{'200': {}, '404': {}}", 200),
        ("{404: {}, 206: {}, 202: {}}", 202),
        ("{'204': {}, '302': {}}", 204),
        ("{'302': {}, '404': {}}", 302),
        ("{2XX: {}, '304': {}}", 200),
        ("{default: {}}", 200),
        ("{'404': {}}", 200),
    ] {
        let document = format!(
            "openapi: 3.0.0\nservers: [{{url: /api}}]\npaths:\n  /health: {{get: {{responses: {{'204': {{}}}}}}}}\n  \
             /orders: {{get: {{responses: {responses}}}}}\n"
        );
        let (draft, service) =
            drafted(&[("go.mod", "module shop\n"), ("openapi.yaml", &document), ("main.go", main)]);
        let of_ready = ReadyWhen::Answers { path: "/api/health".into(), status: 204 };
        assert_eq!((service.endpoints[0].status, &service.ready.when), (due, &of_ready), "{responses}");
        assert!(draft.text.contains("It is ready when this is answered with 204."), "{}", draft.text);
    }
}

#[test]
fn what_answers_without_a_key_is_asked_before_what_wants_one() {
    let main = "package main\nfunc main() { http.ListenAndServe(os.Getenv(\"LISTEN_ADDR\"), nil) }";
    let asked = |paths: &str| {
        let document =
            format!("openapi: 3.0.0\nsecurity: [{{token: []}}]\npaths:\n  x-note: {{get: {{}}}}\n{paths}");
        let (draft, service) =
            drafted(&[("go.mod", "module shop\n"), ("a\nb/openapi.yaml", &document), ("main.go", main)]);
        (service.endpoints[0].path.clone(), draft.unsure.join(" "))
    };
    let (health, orders) = ("  /health: {get: {security: []}}\n", "  /orders: {get: {}}\n");
    for open in ["security: []", "security: [{}]"] {
        let told = asked(&format!("{health}{orders}  /items: {{get: {{{open}}}}}\n"));
        assert_eq!(told, ("/items".to_owned(), String::new()), "{open}");
    }
    let (path, unsure) = asked(&format!("{health}{orders}"));
    assert_eq!(path, "/orders");
    assert!(unsure.contains("b/openapi.yaml, /orders wants a key"), "{unsure}");
}

#[test]
fn what_is_not_seen_is_a_question_and_what_is_none_an_error() {
    let (draft, _) = drafted(&[
        ("go.mod", "module shop\n"),
        ("main.go", "package main\nfunc main() { serve() }"),
        ("package.json", "{}"),
    ]);
    assert_eq!(draft.unsure.len(), 3, "{:?}", draft.unsure);
    assert_eq!(draft.text.matches("# CHECK ").count(), 3, "{}", draft.text);
    let rails =
        [("Gemfile", ""), ("package.json", r#"{"main": "a.js"}"#), ("a.js", "app.get('/', f).listen(80)")];
    let unsure = drafted(&rails).0.unsure;
    assert_eq!(unsure, ["whether it is the right one: there is Ruby (Gemfile) as well"]);
    for (files, said) in [
        (&[("README.md", "")][..], "nothing here says"),
        (&[("Dockerfile", "FROM x")], "there is a Dockerfile"),
        (&[("Dockerfile", "FROM x"), ("Gemfile", "")], "it is a project in Ruby (Gemfile)"),
        (&[("src/Shop/Shop.csproj", "")], "it is a project in C# (.csproj)"),
        // What builds its pages starts nothing.
        (
            &[("composer.json", "{}"), ("package.json", r#"{"scripts": {"build": "vite build"}}"#)],
            "it is a project in PHP (composer.json)",
        ),
    ] {
        let error = super::draft(&project(files)).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("docs/own-service.md"), "{error}");
    }
}

#[test]
fn versions_are_read_as_they_are_written() {
    let main = "package main\nfunc main() { http.ListenAndServe(\":\"+os.Getenv(\"PORT\"), nil) }";
    for module in ["module example.org/shop/cart/v2\n", "module \"example.org/cart\" // the shop's\n"] {
        assert_eq!(drafted(&[("go.mod", module), ("main.go", main)]).1.id, "cart", "{module}");
    }
    for (file, text, jdk) in [
        ("pom.xml", "<project><artifactId>a</artifactId><java.version>1.8</java.version></project>", Some(8)),
        ("build.gradle", "sourceCompatibility = '11'\n", Some(11)),
        ("build.gradle", "java {\n    sourceCompatibility = JavaVersion.VERSION_1_8\n}\n", Some(8)),
        ("build.gradle.kts", "java.sourceCompatibility = JavaVersion.VERSION_21\n", Some(21)),
    ] {
        let (draft, service) = drafted(&[(file, text), ("src/main/java/A.java", "class A {}")]);
        assert_eq!(service.needs.jdk, jdk, "{text}");
        assert!(!draft.unsure.iter().any(|it| it.contains("which JDK")), "{text}: {:?}", draft.unsure);
    }
}

#[test]
fn of_several_programs_in_rust_one_is_taken_and_the_others_are_a_question() {
    let package = "[package]\nname = \"shop\"\n";
    let default = format!("{package}default-run = \"import\"\n");
    let named = format!("{package}\n[[bin]]\nname = \"serve\"\npath = \"src/main.rs\"\n");
    let serves = "fn main() { listen(std::env::var(\"PORT\")) }";
    let (main, import) = (("src/main.rs", serves), ("src/bin/import.rs", "fn main() {}"));
    let alone = ("src/bin/server.rs", serves);
    let members = [
        ("Cargo.toml", "[workspace]\nmembers = [\"*\"]\n"),
        ("api/Cargo.toml", "[package]\nname = \"shop-api\"\n"),
        ("api/src/main.rs", serves),
        ("jobs/Cargo.toml", "[package]\nname = \"jobs\"\n"),
        ("jobs/src/main.rs", "fn main() {}"),
    ];
    let second = [
        ("Cargo.toml", "[workspace]\nmembers = [\"*\"]\n"),
        ("admin/Cargo.toml", "[package]\nname = \"admin\"\n"),
        ("admin/src/main.rs", "fn main() {}"),
        ("web/Cargo.toml", "[package]\nname = \"shop-web\"\n[dependencies]\naxum = \"0.8\"\n"),
        ("web/src/main.rs", serves),
    ];
    for (files, program, is_asked) in [
        (&second[..], "shop-web", true),
        (&[("Cargo.toml", package), main], "shop", false),
        (&[("Cargo.toml", package), import, main], "shop", true),
        (&[("Cargo.toml", default.as_str()), import, main], "import", true),
        (&[("Cargo.toml", named.as_str()), main], "serve", false),
        (&[("Cargo.toml", package), alone, ("src/lib.rs", "")], "server", false),
        (&members, "shop-api", true),
    ] {
        let (draft, service) = drafted(files);
        assert_eq!(command(&service), format!("{{build_dir}}/target/release/{program}"));
        let asked = draft.unsure.iter().any(|it| it.starts_with("which program it is: there are 2"));
        assert_eq!(asked, is_asked, "{program}: {:?}", draft.unsure);
    }
}

/// Cargo's manifests have several ways to say the same.
#[test]
fn what_a_program_in_rust_takes_is_seen_however_it_is_written() {
    let root = "[workspace]\nmembers = [\"*\"]\n[workspace.dependencies]\naxum = \"0.8\"\n";
    let serves = "fn main() { listen(std::env::var(\"PORT\")) }";
    for (taken, program) in [
        ("[dependencies]\naxum = \"0.8\"\n", "shop-web"),
        ("[dependencies]\n\"axum\" = '0.8'\n", "shop-web"),
        ("[dependencies.axum]\nversion = \"0.8\"\n", "shop-web"),
        ("[dependencies]\naxum.workspace = true\n", "shop-web"),
        ("[dependencies]\naxum = { workspace = true }\n", "shop-web"),
        ("[dependencies]\nweb = { package = \"axum\", version = \"0.8\" }\n", "shop-web"),
        ("[target.'cfg(unix)'.dependencies]\naxum = \"0.8\"\n", "shop-web"),
        ("[target.'cfg(unix)'.dependencies.axum]\nversion = \"0.8\"\n", "shop-web"),
        // Tests serve, and not the program.
        ("[dev-dependencies]\naxum = \"0.8\"\n", "admin"),
        ("[dependencies]\n# axum = \"0.8\"\n", "admin"),
    ] {
        let web = format!("[package]\nname = 'shop-web'\n{taken}");
        let (_, service) = drafted(&[
            ("Cargo.toml", root),
            ("admin/Cargo.toml", "[package]\nname = \"admin\"\n"),
            ("admin/src/main.rs", "fn main() {}"),
            ("web/Cargo.toml", &web),
            ("web/src/main.rs", serves),
        ]);
        assert_eq!(command(&service), format!("{{build_dir}}/target/release/{program}"), "{taken}");
    }
    let named = "[package]\nname = \"shop\"\nautobins = false\n[[bin]]\nname = \"serve\"\npath = \"src/a.rs\"\n\
                 required-features = [\"http\", \"json\"]\n";
    let (draft, service) =
        drafted(&[("Cargo.toml", named), ("src/a.rs", serves), ("src/bin/other.rs", "fn main() {}")]);
    let built = build(&service).unwrap();
    assert!(built.contains("--bin serve") && built.ends_with("--features http,json"), "{built}");
    assert!(!draft.unsure.iter().any(|it| it.contains("which program")), "{:?}", draft.unsure);
}

/// The inputs of a service, by their way from its folder on, in order.
fn inputs(service: &StackManifest, folder: &str) -> Vec<String> {
    let way = |path: &Path| path.display().to_string().split_once(folder).expect("it is within").1.to_owned();
    let all = service.build.iter().flat_map(|it| &it.inputs).map(|it| way(it));
    all.collect()
}

/// Where what it takes changes and it is not built again, the version before is what is measured.
#[test]
fn a_member_of_a_workspace_in_rust_is_built_of_what_it_takes_there() {
    let root =
        "[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\nkit = { path = \"crates/kit\" }\n";
    let api = "[package]\nname = \"api\"\n[dependencies]\nkit.workspace = true\ncore = { path = \"../core\" }\n\
               axum = \"0.8\"\n";
    let core = "[package]\nname = \"core\"\n[dependencies]\nkit = { path = \"../kit\" }\n[build-dependencies]\n\
                gen = { path = \"../gen\" }\n[dev-dependencies]\nother = { path = \"../other\" }\n";
    let package = |name: &str| format!("[package]\nname = \"{name}\"\n");
    let [kit, generated, other] = ["kit", "gen", "other"].map(package);
    let files = [
        ("Cargo.lock", ""),
        ("Cargo.toml", root),
        ("crates/api/Cargo.toml", api),
        ("crates/api/src/main.rs", "fn main() { listen(std::env::var(\"PORT\")) }"),
        ("crates/core/Cargo.toml", core),
        ("crates/gen/Cargo.toml", generated.as_str()),
        ("crates/kit/Cargo.toml", kit.as_str()),
        ("crates/other/Cargo.toml", other.as_str()),
    ];
    let (draft, service) = drafted_in("crates/api", &files);
    let mut told = inputs(&service, "/crates/api/");
    told.sort_unstable();
    let due = [
        ".",
        "../../Cargo.lock",
        "../../Cargo.toml",
        "../../crates/core",
        "../../crates/gen",
        "../../crates/kit",
    ];
    assert_eq!(told, due);
    let asked = |draft: &Draft| draft.unsure.iter().any(|it| it.contains("packages that lie beside it"));
    assert!(!asked(&draft), "{:?}", draft.unsure);
    // Where nobody knows what there is, somebody has to say so.
    let alone =
        "[package]\nname = \"api\"\n[dependencies]\nkit = { path = \"../kit\" }\nown = { path = \"own\" }\n";
    let main = ("src/main.rs", "fn main() { listen(std::env::var(\"PORT\")) }");
    assert!(asked(&drafted(&[("Cargo.toml", alone), main]).0));
    let within = "[package]\nname = \"api\"\n[dependencies]\nown = { path = \"./own\" }\n";
    assert!(!asked(&drafted(&[("Cargo.toml", within), main]).0));
}

/// A member may lie among a workspace's examples, which are no programs of a service otherwise.
#[test]
fn what_a_program_in_rust_takes_and_nobody_can_follow_is_a_question() {
    let main = "fn main() { listen(std::env::var(\"PORT\")) }";
    let of = |member: &str, taken: &str| {
        let api = format!("[package]\nname = \"api\"\n[dependencies]\n{taken}\n");
        let (manifest, sources) = (format!("{member}/Cargo.toml"), format!("{member}/src/main.rs"));
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"api\", \"core\", \"examples/*\"]\n"),
            ("core/Cargo.toml", "[package]\nname = \"core\"\n"),
            ("vendor/README.md", ""),
            (manifest.as_str(), api.as_str()),
            (sources.as_str(), main),
        ];
        let (draft, service) = drafted_in(member, &files);
        let is_asked = draft.unsure.iter().any(|it| it.contains("packages that lie beside it"));
        (inputs(&service, &format!("/{member}/")).join(" "), is_asked)
    };
    let of_example = of("examples/api", "core = { path = \"../../core\" }");
    assert_eq!(of_example, (". ../../Cargo.toml ../../core".to_owned(), false));
    let of_vendor = of("api", "vendor = { path = \"../vendor\" }");
    assert_eq!(of_vendor, (". ../Cargo.toml ../vendor".to_owned(), true));
    // Its workspace is not known.
    let inherits = "[package]\nname = \"api\"\n[dependencies]\nkit.workspace = true\n";
    let unsure = drafted(&[("Cargo.toml", inherits), ("src/main.rs", main)]).0.unsure;
    assert!(unsure[0].contains("packages that lie beside it"), "{unsure:?}");
}

/// The lock file, and with it what installs, is of the workspace.
#[test]
fn a_member_of_a_workspace_of_node_is_installed_and_built_where_that_is() {
    let api = r#"{"name": "api", "scripts": {"build": "tsc", "start": "tsx a.ts"}, "dependencies": {"@acme/log": "*"}}"#;
    let log = r#"{"name": "@acme/log", "scripts": {"build": "tsc"}, "devDependencies": {"@acme/kit": "*"}}"#;
    let others = [
        ("apps/api/package.json", api),
        ("apps/api/src/a.ts", "app.get('/', f).listen(process.env.PORT)"),
        ("packages/kit/index.js", ""),
        ("packages/kit/package.json", r#"{"name": "@acme/kit"}"#),
        ("packages/log/package.json", log),
        ("packages/log/src/b.ts", ""),
        ("packages/other/package.json", r#"{"name": "@acme/other", "scripts": {"build": "tsc"}}"#),
    ];
    let of = |root: &str, more: &[(&str, &str)]| {
        let files = [&[("package.json", root)][..], &others[..], more].concat();
        let (draft, service) = drafted_in("apps/api", &files);
        assert_eq!(draft.unsure, Vec::<String>::new(), "{root}");
        (build(&service).unwrap(), command(&service), inputs(&service, "/apps/api/"))
    };
    let root = r#"{"workspaces": ["apps/*", "packages/*"]}"#;
    let (built, started, inputs) = of(root, &[("package-lock.json", "")]);
    let due = "cd ../.. && npm ci --no-audit --no-fund && (cd ./packages/log && npm run build) && \
               (cd ./apps/api && npm run build) && touch \"$1/installed\"";
    assert!(built.contains(due), "{built}");
    assert_eq!(started, "npm run --silent start");
    let due = [
        "package.json",
        "src",
        "../../package.json",
        "../../package-lock.json",
        "../../packages/kit/package.json",
        "../../packages/kit/index.js",
        "../../packages/log/package.json",
        "../../packages/log/src",
    ];
    assert_eq!(inputs, due);
    let of_pnpm = [("pnpm-lock.yaml", ""), ("pnpm-workspace.yaml", "packages: ['apps/*', 'packages/*']\n")];
    let (built, started, inputs) = of("{}", &of_pnpm);
    let due = "cd ../.. && pnpm install --frozen-lockfile && (cd ./packages/log && pnpm run build)";
    assert!(built.contains(due), "{built}");
    assert_eq!(started, "pnpm run start");
    assert!(inputs.iter().any(|it| it == "../../pnpm-workspace.yaml"), "{inputs:?}");
    let declared =
        r#"{"workspaces": {"packages": ["apps/*", "packages/*"]}, "packageManager": "yarn@4.1.0"}"#;
    let (built, started, _) = of(declared, &[("package-lock.json", ""), ("yarn.lock", "")]);
    assert!(built.contains("cd ../.. && yarn install --immutable && "), "{built}");
    assert_eq!(started, "yarn run start");
}

#[test]
fn what_a_package_takes_from_beside_it_and_is_not_known_is_a_question() {
    let own = ("apps/api/a.js", "app.get('/', f).listen(process.env.PORT)");
    let of = |folders: &str, version: &str| {
        let root = format!("{{\"workspaces\": [\"{folders}\"]}}");
        let api = format!("{{\"main\": \"a.js\", \"dependencies\": {{\"@acme/log\": \"{version}\"}}}}");
        let log = ("packages/log/package.json", r#"{"name": "@acme/log"}"#);
        let files = [("package.json", root.as_str()), ("apps/api/package.json", api.as_str()), own, log];
        let (draft, service) = drafted_in("apps/api", &files);
        (build(&service).unwrap().contains("cd ../.."), draft.unsure.join(" "))
    };
    let asked = "some lie beside it, in a workspace";
    assert_eq!(of("**", "workspace:*"), (true, String::new()));
    let (is_there, unsure) = of("apps/*", "workspace:*");
    assert!(is_there && unsure.contains(asked), "{unsure}");
    let (is_there, unsure) = of("packages/*", "workspace:*");
    assert!(!is_there && unsure.contains(asked), "{unsure}");
    let (is_there, unsure) = of("packages/*", "file:../../packages/log");
    assert!(!is_there && unsure.contains("takes ../../packages/log from beside it; list that"), "{unsure}");
}

/// Without a lock file, too.
#[test]
fn what_is_declared_installs_the_packages() {
    let of = |declared: &str, lock: &str| {
        let package = format!("{{\"main\": \"a.js\", \"dependencies\": {{\"a\": \"1\"}}{declared}}}");
        let (_, service) = drafted(&[("package.json", &package), ("a.js", "process.env.PORT"), (lock, "")]);
        build(&service).unwrap()
    };
    for (declared, lock, due) in [
        ("pnpm@9.1.0+sha512.a", "README.md", "pnpm install && "),
        ("pnpm@9.1.0", "package-lock.json", "pnpm install && "),
        ("yarn@1.22.22", "yarn.lock", "yarn install --frozen-lockfile && "),
        ("yarn@4.1.0", "yarn.lock", "yarn install --immutable && "),
        ("yarn@4.1.0", "README.md", "yarn install && "),
        ("npm@10.2.3", "npm-shrinkwrap.json", "npm ci --no-audit --no-fund && "),
        ("other@1.0.0", "bun.lock", "bun install --frozen-lockfile && "),
    ] {
        let built = of(&format!(", \"packageManager\": \"{declared}\""), lock);
        assert!(built.contains(&format!("-c {due}")), "{declared} {lock}: {built}");
    }
    let undeclared = of("", "README.md");
    assert!(undeclared.contains("-c npm install --no-audit --no-fund && "), "{undeclared}");
}

/// A number somewhere among the sources is of something else then.
#[test]
fn what_starts_a_program_of_node_may_read_the_port_itself() {
    let of = |start: &str| {
        let package = format!("{{\"scripts\": {{\"start\": \"{start}\"}}}}");
        let tests = ("playwright.config.ts", "export default { webServer: { port: 3000 } }");
        let (draft, service) = drafted(&[("package.json", &package), ("app/page.tsx", ""), tests]);
        let is_asked = draft.unsure.iter().any(|it| it.contains("where it listens"));
        (service.run().unwrap().port.map(u16::from), names_of(&env(&service)), is_asked)
    };
    for start in ["next start", "next start -H 127.0.0.1", "node .output/server/index.mjs"] {
        assert_eq!(of(start), (None, "PORT={port}".to_owned(), false), "{start}");
    }
    for start in ["tsx a.ts", "next start -p 3001", "PORT=3001 next start"] {
        assert_eq!(of(start), (Some(3000), String::new(), false), "{start}");
    }
    assert_eq!(of("next start -p $PORT").0, None);
    let of_another = ("lib/api.ts", "fetch(`http://api:${process.env.API_PORT}`)");
    let (_, service) = drafted(&[("package.json", r#"{"scripts": {"start": "next start"}}"#), of_another]);
    assert_eq!(env(&service), [("PORT", "{port}")]);
}

#[test]
fn a_program_of_nestjs() {
    let package = r#"{"name": "cats", "scripts": {"start": "nest start", "start:prod": "node dist/main"}}"#;
    let controller = "import { Controller, Get } from '@nestjs/common';\n@Controller('cats')\nexport class Cats {\n\
                      @Get(':id')\none() {}\n@Get()\nall() {}\n}";
    let main = "app.setGlobalPrefix('api');\nawait app.listen(process.env.PORT ?? 3000);";
    let (draft, service) = drafted(&[
        ("package.json", package),
        ("src/cats.controller.ts", controller),
        ("src/health.controller.ts", &controller.replace("cats", "health")),
        ("src/main.ts", main),
    ]);
    assert_eq!((command(&service).as_str(), env(&service)), ("node dist/main", vec![("PORT", "{port}")]));
    assert_eq!(
        (service.endpoints[0].path.as_str(), service.ready.path()),
        ("/api/cats", Some("/api/health"))
    );
    assert_eq!(draft.unsure, Vec::<String>::new());
}

/// A jar without what it takes does not start.
#[test]
fn what_java_is_started_by_has_all_that_it_takes() {
    let pom = "<project><artifactId>shop</artifactId><maven.compiler.release>21</maven.compiler.release>\
               <groupId>io.quarkus.platform</groupId><artifactId>quarkus-maven-plugin</artifactId></project>";
    let quarkus = "plugins {\n    id 'java'\n    id 'io.quarkus'\n}\njava.sourceCompatibility = 21\n";
    let application = "plugins {\n    kotlin(\"jvm\")\n    application\n}\napplication {\n    \
                       mainClass.set(\"org.example.MainKt\")\n}\nkotlin { jvmToolchain(21) }\n";
    let micronaut =
        application.replace("    application\n", "    id(\"io.micronaut.application\") version \"4\"\n");
    let jar = "java -jar {build_dir}/app/quarkus-run.jar";
    let class = "java -cp {build_dir}/app/* org.example.MainKt";
    let installed = "rm -rf build/install && gradle -q installDist && rm -rf \"$1/app\" && cp -R build/install/*/lib \
                     \"$1/app\"";
    for (file, text, kind, built, started, port) in [
        (
            "pom.xml",
            pom,
            "Quarkus (pom.xml)",
            "rm -rf target/quarkus-app && mvn -B -q -DskipTests package && rm -rf \"$1/app\" && cp -R target/quarkus-app \
             \"$1/app\"",
            jar,
            "QUARKUS_HTTP_PORT={port}",
        ),
        (
            "build.gradle",
            quarkus,
            "Quarkus (build.gradle)",
            "rm -rf build/quarkus-app && gradle -q build -x test && rm -rf \"$1/app\" && cp -R build/quarkus-app \
             \"$1/app\"",
            jar,
            "QUARKUS_HTTP_PORT={port}",
        ),
        ("build.gradle.kts", application, "Java (build.gradle.kts)", installed, class, ""),
        (
            "build.gradle.kts",
            micronaut.as_str(),
            "Micronaut (build.gradle.kts)",
            installed,
            class,
            "MICRONAUT_SERVER_PORT={port}",
        ),
    ] {
        let main = ("src/main/kotlin/A.kt", "fun main() { embeddedServer(Netty, port = 8080) }");
        let (draft, service) = drafted(&[(file, text), main]);
        assert!(draft.seen[0].ends_with(kind), "{:?}", draft.seen);
        assert!(build(&service).unwrap().contains(built), "{:?}", build(&service));
        assert_eq!((command(&service).as_str(), names_of(&env(&service)).as_str()), (started, port));
        let listens = service.run().unwrap().port.map(u16::from);
        assert_eq!(listens, port.is_empty().then_some(8080), "{kind}");
        assert!(draft.unsure.len() == 1 && draft.unsure[0].starts_with("what to ask"), "{:?}", draft.unsure);
    }
    let flags = format!("{application}application.applicationDefaultJvmArgs = listOf(\"-Xmx1g\")\n");
    let unsure = drafted(&[("build.gradle.kts", &flags), ("src/main/kotlin/A.kt", "port = 8080")]).0.unsure;
    assert!(unsure[0].contains("build.gradle.kts names some, for `jvm_flags`"), "{unsure:?}");
    let of_manifest = "tasks.jar { manifest { attributes(\"Main-Class\" to application.mainClass) } }\n";
    let named = format!("{of_manifest}{application}");
    assert_eq!(command(&drafted(&[("build.gradle.kts", &named), ("src/main/kotlin/A.kt", "")]).1), class);
}

#[test]
fn a_quarkus_that_is_one_jar_is_started_as_one() {
    let pom = "<project><artifactId>shop</artifactId>io.quarkus quarkus-maven-plugin</project>";
    let settings = ("src/main/resources/application.properties", "quarkus.package.jar.type=uber-jar\n");
    let (draft, service) = drafted(&[("pom.xml", pom), settings]);
    let built = build(&service).unwrap();
    assert!(built.contains("cp \"$(ls target/*-runner.jar | head -1)\" \"$1/service.jar\""), "{built}");
    assert_eq!(command(&service), "java -jar {build_dir}/service.jar");
    assert!(!draft.unsure.iter().any(|it| it.contains("starts by itself")), "{:?}", draft.unsure);
}

#[test]
fn springs_settings_may_be_yaml() {
    let pom = "<project><artifactId>shop</artifactId><java.version>17</java.version>spring-boot-starter-actuator</project>";
    let items = "@RestController class A { @GetMapping(\"/items\") List<Item> all() {} }";
    let told = |settings: &str| {
        let files = [
            ("pom.xml", pom),
            ("src/main/java/A.java", items),
            ("src/main/resources/application.yml", settings),
        ];
        let (draft, service) = drafted(&files);
        let ready = service.ready.path().unwrap_or_default().to_owned();
        (service.endpoints[0].path.clone(), ready, draft.unsure.len())
    };
    let due = |path: &str, ready: &str, unsure| (path.to_owned(), ready.to_owned(), unsure);
    let of_profiles = "server:\n  servlet:\n    context-path: /shop\n---\nspring:\n  config:\n    activate: {on-profile: x}\n";
    assert_eq!(told(of_profiles), due("/shop/items", "/shop/actuator/health", 0));
    let elsewhere = "server.servlet.context-path: /a\nmanagement:\n  server:\n    port: 9001\n";
    assert_eq!(told(elsewhere), due("/a/items", "/a/items", 0));
    // With words to be filled in nobody knows where they are.
    assert_eq!(told("server: {servlet: {context-path: '${BASE:/shop}'}}\n"), due("/", "/", 1));
}

#[test]
fn of_modules_the_one_that_is_a_program_is_built() {
    let root = "<project><artifactId>shop</artifactId><packaging>pom</packaging><java.version>21</java.version></project>";
    let module = |name: &str, plugin: &str| {
        format!(
            "<project><parent><artifactId>shop</artifactId></parent><artifactId>shop-{name}</artifactId>{plugin}</project>"
        )
    };
    let core = module("core", "");
    let api = module("api", "<artifactId>spring-boot-maven-plugin</artifactId>");
    let code = "@RestController class A { @GetMapping(\"/owners\") List<Owner> owners() {} }";
    let (draft, service) = drafted(&[
        ("pom.xml", root),
        ("api/pom.xml", &api),
        ("api/src/main/java/A.java", code),
        ("api/src/main/resources/application.properties", "server.servlet.context-path=/shop\n"),
        ("core/pom.xml", &core),
    ]);
    assert_eq!((service.id.as_str(), service.needs.jdk), ("shop-api", Some(21)));
    let built = build(&service).unwrap();
    assert!(built.contains("mvn -B -q -DskipTests -pl api -am package && cp"), "{built}");
    assert!(built.contains("ls api/target/*.jar"), "{built}");
    assert_eq!(service.endpoints[0].path, "/shop/owners");
    assert_eq!(draft.unsure, Vec::<String>::new());
    let none = drafted(&[("pom.xml", root), ("core/pom.xml", &core)]).0.unsure;
    assert!(none.iter().any(|it| it.contains("which of its modules is the service: none")), "{none:?}");
    let scripts = [
        ("api/build.gradle.kts", "plugins {\n    id(\"org.springframework.boot\")\n}\n"),
        ("api/src/main/kotlin/A.kt", code),
        (
            "build.gradle.kts",
            "plugins { id(\"org.springframework.boot\") version \"3.3.0\" apply false }\nkotlin { jvmToolchain(17) }\n",
        ),
        ("core/build.gradle.kts", "plugins { kotlin(\"jvm\") }\n"),
        ("gradlew", ""),
        ("settings.gradle.kts", "rootProject.name = \"shop\"\ninclude(\"core\", \"api\")\n"),
    ];
    let (draft, service) = drafted(&scripts);
    assert_eq!((service.id.as_str(), service.needs.jdk), ("api", Some(17)));
    let built = build(&service).unwrap();
    assert!(built.contains("./gradlew -q :api:bootJar && cp \"$(ls -S api/build/libs/*.jar"), "{built}");
    assert_eq!((service.endpoints[0].path.as_str(), draft.unsure), ("/owners", Vec::new()));
}
