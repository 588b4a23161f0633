//! The workloads of the simulated node: a small shop and what runs beside it on every node.

use super::dice::Dice;
use crate::time::Nanos;

/// Which controller makes the pods, and so how they are named and labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Deployment,
    DaemonSet,
    StatefulSet,
    /// Makes a job when one is due, and keeps the last finished ones.
    CronJob,
    /// Jobs that somebody else makes; they go as soon as they are done (`ttlSecondsAfterFinished: 0`).
    Job,
}

impl Kind {
    /// How many finished pods are kept, where pods finish.
    pub(super) fn keeps(self) -> Option<usize> {
        match self {
            Kind::Deployment | Kind::DaemonSet | Kind::StatefulSet => None,
            Kind::CronJob => Some(3),
            Kind::Job => Some(0),
        }
    }
}

/// What a container does with itself.
#[derive(Clone, Copy, Debug)]
pub(super) enum Run {
    /// Ends by itself after so many milliseconds.
    Completes { after: (i64, i64) },
    /// Ends by itself with 1 after so many milliseconds, whatever one tries.
    Crashes { after: (i64, i64) },
    /// Runs until told to stop: ends with this code after so many milliseconds.
    Serves { on_stop: i32, within: (i64, i64) },
}

/// One container of a pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) name: &'static str,
    /// Image; one that ends in a dot gets the number of the workload's revision.
    pub(super) image: &'static str,
    pub(super) run: Run,
}

/// One controller and the pods it has on this node.
#[derive(Debug)]
pub(super) struct Workload {
    pub(super) name: &'static str,
    pub(super) namespace: &'static str,
    pub(super) kind: Kind,
    pub(super) host_network: bool,
    /// Pods on this node at the start.
    pub(super) replicas: u32,
    pub(super) init: &'static [Task],
    pub(super) tasks: &'static [Task],
}

impl Workload {
    /// Init containers, then the others: the order in which they start.
    pub(super) fn all_tasks(&self) -> impl Iterator<Item = &'static Task> + use<> {
        self.init.iter().chain(self.tasks)
    }

    /// Whether a pod's containers are started again when they end.
    pub(super) fn restarts(&self) -> bool {
        self.kind.keeps().is_none()
    }

    /// Whether things may be done to its pods: a drain may take them away, their sandboxes may die.
    pub(super) fn is_movable(&self) -> bool {
        self.kind == Kind::Deployment && self.name != CRASHING
    }

    /// Whether it is rolled out again and again: the shop's own Deployments, whose images have a revision's number.
    pub(super) fn is_shipped(&self) -> bool {
        self.is_movable() && self.tasks.iter().any(Task::has_revisions)
    }
}

impl Task {
    /// Whether each revision has an image of its own.
    pub(super) fn has_revisions(&self) -> bool {
        self.image.ends_with('.')
    }

    /// How long the kubelet waits between SIGTERM and SIGKILL.
    pub(super) fn grace_seconds(&self) -> i64 {
        if matches!(self.run, Run::Serves { on_stop: 137, .. }) { DEAF_GRACE_SECONDS } else { 30 }
    }

    /// How long the container takes to end once told to.
    pub(super) fn stops_within(&self, dice: &mut Dice) -> (i32, Nanos) {
        match self.run {
            Run::Serves { on_stop, within } => (on_stop, dice.millis(within)),
            Run::Completes { .. } | Run::Crashes { .. } => (143, dice.millis((20, 120))),
        }
    }
}

/// The Deployment whose container never stays up.
pub(super) const CRASHING: &str = "recommendations";
/// The Deployment that now and then runs out of memory.
pub(super) const HUNGRY: &str = "image-resizer";
/// The StatefulSet of whose container of the same name an inspection hangs; nothing else touches its pod.
pub(super) const HANGING: &str = "postgres";
/// The CronJob that runs at each full minute.
pub(super) const EACH_MINUTE: &str = "invoice-export";
/// The jobs whose pods are gone in about a second.
pub(super) const SHORT_LIVED: &str = "session-sweep";

/// Grace of the containers that do not listen to SIGTERM.
const DEAF_GRACE_SECONDS: i64 = 10;

const fn serves(name: &'static str, image: &'static str, on_stop: i32) -> Task {
    let within = match on_stop {
        0 => (300, 4_000),
        137 => (DEAF_GRACE_SECONDS * 1_000, DEAF_GRACE_SECONDS * 1_000 + 80),
        _ => (40, 400),
    };
    Task { name, image, run: Run::Serves { on_stop, within } }
}

const fn init(name: &'static str, image: &'static str) -> Task {
    Task { name, image, run: Run::Completes { after: (150, 1_800) } }
}

const ISTIO_INIT: Task = init("istio-init", "istio/proxyv2:1.27.3");
const ISTIO_PROXY: Task = serves("istio-proxy", "istio/proxyv2:1.27.3", 0);
const CILIUM: &str = "cilium/cilium:v1.18.4";
const SIDECAR: &str = "kiwigrid/k8s-sidecar:1.30.10";

const fn pods_of(
    kind: Kind,
    namespace: &'static str,
    name: &'static str,
    tasks: &'static [Task],
) -> Workload {
    Workload { name, namespace, kind, host_network: false, replicas: 1, init: &[], tasks }
}

const fn deployment(namespace: &'static str, name: &'static str, tasks: &'static [Task]) -> Workload {
    pods_of(Kind::Deployment, namespace, name, tasks)
}

