//! Names, labels and annotations as the controllers and the kubelet give them.

use super::{
    catalogue::{Kind, Task, Workload},
    dice::Dice,
};
use crate::{
    cri::{Labels, POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL, SandboxMetadata},
    id::Uid,
    time::{Rfc3339, Time},
};
use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The current revision of a workload: its number, and the hash in its pods' names and labels.
#[derive(Clone, Debug)]
pub(super) struct Revision {
    pub(super) number: u32,
    hash: String,
}

impl Revision {
    pub(super) fn new(kind: Kind, number: u32, dice: &mut Dice) -> Self {
        let hash = match kind {
            Kind::Deployment => dice.template_hash(),
            Kind::DaemonSet | Kind::StatefulSet => dice.revision_hash(),
            Kind::CronJob | Kind::Job => String::new(),
        };
        Self { number, hash }
    }
}

/// What the API server and the kubelet call a pod.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) uid: Uid,
    pub(super) name: String,
    pub(super) namespace: &'static str,
    /// Labels of its sandboxes.
    pub(super) labels: Labels,
    /// Annotations of its sandboxes.
    pub(super) annotations: Labels,
}

impl Identity {
    pub(super) fn new(workload: &Workload, revision: &Revision, at: Time, dice: &mut Dice) -> Self {
        let uid = dice.uuid();
        let (name, mut labels) = named(workload, revision, at, dice);
        for (key, value) in [
            (POD_NAME_LABEL, name.as_str()),
            (POD_NAMESPACE_LABEL, workload.namespace),
            (POD_UID_LABEL, uid.as_str()),
        ] {
            labels.insert(key.to_owned(), value.to_owned());
        }
        let annotations = Labels::from([
            ("kubernetes.io/config.seen".to_owned(), Rfc3339(at).to_string()),
            ("kubernetes.io/config.source".to_owned(), "api".to_owned()),
        ]);
        Self { uid: uid.into(), name, namespace: workload.namespace, labels, annotations }
    }

    pub(super) fn sandbox_metadata(&self, attempt: u32) -> SandboxMetadata {
        SandboxMetadata {
            name: self.name.clone(),
            uid: self.uid.clone(),
            namespace: self.namespace.to_owned(),
            attempt,
        }
    }

    pub(super) fn container_labels(&self, container: &str) -> Labels {
        Labels::from([
            ("io.kubernetes.container.name".to_owned(), container.to_owned()),
            (POD_NAME_LABEL.to_owned(), self.name.clone()),
            (POD_NAMESPACE_LABEL.to_owned(), self.namespace.to_owned()),
            (POD_UID_LABEL.to_owned(), self.uid.as_str().to_owned()),
        ])
    }
}

/// A pod's name and its controller's labels.
fn named(workload: &Workload, revision: &Revision, at: Time, dice: &mut Dice) -> (String, Labels) {
    let (name, hash) = (workload.name, revision.hash.as_str());
    let mut labels = Labels::from([("app.kubernetes.io/name".to_owned(), name.to_owned())]);
    let mut label = |key: &str, value: &str| labels.insert(key.to_owned(), value.to_owned());
    let pod_name = match workload.kind {
        Kind::Deployment => {
            label("pod-template-hash", hash);
            format!("{name}-{hash}-{}", dice.name_letters(5))
        }
        Kind::DaemonSet => {
            label("controller-revision-hash", hash);
            label("pod-template-generation", "1");
            format!("{name}-{}", dice.name_letters(5))
        }
        Kind::StatefulSet => {
            label("apps.kubernetes.io/pod-index", "0");
            label("controller-revision-hash", &format!("{name}-{hash}"));
            label("statefulset.kubernetes.io/pod-name", &format!("{name}-0"));
            format!("{name}-0")
        }
        Kind::CronJob | Kind::Job => {
            let job = match workload.kind {
                // The CronJob controller names a job after the minute for which it was due.
                Kind::CronJob => format!("{name}-{}", at.unix_seconds().div_euclid(60)),
                _ => format!("{name}-{}", dice.name_letters(5)),
            };
            label("batch.kubernetes.io/controller-uid", &dice.uuid());
            label("batch.kubernetes.io/job-name", &job);
            format!("{job}-{}", dice.name_letters(5))
        }
    };
    (pod_name, labels)
}

/// The annotations that the kubelet keeps what it needs after a restart in (kuberuntime's `labels.go`).
pub(super) fn container_annotations(task: &Task, revision: u32, restarts: u32) -> Labels {
    let spec = format!("{}\n{}", task.name, image(task, revision));
    let hash = format!("{:08x}", xxh3_64_with_seed(spec.as_bytes(), 0) & 0xffff_ffff);
    Labels::from(
        [
            ("io.kubernetes.container.hash", hash.as_str()),
            ("io.kubernetes.container.restartCount", &format!("{restarts}")),
            ("io.kubernetes.container.terminationMessagePath", "/dev/termination-log"),
            ("io.kubernetes.container.terminationMessagePolicy", "File"),
            ("io.kubernetes.pod.terminationGracePeriod", &format!("{}", task.grace_seconds())),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned())),
    )
}

/// The image that a task of this revision asks for.
pub(super) fn image(task: &Task, revision: u32) -> String {
    if task.has_revisions() { format!("{}{revision}", task.image) } else { task.image.to_owned() }
}

/// The id that the runtime has for an image: one for each name, as if a name never moved.
pub(super) fn image_ref(image: &str) -> String {
    let digits: String =
        (0..4).map(|part| format!("{:016x}", xxh3_64_with_seed(image.as_bytes(), part))).collect();
    format!("sha256:{digits}")
}
