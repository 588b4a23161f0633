//! Who may connect, and what a browser may do with the page.

use super::App;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use std::net::IpAddr;

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

/// Refuses requests that name another host. A web page whose name is made to point at this machine (DNS rebinding) sends
/// that name, and would else be let in as our own.
pub(super) async fn host(State(app): State<App>, request: Request, next: Next) -> Response {
    if is_own_host(request.headers(), &app.hosts) {
        return next.run(request).await;
    }
    let text = "plegscope is not known by this name. Use its IP address or localhost, or start it with --allow-host NAME.\n";
    (StatusCode::MISDIRECTED_REQUEST, text).into_response()
}

/// Whether a request is for us: by an IP address, as localhost, or by a name that was allowed. Programs may name no host,
/// browsers always do.
fn is_own_host(headers: &HeaderMap, allowed: &[String]) -> bool {
    let Some(host) = headers.get(header::HOST) else { return true };
    let Ok(authority) = Authority::try_from(host.as_bytes()) else { return false };
    let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok()
        || name == "localhost"
        || name.ends_with(".localhost")
        || allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(&name))
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
    fn a_name_that_nobody_allowed_is_another_host() {
        for (host, own) in [
            ("127.0.0.1:8787", true),
            ("[::1]:8787", true),
            ("10.0.0.7", true),
            ("localhost:8787", true),
            ("LocalHost.", true),
            ("pleg.localhost:8787", true),
            ("Node-1.Example:8787", true),
            ("evil.example:8787", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("node-1.example.evil", false),
            ("", false),
            ("a b", false),
        ] {
            let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))]);
            assert_eq!(is_own_host(&headers, &["node-1.example".to_owned()]), own, "{host:?}");
        }
        assert!(is_own_host(&HeaderMap::new(), &[]));
    }

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
