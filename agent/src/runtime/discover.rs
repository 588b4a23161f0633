//! Finds the container runtime of this node, and says where it looked and why it went on.

use super::cri::{CriSource, socket_path};
use pleg_core::cri::RpcError;
use std::{
    fmt, fs, io,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
    time::Duration,
};
use yaml_rust2::{Yaml, YamlLoader};

/// Sockets of the known distributions, in crictl's order of runtimes.
const KNOWN_SOCKETS: [(&str, &str); 7] = [
    ("containerd", "/run/containerd/containerd.sock"),
    ("CRI-O", "/run/crio/crio.sock"),
    ("cri-dockerd", "/run/cri-dockerd.sock"),
    ("k3s, rke2", "/run/k3s/containerd/containerd.sock"),
    ("k0s", "/run/k0s/containerd.sock"),
    ("MicroK8s", "/var/snap/microk8s/common/run/containerd.sock"),
    ("dockershim", "/run/dockershim.sock"),
];

/// Deadline of the one call that is made to see whether a runtime answers.
const PROBE_DEADLINE: Duration = Duration::from_secs(2);

/// Where an endpoint was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The endpoint, as it was written there.
    pub(crate) endpoint: String,
    /// Who names it.
    pub(crate) origin: Origin,
}

/// Who names an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// `/etc/crictl.yaml`.
    Crictl,
    /// The kubelet: its command line or a configuration file.
    Kubelet(String),
    /// The list of known sockets.
    Known(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Crictl => f.write_str("/etc/crictl.yaml"),
            Origin::Kubelet(place) => f.write_str(place),
            Origin::Known(runtime) => write!(f, "default of {runtime}"),
        }
    }
}

/// The outcome of a search.
#[derive(Debug)]
pub(crate) struct Found {
    /// The endpoint to observe; none when there is no runtime.
    pub(crate) endpoint: Option<String>,
    /// One line for each place looked at.
    pub(crate) looked: Vec<String>,
}

/// Looks for a runtime below `root` (`/` but in tests): takes the first that answers, else the one that the kubelet is
/// set up to use, else the first whose socket is there: that one is down, which is what somebody wants to look at.
pub(crate) async fn find(root: &Path) -> Found {
    let (mut looked, mut down) = (Vec::new(), Vec::new());
    for Candidate { endpoint, origin } in candidates(root) {
        match try_endpoint(&endpoint, root).await {
            Ok(()) => {
                looked.push(format!("{endpoint} ({origin}): answers"));
                return Found { endpoint: Some(placed(&endpoint, root)), looked };
            }
            Err(Refused { reason, there }) => {
                looked.push(format!("{endpoint} ({origin}): {reason}"));
                let is_kubelets = matches!(origin, Origin::Kubelet(_));
                if is_kubelets || there {
                    down.push((!is_kubelets, endpoint));
                }
            }
        }
    }
    // Stable: the most telling one stays first.
    down.sort_by_key(|(is_not_kubelets, _)| *is_not_kubelets);
    let taken = down.into_iter().next();
    if let Some((is_not_kubelets, endpoint)) = &taken {
        let why = if *is_not_kubelets { "its socket is there" } else { "the kubelet is set up to use it" };
        looked.push(format!("{endpoint}: taken all the same, because {why}"));
    }
    Found { endpoint: taken.map(|(_, endpoint)| placed(&endpoint, root)), looked }
}

/// Why an endpoint is not taken at once.
struct Refused {
    reason: String,
    /// Whether there is a socket: its runtime is down, or this user may not connect.
    there: bool,
}

/// The endpoint's path below `root`.
fn placed(endpoint: &str, root: &Path) -> String {
    match socket_path(endpoint) {
        Ok(path) => below(root, path).display().to_string(),
        Err(_) => endpoint.to_owned(),
    }
}

fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

