use super::super::{Project, ProjectFile};

/// The paths that these files answer, each with a `?` where it may be beneath something else.
fn paths(files: &[(&str, &str)]) -> Vec<String> {
    let files = files.iter().map(|(path, text)| ProjectFile { path: (*path).into(), text: (*text).into() });
    let project = Project { folder: "shop".into(), files: files.collect(), around: None };
    let found = super::of(&project, &[".go", ".rs", ".js", ".ts", ".py"]);
    found.into_iter().map(|it| it.text + if it.is_whole { "" } else { "?" }).collect()
}

#[test]
fn a_router_of_express_answers_where_it_is_mounted() {
    let items = (
        "routes/items.js",
        "const router = express.Router();\nrouter.get('/', all);\nrouter.get('/new', one);",
    );
    let mounted = |app: &str| paths(&[("app.js", app), items]);
    for app in [
        "const itemsRouter = require('./routes/items');\napp.use('/', home);\napp.use('/api/items', itemsRouter);",
        "import itemsRouter from './routes/items.js';\napp.use('/api/items', auth, itemsRouter);",
        "app.use('/api/items', require('./routes/items'));",
        "const api = Router();\napp.use('/api', api);\nimport items from './routes/items'\napi.use(\"/items\", items);",
    ] {
        assert_eq!(mounted(app), ["/api/items", "/api/items/new"], "{app}");
    }
    assert_eq!(mounted("routes.forEach((it) => app.use(it.path, it.router))"), ["/?", "/new?"]);
}

#[test]
fn what_asks_others_answers_nothing() {
    assert_eq!(paths(&[("a.js", "axios.get('/users'); http.get('/x'); app.get('/items', f)")]), ["/items"]);
    assert_eq!(paths(&[("a.go", "http.HandleFunc(\"/\", f); http.Get(\"/there\")")]), ["/"]);
}

#[test]
fn a_group_of_go_is_put_beneath_the_one_that_it_is_made_from() {
    let main = "r := gin.New()\nr.GET(\"/ready\", f)\nv1 := r.Group(\"/api/v1\")\n{\nv1.GET(\"/items\", all)\n}\n\
                admin := v1.Group(\"/admin\")\nadmin.GET(\"\", home)";
    assert_eq!(paths(&[("main.go", main)]), ["/ready", "/api/v1/items", "/api/v1/admin"]);
    let given = "func Register(router *gin.RouterGroup) { router.GET(\"/items\", all) }";
    assert_eq!(paths(&[("items.go", given)]), ["/items?"]);
}

#[test]
fn a_router_of_axum_is_nested_as_a_variable_a_function_or_a_module() {
    let items =
        "pub fn router() -> Router {\n    Router::new().route(\"/\", get(all)).route(\"/new\", get(new))\n}";
    let main = "fn main() {\n    let port = 3000;\n    let app = Router::new().route(\"/health\", get(up)).nest(\"/items\", items::router());\n}";
    let found = paths(&[("src/items.rs", items), ("src/main.rs", main)]);
    assert_eq!(found, ["/items", "/items/new", "/health"]);
    let one_file = "fn api() -> Router { Router::new().route(\"/items\", get(all)) }\n\
                    fn main() { let users = Router::new().route(\"/\", get(all));\n\
                    let app = Router::new().nest(\"/api\", api().nest(\"/users\", users)).route(\"/up\", get(api_is_up)); }";
    assert_eq!(paths(&[("src/main.rs", one_file)])[0], "/api/items");
}

#[test]
fn a_router_of_fastapi_has_a_prefix_of_its_own_and_that_where_it_is_included() {
    let items = (
        "app/routers/items.py",
        "router = APIRouter(prefix=\"/items\", tags=[\"x\"])\n@router.get(\n    \"/\",\n)\nasync def all(): ...\n@router.get(\"\")",
    );
    let included = |main: &str| paths(&[("app/main.py", main), items]);
    assert_eq!(
        included("from app.routers import items\napp.include_router(items.router, prefix=\"/api\")"),
        ["/api/items/", "/api/items"]
    );
    assert_eq!(
        included("from .routers.items import router as items_router\napp.include_router(items_router)"),
        ["/items/", "/items"]
    );
    assert_eq!(
        included("from app.routers import items\napp.include_router(items.router, prefix=settings.API)"),
        ["/items/?", "/items?"]
    );
    assert_eq!(included("app = FastAPI()"), ["/items/?", "/items?"]);
}

#[test]
fn a_blueprint_of_flask_and_methods_that_are_not_get() {
    let items = "bp = Blueprint(\"items\", __name__, url_prefix=\"/items\")\n@bp.route(\"/all\")\ndef all(): ...\n\
                 @bp.route(\"/new\", methods=[\"POST\"])\ndef new(): ...";
    let app = "from shop import items\napp.register_blueprint(items.bp)";
    assert_eq!(paths(&[("shop/__init__.py", app), ("shop/items.py", items)]), ["/items/all"]);
}

#[test]
fn what_is_mounted_in_a_circle_has_an_end() {
    let (a, b) =
        ("a.use('/b', require('./b'))\na.get('/x', f)", "b.use('/a', require('./a'))\nb.get('/y', f)");
    let found = paths(&[("a.js", a), ("b.js", b)]);
    assert!(found.len() == 2 && found.iter().all(|it| it.ends_with('?')), "{found:?}");
}
