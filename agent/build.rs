//! Packs the page's files into the binary, from the folder that `PLEGSCOPE_DIST` names.

use flate2::{Compression, write::GzEncoder};
use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=PLEGSCOPE_DIST");
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut table =
        String::from("/// Path and gzip'd content of each file.\nstatic EMBEDDED: &[(&str, &[u8])] = &[\n");
    if let Some(dist) = env::var_os("PLEGSCOPE_DIST").filter(|dist| !dist.is_empty()).map(PathBuf::from) {
        println!("cargo::rerun-if-changed={}", dist.display());
        if !dist.join("index.html").is_file() {
            return Err(format!("PLEGSCOPE_DIST: there is no index.html in {}", dist.display()).into());
        }
        let mut files = Vec::new();
        collect(&dist, &mut files)?;
        files.sort();
        for (number, file) in files.iter().enumerate() {
            let packed = out.join(format!("{number}.gz"));
            fs::write(&packed, pack(file)?)?;
            let name = file.strip_prefix(&dist)?.to_str().ok_or("a file's name is not UTF-8")?;
            writeln!(table, "    ({name:?}, include_bytes!({packed:?})),")?;
        }
    }
    table.push_str("];\n");
    fs::write(out.join("embedded.rs"), table)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn pack(file: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&fs::read(file)?)?;
    Ok(encoder.finish()?)
}
