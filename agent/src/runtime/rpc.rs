//! The CRI methods that plegscope can call, all of them reading, and how one is called.
//!
//! *Invariant:* this is the only place that names a gRPC method; there is no mutating one among them.

use pleg_cri::v1;
use prost::Message;
use std::{marker::PhantomData, time::Duration};
use tonic::{
    Code, Request, Status, Streaming,
    client::Grpc,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    codegen::http::uri::PathAndQuery,
    transport::Channel,
};

/// Largest answer that is read: what the kubelet's client accepts (`maxMsgSize` of its remote runtime).
pub(super) const MAX_ANSWER: usize = 16 << 20;

/// A version of CRI. Their messages are the same on the wire as far as plegscope reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    V1,
    V1Alpha2,
}

impl Api {
    pub(super) fn name(self) -> &'static str {
        match self {
            Api::V1 => "v1",
            Api::V1Alpha2 => "v1alpha2",
        }
    }
}

/// A method's request, with the answer that belongs to it.
pub(super) trait Method: Message + Default + 'static {
    type Answer: Message + Default + 'static;
    /// Its path in CRI v1 and in v1alpha2.
    const PATHS: [&'static str; 2];
}

macro_rules! methods {
    ($($name:literal: $request:ident -> $answer:ident),* $(,)?) => {
        $(impl Method for v1::$request {
            type Answer = v1::$answer;
            const PATHS: [&'static str; 2] = [
                concat!("/runtime.v1.RuntimeService/", $name),
                concat!("/runtime.v1alpha2.RuntimeService/", $name),
            ];
        })*
    };
}

methods! {
    "Version": VersionRequest -> VersionResponse,
    "ListPodSandbox": ListPodSandboxRequest -> ListPodSandboxResponse,
    "ListContainers": ListContainersRequest -> ListContainersResponse,
    "PodSandboxStatus": PodSandboxStatusRequest -> PodSandboxStatusResponse,
    "ContainerStatus": ContainerStatusRequest -> ContainerStatusResponse,
    "GetContainerEvents": GetEventsRequest -> ContainerEventResponse,
}

/// An answer and the size of its message.
pub(super) struct Measured<T> {
    pub(super) bytes: u64,
    pub(super) message: T,
}

/// Calls one method. The deadline is told to the runtime, so that it stops working on what nobody awaits.
pub(super) async fn call<M: Method>(
    channel: &Channel,
    api: Api,
    deadline: Duration,
    message: M,
) -> Result<Measured<M::Answer>, Status> {
    let mut grpc = ready(channel).await?;
    let [v1, v1alpha2] = M::PATHS;
    let path = PathAndQuery::from_static(match api {
        Api::V1 => v1,
        Api::V1Alpha2 => v1alpha2,
    });
    let mut request = Request::new(message);
    request.set_timeout(deadline);
    grpc.unary(request, path, MeasuringCodec::<M>(PhantomData)).await.map(tonic::Response::into_inner)
}

/// Opens the stream of `GetContainerEvents`, which CRI has since v1. It has no deadline. This returns with the first event:
/// the answer's headers come with it.
pub(super) async fn container_events(
    mut grpc: Grpc<Channel>,
) -> Result<Streaming<Measured<v1::ContainerEventResponse>>, Status> {
    let [path, _] = v1::GetEventsRequest::PATHS;
    let (request, codec) =
        (Request::new(v1::GetEventsRequest {}), MeasuringCodec::<v1::GetEventsRequest>(PhantomData));
    grpc.server_streaming(request, PathAndQuery::from_static(path), codec)
        .await
        .map(tonic::Response::into_inner)
}

/// A client on an open connection.
pub(super) async fn ready(channel: &Channel) -> Result<Grpc<Channel>, Status> {
    let mut grpc = Grpc::new(channel.clone()).max_decoding_message_size(MAX_ANSWER);
    grpc.ready().await.map_err(|error| Status::from_error(error.into()))?;
    Ok(grpc)
}

/// Protobuf, with the size of what was decoded: the wire knows it, the message no longer does.
struct MeasuringCodec<M>(PhantomData<M>);

impl<M: Method> Codec for MeasuringCodec<M> {
    type Encode = M;
    type Decode = Measured<M::Answer>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self(PhantomData)
    }

    fn decoder(&mut self) -> Self {
        Self(PhantomData)
    }
}

impl<M: Method> Encoder for MeasuringCodec<M> {
    type Item = M;
    type Error = Status;

    fn encode(&mut self, item: M, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buffer).map_err(|error| Status::new(Code::Internal, error.to_string()))
    }
}

impl<M: Method> Decoder for MeasuringCodec<M> {
    type Item = Measured<M::Answer>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Self::Item>, Status> {
        use bytes::Buf as _;
        let bytes = u64::try_from(buffer.remaining()).unwrap_or(u64::MAX);
        let message = M::Answer::decode(buffer)
            .map_err(|error| Status::new(Code::Internal, format!("the answer is not protobuf: {error}")))?;
        Ok(Some(Measured { bytes, message }))
    }
}
