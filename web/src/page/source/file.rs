//! Captures from a file or an address, handed on in pieces so that the page stays alive.

use crate::store::Piece;
use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File, Response};
use yew::Callback;

/// Bytes read between two turns of the page.
const PIECE: f64 = 1_048_576.0;

/// Where the pieces of one reading go.
pub(crate) struct Output {
    is_wanted: Box<dyn Fn() -> bool>,
    send: Callback<Piece>,
}

impl Output {
    /// `is_wanted` says whether to go on reading.
    pub(crate) fn new(is_wanted: impl Fn() -> bool + 'static, send: Callback<Piece>) -> Self {
        Self { is_wanted: Box::new(is_wanted), send }
    }

    fn emit(&self, piece: Piece) {
        self.send.emit(piece);
    }
}

/// Reads a file that the person chose or dropped.
pub(crate) async fn read_file(file: File, to: Output) {
    to.emit(Piece::Begin { name: file.name(), total: file.size() as u64 });
    read(&file, &to).await;
}

/// Reads the capture at an address.
pub(crate) async fn read_url(url: String, to: Output) {
    to.emit(Piece::Begin { name: url.clone(), total: 0 });
    match fetch(&url).await {
        Ok(blob) => read(&blob, &to).await,
        Err(error) => to.emit(Piece::Failed(error)),
    }
}

async fn fetch(url: &str) -> Result<Blob, String> {
    let window = web_sys::window().ok_or("there is no window")?;
    let response = JsFuture::from(window.fetch_with_str(url)).await.map_err(|error| text(&error))?;
    let response: Response = response.dyn_into().map_err(|other| text(&other))?;
    if !response.ok() {
        return Err(format!("the server answers {} {}", response.status(), response.status_text()));
    }
    let blob = JsFuture::from(response.blob().map_err(|error| text(&error))?).await;
    blob.map_err(|error| text(&error))?.dyn_into().map_err(|other| text(&other))
}

async fn read(blob: &Blob, to: &Output) {
    let mut start = 0.0;
    while start < blob.size() && (to.is_wanted)() {
        let end = (start + PIECE).min(blob.size());
        match piece(blob, start, end).await {
            Ok(bytes) => to.emit(Piece::Bytes(bytes)),
            Err(error) => return to.emit(Piece::Failed(error)),
        }
        start = end;
        gloo_timers::future::TimeoutFuture::new(0).await;
    }
    to.emit(Piece::End);
}

async fn piece(blob: &Blob, start: f64, end: f64) -> Result<Vec<u8>, String> {
    let slice = blob.slice_with_f64_and_f64(start, end).map_err(|error| text(&error))?;
    let buffer = JsFuture::from(slice.array_buffer()).await.map_err(|error| text(&error))?;
    let buffer: ArrayBuffer = buffer.dyn_into().map_err(|other| text(&other))?;
    Ok(Uint8Array::new(&buffer).to_vec())
}

fn text(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => error.message().into(),
        None => error.as_string().unwrap_or_else(|| "unknown error".into()),
    }
}
