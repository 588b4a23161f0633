//! Late clients, slow clients, and the end.

use super::*;
use crate::testing::{frames_until, hello};
use pleg_core::{
    snapshot::Snapshot,
    time::SECOND,
    wire::{Call, Done, Relist, Tick},
};

fn hub() -> Hub {
    let hub = Hub::new(900 * SECOND, None, None);
    hub.publish(&Frame::Hello(Box::new(hello())));
    hub
}

/// An empty node's relist, a second after the one before.
fn relist(hub: &Hub, n: u64) {
    let seconds = i64::try_from(n).unwrap();
    hub.publish(&Frame::Relist(Relist { n, wall: 0, mono: seconds * SECOND }));
    for op in [Op::ListPodSandbox, Op::ListContainers] {
        let call = Call { op, id: None, at: 1, took: 1, bytes: 0, error: None, answer: None };
        hub.publish(&Frame::Call(Box::new(call)));
    }
    if n == 1 {
        hub.publish(&Frame::Key(Box::default()));
    } else {
        hub.publish(&Frame::Delta(Box::new(Snapshot::default().delta_to(&Snapshot::default()))));
    }
    hub.publish(&Frame::Done(Done { at: 5 }));
}

fn kinds(frames: &[Frame]) -> String {
    let kind = |frame: &Frame| match frame {
        Frame::Hello(_) => "hello".to_owned(),
        Frame::Checkpoint(_) => "checkpoint".to_owned(),
        Frame::Relist(relist) => format!("relist({})", relist.n),
        Frame::Gap(gap) => format!("gap({})", gap.dropped),
        Frame::Live {} => "live".to_owned(),
        Frame::Done(_) => "done".to_owned(),
        Frame::Tick(_) => "tick".to_owned(),
        Frame::Call(_) => "call".to_owned(),
        Frame::Key(_) | Frame::Delta(_) => "lists".to_owned(),
        other => panic!("{other:?}"),
    };
    frames.iter().map(kind).collect::<Vec<_>>().join(" ")
}

fn past(subscription: Past) -> Vec<Frame> {
    let messages = subscription.into_messages().unwrap();
    messages.iter().flat_map(|message| Frame::from_lines(message).unwrap()).collect()
}

#[tokio::test]
async fn a_late_client_gets_the_past_and_then_the_present() {
    let hub = hub();
    relist(&hub, 1);
    let Subscription { past: before, queue } = hub.subscribe();
    relist(&hub, 2);
    assert_eq!(kinds(&past(before)), "hello relist(1) call call lists done");
    hub.close().unwrap();
    assert_eq!(
        kinds(&frames_until(&queue, |frame| matches!(frame, Frame::Done(_))).await),
        "live relist(2) call call lists done"
    );
    assert_eq!(queue.next().await, None);
}

#[tokio::test]
async fn what_is_older_than_a_segment_is_a_checkpoint() {
    let hub = Hub::new(0, None, None);
    hub.publish(&Frame::Hello(Box::new(hello())));
    for n in 1..=121 {
        relist(&hub, n);
    }
    assert_eq!(kinds(&past(hub.subscribe().past)), "hello checkpoint relist(121) call call lists done");
}

#[tokio::test]
async fn a_slow_client_is_told_what_it_missed_and_starts_anew() {
    let hub = hub();
    relist(&hub, 1);
    let queue = hub.subscribe().queue;
    let mut sent = 0_u32;
    // More than any queue holds, and a relist boundary at which there is still no room.
    while sent < 200_000 {
        sent += 1;
        hub.publish(&Frame::Tick(Tick { mono: SECOND + 5 + i64::from(sent) }));
    }
    relist(&hub, 2);
    let mut frames = Vec::new();
    for _ in 0..60 {
        frames.extend(Frame::from_lines(&queue.next().await.unwrap()).unwrap());
    }
    relist(&hub, 3);
    relist(&hub, 4);
    hub.close().unwrap();
    while let Some(message) = queue.next().await {
        frames.extend(Frame::from_lines(&message).unwrap());
    }
    let got = frames.iter().filter(|frame| matches!(frame, Frame::Tick(_))).count();
    // The ticks that did not fit, and two relists of five frames.
    let missed = sent as usize - got + 10;
    let rest: Vec<_> = frames.into_iter().filter(|frame| !matches!(frame, Frame::Tick(_))).collect();
    assert_eq!(kinds(&rest), format!("live gap({missed}) hello checkpoint relist(4) call call lists done"));
}

#[tokio::test]
async fn the_heads_of_a_capture_are_not_handed_on_again() {
    let hub = hub();
    let queue = hub.subscribe().queue;
    relist(&hub, 1);
    let Ok(head) = Frame::from_lines(&hub.state().head().unwrap()) else { panic!("no head") };
    head.iter().for_each(|frame| hub.publish(frame));
    hub.publish(&Frame::Live {});
    hub.publish(&Frame::Gap(Gap { dropped: 1 }));
    head.iter().for_each(|frame| hub.publish(frame));
    relist(&hub, 2);
    hub.publish(&Frame::Hello(Box::new(pleg_core::wire::Hello { wall: 7, ..hello() })));
    relist(&hub, 1);
    let past = past(hub.subscribe().past);
    let one = "call call lists done";
    let all = format!("relist(1) {one} gap(1) hello relist(2) {one} hello relist(1) {one}");
    assert_eq!(kinds(&past), format!("hello {all}"));
    hub.close().unwrap();
    let mut frames = Vec::new();
    while let Some(message) = queue.next().await {
        frames.extend(Frame::from_lines(&message).unwrap());
    }
    assert_eq!(kinds(&frames), format!("live {all}"));
}

#[test]
fn a_client_after_the_end_gets_an_end() {
    let hub = hub();
    hub.close().unwrap();
    let queue = hub.subscribe().queue;
    assert!(queue.is_closed());
}
