//! What a page was made of, as one short text that is kept with it: equal text, nothing to do.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::html::Link;

const RECORD: &str = ".inputs";

/// A hash over the names and contents of everything that goes into the page, and over this program.
pub(crate) fn fingerprint(
    root: &Path,
    page: &str,
    links: &[Link],
    wasm: &Path,
    wasm_opt: Option<&Path>,
) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    hasher.write(page.as_bytes());
    hasher.write(wasm_opt.map(|path| path.as_os_str().as_encoded_bytes()).unwrap_or_default());
    let this_program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut files = vec![wasm.to_owned(), this_program];
    for link in links.iter().filter(|link| link.rel != "rust") {
        collect(&root.join(&link.href), &mut files)?;
    }
    for file in files {
        hasher.write(file.as_os_str().as_encoded_bytes());
        hasher.write(&fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    entries.sort();
    entries.iter().try_for_each(|entry| collect(entry, files))
}

/// What the page in `dist` was made of; none if there is no page of this program there.
pub(crate) fn recorded(dist: &Path) -> Option<String> {
    fs::read_to_string(dist.join(RECORD)).ok()
}

/// Keeps it with the page.
pub(crate) fn record(dist: &Path, state: &str) -> Result<()> {
    fs::write(dist.join(RECORD), state).context("cannot write the page's record of its inputs")
}
