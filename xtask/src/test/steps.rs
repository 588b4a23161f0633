//! The steps, in the order in which they are run.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use pleg_containerd::on_path;

use super::summary::Outcome;
use crate::conformance;
use crate::page;
use crate::setup::{self, wasm};
use crate::sh::{Run, create_dir};
use crate::workspace::{self, cargo};

/// One line of the table.
pub(crate) struct Step {
    /// As the command line knows it.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) run: fn(&mut Context) -> Result<Outcome>,
}

/// The page is built before anything native: the agent's build takes it in, and every step must see the same one.
pub(crate) const STEPS: &[Step] = &[
    Step { name: "fmt", title: "format", run: format },
    Step { name: "page", title: "page, as the README builds it", run: build_page },
    Step { name: "lint", title: "lints, native", run: lint },
    Step { name: "lint-wasm", title: "lints, wasm32", run: lint_wasm },
    Step { name: "docs", title: "documentation", run: document },
    Step { name: "native", title: "native tests", run: native },
    Step { name: "conformance", title: "recorded cases, native and wasm", run: conformance },
    Step { name: "pure", title: "core as bare wasm", run: pure },
    Step { name: "agent", title: "agent", run: build_agent },
    Step { name: "runtime", title: "tests on a real containerd", run: real_runtime },
    Step { name: "captures", title: "captures of killed agents, cut files", run: captures },
    Step { name: "browser", title: "tests of the page in Chromium", run: browser },
];

/// What the steps share.
pub(crate) struct Context {
    ci: bool,
    compiler: Option<wasm::Compiler>,
}

impl Context {
    pub(crate) fn new(ci: bool) -> Self {
        Self { ci, compiler: None }
    }

    /// The compiler for wasm32, set up by the first step that needs it.
    fn compiler(&mut self) -> Result<&wasm::Compiler> {
        let compiler = match self.compiler.take() {
            Some(compiler) => compiler,
            None => setup::build()?,
        };
        Ok(self.compiler.insert(compiler))
    }
}

fn passed(command: &mut Command) -> Result<Outcome> {
    command.run()?;
    Ok(Outcome::PASSED)
}

fn format(_: &mut Context) -> Result<Outcome> {
    passed(cargo().args(["fmt", "--all", "--check"]))
}

fn build_page(context: &mut Context) -> Result<Outcome> {
    page::build(context.compiler()?)?;
    Ok(Outcome::PASSED)
}

