//! The directory of the finished page. It is made beside the old one and takes its place when it is whole.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::html::Link;
use crate::program::{self, Program};

pub(crate) struct Dist {
    root: PathBuf,
    place: PathBuf,
    work: PathBuf,
}

impl Dist {
    /// Starts one. `root` is the directory that the links' paths are relative to.
    pub(crate) fn create(root: &Path, place: &Path) -> Result<Self> {
        let work = place.with_extension("tmp");
        remove(&work)?;
        fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
        Ok(Self { root: root.to_owned(), place: place.to_owned(), work })
    }

    /// Adds what a link names and gives the HTML that takes the link's place. All paths in it are relative, so
    /// that the page works below any address.
    pub(crate) fn add(&mut self, link: &Link, wasm: &Path, wasm_opt: Option<&Path>) -> Result<String> {
        let source = self.root.join(&link.href);
        match link.rel.as_str() {
            "rust" => {
                let program = program::generate(wasm, &self.work, wasm_opt)?;
                self.add_program(&program)
            }
            "css" => Ok(format!("<link rel=\"stylesheet\" href=\"./{}\">", self.add_file(&source)?)),
            "icon" => Ok(format!("<link rel=\"icon\" href=\"./{}\">", self.add_file(&source)?)),
            "copy-dir" => {
                copy_dir(&source, &self.work.join(file_name(&source)?))?;
                Ok(String::new())
            }
            "copy-file" => {
                copy(&source, &self.work.join(file_name(&source)?))?;
                Ok(String::new())
            }
            other => bail!("index.html: a data-trunk link of kind {other} is not supported here"),
        }
    }

    /// Adds the program with a small script that starts it. Trunk writes that script into the page; a file of its
    /// own lets the agent forbid inline scripts.
    fn add_program(&self, program: &Program) -> Result<String> {
        let js = self.write_named("plegscope", "js", &program.js)?;
        let wasm = self.write_named("plegscope", "wasm", &program.wasm)?;
        let boot = format!(
            "import init from \"./{js}\";\n\
             const wasm = await init({{ module_or_path: new URL(\"./{wasm}\", import.meta.url) }});\n\
             dispatchEvent(new CustomEvent(\"TrunkApplicationStarted\", {{ detail: {{ wasm }} }}));\n"
        );
        let boot = self.write_named("boot", "js", boot.as_bytes())?;
        Ok(format!(
            "<link rel=\"modulepreload\" href=\"./{js}\">\
             <link rel=\"preload\" href=\"./{wasm}\" as=\"fetch\" type=\"application/wasm\" crossorigin>\
             <script type=\"module\" src=\"./{boot}\"></script>"
        ))
    }

    fn add_file(&self, source: &Path) -> Result<String> {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy();
        let extension = source.extension().unwrap_or_default().to_string_lossy();
        self.write_named(&stem, &extension, &read(source)?)
    }

    /// Writes a file whose name changes with its content, so that a browser may keep it for ever.
    fn write_named(&self, stem: &str, extension: &str, content: &[u8]) -> Result<String> {
        let mut hasher = DefaultHasher::new();
        hasher.write(content);
        let name = format!("{stem}-{:016x}.{extension}", hasher.finish());
        fs::write(self.work.join(&name), content)?;
        Ok(name)
    }

    /// Writes the page and moves all of it to its place. A page that is there already is left as it is, file times
    /// and all: the agent that holds it need not be built anew.
    pub(crate) fn finish(self, page: &str) -> Result<()> {
        fs::write(self.work.join("index.html"), page)?;
        if self.place.is_dir() && contents(&self.work)? == contents(&self.place)? {
            return remove(&self.work);
        }
        remove(&self.place)?;
        fs::rename(&self.work, &self.place).with_context(|| format!("cannot make {}", self.place.display()))
    }
}

/// Every file below a directory, by its path there.
fn contents(dir: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let entry = entry?;
        let name = PathBuf::from(entry.file_name());
        if entry.file_type()?.is_dir() {
            found.extend(contents(&entry.path())?.into_iter().map(|(path, bytes)| (name.join(path), bytes)));
        } else {
            found.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(found)
}

fn file_name(path: &Path) -> Result<&std::ffi::OsStr> {
    path.file_name().with_context(|| format!("index.html: {} names no file", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("index.html names {}, which cannot be read", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::write(to, read(from)?).with_context(|| format!("cannot write {}", to.display()))
}

fn copy_dir(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let entries = fs::read_dir(from).with_context(|| format!("index.html names {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &target)?
        } else {
            copy(&entry.path(), &target)?
        }
    }
    Ok(())
}

fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(e).with_context(|| format!("cannot remove {}", dir.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    fn link(rel: &str, href: &str) -> Link {
        Link { rel: rel.into(), href: href.into() }
    }

    #[test]
    fn files_get_the_name_of_their_content_and_folders_keep_theirs() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("static/icons")).unwrap();
        fs::write(dir.path().join("static/a.css"), "a{}").unwrap();
        fs::write(dir.path().join("static/icons/i.svg"), "<svg/>").unwrap();
        let mut dist = Dist::create(dir.path(), &dir.path().join("dist")).unwrap();
        let none = Path::new("unused");
        let css = dist.add(&link("css", "static/a.css"), none, None).unwrap();
        assert_eq!(dist.add(&link("copy-dir", "static/icons"), none, None).unwrap(), "");
        dist.finish("<p>").unwrap();
        let name = css.trim_start_matches("<link rel=\"stylesheet\" href=\"./").trim_end_matches("\">");
        assert!(name.starts_with("a-") && name.ends_with(".css"), "{css}");
        assert_eq!(fs::read_to_string(dir.path().join("dist").join(name)).unwrap(), "a{}");
        assert_eq!(fs::read_to_string(dir.path().join("dist/icons/i.svg")).unwrap(), "<svg/>");
        assert_eq!(fs::read_to_string(dir.path().join("dist/index.html")).unwrap(), "<p>");
    }

    #[test]
    fn an_equal_page_is_left_alone_and_a_different_one_takes_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("dist");
        let index = place.join("index.html");
        let finish = |page| Dist::create(dir.path(), &place).unwrap().finish(page).unwrap();
        finish("one");
        fs::File::options().write(true).open(&index).unwrap().set_modified(UNIX_EPOCH).unwrap();
        finish("one");
        assert_eq!(fs::metadata(&index).unwrap().modified().unwrap(), UNIX_EPOCH);
        finish("two");
        assert_eq!(fs::read_to_string(&index).unwrap(), "two");
        fs::write(place.join("stray.txt"), "left by somebody").unwrap();
        finish("two");
        assert!(!place.join("stray.txt").exists());
    }

    #[test]
    fn unknown_kinds_and_missing_files_are_refused_and_the_old_page_stays() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("dist")).unwrap();
        fs::write(dir.path().join("dist/index.html"), "old").unwrap();
        let mut dist = Dist::create(dir.path(), &dir.path().join("dist")).unwrap();
        let none = Path::new("unused");
        for (rel, href, part) in
            [("sass", "x.scss", "of kind sass"), ("css", "x.css", "x.css, which cannot be read")]
        {
            let error = dist.add(&link(rel, href), none, None).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(fs::read_to_string(dir.path().join("dist/index.html")).unwrap(), "old");
    }
}
