//! `xtask-bundle INDEX_HTML WASM DIST [WASM_OPT]`: makes the page.
//!
//! Reads the `data-trunk` links of `index.html` and does what [Trunk](https://trunkrs.dev) does for them: runs
//! wasm-bindgen (as a library) and wasm-opt, copies style sheets and folders, names what the browser caches by
//! its content. Links of other kinds than `rust`, `css`, `icon`, `copy-dir` and `copy-file` are refused.

mod dist;
mod html;
mod inputs;
mod program;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use dist::Dist;

fn main() -> ExitCode {
    let args: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let made = match args.as_slice() {
        [index, wasm, dist] => bundle(index, wasm, dist, None),
        [index, wasm, dist, wasm_opt] => bundle(index, wasm, dist, Some(wasm_opt)),
        _ => Err(anyhow::anyhow!("usage: xtask-bundle INDEX_HTML WASM DIST [WASM_OPT]")),
    };
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Makes `dist` anew, unless it was made of the same input. A failure leaves the old one as it was.
fn bundle(index: &Path, wasm: &Path, dist: &Path, wasm_opt: Option<&Path>) -> Result<()> {
    let source = fs::read_to_string(index).with_context(|| format!("cannot read {}", index.display()))?;
    let Some(root) = index.parent().filter(|_| index.is_absolute()) else {
        bail!("{} must be an absolute path", index.display());
    };
    let links = html::links(&source)?;
    let state = inputs::fingerprint(root, &source, &links, wasm, wasm_opt)?;
    if inputs::recorded(&state, dist, wasm) {
        return Ok(());
    }
    let mut fresh = Dist::create(root, dist)?;
    let page = html::rewrite(&source, |link| fresh.add(link, wasm, wasm_opt))?;
    fresh.finish(&page)?;
    inputs::record(&state, dist, wasm)
}
