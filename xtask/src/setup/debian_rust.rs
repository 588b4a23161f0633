//! Debian's `rustc-web` in a private directory, with a standard library for wasm32 built from its own source.
//!
//! For machines on which rustup has no target to offer. Debian packages no wasm32 library of this compiler, but
//! its source is there. Nothing of the compiler goes to `/usr`; apt installs LLVM's library and linker only.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::packages;
use super::wasm::{self, TARGET};
use crate::progress::say;
use crate::sh::{Run, create_dir, remove_dir};
use crate::workspace;

/// Present in a directory that was installed to the end.
const COMPLETE: &str = ".complete";

/// The directory of an earlier installation.
pub(super) fn installed() -> Result<Option<PathBuf>> {
    let sysroot = sysroot()?;
    Ok(sysroot.join(COMPLETE).is_file().then_some(sysroot))
}

fn sysroot() -> Result<PathBuf> {
    Ok(workspace::cache()?.join("rust-web"))
}

/// Installs it: about 110 MB to fetch and one and a half minutes of a processor.
pub(super) fn install() -> Result<PathBuf> {
    let sysroot = sysroot()?;
    let work = workspace::cache()?.join("rust-web.tmp");
    remove_dir(&work)?;
    remove_dir(&sysroot)?;
    let built = Unpacked::fetch(&work)?;
    built.lay_out()?;
    built.build_std()?;
    fs::write(built.sysroot.join(COMPLETE), &built.version)?;
    fs::rename(&built.sysroot, &sysroot).context("cannot move the finished compiler to its place")?;
    remove_dir(&work)?;
    let mut rustc = Command::new(sysroot.join("bin").join("rustc"));
    rustc.env("LD_LIBRARY_PATH", wasm::library_path(&sysroot)?);
    if !wasm::has_std(rustc) {
        bail!("Debian's rustc-web {} was installed, but has no library for {TARGET}", built.version);
    }
    Ok(sysroot)
}

/// The packages' contents, on the way to becoming a compiler.
struct Unpacked {
    version: String,
    /// Where the packages were unpacked: `usr/…` lies here.
    files: PathBuf,
    sysroot: PathBuf,
    work: PathBuf,
    llvm: String,
}

impl Unpacked {
    fn fetch(work: &Path) -> Result<Self> {
        let debs = work.join("debs");
        create_dir(&debs)?;
        let version = version()?;
        let minor: Vec<&str> = version.split('.').take(2).collect();
        let std = format!("libstd-rust-web-{}", minor.join("."));
        let names = ["rustc-web", "libstd-rust-web-dev", &std, "rust-web-clippy", "rust-web-src"];
        say(format!("downloading Debian's rustc-web {version} (about 110 MB)"));
        let wanted: Vec<String> = names.iter().map(|name| format!("{name}={version}")).collect();
        let log = workspace::cache()?.join("logs").join("apt-download.log");
        let download = || {
            Command::new("apt-get").current_dir(&debs).args(["download", "-q"]).args(&wanted).run_logged(&log)
        };
        if download().is_err() {
            packages::refresh()?;
            download()?;
        }
        let files = work.join("files");
        create_dir(&files)?;
        for deb in fs::read_dir(&debs)? {
            unpack(&deb?.path(), &files)?;
        }
        let llvm = llvm_version(&debs, &std)?;
        Ok(Self { version, files, sysroot: work.join("sysroot"), work: work.to_owned(), llvm })
    }

    /// Moves compiler, linter and native library to where rustc looks for them below its own directory.
    fn lay_out(&self) -> Result<()> {
        let (library, linker) = (format!("libllvm{}", self.llvm), format!("lld-{}", self.llvm));
        packages::install(&[&library, &linker])?;
        let (bin, lib) = (self.sysroot.join("bin"), self.sysroot.join("lib"));
        let usr = self.files.join("usr");
        create_dir(&bin)?;
        create_dir(&lib.join("rustlib"))?;
        for program in ["rustc", "rustdoc"] {
            rename(&usr.join("bin").join(program), &bin.join(program))?;
        }
        for program in ["cargo-clippy", "clippy-driver"] {
            rename(&find(&usr, program)?, &bin.join(program))?;
        }
        let driver = find(&usr.join("lib"), "librustc_driver-")?;
        rename(&driver, &lib.join(driver.file_name().context("the compiler's library has no name")?))?;
        let host = self.host()?;
        rename(&usr.join("lib").join("rustlib").join(&host), &lib.join("rustlib").join(&host))?;
        let tools = lib.join("rustlib").join(&host).join("bin");
        create_dir(&tools)?;
        symlink(format!("/usr/lib/llvm-{}/bin/lld", self.llvm), tools.join("rust-lld"))?;
        Ok(())
    }

