//! Starts the page.

#[cfg(target_arch = "wasm32")]
fn main() {
    pleg_web::run();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    eprintln!("pleg-web is a page for the browser: build it with `cargo xtask web`");
    std::process::ExitCode::FAILURE
}
