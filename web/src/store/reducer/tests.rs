//! What the store makes of what happens.

use super::*;
use crate::{
    store::SourceState,
    testing::{START, frames, hello, lines, ms},
};
use pleg_core::time::{MILLISECOND, SECOND};

const URL: &str = "ws://node/ws";
const TOLD: &str = "
    1000 shop/cart: ready, app running
    2000 shop/cart: ready, app running; batch/export: ready, job running
    3000 ~1000 shop/cart: ready, app running; batch/export: ready, job exited 1
";

fn socket(store: &mut Store, received: Received, at: Millis) -> Vec<Effect> {
    store.reduce(Action::Socket(received), at)
}

fn text(frames: &[Frame]) -> Received {
    Received::Text(lines(frames))
}

/// A store that has just received all of the told node, at 10 s of the page's clock.
fn live() -> Store {
    let mut store = Store::default();
    store.reduce(Action::Resize(1_248.0, 400.0), 0.0);
    assert_eq!(store.reduce(Action::Connect(URL.into()), 0.0), [Effect::Connect(URL.into())]);
    socket(&mut store, Received::Opened, 9_000.0);
    let mut all = frames(TOLD);
    all.push(Frame::Live {});
    socket(&mut store, text(&all), 10_000.0);
    store
}

fn begin(name: &str, total: usize) -> Piece {
    Piece::Begin { name: name.into(), total: total as u64 }
}

fn open(bytes: &[u8]) -> Store {
    let mut store = Store::default();
    store.reduce(Action::File(1, begin("a.plegcap", bytes.len())), 0.0);
    for piece in bytes.chunks(100) {
        store.reduce(Action::File(1, Piece::Bytes(piece.to_vec())), 0.0);
    }
    store.reduce(Action::File(1, Piece::End), 0.0);
    store
}

fn notices(store: &Store) -> Vec<&str> {
    store.notices.iter().map(|notice| notice.text.as_str()).collect()
}

/// End of the told node: relist 3 makes six calls of 1 ms, one of them 1 s longer.
fn end(store: &Store) -> Time {
    store.model.timeline().relists().last().unwrap().end.unwrap()
}

#[test]
fn time_goes_on_between_frames_and_never_back() {
    let mut store = live();
    assert_eq!(store.now(10_000.0), end(&store));
    assert_eq!(store.now(10_500.0), end(&store) + 500 * MILLISECOND);
    store.reduce(Action::Tick, 10_500.0);
    let mono = end(&store).since(Time(START)) + 400 * MILLISECOND;
    socket(&mut store, text(&[Frame::Tick(pleg_core::wire::Tick { mono })]), 10_500.0);
    assert_eq!(store.now(10_500.0), end(&store) + 500 * MILLISECOND, "a late tick does not turn time back");
    assert_eq!(store.now(11_000.0), end(&store) + 900 * MILLISECOND);
}

#[test]
fn a_lost_socket_is_opened_again_after_longer_and_longer_waits() {
    let mut store = live();
    let mut waits = Vec::new();
    for _ in 0..7 {
        let effects = socket(&mut store, Received::Closed, 20_000.0);
        let [Effect::ReconnectIn(wait)] = effects[..] else { panic!("{effects:?}") };
        waits.push(wait);
        assert_eq!(store.now(25_000.0), end(&store), "time stands while nothing is heard");
        assert_eq!(store.reduce(Action::Reconnect, 25_000.0), [Effect::Connect(URL.into())]);
    }
    assert_eq!(waits, [500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0, 10_000.0, 10_000.0]);
    socket(&mut store, Received::Opened, 30_000.0);
    assert_eq!(store.model.timeline().relists().len(), 3, "what was received stays");
}

#[test]
fn what_comes_again_after_a_lost_socket_is_not_taken_in_twice() {
    let mut store = live();
    let (events, kept) = (store.model.events().to_vec(), store.recording.bytes());
    socket(&mut store, Received::Closed, 20_000.0);
    store.reduce(Action::Reconnect, 21_000.0);
    socket(&mut store, Received::Opened, 21_000.0);
    let more = frames(&format!("{TOLD}\n5000 shop/cart: ready, app exited 3"));
    socket(&mut store, text(&more), 21_000.0);
    assert_eq!(notices(&store), [""; 0]);
    assert_eq!(store.model.events().get(..5), events.get(..5));
    assert_eq!(store.model.timeline().relists().len(), 4);
    let new = lines(more.get(frames(TOLD).len()..).unwrap());
    assert_eq!(store.recording.bytes(), kept + new.len());
}

