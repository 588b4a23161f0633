//! The server over real sockets.

use super::*;
use crate::testing::hello;
use pleg_core::wire::Frame;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_tungstenite::{
    connect_async,
    tungstenite::{ClientRequestBuilder, Error, Message},
};

async fn start(hub: &Arc<Hub>) -> SocketAddr {
    let listener = listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = App { hub: Arc::clone(hub), page: Arc::new(Page::new(None).unwrap()), hosts: Arc::new([]) };
    tokio::spawn(serve(listener, app, std::future::pending()));
    address
}

fn hub() -> Arc<Hub> {
    let hub = Hub::new(0, None, None);
    hub.publish(&Frame::Hello(Box::new(hello())));
    Arc::new(hub)
}

async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn health_is_the_kubelets_verdict() {
    let address = start(&hub()).await;
    let answer = get(address, "/healthz").await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains("pleg has yet to be successful"), "{answer}");
}

#[tokio::test]
async fn the_page_and_its_headers() {
    let address = start(&hub()).await;
    let answer = get(address, "/").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    for header in ["content-type: text/html", "content-security-policy: default-src 'none'", "nosniff"] {
        assert!(answer.contains(header), "{header}: {answer}");
    }
    assert!(get(address, "/../Cargo.toml").await.starts_with("HTTP/1.1 404 "));
}

#[tokio::test]
async fn a_client_gets_hello_and_live() {
    let hub = hub();
    let address = start(&hub).await;
    let (mut socket, _) = connect_async(format!("ws://{address}/ws")).await.unwrap();
    let mut lines = String::new();
    for _ in 0..2 {
        let message = futures_util::StreamExt::next(&mut socket).await.unwrap().unwrap();
        lines += message.to_text().unwrap();
    }
    let frames = Frame::from_lines(&lines).unwrap();
    assert!(matches!(frames.as_slice(), [Frame::Hello(_), Frame::Live {}]), "{frames:?}");
    hub.close().unwrap();
    let last = futures_util::StreamExt::next(&mut socket).await.unwrap().unwrap();
    assert!(matches!(last, Message::Close(_)), "{last:?}");
}

#[tokio::test]
async fn a_foreign_page_gets_no_stream() {
    let address = start(&hub()).await;
    let uri = format!("ws://{address}/ws").parse().unwrap();
    let request = ClientRequestBuilder::new(uri).with_header("origin", "http://evil.example");
    let Err(Error::Http(answer)) = connect_async(request).await else { panic!("it was let in") };
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_taken_port_says_what_to_do() {
    let address = start(&hub()).await;
    let error = format!("{:#}", listen(address).await.unwrap_err());
    assert!(error.contains("choose another address with --listen"), "{error}");
}
