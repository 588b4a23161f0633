//! gRPC failures in the words that the kubelet's log has for them.

use pleg_core::cri::RpcError;
use std::error::Error;
use tonic::{Code, Status};

/// What the kubelet would log for a call that ran into its deadline.
pub(crate) fn deadline_exceeded() -> RpcError {
    RpcError::new(go_name(Code::DeadlineExceeded), "context deadline exceeded")
}

/// A failed call in grpc-go's words.
///
/// Two failures are named otherwise by tonic than by grpc-go, and both arise on our side of the socket: its
/// own timer says `Cancelled "Timeout expired"` where grpc-go says `DeadlineExceeded`, and a connection that
/// breaks is `Unknown "transport error"` where grpc-go says `Unavailable`.
pub(crate) fn rpc_error(status: &Status) -> RpcError {
    if status.code() == Code::Cancelled && status.message() == "Timeout expired" {
        return deadline_exceeded();
    }
    match (status.code(), status.source()) {
        (Code::Unknown, Some(source)) => {
            RpcError::new(go_name(Code::Unavailable), &chain(status.message(), source))
        }
        (code, _) => RpcError::new(go_name(code), status.message()),
    }
}

/// `message` and what lies under it, each cause once.
fn chain(message: &str, source: &(dyn Error + 'static)) -> String {
    let mut text = message.to_owned();
    let mut cause = Some(source);
    while let Some(error) = cause {
        let line = error.to_string();
        if !text.contains(&line) {
            text.push_str(": ");
            text.push_str(&line);
        }
        cause = error.source();
    }
    text
}

/// The code by the name that Go prints (`codes.Code.String`).
pub(crate) fn go_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "Canceled",
        Code::Unknown => "Unknown",
        Code::InvalidArgument => "InvalidArgument",
        Code::DeadlineExceeded => "DeadlineExceeded",
        Code::NotFound => "NotFound",
        Code::AlreadyExists => "AlreadyExists",
        Code::PermissionDenied => "PermissionDenied",
        Code::ResourceExhausted => "ResourceExhausted",
        Code::FailedPrecondition => "FailedPrecondition",
        Code::Aborted => "Aborted",
        Code::OutOfRange => "OutOfRange",
        Code::Unimplemented => "Unimplemented",
        Code::Internal => "Internal",
        Code::Unavailable => "Unavailable",
        Code::DataLoss => "DataLoss",
        Code::Unauthenticated => "Unauthenticated",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_print_as_in_the_kubelets_log() {
        let text = |code, message: &str| rpc_error(&Status::new(code, message)).to_string();
        assert_eq!(
            text(Code::Cancelled, "Timeout expired"),
            "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
        );
        assert_eq!(text(Code::Cancelled, "gone"), "rpc error: code = Canceled desc = gone");
        assert_eq!(
            text(Code::Unknown, "server is not initialized yet"),
            "rpc error: code = Unknown desc = server is not initialized yet"
        );
    }

    #[test]
    fn a_broken_connection_is_unavailable() {
        let broken = Status::from_error(Box::new(std::io::Error::other("broken pipe")));
        assert_eq!(broken.code(), Code::Unknown);
        assert_eq!(rpc_error(&broken), RpcError::new("Unavailable", "broken pipe"));
    }
}
