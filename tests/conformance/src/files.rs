//! Vector files: finding them, reading them, running their lines on all cores.

use crate::{Report, run_line};
use flate2::read::MultiGzDecoder;
use std::{
    fmt,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
};

/// What came of one file.
#[derive(Debug, Default)]
pub struct FileReport {
    /// Its name.
    pub name: String,
    /// Lines that were run.
    pub run: usize,
    /// Lines that gave what upstream gave.
    pub passed: usize,
    /// The others, in the order of their ids.
    pub failed: Vec<Report>,
    /// Wrapping sum of the hashes of all lines.
    pub hash: u64,
}

impl FileReport {
    /// Adds what another report counted.
    pub fn add(&mut self, other: FileReport) {
        self.run += other.run;
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.hash = self.hash.wrapping_add(other.hash);
    }
}

impl fmt::Display for FileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, run, passed, failed, hash } = self;
        write!(f, "{name:34} run {run:6}  passed {passed:6}  failed {:6}  hash {hash:016x}", failed.len())
    }
}

/// The vector files of a folder, by name.
///
/// # Errors
/// When the folder cannot be read.
pub fn vector_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let is_vectors = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
    };
    let entries = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files: Vec<PathBuf> =
        entries.collect::<io::Result<Vec<_>>>()?.into_iter().filter(is_vectors).collect();
    files.sort();
    Ok(files)
}

/// The lines of a vector file, one after the other.
///
/// # Errors
/// When the file cannot be opened.
pub fn lines(path: &Path) -> io::Result<impl Iterator<Item = io::Result<String>> + Send + use<>> {
    let file = File::open(path)?;
    let gzip = path.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read + Send> =
        if gzip { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    Ok(BufReader::new(reader).lines())
}

/// How many lines a vector file has.
///
/// # Errors
/// When the file cannot be read.
pub fn count_lines(path: &Path) -> io::Result<usize> {
    lines(path)?.try_fold(0, |count, line| line.map(|_| count + 1))
}

/// Runs every line of a file.
///
/// # Errors
/// When the file cannot be read, or a line is no scenario.
pub fn run_file(path: &Path) -> io::Result<FileReport> {
    let lines = Mutex::new(self::lines(path)?);
    let threads = thread::available_parallelism().map_or(1, Into::into);
    let parts = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| run_lines(&lines))).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err(panicked())))
            .collect::<Vec<_>>()
    });
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut report = FileReport { name, ..FileReport::default() };
    for part in parts {
        report.add(part?);
    }
    report.failed.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(report)
}

fn run_lines(lines: &Mutex<impl Iterator<Item = io::Result<String>>>) -> io::Result<FileReport> {
    let mut report = FileReport::default();
    loop {
        let next = lines.lock().map_err(|_| panicked())?.next();
        let Some(line) = next else { return Ok(report) };
        let result = run_line(&line?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        report.run += 1;
        report.hash = report.hash.wrapping_add(result.hash);
        if result.differences.is_empty() {
            report.passed += 1;
        } else {
            report.failed.push(result);
        }
    }
}

fn panicked() -> io::Error {
    io::Error::other("a thread that runs vectors panicked")
}
