//! Puts the parts together: one thread relists or replays, this one serves.

use crate::{
    background::{Background, event_loop},
    capture::Capture,
    cli::{HttpArgs, ObserveArgs, RecordArgs, ReplayArgs, ServeArgs, nanos},
    clock::Clock,
    hub::Hub,
    node,
    print::EventPrinter,
    record::Recorder,
    replay as player,
    runtime::{
        Source,
        cri::{CriSource, socket_path},
        discover,
        events::EventFeed,
        sim::SimSource,
    },
    server::{self, App, page::Page},
    stream::EventStream,
    worker::Worker,
};
use pleg_core::{
    pleg::{
        EVENTED_RELIST_PERIOD, EVENTED_RELIST_THRESHOLD, Evented, Profile, RELIST_PERIOD, RELIST_THRESHOLD,
    },
    time::{Nanos, SECOND, Time},
    wire::{Hello, RuntimeInfo},
};
use std::{
    future::pending,
    io::{self, Write as _},
    path::Path,
    sync::Arc,
    time::Duration,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
    time::{sleep, timeout},
};

/// How long clients may take to hang up when we end.
const FAREWELL: Duration = Duration::from_secs(1);

/// Runs `plegscope serve`.
///
/// # Errors
/// When the address cannot be listened on, the capture not be created, or the endpoint is none.
pub(crate) fn serve(args: ServeArgs) -> anyhow::Result<()> {
    let ServeArgs { observe, http, record, force } = args;
    event_loop()?.block_on(async {
        let target = choose_target(&observe).await?;
        let front = Front::open(http, observe.print_events).await?;
        // Last of what can fail: a run that cannot begin leaves no empty file.
        let recorder = record.map(|file| Recorder::create(&file, force)).transpose()?;
        let hub = Arc::new(Hub::new(front.history(), recorder, printer(observe.print_events)?));
        let work = start_worker(target, observe, Arc::clone(&hub))?;
        front.serve(hub, work).await
    })
}

/// Runs `plegscope record`.
///
/// # Errors
/// When the capture cannot be created, or the endpoint is none.
pub(crate) fn record(args: RecordArgs) -> anyhow::Result<()> {
    event_loop()?.block_on(async {
        let target = choose_target(&args.observe).await?;
        anyhow::ensure!(
            args.observe.demo || matches!(target, Target::Endpoint(_)),
            "no container runtime found: name one with --runtime-endpoint, or record a simulated node with --demo"
        );
        let recorder = Recorder::create(&args.file, args.force)?;
        // Nobody can come late, so no past is kept.
        let hub = Arc::new(Hub::new(0, Some(recorder), printer(args.observe.print_events)?));
        let stop = stop_signal()?;
        let mut work = start_worker(target, args.observe, Arc::clone(&hub))?;
        let time_is_up = async {
            match args.duration {
                Some(duration) => sleep(duration).await,
                None => pending().await,
            }
        };
        let result = tokio::select! {
            () = stop => Ok(()),
            () = time_is_up => Ok(()),
            result = work.ended() => result,
        };
        work.stop();
        result.and(hub.close())
    })
}

/// Runs `plegscope replay`.
///
/// # Errors
/// When the file is no capture, or the address cannot be listened on.
pub(crate) fn replay(args: ReplayArgs) -> anyhow::Result<()> {
    let ReplayArgs { file, speed, print_events, http } = args;
    event_loop()?.block_on(async {
        let mut capture = Capture::open(&file)?;
        // What is no capture is refused before anything is served.
        capture.peek()?;
        let front = Front::open(http, print_events).await?;
        let hub = Arc::new(Hub::new(front.history(), None, printer(print_events)?));
        let stage = Arc::clone(&hub);
        let work = Background::start("replay", move || async move {
            player::play(capture, speed, &stage).await?;
            tracing::info!("the capture has been played to its end");
            pending().await
        })?;
        front.serve(hub, work).await
    })
}

/// The HTTP side: opened before anything else is begun, so that a taken port costs nothing.
struct Front {
    http: HttpArgs,
    page: Page,
    listener: tokio::net::TcpListener,
    quiet: bool,
}

impl Front {
    /// With `quiet` the standard output belongs to someone else.
    async fn open(http: HttpArgs, quiet: bool) -> anyhow::Result<Self> {
        let page = Page::new(http.page.clone())?;
        let listener = server::listen(http.listen).await?;
        Ok(Self { http, page, listener, quiet })
    }

    fn history(&self) -> i64 {
        nanos(self.http.history)
    }

    /// Serves until a signal comes or the work ends.
    async fn serve(self, hub: Arc<Hub>, mut work: Background) -> anyhow::Result<()> {
        let stop = stop_signal()?;
        self.announce()?;
        let (farewell, told) = oneshot::channel::<()>();
        let app =
            App { hub: Arc::clone(&hub), page: Arc::new(self.page), hosts: self.http.allow_host.into() };
        let mut server = tokio::spawn(server::serve(self.listener, app, async {
            // The sender is only ever dropped.
            told.await.unwrap_or_default();
        }));
        let result = tokio::select! {
            () = stop => Ok(()),
            result = work.ended() => result,
            result = &mut server => return result?,
        };
        work.stop();
        let closed = hub.close();
        drop(farewell);
        if timeout(FAREWELL, server).await.is_err() {
            tracing::debug!("some clients did not hang up");
        }
        result.and(closed)
    }

