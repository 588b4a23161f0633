//! The command line.

use clap::{
    ArgMatches, Args, Command as Definition, CommandFactory as _, FromArgMatches as _, Parser, Subcommand,
    ValueEnum, error::ErrorKind, parser::ValueSource,
};
use pleg_core::{
    pleg::{Profile, known_releases},
    time::Nanos,
};
use std::{ffi::OsString, net::SocketAddr, path::PathBuf, time::Duration};

const EXAMPLES: &str = "\
Examples:
  plegscope                                  observe this node's runtime, page on http://127.0.0.1:8787/
  plegscope --demo                           watch a simulated node
  plegscope --record node.plegcap            observe and record
  plegscope record node.plegcap --duration 10m
  plegscope replay node.plegcap --speed 10   watch a capture again
  plegscope events node.plegcap --json | jq .

Durations are written 500ms, 1s, 3m or 1h30m.";

const PROBE_HELP: &str = "\
Examples:
  plegscope probe                            this node's runtime
  plegscope probe --known node.plegcap       when ListContainers hangs: ask what a capture knows
  plegscope probe --json | tail -1 | jq .    the verdict alone

When a list hangs, the sandboxes and containers are taken from the captures named with --known and
from the kubelet's links in /var/log/containers.

Exit codes:
   0  healthy                       12  a shim is frozen (seen by verbose inspections only)
  10  slow                          13  one or several sandboxes or containers hang
  11  inspections fail              14  a list hangs or fails, and no single one is to blame
   1  the probe itself failed       15  the runtime is down or frozen";

/// Shows what the kubelet's PLEG sees, does and loses on a node.
#[derive(Debug, Parser)]
#[command(name = "plegscope", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl Cli {
    /// Reads the command line. Options of `serve` may stand without it, but not before another subcommand, which
    /// would not heed them; those of the log may stand anywhere.
    ///
    /// # Errors
    /// The text to print and the exit code, also for `--help`.
    pub(crate) fn read(line: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut definition = Self::command();
        let matches = definition.try_get_matches_from_mut(line)?;
        if let (Some(command), Some(option)) = (matches.subcommand_name(), misplaced(&definition, &matches)) {
            let text = format!("--{option} must stand behind {command}, if {command} knows it");
            return Err(definition.error(ErrorKind::ArgumentConflict, text));
        }
        Self::from_arg_matches(&matches)
    }
}

/// The first option that stands in the place of those of `serve`.
fn misplaced<'a>(definition: &'a Definition, matches: &ArgMatches) -> Option<&'a str> {
    let given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    let mut options = definition.get_arguments().filter(|option| !option.is_global_set());
    options.find(|option| given(option.get_id().as_str()))?.get_long()
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Observe a runtime and serve the page (the default)
    #[command(after_help = EXAMPLES)]
    Serve(ServeArgs),
    /// Observe a runtime and write a capture, without a page
    Record(RecordArgs),
    /// Serve a capture as if it happened now
    Replay(ReplayArgs),
    /// Print the lifecycle events of a capture
    Events(EventsArgs),
    /// Ask every sandbox and container for its status, one by one, and name the one that hangs
    #[command(after_help = PROBE_HELP)]
    Probe(ProbeArgs),
}

/// `plegscope serve`
#[derive(Args, Clone, Debug)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) observe: ObserveArgs,
    #[command(flatten)]
    pub(crate) http: HttpArgs,
    /// Also write a capture to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Overwrite the capture file if it exists
    #[arg(long, requires = "record")]
    pub(crate) force: bool,
}

/// `plegscope record`
#[derive(Args, Clone, Debug)]
pub(crate) struct RecordArgs {
    /// Where to write the capture; *.plegcap by convention
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Stop after this time [default: until interrupted]
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) duration: Option<Duration>,
    #[command(flatten)]
    pub(crate) observe: ObserveArgs,
}

/// `plegscope replay`
#[derive(Args, Clone, Debug)]
pub(crate) struct ReplayArgs {
    /// A capture; - for the standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// How many times faster than it was; 0 for as fast as possible
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = speed)]
    pub(crate) speed: f64,
    /// Print the lifecycle events as JSON Lines on the standard output
    #[arg(long)]
    pub(crate) print_events: bool,
    #[command(flatten)]
    pub(crate) http: HttpArgs,
}

