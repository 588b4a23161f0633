//! Sandboxes and containers that are known without asking the runtime: when its list hangs, they can still be
//! asked one by one.

use crate::capture::Capture;
use pleg_core::{diagnose::Target, follow::Follower};
use std::{fs, path::Path};

/// Where the kubelet keeps a link to each container's log, named `POD_NAMESPACE_CONTAINER-ID.log`
/// (`LogSymlink`, kuberuntime's legacy.go).
const LOG_LINKS: &str = "var/log/containers";

/// The containers of the kubelet's links; none where there is no such folder.
pub(super) fn from_log_links(root: &Path) -> Vec<Target> {
    let Ok(entries) = fs::read_dir(root.join(LOG_LINKS)) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    names.filter_map(|name| from_log_link(name.to_str()?)).collect()
}

fn from_log_link(name: &str) -> Option<Target> {
    let (names, id) = name.strip_suffix(".log")?.rsplit_once('-')?;
    // None of the three names can have an underscore.
    let [pod, namespace, container] = names.split('_').collect::<Vec<_>>().try_into().ok()?;
    Some(Target {
        id: id.into(),
        namespace: namespace.to_owned(),
        pod: pod.to_owned(),
        container: Some(container.to_owned()),
        last_state: None,
    })
}

/// What a capture's last listing had.
///
/// # Errors
/// When the file is no capture, or damaged before its first listing.
pub(super) fn from_capture(path: &Path) -> anyhow::Result<Vec<Target>> {
    let mut capture = Capture::open(path)?;
    let mut follower = Follower::new();
    loop {
        match capture.next_frame() {
            Ok(Some(frame)) => {
                if let Err(error) = follower.handle_frame(&frame) {
                    tracing::warn!(%error, "a frame does not fit the ones before it");
                }
                // Only the last listing counts.
                while follower.poll_event().is_some() {}
            }
            Ok(None) => break,
            Err(error) if follower.snapshot().is_some() => {
                tracing::warn!("{error:#}");
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(follower.snapshot().map(Target::all).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kubelets_links_name_pod_and_container() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(from_log_links(root.path()), []);
        let links = root.path().join(LOG_LINKS);
        fs::create_dir_all(&links).unwrap();
        for name in
            ["web-7f9-x_shop_app-24ca50a1.log", "stray.log", "a_b-1.log", "a_b_c_d-1.log", "notes.txt"]
        {
            fs::write(links.join(name), "").unwrap();
        }
        let known = from_log_links(root.path());
        assert_eq!(
            known.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["shop/web-7f9-x/app (24ca50a1)"]
        );
    }

    #[test]
    fn a_capture_that_is_none_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "no capture").unwrap();
        assert!(from_capture(file.path()).is_err());
    }
}
