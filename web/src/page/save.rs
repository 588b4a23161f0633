//! Offers the received frames as a capture file.

use js_sys::{Array, Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, HtmlAnchorElement, ReadableWritablePair, Response, Url};

/// Compresses the lines and offers them as a download.
pub(crate) async fn save(name: String, parts: Array) -> Result<(), JsValue> {
    let plain = Blob::new_with_str_sequence(&parts)?;
    // Readers take plain lines as well, so a browser without compression still saves a capture.
    let blob = match compressed(&plain).await {
        Ok(blob) => blob,
        Err(_) => plain,
    };
    let url = Url::create_object_url_with_blob(&blob)?;
    let document = web_sys::window().and_then(|window| window.document()).ok_or("no document")?;
    let link: HtmlAnchorElement = document.create_element("a")?.dyn_into()?;
    link.set_href(&url);
    link.set_download(&name);
    link.click();
    Url::revoke_object_url(&url)
}

/// By the browser's `CompressionStream`, for which `web-sys` has no stable binding.
async fn compressed(plain: &Blob) -> Result<Blob, JsValue> {
    let class: Function = Reflect::get(&js_sys::global(), &"CompressionStream".into())?.dyn_into()?;
    let gzip = Reflect::construct(&class, &Array::of1(&"gzip".into()))?;
    let stream = plain.stream().pipe_through(gzip.unchecked_ref::<ReadableWritablePair>());
    let response = Response::new_with_opt_readable_stream(Some(&stream))?;
    JsFuture::from(response.blob()?).await?.dyn_into()
}