/// `plegscope events`
#[derive(Args, Clone, Debug)]
pub(crate) struct EventsArgs {
    /// A capture; - for the standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print JSON Lines instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Only events that have each of these words, in upper or lower case, in their type, namespace, pod, uid,
    /// container or id; `discarded` finds those lost to a full channel
    #[arg(long, value_name = "WORDS")]
    pub(crate) filter: Option<String>,
}

/// `plegscope probe`
#[derive(Args, Clone, Debug)]
pub(crate) struct ProbeArgs {
    /// Socket of the container runtime, unix:///run/containerd/containerd.sock or its path
    /// [default: found as `plegscope serve` finds it]
    #[arg(long, value_name = "ENDPOINT", env = "CONTAINER_RUNTIME_ENDPOINT")]
    pub(crate) runtime_endpoint: Option<String>,
    /// How long each call is waited for
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = positive)]
    pub(crate) timeout: Duration,
    /// How many inspections run at once
    #[arg(long, value_name = "CALLS", default_value = "8", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) concurrency: u8,
    /// A capture whose sandboxes and containers are asked about when the runtime does not list them
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Vec<PathBuf>,
    /// Leave the verbose inspections of sandboxes out: containerd passes each on to a shim
    #[arg(long)]
    pub(crate) no_verbose: bool,
    /// Print JSON Lines: a `call` for each call, at the end the verdict
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is observed, and as which kubelet would.
#[derive(Args, Clone, Debug)]
pub(crate) struct ObserveArgs {
    /// Socket of the container runtime, unix:///run/containerd/containerd.sock or its path
    /// [default: the kubelet's, the one in /etc/crictl.yaml, the known ones]
    #[arg(long, value_name = "ENDPOINT", env = "CONTAINER_RUNTIME_ENDPOINT")]
    pub(crate) runtime_endpoint: Option<String>,
    /// Observe a simulated node instead of a runtime, also where an endpoint is named
    #[arg(long)]
    pub(crate) demo: bool,
    /// Seed of the simulated node: the same seed tells the same story
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub(crate) seed: u64,
    /// Read the runtime's events too, as a kubelet does that has the feature gate EventedPLEG on. DANGEROUS beside a
    /// kubelet that reads them itself: containerd 1.7 then gives each event to one of the two readers only, so the kubelet
    /// misses about half; and containerd 2 creates no pod as long as any reader does not read, for instance while
    /// plegscope is stopped (SIGSTOP, a debugger, a frozen cgroup). containerd 1.6 and cri-dockerd have no such stream
    #[arg(long, conflicts_with = "demo")]
    pub(crate) container_events: bool,
    /// Time between the end of a relist and the start of the next [default: 1s; 5m with --container-events]
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) relist_period: Option<Duration>,
    /// PLEG is unhealthy when the last good listing began longer ago
    /// [default: 3m, as the kubelet's; 10m with --container-events; 20s on the simulated node, whose calls hang for half a minute]
    #[arg(long, value_name = "TIME", value_parser = positive)]
    pub(crate) relist_threshold: Option<Duration>,
    /// Events that the kubelet's channel holds; more, while nobody reads them, are discarded
    #[arg(long, value_name = "EVENTS", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) channel_capacity: u32,
    /// Deadline of each call to the runtime: the kubelet's runtimeRequestTimeout
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = positive)]
    pub(crate) call_timeout: Duration,
    #[arg(long, value_name = "RELEASE", default_value = Profile::default().name, value_parser = release, help = kubelet_help())]
    pub(crate) kubelet: String,
    /// Name of the node [default: the host's name]
    #[arg(long, value_name = "NAME", env = "NODE_NAME")]
    pub(crate) node_name: Option<String>,
    /// Print the lifecycle events as JSON Lines on the standard output
    #[arg(long)]
    pub(crate) print_events: bool,
}

