//! Lists of a small node in which everything that can be broken is broken at times: ids that come twice or are empty,
//! metadata, images and labels that are missing, states that CRI does not define.

use arbitrary::Arbitrary;
use pleg_core::{
    cri::{
        Container, ContainerMetadata, ContainerState, POD_UID_LABEL, Sandbox, SandboxMetadata, SandboxState,
    },
    id::CriId,
    snapshot::Snapshot,
};

/// Two lists as a fuzzer chooses them.
#[derive(Arbitrary, Debug)]
pub(crate) struct Lists {
    pub(crate) sandboxes: Vec<Item>,
    pub(crate) containers: Vec<Item>,
}

/// An item in as few bytes as will do: few ids and few pods, so that items meet.
#[derive(Arbitrary, Debug)]
pub(crate) struct Item {
    id: u8,
    uid: u8,
    /// Which parts are missing.
    parts: u8,
    state: i8,
    created_at: i8,
}

impl Lists {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let sandboxes = self.sandboxes.iter().map(Item::sandbox).collect();
        Snapshot::new(sandboxes, self.containers.iter().map(Item::container).collect())
    }
}

/// One of eight ids, the empty one among them.
pub(crate) fn id(number: u8) -> CriId {
    match number % 8 {
        0 => CriId::default(),
        number => format!("id-{number}").into(),
    }
}

impl Item {
    fn has(&self, part: u8) -> bool {
        self.parts & (1 << part) == 0
    }

    pub(crate) fn sandbox(&self) -> Sandbox {
        Sandbox {
            id: id(self.id),
            metadata: self.has(0).then(|| SandboxMetadata {
                uid: self.uid().into(),
                attempt: u32::from(self.parts >> 4),
                ..SandboxMetadata::default()
            }),
            state: match self.state {
                0 => SandboxState::Ready,
                1 => SandboxState::NotReady,
                other => SandboxState::Other(other.into()),
            },
            created_at: self.created_at.into(),
            ..Sandbox::default()
        }
    }

    pub(crate) fn container(&self) -> Container {
        let label = self.has(2).then(|| (POD_UID_LABEL.to_owned(), self.uid()));
        Container {
            id: id(self.id),
            pod_sandbox_id: id(self.uid),
            metadata: self.has(0).then(ContainerMetadata::default),
            image: self.has(1).then(String::new),
            state: match self.state {
                0 => ContainerState::Created,
                1 => ContainerState::Running,
                2 => ContainerState::Exited,
                3 => ContainerState::Unknown,
                other => ContainerState::Other(other.into()),
            },
            created_at: self.created_at.into(),
            labels: label.into_iter().collect(),
            ..Container::default()
        }
    }

    fn uid(&self) -> String {
        format!("uid-{}", self.uid % 4)
    }
}
