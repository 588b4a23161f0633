//! The page's files: built into the binary, or read from a folder while the page is worked on.

use axum::{
    body::Body,
    http::{HeaderValue, Response, header},
    response::IntoResponse,
};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use bytes::Bytes;
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};
use std::{
    fs,
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Shown when the binary was built without the page.
const NO_PAGE: &str = include_str!("no_page.html");
/// What the page may do besides running its own scripts: `'self'` of `connect-src` includes the WebSocket, that of
/// `script-src` workers. What is not named is refused.
const POLICY: &str = "default-src 'none'; connect-src 'self'; img-src 'self'; style-src 'self' 'unsafe-inline'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src 'self' 'wasm-unsafe-eval'";

/// Where the page's files come from.
#[derive(Debug)]
pub(crate) struct Page {
    folder: Option<PathBuf>,
    policy: HeaderValue,
}

/// A file to send.
#[derive(Debug)]
pub(crate) struct PageFile {
    body: Bytes,
    kind: &'static str,
    gzip: bool,
}

impl Page {
    /// The page in `folder`, or the one in the binary.
    ///
    /// # Errors
    /// When the folder has no `index.html`.
    pub(crate) fn new(folder: Option<PathBuf>) -> anyhow::Result<Self> {
        let mut page = Self { folder, policy: HeaderValue::from_static(POLICY) };
        let Some(index) = page.file("/", false) else {
            let folder = page.folder.unwrap_or_default();
            anyhow::bail!("--page {}: there is no index.html in it", folder.display());
        };
        let html = String::from_utf8_lossy(&index.body);
        let hashes: String = inline_scripts(&html)
            .map(|script| format!(" 'sha256-{}'", BASE64.encode(Sha256::digest(script))))
            .collect();
        page.policy = HeaderValue::try_from(format!("{POLICY}{hashes}"))?;
        Ok(page)
    }

    /// Content-Security-Policy: our own origin only, and of inline scripts only those of `index.html`.
    pub(crate) fn policy(&self) -> HeaderValue {
        self.policy.clone()
    }

    /// The file at a URL's path; compressed if it is stored so and the client takes it.
    pub(crate) fn file(&self, path: &str, gzip: bool) -> Option<PageFile> {
        let name = match path.trim_start_matches('/') {
            "" => "index.html",
            name => name,
        };
        let kind = content_type(name);
        match &self.folder {
            Some(folder) => {
                let body = read_below(folder, name)?;
                Some(PageFile { body: body.into(), kind, gzip: false })
            }
            None => embedded(name, gzip).map(|(body, gzip)| PageFile { body, kind, gzip }),
        }
    }
}

impl IntoResponse for PageFile {
    fn into_response(self) -> Response<Body> {
        let mut response = Body::from(self.body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if self.gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

fn embedded(name: &str, gzip: bool) -> Option<(Bytes, bool)> {
    let Some((_, packed)) = EMBEDDED.iter().find(|(path, _)| *path == name) else {
        return (EMBEDDED.is_empty() && name == "index.html")
            .then(|| (Bytes::from_static(NO_PAGE.as_bytes()), false));
    };
    if gzip {
        return Some((Bytes::from_static(packed), true));
    }
    unpack(packed).inspect_err(|error| tracing::error!(%error, name, "an embedded file is broken")).ok()
}

fn unpack(packed: &[u8]) -> io::Result<(Bytes, bool)> {
    let mut body = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut body)?;
    Ok((body.into(), false))
}

/// A file in the folder or below; `..` leads nowhere.
fn read_below(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let name = Path::new(name);
    let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
    plain.then(|| fs::read(folder.join(name)).ok()).flatten()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// The texts of all scripts that are written into the page itself.
fn inline_scripts(html: &str) -> impl Iterator<Item = &str> {
    html.split("<script").skip(1).filter_map(|rest| {
        let (attributes, rest) = rest.split_once('>')?;
        let (script, _) = rest.split_once("</script>")?;
        (!attributes.contains("src=") && !script.is_empty()).then_some(script)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_served_and_nothing_outside_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        let dist = folder.path().join("dist");
        fs::create_dir_all(dist.join("sub")).unwrap();
        assert!(Page::new(Some(dist.clone())).unwrap_err().to_string().ends_with("no index.html in it"));
        fs::write(
            dist.join("index.html"),
            "<script type=\"module\">go()</script><script src=\"a.js\"></script>",
        )
        .unwrap();
        fs::write(dist.join("sub/app.wasm"), "\0asm").unwrap();
        let page = Page::new(Some(dist)).unwrap();
        assert_eq!(page.file("/", true).unwrap().kind, "text/html; charset=utf-8");
        assert_eq!(page.file("/sub/app.wasm", true).unwrap().kind, "application/wasm");
        for path in ["/../secret", "/sub/../../secret", "//etc/passwd", "/sub", "/none"] {
            assert!(page.file(path, false).is_none(), "{path}");
        }
        let policy = page.policy();
        for unused in ["blob:", "data:", "font-src", "manifest-src", "worker-src", "*"] {
            assert!(!policy.to_str().unwrap().contains(unused), "{unused}");
        }
        let hash = BASE64.encode(Sha256::digest("go()"));
        assert!(policy.to_str().unwrap().ends_with(&format!("'wasm-unsafe-eval' 'sha256-{hash}'")));
    }
}