#[test]
fn another_observer_begins_anew() {
    let mut store = live();
    socket(&mut store, text(&[hello(0)]), 11_000.0);
    assert_eq!((store.model.events().len(), notices(&store).len()), (5, 0), "the same one goes on");
    socket(&mut store, text(&[hello(SECOND)]), 12_000.0);
    assert_eq!(store.model.events().len(), 0);
    assert!(store.order.is_empty() && store.log.until(&[], ms(99_000)).is_empty());
    assert!(notices(&store)[0].contains("restarted"));
}

#[test]
fn a_bad_message_is_told_and_the_page_goes_on() {
    let mut store = live();
    socket(&mut store, Received::Text("{\"relist\":".into()), 11_000.0);
    assert!(notices(&store)[0].contains("cannot be read"));
    assert_eq!(store.model.events().len(), 5);
    store.reduce(Action::Dismiss(0), 11_000.0);
    assert!(store.notices.is_empty());
}

#[test]
fn a_file_is_shown_whole_and_fits_the_window() {
    let store = open(lines(&frames(TOLD)).as_bytes());
    assert_eq!(store.source.state, SourceState::Read);
    assert_eq!((store.model.events().len(), store.order.len(), notices(&store).len()), (5, 2, 0));
    let (from, to) = (store.window.from, store.window.from + store.window.span);
    assert!(from < ms(1_000) && from > ms(800) && to > end(&store) && !store.window.follow);
}

#[test]
fn opening_a_file_leaves_the_socket() {
    let mut store = live();
    let begin = Action::File(1, begin("a.plegcap", 0));
    assert_eq!(store.reduce(begin, 0.0), [Effect::Disconnect]);
    assert_eq!(socket(&mut store, Received::Closed, 0.0), [], "it is not opened again");
    assert_eq!(store.model.events().len(), 0);
}

#[test]
fn of_two_files_opened_in_a_row_the_second_is_shown() {
    let first = lines(&frames("1000 shop/web: ready, app running"));
    let second = lines(&frames(TOLD));
    let bytes = |text: &str| Piece::Bytes(text.as_bytes().to_vec());
    let (early, late) = first.split_at(first.len() / 2);
    for last in [bytes(late), Piece::End, Piece::Failed("it was removed".into()), begin("first", 0)] {
        let mut store = Store::default();
        store.reduce(Action::File(1, begin("first", first.len())), 0.0);
        store.reduce(Action::File(1, bytes(early)), 0.0);
        store.reduce(Action::File(2, begin("second", second.len())), 0.0);
        store.reduce(Action::File(1, last.clone()), 0.0);
        assert_eq!(store.source.state, SourceState::Reading { done: 0, total: second.len() as u64 });
        store.reduce(Action::File(2, bytes(&second)), 0.0);
        store.reduce(Action::File(1, last), 0.0);
        store.reduce(Action::File(2, Piece::End), 0.0);
        store.reduce(Action::File(1, Piece::End), 0.0);
        assert_eq!(notices(&store), [""; 0]);
        assert_eq!((store.source.name.as_str(), &store.source.state), ("second", &SourceState::Read));
        assert_eq!((store.model.events().len(), store.order.len()), (5, 2));
    }
}

#[test]
fn a_cut_file_is_read_to_its_last_whole_line() {
    let all = lines(&frames(TOLD));
    let store = open(all.get(..all.len() - 5).unwrap().as_bytes());
    assert_eq!(store.model.events().len(), 5);
    assert!(notices(&store)[0].contains("cut short"), "{:?}", notices(&store));
}

#[test]
fn what_is_no_capture_is_told() {
    for bytes in [&b"hello"[..], b"", b"\x1f\x8b\x08nonsense", b"{\"relist\":{}}\n"] {
        let store = open(bytes);
        assert_eq!(store.notices.len(), 1, "{:?}", store.notices);
        assert_eq!(store.source.state, SourceState::Read);
    }
}