async fn try_endpoint(endpoint: &str, root: &Path) -> Result<(), Refused> {
    let absent = |reason| Refused { reason, there: false };
    let path = below(root, socket_path(endpoint).map_err(|error| absent(error.to_string()))?);
    match fs::metadata(&path) {
        Ok(metadata) if !metadata.file_type().is_socket() => return Err(absent("is no socket".to_owned())),
        Ok(_) => {}
        Err(error) => return Err(absent(reason(&error))),
    }
    let mut source = CriSource::new(&path.display().to_string(), PROBE_DEADLINE)
        .map_err(|error| absent(error.to_string()))?;
    source.probe().await.map_err(|error| Refused { there: !is_foreign(&error), reason: error.message })
}

/// Whether whatever listens there is no container runtime.
fn is_foreign(error: &RpcError) -> bool {
    error.code == "Unimplemented"
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied: try as root".to_owned(),
        _ => error.to_string(),
    }
}

/// All endpoints that are named somewhere, the most telling first, each once.
fn candidates(root: &Path) -> Vec<Candidate> {
    let mut all = Vec::new();
    let crictl = read_key(&root.join("etc/crictl.yaml"), "runtime-endpoint");
    all.extend(crictl.map(|endpoint| Candidate { endpoint, origin: Origin::Crictl }));
    all.extend(kubelet_candidates(root));
    all.extend(KNOWN_SOCKETS.iter().map(|(runtime, path)| Candidate {
        endpoint: format!("unix://{path}"),
        origin: Origin::Known(runtime),
    }));
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|candidate| {
        let path = socket_path(&candidate.endpoint).unwrap_or(&candidate.endpoint);
        seen.insert(
            path.strip_prefix("/var").filter(|rest| rest.starts_with("/run/")).unwrap_or(path).to_owned(),
        )
    });
    all
}

/// What the kubelet of this node is told: a running one by its flags and `--config`, else the usual file.
fn kubelet_candidates(root: &Path) -> Vec<Candidate> {
    let mut all = Vec::new();
    for (pid, arguments) in kubelets(root) {
        let flag = flag_value(&arguments, "--container-runtime-endpoint");
        all.extend(flag.map(|endpoint| Candidate {
            endpoint,
            origin: Origin::Kubelet(format!("flag of kubelet, process {pid}")),
        }));
        if let Some(file) = flag_value(&arguments, "--config") {
            all.extend(kubelet_file(root, &file));
        }
    }
    all.extend(kubelet_file(root, "/var/lib/kubelet/config.yaml"));
    all
}

fn kubelet_file(root: &Path, file: &str) -> Option<Candidate> {
    let endpoint = read_key(&below(root, file), "containerRuntimeEndpoint")?;
    Some(Candidate { endpoint, origin: Origin::Kubelet(file.to_owned()) })
}

/// Process ids and arguments of all running kubelets.
fn kubelets(root: &Path) -> Vec<(u32, Vec<String>)> {
    let Ok(entries) = fs::read_dir(root.join("proc")) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| {
            let line = fs::read(root.join(format!("proc/{pid}/cmdline"))).ok()?;
            let arguments: Vec<String> = line
                .split(|byte| *byte == 0)
                .map(|part| String::from_utf8_lossy(part).into_owned())
                .collect();
            let program = arguments.first()?.rsplit('/').next()?;
            (program == "kubelet").then_some((pid, arguments))
        })
        .collect();
    found.sort();
    found
}

/// The value of `--flag=value` or `--flag value`.
fn flag_value(arguments: &[String], flag: &str) -> Option<String> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let Some(rest) = argument.strip_prefix(flag) else { continue };
        match rest.strip_prefix('=') {
            Some(value) => return Some(value.to_owned()),
            None if rest.is_empty() => return arguments.next().cloned(),
            None => {}
        }
    }
    None
}

/// A top-level key of a YAML (or JSON) file; none when there is no such file or the value is empty.
fn read_key(file: &Path, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let documents = match YamlLoader::load_from_str(&text) {
        Ok(documents) => documents,
        Err(error) => {
            tracing::warn!(file = %file.display(), %error, "cannot be read, going on without it");
            return None;
        }
    };
    let value = documents.first()?.as_hash()?.get(&Yaml::String(key.to_owned()))?.as_str()?;
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
#[path = "discover_tests.rs"]
mod tests;
