//! The HTTP server: the page, the stream of frames and the health of PLEG.

pub(crate) mod page;
mod security;
mod socket;

use crate::hub::{HealthReport, Hub};
use anyhow::Context as _;
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    middleware,
    response::{IntoResponse, Response},
    routing::get,
};
use page::Page;
use pleg_core::time::GoDuration;
use serde_json::json;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};
use tokio::net::TcpListener;

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) hub: Arc<Hub>,
    pub(crate) page: Arc<Page>,
    /// Names that this server goes by, beside its addresses and localhost.
    pub(crate) hosts: Arc<[String]>,
}

/// Opens the port.
///
/// # Errors
/// When it is taken or may not be opened, with what to do.
pub(crate) async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("cannot listen on {address}: choose another address with --listen, port 0 takes any free one")
    })?;
    if !address.ip().is_loopback() {
        tracing::warn!(%address, "whoever reaches this address sees all pods of the node: there is no login");
    }
    Ok(listener)
}

/// The page's address.
pub(crate) fn url(mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    format!("http://{address}/")
}

/// Serves until `stopped` is done and all clients have gone.
///
/// # Errors
/// When the listener breaks.
pub(crate) async fn serve(
    listener: TcpListener,
    app: App,
    stopped: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    let router = Router::new()
        .route("/ws", get(socket::upgrade))
        .route("/healthz", get(healthz))
        .fallback(get(file))
        .with_state(app.clone())
        .layer(middleware::from_fn_with_state(app.clone(), security::host))
        .layer(middleware::from_fn_with_state(app, security::headers));
    axum::serve(listener, router).with_graceful_shutdown(stopped).await.context("the server broke down")
}

async fn file(State(app): State<App>, uri: Uri, headers: HeaderMap) -> Response {
    let gzip = headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.split(',').any(|coding| coding.trim().starts_with("gzip")));
    match app.page.file(uri.path(), gzip) {
        Some(file) => file.into_response(),
        None => (StatusCode::NOT_FOUND, "there is no such file\n").into_response(),
    }
}

/// 200 when the kubelet would call PLEG healthy, else 503, with its text.
async fn healthz(State(app): State<App>) -> Response {
    let HealthReport { health, now } = app.hub.health();
    let error = health.error();
    let status = if health.is_healthy() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let age = health.age();
    let body = json!({
        "healthy": health.is_healthy(),
        "error": error,
        "age": age.map(|age| GoDuration(age).to_string()),
        "age_ns": age,
        "time": now,
    });
    (status, [(header::CONTENT_TYPE, "application/json")], format!("{body}\n")).into_response()
}

#[cfg(test)]
mod tests;
