//! The kubelet's log lines for what the engine decides, as v1.36 writes them.

use super::{ErrorText, EventedOutput, Output, event_text::event_text};
use crate::{cri::ContainerEventType, pod::Pod};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use serde::{Deserialize, Serialize};

/// One structured log line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Verbosity from which on it is written; none for an error, which always is.
    pub verbosity: Option<u8>,
    /// The message.
    pub message: &'static str,
    /// Keys and values, in the kubelet's order.
    pub values: Vec<(&'static str, LogValue)>,
    /// The error of an error line.
    pub error: Option<ErrorText>,
}

/// A value of a log line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LogValue {
    /// A number.
    Number(i64),
    /// Text.
    Text(String),
}

/// The line that the kubelet writes for this output; none where it writes none.
pub fn log_line(output: &Output) -> Option<LogLine> {
    Some(match output {
        Output::Relisting => info(5, "GenericPLEG: Relisting", vec![]),
        Output::RelistingPod { uid } => info(5, "GenericPLEG: Relisting Pod", vec![("podUID", text(uid))]),
        Output::ListFailed { error } => failure("GenericPLEG: Unable to retrieve pods", vec![], Some(error)),
        Output::PodListFailed { uid, error } => {
            failure("GenericPLEG: Unable to retrieve pod", vec![("podUID", text(uid))], Some(error))
        }
        Output::Transition { uid, id, old, new } => {
            let ids = [("podUID", text(uid)), ("containerID", text(&id.id))];
            let states = [("oldState", text(old.name())), ("newState", text(new.name()))];
            info(4, "GenericPLEG", ids.into_iter().chain(states).collect())
        }
        Output::StatusWritten { pod, result: Ok(_), .. } => {
            info(4, "PLEG: Write status", vec![("pod", reference(pod))])
        }
        Output::StatusWritten { pod, result: Err(error), .. } => {
            failure("PLEG: Write status", vec![("pod", reference(pod))], Some(error))
        }
        Output::StatusDeleted { uid } => info(4, "PLEG: Delete status for pod", vec![("podUID", text(uid))]),
        Output::Held { pod, error } => {
            info(4, "PLEG: Ignoring events for pod", vec![("pod", reference(pod)), ("err", text(error))])
        }
        Output::Discarded(_) => {
            failure("Event channel is full, discard this relist() cycle event", vec![], None)
        }
        Output::Finished { uid, id, exit_code } => {
            let code = LogValue::Number(i64::from(*exit_code));
            let values = vec![("podID", text(uid)), ("containerID", text(id)), ("exitCode", code)];
            info(2, "Generic (PLEG): container finished", values)
        }
        Output::RequestDropped { uid } => {
            let values = vec![("podUID", text(uid))];
            failure("Relist request channel full; dropping relist request", values, None)
        }
        Output::Evented(output) => return evented_line(output),
        Output::Inspect { .. }
        | Output::Event(_)
        | Output::PodTimeObserved { .. }
        | Output::GlobalTime { .. }
        | Output::Relisted { .. }
        | Output::PodRelisted { .. }
        | Output::CheckConditions { .. }
        | Output::Ignored { .. } => return None,
    })
}

fn evented_line(output: &EventedOutput) -> Option<LogLine> {
    Some(match output {
        EventedOutput::WithoutSandbox { event } => failure(
            "Evented PLEG: received ContainerEventResponse with nil PodSandboxStatus or PodSandboxStatus.Metadata",
            vec![("containerEventResponse", LogValue::Text(event_text(event)))],
            None,
        ),
        EventedOutput::StatusBuilt { uid } => {
            info(4, "Evented PLEG: Generated pod status from the received event", vec![("podUID", text(uid))])
        }
        EventedOutput::CachedError { uid, error } => {
            failure("Evented PLEG: Get cache", vec![("podID", text(uid))], Some(error))
        }
        EventedOutput::Discarded(_) => {
            failure("Evented PLEG: Event channel is full, discarded pod lifecycle event", vec![], None)
        }
        EventedOutput::StreamFailed { error } => {
            info(4, "Evented PLEG: Failed to get container events, retrying: ", vec![("err", text(error))])
        }
        EventedOutput::FellBack => {
            info(4, "Fall back to Generic PLEG relisting since Evented PLEG is not working", vec![])
        }
        EventedOutput::RelistRequested { uid, id } => info(
            4,
            "Evented PLEG: requested pod relist after container termination",
            vec![
                ("podUID", text(uid)),
                ("containerID", text(id)),
                ("eventType", text("CONTAINER_STOPPED_EVENT")),
            ],
        ),
        EventedOutput::HintsDisabled { retries, error } => failure(
            "Evented PLEG: disabling container-termination fast path after exhausting event stream retries",
            vec![("retries", LogValue::Number(i64::from(*retries)))],
            Some(error),
        ),
        EventedOutput::Received { event } => {
            let message = match event.kind {
                ContainerEventType::Created => "Received Container Created Event",
                ContainerEventType::Started => "Received Container Started Event",
                ContainerEventType::Stopped => "Received Container Stopped Event",
                ContainerEventType::Deleted => "Received Container Deleted Event",
            };
            info(4, message, vec![("event", LogValue::Text(event_text(event)))])
        }
        EventedOutput::StatusWritten { .. } | EventedOutput::StatusDeleted { .. } => return None,
    })
}

fn info(verbosity: u8, message: &'static str, values: Vec<(&'static str, LogValue)>) -> LogLine {
    LogLine { verbosity: Some(verbosity), message, values, error: None }
}

fn failure(
    message: &'static str,
    values: Vec<(&'static str, LogValue)>,
    error: Option<&ErrorText>,
) -> LogLine {
    LogLine { verbosity: None, message, values, error: error.cloned() }
}

fn text(value: &str) -> LogValue {
    LogValue::Text(value.to_string())
}

/// `klog.KRef`: `namespace/name`, or the name alone.
fn reference(pod: &Pod) -> LogValue {
    let Pod { name, namespace, .. } = pod;
    LogValue::Text(if namespace.is_empty() { String::from(&**name) } else { format!("{namespace}/{name}") })
}
