//! Discovery below a made-up root directory.

use super::*;
use std::os::unix::net::UnixListener;

struct Node(tempfile::TempDir);

impl Node {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn endpoints(&self) -> Vec<String> {
        candidates(self.0.path())
            .iter()
            .map(|candidate| format!("{} ({})", candidate.endpoint, candidate.origin))
            .collect()
    }

    async fn find(&self) -> Found {
        find(self.0.path()).await
    }
}

#[test]
fn what_is_written_down_comes_before_what_is_usual() {
    let node = Node::new()
        .file("etc/crictl.yaml", "runtime-endpoint: unix:///run/one.sock\ntimeout: 2\n")
        .file("proc/7/cmdline", "/usr/bin/other\0--container-runtime-endpoint=/no\0")
        .file(
            "proc/12/cmdline",
            "/usr/bin/kubelet\0--config\0/etc/k.yaml\0--container-runtime-endpoint=/two.sock\0",
        )
        .file(
            "etc/k.yaml",
            r#"{"kind": "KubeletConfiguration", "containerRuntimeEndpoint": "unix:///three.sock"}"#,
        )
        .file("var/lib/kubelet/config.yaml", "containerRuntimeEndpoint: unix:///var/run/crio/crio.sock\n");
    assert_eq!(
        node.endpoints()[..6],
        [
            "/two.sock (flag of kubelet, process 12)",
            "unix:///three.sock (/etc/k.yaml)",
            "unix:///var/run/crio/crio.sock (/var/lib/kubelet/config.yaml)",
            "unix:///run/one.sock (/etc/crictl.yaml)",
            "unix:///run/containerd/containerd.sock (default of containerd)",
            "unix:///run/cri-dockerd.sock (default of cri-dockerd)",
        ]
    );
}

#[test]
fn empty_values_and_broken_files_are_passed_over() {
    let node = Node::new()
        .file("etc/crictl.yaml", "runtime-endpoint: \"\"\n")
        .file("var/lib/kubelet/config.yaml", "{ not: [yaml\n");
    assert_eq!(node.endpoints().len(), KNOWN_SOCKETS.len());
}

#[test]
fn flags_are_found_in_both_forms() {
    let arguments = ["kubelet", "--configure=x", "--config", "/a"].map(str::to_owned);
    assert_eq!(flag_value(&arguments, "--config").as_deref(), Some("/a"));
    assert_eq!(flag_value(&arguments, "--configure").as_deref(), Some("x"));
    assert_eq!(flag_value(&arguments, "--other"), None);
}

#[tokio::test]
async fn each_refusal_has_its_reason() {
    let node = Node::new().file("run/crio/crio.sock", "");
    fs::create_dir_all(node.0.path().join("run/containerd")).unwrap();
    drop(UnixListener::bind(node.0.path().join("run/containerd/containerd.sock")).unwrap());
    let found = node.find().await;
    let down = node.0.path().join("run/containerd/containerd.sock").display().to_string();
    assert_eq!(found.endpoint, Some(down), "a runtime that is down is what somebody wants to look at");
    assert!(found.looked.last().unwrap().ends_with("taken all the same, because its socket is there"));
    assert_eq!(
        found.looked[..3],
        [
            "unix:///run/containerd/containerd.sock (default of containerd): Connection refused (os error 111)",
            "unix:///run/crio/crio.sock (default of CRI-O): is no socket",
            "unix:///run/cri-dockerd.sock (default of cri-dockerd): no such file",
        ]
    );
}

#[tokio::test]
async fn without_any_socket_there_is_no_runtime() {
    let found = Node::new().file("run/crio/crio.sock", "").find().await;
    assert_eq!((found.endpoint, found.looked.len()), (None, KNOWN_SOCKETS.len()));
}

#[tokio::test]
async fn a_runtime_that_hangs_is_taken() {
    let node = Node::new();
    fs::create_dir_all(node.0.path().join("run/k0s")).unwrap();
    let socket = node.0.path().join("run/k0s/containerd.sock");
    let _listening = UnixListener::bind(&socket).unwrap();
    assert_eq!(node.find().await.endpoint, Some(socket.display().to_string()));
}

#[tokio::test]
async fn the_kubelets_own_runtime_is_taken_even_when_it_is_down() {
    let node =
        Node::new().file("var/lib/kubelet/config.yaml", "containerRuntimeEndpoint: unix:///run/down.sock\n");
    let found = node.find().await;
    assert_eq!(found.endpoint, Some(node.0.path().join("run/down.sock").display().to_string()));
    assert!(found.looked.last().unwrap().contains("the kubelet is set up to use it"));
}

/// crictl's runtime answers, the kubelet's does not.
async fn find_with(kubelet: impl FnOnce(Node) -> Node) -> (Found, [String; 2]) {
    let node = kubelet(Node::new().file("etc/crictl.yaml", "runtime-endpoint: unix:///run/old.sock\n"));
    let sockets = ["old.sock", "new.sock"].map(|name| node.0.path().join("run").join(name));
    fs::create_dir_all(node.0.path().join("run")).unwrap();
    let _answering = UnixListener::bind(&sockets[0]).unwrap();
    (node.find().await, sockets.map(|path| path.display().to_string()))
}

#[tokio::test]
async fn a_running_kubelets_runtime_is_taken_before_what_crictl_is_told() {
    let flag = "/usr/bin/kubelet\0--container-runtime-endpoint=unix:///run/new.sock\0";
    let (found, [_, new]) = find_with(|node| node.file("proc/12/cmdline", flag)).await;
    assert_eq!(found.endpoint, Some(new), "{:?}", found.looked);
    assert_eq!(
        found.warning.unwrap(),
        "/etc/crictl.yaml names unix:///run/old.sock, but the kubelet uses unix:///run/new.sock (flag of kubelet, \
         process 12): crictl may show another runtime than the kubelet's"
    );
}

#[tokio::test]
async fn a_kubelets_runtime_that_is_down_is_taken_before_what_crictl_is_told() {
    let (found, [_, new]) = find_with(|node| {
        let node =
            node.file("var/lib/kubelet/config.yaml", "containerRuntimeEndpoint: unix:///run/new.sock\n");
        fs::create_dir_all(node.0.path().join("run")).unwrap();
        drop(UnixListener::bind(node.0.path().join("run/new.sock")).unwrap());
        node
    })
    .await;
    assert_eq!(found.endpoint, Some(new), "{:?}", found.looked);
}

#[tokio::test]
async fn what_a_kubelet_left_behind_does_not_hide_a_runtime_that_answers() {
    let file = "containerRuntimeEndpoint: unix:///run/new.sock\n";
    let (found, [old, _]) = find_with(|node| node.file("var/lib/kubelet/config.yaml", file)).await;
    assert_eq!(found.endpoint, Some(old), "{:?}", found.looked);
}

#[tokio::test]
async fn where_crictl_and_kubelet_agree_nothing_is_warned_of() {
    let file = "containerRuntimeEndpoint: /var/run/old.sock\n";
    let (found, _) = find_with(|node| node.file("var/lib/kubelet/config.yaml", file)).await;
    assert_eq!(found.warning, None);
}