#[test]
fn following_ends_with_a_move_and_comes_back() {
    let mut store = live();
    let right = |store: &Store, at| {
        let input = store.layout_input(at);
        (input.from + input.span).since(input.now)
    };
    store.reduce(Action::Zoom(Zooming::To(ms(0), SECOND)), 10_000.0);
    store.reduce(Action::GoLive, 10_000.0);
    assert_eq!(right(&store, 10_000.0), right(&store, 60_000.0), "the newest stays where it is");
    store.reduce(Action::Pan(-100.0), 60_000.0);
    assert!(!store.window.follow);
    let from = store.layout_input(60_000.0).from;
    assert_eq!(store.layout_input(70_000.0).from, from);
    store.reduce(Action::GoLive, 70_000.0);
    assert!(store.window.follow);
}

/// Tells a store of relists 4, 5, …, one a minute, for so many minutes.
fn pass(store: &mut Store, minutes: std::ops::Range<u64>) {
    use pleg_core::wire::{Done, Relist};
    for minute in minutes {
        let mono = 60 * SECOND * minute as i64;
        let begin = Frame::Relist(Relist { n: 3 + minute, wall: START + mono, mono });
        socket(store, text(&[begin, Frame::Done(Done { at: SECOND })]), 10_000.0);
    }
}

#[test]
fn a_page_that_stands_open_for_long_forgets_and_says_so_once() {
    let mut store = live();
    let cart = store.model.timeline().place("cart-app").unwrap();
    store.reduce(Action::Select(Some(Target::Span(cart))), 10_000.0);
    store.reduce(Action::GoLive, 10_000.0);
    pass(&mut store, 1..350);
    assert_eq!((store.model.events().len(), store.forgot), (5, false), "six hours are kept");
    pass(&mut store, 350..800);
    assert!(store.model.now().since(store.start()) < (super::super::HOURS * 3600 + 700) * SECOND);
    assert_eq!((store.model.events().len(), store.forgot), (0, true));
    assert!(store.log.until(store.model.events(), ms(i64::MAX / MILLISECOND / 8)).is_empty());
    assert_eq!(
        store.selected,
        store.model.timeline().place("cart-app").map(Target::Span),
        "it is still listed"
    );
    assert_eq!(store.order.len(), store.model.timeline().pods().len());
    assert_eq!(notices(&store).len(), 1);
    store.reduce(Action::Dismiss(0), 10_000.0);
    pass(&mut store, 800..900);
    assert_eq!(notices(&store), [""; 0]);
}

#[test]
fn what_is_in_sight_is_not_forgotten_for_its_age() {
    let mut store = live();
    store.reduce(Action::TogglePause, 10_000.0);
    pass(&mut store, 1..800);
    assert_eq!((store.model.events().len(), store.forgot), (5, false));
    store.reduce(Action::GoLive, 10_000.0);
    pass(&mut store, 800..801);
    assert_eq!((store.model.events().len(), store.forgot), (0, true));
}

#[test]
fn a_live_window_grows_with_the_data_until_somebody_zooms() {
    let mut store = live();
    // Where the data begin and end, in thousandths of the window, after so many seconds of them.
    let edges = |store: &Store, seconds: i64| {
        let at = 10_000.0 + (ms(1_000) + seconds * SECOND).since(end(store)) as f64 / MILLISECOND as f64;
        let input = store.layout_input(at);
        let share = |time: Time| (time.since(input.from) as f64 / input.span as f64 * 1000.0).round() as i64;
        (input.span / SECOND, share(store.start()), share(input.now))
    };
    assert_eq!(edges(&store, 10), (30, 20, 353), "they grow into the first window");
    assert_eq!(edges(&store, 28), (30, 20, 953));
    assert_eq!(edges(&store, 57), (60, 20, 965), "they fill it, and it grows with them");
    assert_eq!(edges(&store, 113), (119, 20, 965));
    assert_eq!(edges(&store, 200), (120, -702, 965), "it has grown: they move");
    store.reduce(Action::Pan(0.5), 50_000.0);
    store.reduce(Action::GoLive, 50_000.0);
    assert_eq!(edges(&store, 57), (60, 20, 965), "looking back is no choice of a length");
    store.reduce(Action::Zoom(Zooming::By(2.0, None)), 50_000.0);
    let (chosen, ..) = edges(&store, 40);
    assert_eq!(edges(&store, 500).0, chosen, "zooming is");
}

