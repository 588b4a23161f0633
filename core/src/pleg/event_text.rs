//! A CRI event as Go prints a protobuf message: in the order of field numbers, without what is zero.

use crate::cri::{
    ContainerEvent, ContainerEventType, ContainerMetadata, ContainerState, ContainerStatus, Network,
    SandboxMetadata, SandboxState, SandboxStatus,
};
use alloc::{format, string::String};
use core::fmt::Display;

/// `ContainerEventResponse.String()`. Go puts one or two spaces between fields, at random for each build; here it is one.
pub(super) fn event_text(event: &ContainerEvent) -> String {
    let kind = match event.kind {
        ContainerEventType::Created => "",
        ContainerEventType::Started => "CONTAINER_STARTED_EVENT",
        ContainerEventType::Stopped => "CONTAINER_STOPPED_EVENT",
        ContainerEventType::Deleted => "CONTAINER_DELETED_EVENT",
    };
    let mut text = Message::default()
        .text("container_id", &event.container_id)
        .word("container_event_type", kind)
        .number("created_at", event.created_at);
    if let Some(sandbox) = &event.sandbox {
        text = text.message("pod_sandbox_status", sandbox_text(sandbox));
    }
    for container in &event.containers {
        text = text.message("containers_statuses", container_text(container));
    }
    text.0
}

fn sandbox_text(sandbox: &SandboxStatus) -> Message {
    let mut text = Message::default().text("id", &sandbox.id);
    if let Some(SandboxMetadata { name, uid, namespace, attempt }) = &sandbox.metadata {
        let metadata = Message::default().text("name", name).text("uid", uid).text("namespace", namespace);
        text = text.message("metadata", metadata.number("attempt", i64::from(*attempt)));
    }
    text = match sandbox.state {
        SandboxState::Ready => text,
        SandboxState::NotReady => text.word("state", "SANDBOX_NOTREADY"),
        SandboxState::Other(number) => text.number("state", i64::from(number)),
    };
    text = text.number("created_at", sandbox.created_at);
    if let Some(Network { ip, additional_ips }) = &sandbox.network {
        let mut network = Message::default().text("ip", ip);
        for ip in additional_ips {
            network = network.message("additional_ips", Message::default().text("ip", ip));
        }
        text = text.message("network", network);
    }
    text
}

fn container_text(container: &ContainerStatus) -> Message {
    let mut text = Message::default().text("id", &container.id);
    if let Some(ContainerMetadata { name, attempt }) = &container.metadata {
        let metadata = Message::default().text("name", name).number("attempt", i64::from(*attempt));
        text = text.message("metadata", metadata);
    }
    text = match container.state {
        ContainerState::Created => text,
        ContainerState::Running => text.word("state", "CONTAINER_RUNNING"),
        ContainerState::Exited => text.word("state", "CONTAINER_EXITED"),
        ContainerState::Unknown => text.word("state", "CONTAINER_UNKNOWN"),
        ContainerState::Other(number) => text.number("state", i64::from(number)),
    };
    text = text
        .number("created_at", container.created_at)
        .number("started_at", container.started_at)
        .number("finished_at", container.finished_at)
        .number("exit_code", i64::from(container.exit_code));
    if !container.image.is_empty() {
        text = text.message("image", Message::default().text("image", &container.image));
    }
    text.text("image_ref", &container.image_ref)
        .text("reason", &container.reason)
        .text("message", &container.message)
}

/// The fields of a message, as far as they are written.
#[derive(Default)]
struct Message(String);

impl Message {
    fn text(self, name: &str, value: &str) -> Self {
        if value.is_empty() { self } else { self.field(name, format_args!(":{value:?}")) }
    }

    fn word(self, name: &str, value: &str) -> Self {
        if value.is_empty() { self } else { self.field(name, format_args!(":{value}")) }
    }

    fn number(self, name: &str, value: i64) -> Self {
        if value == 0 { self } else { self.field(name, format_args!(":{value}")) }
    }

    fn message(self, name: &str, value: Message) -> Self {
        self.field(name, format_args!(":{{{}}}", value.0))
    }

    fn field(self, name: &str, value: impl Display) -> Self {
        let space = if self.0.is_empty() { "" } else { " " };
        Self(format!("{}{space}{name}{value}", self.0))
    }
}
