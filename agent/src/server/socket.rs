//! The stream of frames: the past, `live`, then what happens.

use super::{App, security};
use crate::hub::{Hub, Queue, Subscription};
use axum::{
    extract::{
        State,
        ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade},
    },
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use std::sync::Arc;

/// Clients have nothing to say: their messages are read only to see them go.
const MAX_INCOMING: usize = 4 << 10;

/// Opens the stream for a client.
pub(super) async fn upgrade(
    State(app): State<App>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if !security::is_same_origin(&headers) {
        return (StatusCode::FORBIDDEN, "the stream is for the page of this server only\n").into_response();
    }
    upgrade
        .read_buffer_size(MAX_INCOMING)
        .max_message_size(MAX_INCOMING)
        .max_frame_size(MAX_INCOMING)
        .on_upgrade(move |socket| stream(socket, app.hub))
}

async fn stream(mut socket: WebSocket, hub: Arc<Hub>) {
    let Subscription { past, queue } = hub.subscribe();
    let messages = match past.into_messages() {
        Ok(messages) => messages,
        Err(error) => return tracing::error!(%error, "the past cannot be sent"),
    };
    let result = send_all(&mut socket, messages, &queue).await;
    queue.close();
    if let Err(error) = result {
        tracing::debug!(%error, "a client is gone");
    }
}

async fn send_all(socket: &mut WebSocket, past: Vec<Utf8Bytes>, queue: &Queue) -> Result<(), axum::Error> {
    for message in past {
        socket.send(Message::Text(message)).await?;
    }
    loop {
        let message = tokio::select! {
            message = queue.next() => message,
            incoming = socket.recv() => match incoming.transpose()? {
                Some(_) => continue,
                None => return Ok(()),
            },
        };
        match message {
            Some(message) => socket.send(Message::Text(message)).await?,
            None => return socket.send(Message::Close(None)).await,
        }
    }
}
