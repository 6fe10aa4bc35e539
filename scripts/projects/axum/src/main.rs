mod items;

use std::net::{Ipv4Addr, SocketAddr};

use axum::{routing::get, Router};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() {
    let port = std::env::var("PORT").ok().and_then(|it| it.parse().ok()).unwrap_or(3000);
    let app = Router::new().route("/health", get(|| async { "ok" })).nest("/api/items", items::router());
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))).await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