#[test]
fn zoom_keeps_the_time_under_the_pointer() {
    let mut store = open(lines(&frames(TOLD)).as_bytes());
    store.reduce(Action::Resize(1_248.0, 400.0), 0.0);
    for factor in [0.5, 0.1, 3.0] {
        let before = store.scale(0.0).time(700.0);
        store.reduce(Action::Zoom(Zooming::By(factor, Some(700.0))), 0.0);
        let off = store.scale(0.0).time(700.0).since(before).abs();
        assert!(off < MILLISECOND, "{off} ns off");
    }
    store.reduce(Action::Zoom(Zooming::Fit), 0.0);
    assert!(store.window.from < ms(1_000) && store.window.from + store.window.span > end(&store));
}

#[test]
fn a_paused_page_stands_while_data_come() {
    let mut store = live();
    store.reduce(Action::TogglePause, 10_000.0);
    let (now, from) = (store.now(10_000.0), store.layout_input(10_000.0).from);
    socket(&mut store, text(&[Frame::Tick(pleg_core::wire::Tick { mono: 60 * SECOND })]), 20_000.0);
    assert_eq!((store.now(30_000.0), store.layout_input(30_000.0).from), (now, from));
    store.reduce(Action::TogglePause, 30_000.0);
    assert!(store.head.is_playing(), "it goes on from there");
    store.reduce(Action::GoLive, 30_000.0);
    assert_eq!(store.head, Head::Edge);
}

#[test]
fn a_file_plays_from_its_beginning_to_its_end() {
    let mut store = open(lines(&frames(TOLD)).as_bytes());
    store.reduce(Action::Play(10), 1_000.0);
    assert_eq!(store.now(1_000.0), ms(1_000));
    assert_eq!(store.now(1_100.0), ms(2_000));
    let shown = store.log.until(store.model.events(), store.now(1_100.0)).len();
    assert_eq!(shown, 2, "events after the shown moment are not in the log");
    store.reduce(Action::Seek(ms(3_500)), 1_100.0);
    assert_eq!(store.now(1_110.0), ms(3_600));
    store.reduce(Action::TogglePause, 1_110.0);
    assert_eq!(store.head, Head::Paused(ms(3_600)));
    store.reduce(Action::TogglePause, 1_110.0);
    store.reduce(Action::Tick, 99_000.0);
    assert_eq!((store.head, store.now(99_000.0)), (Head::Edge, end(&store)));
}

#[test]
fn a_filter_restricts_pods_and_events() {
    let mut store = live();
    store.reduce(Action::Filter("batch died".into()), 10_000.0);
    assert_eq!(store.order.len(), 1);
    assert_eq!(store.log.until(store.model.events(), ms(99_000)).len(), 1);
    store.reduce(Action::Filter(String::new()), 10_000.0);
    assert_eq!((store.order.len(), store.log.until(store.model.events(), ms(99_000)).len()), (2, 5));
}

#[test]
fn an_event_of_the_log_is_brought_into_sight() {
    let mut store = live();
    store.reduce(Action::Zoom(Zooming::To(ms(-60_000), SECOND)), 10_000.0);
    let died = store.model.events().iter().position(|event| event.exit_code == Some(1)).unwrap();
    store.reduce(Action::Reveal(died), 10_000.0);
    let event = &store.model.events()[died];
    assert!(store.window.from < event.time && store.window.from + store.window.span > event.time);
    let Some(Target::Mark { pod, mark }) = store.selected else { panic!("{:?}", store.selected) };
    let mark = &store.model.timeline().pods()[pod].marks[mark];
    assert_eq!((mark.time, &mark.id), (event.time, &event.id));
    store.reduce(Action::Select(None), 10_000.0);
    assert_eq!((store.selected, store.chosen_event), (None, None));
}

#[test]
fn a_capture_is_saved_under_the_names_of_node_and_time() {
    let mut store = live();
    assert_eq!(
        store.reduce(Action::Save, 10_000.0),
        [Effect::Save("node-1-2026-01-01T000004Z.plegcap".into())]
    );
}