/// Where the page is served.
#[derive(Args, Clone, Debug)]
pub(crate) struct HttpArgs {
    /// Address and port of the page; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    pub(crate) listen: SocketAddr,
    /// A name by which browsers may open the page, beside IP addresses and localhost
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Serve the page from this folder instead of the one built in
    #[arg(long, value_name = "DIR")]
    pub(crate) page: Option<PathBuf>,
    /// How much of the past a client that comes late is given; kept in memory, 8 MiB at most
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = humantime::parse_duration)]
    pub(crate) history: Duration,
}

/// What is logged, to the standard error.
#[derive(Args, Clone, Debug)]
pub(crate) struct LogArgs {
    /// Least level that is logged, or levels by module: error, warn, info, debug, trace, plegscope::worker=debug
    #[arg(long, value_name = "LEVEL", env = "RUST_LOG", default_value = "info", global = true)]
    pub(crate) log_level: String,
    /// Colours in the log
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The duration in nanoseconds, at most 292 years.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}

fn kubelet_help() -> String {
    format!("Release of the kubelet whose behaviour is derived: {}", known_releases())
}

/// The minor release.
fn release(text: &str) -> Result<String, String> {
    Profile::of_release(text).map(|(release, _)| release.to_owned()).ok_or_else(|| {
        format!(
            "what that kubelet does is not known: it can be {}. Before 1.24 kubelets reached Docker without CRI",
            known_releases()
        )
    })
}

fn positive(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("must be longer than nothing".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(format!("{error}: write it as 500ms, 1s or 3m")),
    }
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed == 0.0 || (speed.is_normal() && speed > 0.0) => Ok(speed),
        _ => Err("must be a positive number, or 0 for as fast as possible".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::read(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serve_is_the_default() {
        let cli = parse("plegscope --demo --relist-threshold 3m0s --listen 127.0.0.1:0").unwrap();
        assert!(cli.command.is_none());
        let observe = cli.serve.observe;
        assert!(observe.demo);
        assert_eq!((observe.relist_period, observe.container_events), (None, false));
        assert_eq!(observe.relist_threshold, Some(Duration::from_secs(180)));
        assert_eq!(observe.call_timeout, Duration::from_secs(120));
        assert_eq!(observe.channel_capacity, 1000);
    }

    #[test]
    fn what_is_logged_may_be_said_before_the_subcommand_and_behind_it() {
        for line in [
            "plegscope --log-level debug --color never replay x --speed 2",
            "plegscope replay x --log-level debug --speed 2 --color never",
            "plegscope --color never replay x --speed 2 --log-level debug",
        ] {
            let cli = parse(line).unwrap();
            assert_eq!((cli.log.log_level.as_str(), cli.log.color), ("debug", Color::Never), "{line}");
            let Some(Command::Replay(replay)) = cli.command else { panic!("{line}") };
            assert_eq!(replay.speed, 2.0, "{line}");
        }
        let error = parse("plegscope --demo --log-level debug serve").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ArgumentConflict);
        assert!(error.to_string().contains("--demo must stand behind serve"), "{error}");
        assert!(!parse("plegscope serve --demo").unwrap().serve.observe.demo, "the subcommand has it");
    }

    #[test]
    fn bad_values_are_refused_with_what_to_write() {
        for (line, kind, text) in [
            ("plegscope --relist-period 0s", ErrorKind::ValueValidation, "longer than nothing"),
            ("plegscope --relist-period 5", ErrorKind::ValueValidation, "write it as 500ms"),
            (
                "plegscope --kubelet 1.20",
                ErrorKind::ValueValidation,
                "1.37, 1.36, 1.32 to 1.35, 1.24 to 1.31",
            ),
            ("plegscope --channel-capacity 0", ErrorKind::ValueValidation, "1.."),
            ("plegscope replay x --speed -1", ErrorKind::UnknownArgument, "-1"),
            ("plegscope replay x --speed NaN", ErrorKind::ValueValidation, "positive number"),
            ("plegscope --container-events --demo", ErrorKind::ArgumentConflict, "--demo"),
            ("plegscope --force", ErrorKind::MissingRequiredArgument, "--record"),
        ] {
            let error = parse(line).unwrap_err();
            assert_eq!(error.kind(), kind, "{line}: {error}");
            assert!(error.to_string().contains(text), "{line}: {error}");
        }
    }
}
