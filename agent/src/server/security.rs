//! Who may connect, and what a browser may do with the page.

use super::App;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};

/// Headers of every answer.
const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
];

/// Adds the headers of every answer.
pub(super) async fn headers(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.extend(HEADERS);
    headers.insert(header::CONTENT_SECURITY_POLICY, app.page.policy());
    response
}

/// Whether a WebSocket may be opened: browsers name the page that asks, and it must be ours. Programs name none.
pub(super) fn is_same_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    match (origin, host) {
        (Some((_, authority)), Some(host)) => authority.eq_ignore_ascii_case(host),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_page_may_open_the_socket() {
        for (origin, host, allowed) in [
            (None, Some("127.0.0.1:8787"), true),
            (Some("http://127.0.0.1:8787"), Some("127.0.0.1:8787"), true),
            (Some("http://evil.example"), Some("127.0.0.1:8787"), false),
            (Some("http://127.0.0.1:8788"), Some("127.0.0.1:8787"), false),
            (Some("null"), Some("127.0.0.1:8787"), false),
            (Some("http://127.0.0.1:8787"), None, false),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in [(header::ORIGIN, origin), (header::HOST, host)] {
                headers.extend(value.map(|value| (name, HeaderValue::from_static(value))));
            }
            assert_eq!(is_same_origin(&headers), allowed, "{origin:?} {host:?}");
        }
    }
}