    /// Builds the standard library the way Rust's own releases are: profile `dist`, by the compiler it belongs to.
    fn build_std(&self) -> Result<()> {
        say(format!("building the standard library for {TARGET} (about 1.5 minutes)"));
        let library = self.library_source()?;
        let remap = format!("--remap-path-prefix={}=/rustc/{}/library", library.display(), self.commit()?);
        let target_dir = self.work.join("target");
        let mut cargo = workspace::cargo();
        for inherited in ["CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_BUILD_RUSTFLAGS"] {
            cargo.env_remove(inherited);
        }
        cargo
            .current_dir(&library)
            .env("RUSTC", self.sysroot.join("bin").join("rustc"))
            .env("LD_LIBRARY_PATH", wasm::library_path(&self.sysroot)?)
            .env("RUSTC_WRAPPER", "")
            // The library uses unstable features of exactly this compiler.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("__CARGO_DEFAULT_LIB_METADATA", "stablestd")
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DIST_DEBUG", "0")
            .env("CARGO_TARGET_DIR", &target_dir)
            .env("RUSTFLAGS", format!("-Zforce-unstable-if-unmarked {remap}"))
            .args(["build", "--profile", "dist", "--manifest-path", "sysroot/Cargo.toml", "--target", TARGET])
            .args(["--features", "panic-unwind,backtrace", "--locked"])
            .run_logged(&workspace::cache()?.join("logs").join("std.log"))?;
        let lib = self.sysroot.join("lib").join("rustlib").join(TARGET).join("lib");
        create_dir(&lib)?;
        for built in fs::read_dir(target_dir.join(TARGET).join("dist").join("deps"))? {
            let built = built?.path();
            if let Some(name) = built.file_name().filter(|_| built.extension().is_some_and(|e| e == "rlib")) {
                fs::copy(&built, lib.join(name))?;
            }
        }
        Ok(())
    }

    fn library_source(&self) -> Result<PathBuf> {
        let source = find(&self.files.join("usr").join("src"), "rustc-")?;
        Ok(source.join("library"))
    }

    /// The compiler's own name of the machine, such as `x86_64-unknown-linux-gnu`.
    fn host(&self) -> Result<String> {
        self.version_line("host: ")
    }

    fn commit(&self) -> Result<String> {
        self.version_line("commit-hash: ")
    }

    fn version_line(&self, key: &str) -> Result<String> {
        let mut rustc = Command::new(self.sysroot.join("bin").join("rustc"));
        let text = rustc.env("LD_LIBRARY_PATH", wasm::library_path(&self.sysroot)?).arg("-vV").read()?;
        let value = text.lines().find_map(|line| line.strip_prefix(key));
        Ok(value.with_context(|| format!("`rustc -vV` shows no {key}"))?.to_owned())
    }
}

/// Unpacks a package; of Rust's source only the standard library, a tenth of it.
fn unpack(deb: &Path, to: &Path) -> Result<()> {
    let mut archive =
        Command::new("dpkg-deb").arg("--fsys-tarfile").arg(deb).stdout(Stdio::piped()).spawn()?;
    let mut tar = Command::new("tar");
    tar.arg("x").arg("-C").arg(to).stdin(archive.stdout.take().context("dpkg-deb gives no output")?);
    if deb.file_name().is_some_and(|name| name.to_string_lossy().starts_with("rust-web-src")) {
        tar.args(["--wildcards", "./usr/src/rustc-*/library"]);
    }
    tar.run()?;
    archive.wait()?;
    Ok(())
}

fn version() -> Result<String> {
    if let Some(version) = packages::candidate("rustc-web")? {
        return Ok(version);
    }
    packages::refresh()?;
    packages::candidate("rustc-web")?.with_context(|| {
        format!("this Rust has no standard library for {TARGET}, and apt knows no rustc-web: run `rustup target add {TARGET}`")
    })
}

/// The LLVM that the compiler was built with, from its package's dependencies.
fn llvm_version(debs: &Path, std: &str) -> Result<String> {
    let deb = find(debs, &format!("{std}_"))?;
    let depends = Command::new("dpkg-deb").arg("-f").arg(&deb).arg("Depends").read()?;
    let (_, after) = depends.split_once("libllvm").with_context(|| format!("no libllvm in: {depends}"))?;
    Ok(after.chars().take_while(char::is_ascii_digit).collect())
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).with_context(|| format!("cannot move {} to {}", from.display(), to.display()))
}

/// The first file or directory below `dir`, shallow ones first, whose name begins with `prefix`.
fn find(dir: &Path, prefix: &str) -> Result<PathBuf> {
    let mut level = vec![dir.to_owned()];
    while !level.is_empty() {
        let mut below = Vec::new();
        for dir in level {
            for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
                let entry = entry?;
                if entry.file_name().to_string_lossy().starts_with(prefix) {
                    return Ok(entry.path());
                }
                if entry.file_type()?.is_dir() {
                    below.push(entry.path());
                }
            }
        }
        level = below;
    }
    bail!("no {prefix}… in {}", dir.display())
}
