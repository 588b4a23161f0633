//! `plegscope`: relists a container runtime over CRI as the kubelet does, times every call, and shows, records
//! and replays what it said.

mod background;
mod capture;
mod cli;
mod clock;
mod events;
mod hub;
mod memory;
mod node;
mod print;
mod probe;
mod record;
mod replay;
mod run;
mod runtime;
mod server;
mod stream;
mod terminal;
mod thread;
mod worker;

#[cfg(test)]
mod testing;

use cli::{Cli, Color, Command, LogArgs};
use std::{
    io::{self, IsTerminal as _},
    process::ExitCode,
    str::FromStr as _,
};
use tracing_subscriber::{filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _};

fn main() -> ExitCode {
    let cli = Cli::read(std::env::args_os()).unwrap_or_else(|error| error.exit());
    match start_log(&cli.log).and_then(|()| execute(cli)) {
        Ok(code) => code,
        // `plegscope events FILE | head` is no failure.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("plegscope: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command.unwrap_or(Command::Serve(cli.serve)) {
        Command::Serve(args) => run::serve(args)?,
        Command::Record(args) => run::record(args)?,
        Command::Replay(args) => run::replay(args)?,
        Command::Events(args) => {
            let filter = pleg_core::follow::Filter::new(args.filter.as_deref().unwrap_or_default());
            let style = events::Style { json: args.json, filter };
            events::print(&args.file, &style, &mut io::BufWriter::new(io::stdout().lock()))?;
        }
        Command::Probe(args) => return probe::run(&args),
    }
    Ok(ExitCode::SUCCESS)
}

fn start_log(args: &LogArgs) -> anyhow::Result<()> {
    let filter = Targets::from_str(&args.log_level)
        .map_err(|error| anyhow::anyhow!("--log-level {:?}: {error}", args.log_level))?;
    let color = match args.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        }
    };
    let text = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(color).with_target(false);
    tracing_subscriber::registry().with(filter).with(text).try_init()?;
    Ok(())
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