    /// Says where the page is; scripts wait for this line.
    fn announce(&self) -> io::Result<()> {
        let line = format!("plegscope: {}", server::url(self.listener.local_addr()?));
        if self.quiet {
            eprintln!("{line}");
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{line}")?;
        stdout.flush()
    }
}

fn printer(wanted: bool) -> io::Result<Option<EventPrinter>> {
    wanted.then(|| EventPrinter::start(io::stdout())).transpose()
}

/// Done when the user or the system wants us to end.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// What is to be observed.
#[derive(Clone, Debug)]
enum Target {
    Endpoint(String),
    Simulation { seed: u64 },
}

fn start_worker(target: Target, observe: ObserveArgs, hub: Arc<Hub>) -> anyhow::Result<Background> {
    Background::start("relist", move || async move {
        let clock = Clock::start();
        let mut feed = None;
        let source = match &target {
            Target::Endpoint(endpoint) => {
                feed = observe.container_events.then(|| EventFeed::start(endpoint)).transpose()?;
                Source::Cri(CriSource::new(endpoint, observe.call_timeout)?)
            }
            Target::Simulation { seed } => {
                Source::Sim(Box::new(SimSource::new(*seed, Time(clock.origin().wall))))
            }
        };
        let hello = hello(observe, &target, clock);
        Worker::new(clock, hub, source, EventStream::new(feed), hello).run().await;
        Ok(())
    })
}

/// Whether this kubelet makes statuses and lifecycle events of the runtime's events.
fn reads_statuses(kubelet: &str) -> bool {
    Profile::of_release(kubelet).is_some_and(|(_, profile)| profile.evented == Evented::Statuses)
}

/// What to observe, and whether that can be done as asked.
async fn choose_target(observe: &ObserveArgs) -> anyhow::Result<Target> {
    anyhow::ensure!(
        !observe.container_events || reads_statuses(&observe.kubelet),
        "--container-events: from 1.37 on an event only asks for a relist of one pod, which a capture cannot hold; \
         follow another release with --kubelet, or leave the flag out"
    );
    let simulation = Target::Simulation { seed: observe.seed };
    if observe.demo {
        return Ok(simulation);
    }
    Ok(endpoint(observe.runtime_endpoint.as_deref()).await?.map_or_else(
        || {
            tracing::warn!(
                "NO CONTAINER RUNTIME FOUND: what you see is a SIMULATED node, as with --demo; name a runtime with \
                 --runtime-endpoint"
            );
            simulation
        },
        Target::Endpoint,
    ))
}

/// The named endpoint, or the one that is found on this machine. What was looked at is logged.
///
/// # Errors
/// When what is named is no endpoint.
pub(crate) async fn endpoint(named: Option<&str>) -> anyhow::Result<Option<String>> {
    // An environment variable that is set to nothing names nothing.
    if let Some(endpoint) = named.filter(|endpoint| !endpoint.is_empty()) {
        socket_path(endpoint)?;
        return Ok(Some(endpoint.to_owned()));
    }
    let found = discover::find(Path::new("/")).await;
    for line in &found.looked {
        tracing::info!("looking for a runtime: {line}");
    }
    if let Some(warning) = &found.warning {
        tracing::warn!("{warning}");
    }
    Ok(found.endpoint)
}

/// A source's relist period and threshold where none were asked for, in nanoseconds.
fn default_times(target: &Target, container_events: bool) -> (Nanos, Nanos) {
    match target {
        Target::Endpoint(_) if container_events => (EVENTED_RELIST_PERIOD, EVENTED_RELIST_THRESHOLD),
        Target::Endpoint(_) => (RELIST_PERIOD, RELIST_THRESHOLD),
        // A hung call of the story takes half a minute: nobody is to wait three for the flip of health.
        Target::Simulation { .. } => (RELIST_PERIOD, 20 * SECOND),
    }
}

fn hello(observe: ObserveArgs, target: &Target, clock: Clock) -> Hello {
    let container_events = observe.container_events && matches!(target, Target::Endpoint(_));
    let (period, threshold) = default_times(target, container_events);
    let root = Path::new("/");
    let origin = clock.origin();
    Hello {
        plegscope: Hello::version(container_events),
        agent: env!("CARGO_PKG_VERSION").to_owned(),
        node: match target {
            Target::Endpoint(_) => node::name(observe.node_name, root),
            // Never this node's name: what is told did not happen on it.
            Target::Simulation { .. } => observe.node_name.unwrap_or_else(|| "simulated-node".to_owned()),
        },
        boot: node::boot_id(root),
        runtime: RuntimeInfo::default(),
        kubelet: observe.kubelet,
        container_events,
        period: observe.relist_period.map_or(period, nanos),
        threshold: observe.relist_threshold.map_or(threshold, nanos),
        capacity: observe.channel_capacity,
        deadline: nanos(observe.call_timeout),
        wall: origin.wall,
        mono: origin.mono,
    }
}
