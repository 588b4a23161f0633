//! From the compiler's `.wasm` to what a browser loads: wasm-bindgen, then wasm-opt.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

/// What the compiler emits for wasm32 today; wasm-opt refuses what it was not told of.
const WASM_FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// A page's program.
pub(crate) struct Program {
    /// The ES module that loads the wasm; it exports wasm-bindgen's `init`.
    pub(crate) js: Vec<u8>,
    pub(crate) wasm: Vec<u8>,
}

/// Makes it in the directory `work`; JavaScript that crates bring along stays there in `snippets/`.
pub(crate) fn generate(wasm: &Path, work: &Path, wasm_opt: Option<&Path>) -> Result<Program> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(wasm).out_name("program").typescript(false).omit_default_module_path(true);
    bindgen.web(true)?.generate(work).with_context(|| format!("wasm-bindgen on {}", wasm.display()))?;
    let (js, bound) = (work.join("program.js"), work.join("program_bg.wasm"));
    if let Some(wasm_opt) = wasm_opt {
        optimize(wasm_opt, &bound)?;
    }
    let program = Program { js: fs::read(&js)?, wasm: fs::read(&bound)? };
    fs::remove_file(js)?;
    fs::remove_file(bound)?;
    Ok(program)
}

fn optimize(wasm_opt: &Path, file: &Path) -> Result<()> {
    let status = Command::new(wasm_opt)
        .args(WASM_FEATURES)
        .arg("-Oz")
        .arg(file)
        .arg("-o")
        .arg(file)
        .status()
        .with_context(|| format!("cannot start {}", wasm_opt.display()))?;
    if !status.success() {
        bail!("{} failed: {status}", wasm_opt.display());
    }
    Ok(())
}