const fn on_each_node(namespace: &'static str, name: &'static str, tasks: &'static [Task]) -> Workload {
    Workload { host_network: true, ..pods_of(Kind::DaemonSet, namespace, name, tasks) }
}

/// All workloads, in the order in which they came to the node.
pub(super) static WORKLOADS: &[Workload] = &[
    on_each_node(
        "kube-system",
        "kube-proxy",
        &[serves("kube-proxy", "registry.k8s.io/kube-proxy:v1.36.2", 143)],
    ),
    Workload {
        init: &[
            init("config", CILIUM),
            init("mount-cgroup", CILIUM),
            init("clean-cilium-state", CILIUM),
            init("install-cni-binaries", CILIUM),
        ],
        ..on_each_node("kube-system", "cilium", &[serves("cilium-agent", CILIUM, 0)])
    },
    on_each_node(
        "kube-system",
        "node-local-dns",
        &[serves("node-cache", "registry.k8s.io/dns/k8s-dns-node-cache:1.26.4", 0)],
    ),
    on_each_node(
        "monitoring",
        "node-exporter",
        &[serves("node-exporter", "prometheus/node-exporter:v1.10.2", 143)],
    ),
    pods_of(Kind::DaemonSet, "logging", "fluent-bit", &[serves("fluent-bit", "fluent/fluent-bit:4.1.1", 0)]),
    deployment("kube-system", "coredns", &[serves("coredns", "registry.k8s.io/coredns/coredns:v1.13.1", 0)]),
    deployment(
        "kube-system",
        "metrics-server",
        &[serves("metrics-server", "registry.k8s.io/metrics-server/metrics-server:v0.8.0", 0)],
    ),
    deployment(
        "ingress-nginx",
        "ingress-nginx-controller",
        &[serves("controller", "registry.k8s.io/ingress-nginx/controller:v1.14.0", 0)],
    ),
    Workload {
        init: &[init("init-config-reloader", "prometheus-operator/prometheus-config-reloader:v0.86.2")],
        ..pods_of(
            Kind::StatefulSet,
            "monitoring",
            "prometheus",
            &[
                serves("prometheus", "prometheus/prometheus:v3.7.3", 0),
                serves("config-reloader", "prometheus-operator/prometheus-config-reloader:v0.86.2", 0),
            ],
        )
    },
    deployment(
        "monitoring",
        "kube-state-metrics",
        &[serves("kube-state-metrics", "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.17.0", 143)],
    ),
    deployment(
        "monitoring",
        "grafana",
        &[
            serves("grafana-sc-dashboard", SIDECAR, 143),
            serves("grafana-sc-datasources", SIDECAR, 143),
            serves("grafana", "grafana/grafana:12.3.0", 0),
        ],
    ),
    Workload {
        init: &[init("init-chown-data", "library/busybox:1.37")],
        ..pods_of(
            Kind::StatefulSet,
            "data",
            HANGING,
            &[
                serves("postgres", "library/postgres:17.6", 0),
                serves("postgres-exporter", "prometheuscommunity/postgres-exporter:v0.18.1", 2),
            ],
        )
    },
    pods_of(Kind::StatefulSet, "data", "kafka", &[serves("kafka", "apache/kafka:4.1.0", 143)]),
    deployment("data", "search-indexer", &[serves("indexer", "shop/search-indexer:0.9.", 137)]),
    pods_of(Kind::StatefulSet, "shop", "redis", &[serves("redis", "library/redis:8.2", 0)]),
    Workload {
        replicas: 3,
        ..deployment("shop", "storefront", &[serves("storefront", "shop/storefront:2.31.", 143)])
    },
    Workload {
        replicas: 2,
        init: &[ISTIO_INIT],
        ..deployment("shop", "cart", &[serves("cart", "shop/cart:1.18.", 143), ISTIO_PROXY])
    },
    Workload {
        replicas: 2,
        init: &[ISTIO_INIT],
        ..deployment("shop", "checkout", &[serves("checkout", "shop/checkout:3.4.", 143), ISTIO_PROXY])
    },
    Workload {
        replicas: 2,
        init: &[init("migrate", "shop/catalog:5.2.")],
        ..deployment("shop", "catalog", &[serves("catalog", "shop/catalog:5.2.", 0)])
    },
    Workload {
        replicas: 2,
        ..deployment("shop", HUNGRY, &[serves("resizer", "shop/image-resizer:1.7.", 143)])
    },
    deployment(
        "shop",
        CRASHING,
        &[Task {
            name: "recommender",
            image: "shop/recommendations:0.12.",
            run: Run::Crashes { after: (900, 3_200) },
        }],
    ),
    Workload {
        replicas: 2,
        ..pods_of(
            Kind::CronJob,
            "batch",
            EACH_MINUTE,
            &[Task {
                name: "export",
                image: "shop/invoice-export:1.3.4",
                run: Run::Completes { after: (8_000, 20_000) },
            }],
        )
    },
    Workload {
        replicas: 0,
        ..pods_of(
            Kind::Job,
            "shop",
            SHORT_LIVED,
            &[Task { name: "sweep", image: "library/redis:8.2", run: Run::Completes { after: (30, 250) } }],
        )
    },
];

/// The workload of that name.
pub(super) fn workload(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|workload| workload.name == name)
}
