use axum::{extract::Path, http::StatusCode, routing::get, Json, Router};
use serde::Serialize;

#[derive(Clone, Copy, Serialize)]
struct Item {
    id: u32,
    name: &'static str,
    cents: u32,
}

const ITEMS: [Item; 3] = [
    Item { id: 1, name: "teapot", cents: 2900 },
    Item { id: 2, name: "cup", cents: 650 },
    Item { id: 3, name: "saucer", cents: 480 },
];

pub fn router() -> Router {
    Router::new().route("/", get(all)).route("/{id}", get(one))
}

async fn all() -> Json<[Item; 3]> {
    Json(ITEMS)
}

async fn one(Path(id): Path<u32>) -> Result<Json<Item>, StatusCode> {
    ITEMS.into_iter().find(|item| item.id == id).map(Json).ok_or(StatusCode::NOT_FOUND)
}
