//! The daemon's configuration.

use std::process::Command;

use anyhow::Result;

use crate::images::PAUSE;
use crate::{Containerd, process};

/// The text of its `config.toml`.
pub(crate) fn text(containerd: &Containerd) -> Result<String> {
    let dir = containerd.dir.display();
    let snapshotter = snapshotter(containerd)?;
    Ok(format!(
        r#"version = 2
root = "{dir}/root"
state = "{dir}/state"
plugin_dir = "{dir}/plugins"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.internal.v1.tracing", "io.containerd.tracing.processor.v1.otlp",
]
[grpc]
  address = "{dir}/containerd.sock"
[debug]
  level = "info"  # the line that says that CRI is ready has this level
[plugins."io.containerd.internal.v1.opt"]
  path = "{dir}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  disable_apparmor = true
  disable_tcp_service = true
  # A sandbox's score of -998 needs CAP_SYS_RESOURCE, which root lacks in many containers.
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  tolerate_missing_hugetlb_controller = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{dir}/cni/bin"
    conf_dir = "{dir}/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{snapshotter}"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
        Root = "{dir}/runc"
"#
    ))
}

/// How images are stacked: overlayfs, which is three times faster, unless the directory lies on an overlay itself.
pub(crate) fn snapshotter(containerd: &Containerd) -> Result<&'static str> {
    let kind =
        process::read(Command::new("stat").args(["--file-system", "--format=%T"]).arg(&containerd.dir))?;
    Ok(if kind.trim() == "overlayfs" { "native" } else { "overlayfs" })
}