fn lint(_: &mut Context) -> Result<Outcome> {
    setup::protoc()?;
    passed(cargo().args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn lint_wasm(context: &mut Context) -> Result<Outcome> {
    let packages = ["--package", "pleg-core", "--package", "pleg-core-wasm", "--package", "pleg-web"];
    let mut clippy = context.compiler()?.clippy()?;
    // The page's own profile, so that macros and build scripts are compiled once for both.
    passed(clippy.args(["--quiet", "--profile", "web"]).args(packages).args(["--", "-D", "warnings"]))
}

fn document(_: &mut Context) -> Result<Outcome> {
    setup::protoc()?;
    let mut doc = cargo();
    // What the environment adds is kept.
    let flags = std::env::var("RUSTDOCFLAGS").unwrap_or_default();
    doc.env("RUSTDOCFLAGS", format!("{flags} -D warnings"));
    passed(doc.args(["doc", "--quiet", "--workspace", "--no-deps"]))
}

/// All tests that need nothing but this workspace; the others are targets with `test = false`.
fn native(_: &mut Context) -> Result<Outcome> {
    setup::protoc()?;
    passed(cargo().args(["test", "--quiet", "--workspace"]))
}

/// The full set of recorded cases, where the native tests run a selection.
fn conformance(context: &mut Context) -> Result<Outcome> {
    let folder = conformance::vectors();
    let native = conformance::run_native(&folder)?;
    let Some(node) = on_path("node") else {
        return Ok(Outcome::Passed { skipped: Some("WebAssembly: no node here".to_owned()) });
    };
    let wasm = conformance::run_wasm(context.compiler()?, &node, &folder)?;
    conformance::compare(&native, &wasm)?;
    Ok(Outcome::PASSED)
}

fn pure(context: &mut Context) -> Result<Outcome> {
    let build = ["build", "--quiet", "--package", "pleg-core-wasm", "--profile", "web"];
    context.compiler()?.cargo()?.args(build).run()?;
    let Some(node) = on_path("node") else {
        return Ok(Outcome::Skipped("no node here to load the module".to_owned()));
    };
    let module = workspace::wasm_target().join(wasm::TARGET).join("web").join("pleg_core_wasm.wasm");
    let tests = workspace::root().join("tests");
    passed(Command::new(node).arg(tests.join("wasm/check.mjs")).arg(module).arg(tests.join("recordings")))
}

fn build_agent(_: &mut Context) -> Result<Outcome> {
    setup::protoc()?;
    passed(cargo().args(["build", "--quiet", "--workspace", "--bin", "plegscope"]))
}

fn real_runtime(context: &mut Context) -> Result<Outcome> {
    whole_system(context, &["real_runtime", "probe"])
}

fn captures(context: &mut Context) -> Result<Outcome> {
    whole_system(context, &["captures"])
}

fn browser(context: &mut Context) -> Result<Outcome> {
    whole_system(context, &["page"])
}

/// Runs the tests of the files `tests/tests/NAME.rs`. They start the agent that was built before, and find out by
/// themselves what this machine lacks; the report that they write says which ran and which did not.
fn whole_system(context: &Context, names: &[&str]) -> Result<Outcome> {
    if pleg_containerd::is_root() {
        // What cannot be installed is missed by the tests that need it.
        for installed in [setup::containerd(), setup::browser()] {
            if let Err(error) = installed {
                eprintln!("{error:#}");
            }
        }
    }
    let report = report_file(&names.join("-"))?;
    let mut test = cargo();
    test.env("PLEGSCOPE_TEST_REPORT", &report);
    test.env("PLEGSCOPE_BIN", workspace::target().join("debug").join("plegscope"));
    if context.ci {
        test.env("PLEGSCOPE_REQUIRE", "all");
    }
    test.args(["test", "--quiet", "--workspace"]);
    test.args(names.iter().flat_map(|name| ["--test", *name])).run()?;
    read_report(&fs::read_to_string(&report).context("the tests wrote no report")?)
}

fn report_file(name: &str) -> Result<PathBuf> {
    let dir = workspace::target().join("reports");
    create_dir(&dir)?;
    let file = dir.join(format!("{name}.tsv"));
    fs::write(&file, "").with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// A line for each test: `passed⇥NAME` or `skipped⇥NAME⇥REASON`.
fn read_report(report: &str) -> Result<Outcome> {
    let skipped: Vec<String> = report
        .lines()
        .filter_map(|line| line.strip_prefix("skipped\t"))
        .map(|rest| rest.replace('\t', ": "))
        .collect();
    let ran = report.lines().any(|line| line.starts_with("passed\t"));
    match (ran, skipped.is_empty()) {
        (true, true) => Ok(Outcome::PASSED),
        (true, false) => Ok(Outcome::Passed { skipped: Some(skipped.join("; ")) }),
        (false, false) => Ok(Outcome::Skipped(skipped.join("; "))),
        (false, true) => bail!("no test ran"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_passed_only_if_something_ran() {
        assert_eq!(read_report("passed\ta\n").unwrap(), Outcome::PASSED);
        assert_eq!(
            read_report("passed\ta\nskipped\tb\tno root\n").unwrap(),
            Outcome::Passed { skipped: Some("b: no root".into()) }
        );
        assert_eq!(read_report("skipped\tb\tno root\n").unwrap(), Outcome::Skipped("b: no root".into()));
        assert!(read_report("").is_err());
    }
}
