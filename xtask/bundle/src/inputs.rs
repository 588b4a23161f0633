//! What a page was made of, as one short text that is kept beside the `.wasm`: equal text, nothing to do.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};

use crate::html::Link;

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

/// Whether the page in `dist` was made of this. Not if somebody else, such as Trunk, has made it anew since.
pub(crate) fn recorded(state: &str, dist: &Path, wasm: &Path) -> bool {
    let Ok(made) = made_at(dist) else { return false };
    fs::read_to_string(record_file(wasm)).is_ok_and(|record| record == format!("{state} {made}"))
}

/// Remembers it, after the page has been made.
pub(crate) fn record(state: &str, dist: &Path, wasm: &Path) -> Result<()> {
    fs::write(record_file(wasm), format!("{state} {}", made_at(dist)?))
        .context("cannot write the record of the page")
}

fn record_file(wasm: &Path) -> PathBuf {
    wasm.with_extension("made-into-page")
}

/// When the page was made, in nanoseconds since the epoch.
fn made_at(dist: &Path) -> Result<u128> {
    let modified = fs::metadata(dist.join("index.html"))?.modified()?;
    Ok(modified.duration_since(UNIX_EPOCH)?.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_somebody_else_made_is_not_ours() {
        let dir = tempfile::tempdir().unwrap();
        let (dist, wasm) = (dir.path(), dir.path().join("page.wasm"));
        assert!(!recorded("state", dist, &wasm), "there is no page");
        fs::write(dist.join("index.html"), "ours").unwrap();
        record("state", dist, &wasm).unwrap();
        assert!(recorded("state", dist, &wasm));
        assert!(!recorded("other state", dist, &wasm));
        let page = fs::File::options().write(true).open(dist.join("index.html")).unwrap();
        page.set_modified(UNIX_EPOCH).unwrap();
        assert!(!recorded("state", dist, &wasm));
    }
}
