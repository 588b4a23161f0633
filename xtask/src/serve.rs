//! `cargo xtask run`: builds page and agent and becomes the agent.

use std::process::Command;

use anyhow::Result;

use crate::page;
use crate::progress::say;
use crate::setup;
use crate::sh::Run;
use crate::workspace;

/// The command: all arguments go to `plegscope serve`.
pub(crate) fn command(args: &[String]) -> Result<()> {
    page::build(&setup::build()?)?;
    say("agent: compiling (first time about two minutes)");
    workspace::cargo()
        .args(["build", "--quiet", "--release", "--package", "pleg-agent", "--bin", "plegscope"])
        .run()?;
    let program = workspace::target().join("release").join("plegscope");
    say(format!("starting {} serve {}", program.display(), args.join(" ")));
    become_program(Command::new(program).arg("serve").args(args))
}

/// Replaces this process, so that signals and the exit code are the agent's own.
#[cfg(unix)]
fn become_program(command: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    Err(command.exec()).map_err(|error| anyhow::anyhow!("cannot start the agent: {error}"))
}

#[cfg(not(unix))]
fn become_program(command: &mut Command) -> Result<()> {
    command.run()
}
