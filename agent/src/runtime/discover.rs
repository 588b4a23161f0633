//! Finds the container runtime of this node, and says where it looked and why it went on.

use super::cri::{CriSource, PROBE_TIME, socket_path};
use std::{
    fmt, fs, io,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
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
    /// The kubelet: its command line or a configuration file. One that runs has the last word.
    Kubelet { place: String, runs: bool },
    /// `/etc/crictl.yaml`.
    Crictl,
    /// The list of known sockets.
    Known(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Kubelet { place, .. } => f.write_str(place),
            Origin::Crictl => f.write_str("/etc/crictl.yaml"),
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
    /// What somebody should put right.
    pub(crate) warning: Option<String>,
}

/// Looks for a runtime below `root` (`/` but in tests): takes the first that answers, and the kubelet's also when it is
/// down, which is what somebody wants to look at then; else the first whose socket is there.
pub(crate) async fn find(root: &Path) -> Found {
    let candidates = candidates(root);
    let warning = disagreement(&candidates);
    let (mut looked, mut down) = (Vec::new(), Vec::new());
    for Candidate { endpoint, origin } in candidates {
        let Err(Refused { reason, sight }) = try_endpoint(&endpoint, root).await else {
            looked.push(format!("{endpoint} ({origin}): answers"));
            return Found { endpoint: Some(placed(&endpoint, root)), looked, warning };
        };
        looked.push(format!("{endpoint} ({origin}): {reason}"));
        let is_kubelets = matches!(origin, Origin::Kubelet { .. });
        if is_kubelets || sight == Sight::Down {
            down.push((!is_kubelets, endpoint));
        }
        // Whatever else answers, it is not what the kubelet waits for.
        let runs = matches!(origin, Origin::Kubelet { runs: true, .. });
        if (is_kubelets && sight == Sight::Down) || (runs && sight == Sight::Absent) {
            break;
        }
    }
    // Stable: the most telling one stays first.
    down.sort_by_key(|(is_not_kubelets, _)| *is_not_kubelets);
    let taken = down.into_iter().next();
    if let Some((is_not_kubelets, endpoint)) = &taken {
        let why = if *is_not_kubelets { "its socket is there" } else { "the kubelet is set up to use it" };
        looked.push(format!("{endpoint}: taken all the same, because {why}"));
    }
    Found { endpoint: taken.map(|(_, endpoint)| placed(&endpoint, root)), looked, warning }
}

/// That `/etc/crictl.yaml` names another runtime than the kubelet: it is easily forgotten when a node changes its runtime.
fn disagreement(candidates: &[Candidate]) -> Option<String> {
    let kubelets = candidates.iter().find(|candidate| matches!(candidate.origin, Origin::Kubelet { .. }))?;
    // The kubelet's comes first, and each endpoint only once.
    let crictls = candidates.iter().find(|candidate| candidate.origin == Origin::Crictl)?;
    Some(format!(
        "/etc/crictl.yaml names {}, but the kubelet uses {} ({}): crictl may show another runtime than the kubelet's",
        crictls.endpoint, kubelets.endpoint, kubelets.origin
    ))
}

/// Why an endpoint is not taken at once.
struct Refused {
    reason: String,
    sight: Sight,
}

/// What is to be seen of a runtime that does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// There is no socket.
    Absent,
    /// There is a socket: its runtime is down, or this user may not connect.
    Down,
    /// Whatever listens there is no container runtime.
    Foreign,
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
    let absent = |reason| Refused { reason, sight: Sight::Absent };
    let path = below(root, socket_path(endpoint).map_err(|error| absent(error.to_string()))?);
    match fs::metadata(&path) {
        Ok(metadata) if !metadata.file_type().is_socket() => return Err(absent("is no socket".to_owned())),
        Ok(_) => {}
        Err(error) => return Err(absent(reason(&error))),
    }
    let mut source =
        CriSource::new(&path.display().to_string(), PROBE_TIME).map_err(|error| absent(error.to_string()))?;
    source.probe().await.map_err(|error| {
        let sight = if error.code == "Unimplemented" { Sight::Foreign } else { Sight::Down };
        Refused { reason: error.message, sight }
    })
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
    let mut all = kubelet_candidates(root);
    let crictl = read_key(&root.join("etc/crictl.yaml"), "runtime-endpoint");
    all.extend(crictl.map(|endpoint| Candidate { endpoint, origin: Origin::Crictl }));
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
            origin: Origin::Kubelet { place: format!("flag of kubelet, process {pid}"), runs: true },
        }));
        if let Some(file) = flag_value(&arguments, "--config") {
            all.extend(kubelet_file(root, &file, true));
        }
    }
    all.extend(kubelet_file(root, "/var/lib/kubelet/config.yaml", false));
    all
}

fn kubelet_file(root: &Path, file: &str, runs: bool) -> Option<Candidate> {
    let endpoint = read_key(&below(root, file), "containerRuntimeEndpoint")?;
    Some(Candidate { endpoint, origin: Origin::Kubelet { place: file.to_owned(), runs } })
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
