//! The root of the page: holds the store, hands it what happens, and shows it.

use super::{
    canvas::{self, Canvas},
    components::{self, Shared},
    input::{self, Drag},
    page_clock, settings,
    source::socket,
    warn, window_api,
};
use crate::{
    format::Zone,
    store::{Action, Reading, Settings, Store},
};
use gloo_events::EventListener;
use gloo_timers::callback::{Interval, Timeout};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};
use web_sys::{Element, HtmlInputElement, PointerEvent};
use yew::{Callback, Component, Context, Html, NodeRef};

/// Everything that happens on the page.
pub(super) enum Message {
    /// Something for the store.
    Act(Action),
    /// The browser is ready for the next frame.
    Frame,
    /// The timeline's place has changed.
    Repaint,
    /// The pointer was pressed on the timeline.
    Pressed(PointerEvent),
    /// It moved.
    Moved(PointerEvent),
    /// It was released.
    Released(PointerEvent),
    /// It left the timeline.
    Left,
    /// A file is held over the page, or no longer.
    Dragging(bool),
    /// A file was chosen or dropped.
    Chosen(web_sys::File),
    /// Ask for a file.
    AskForFile,
    /// Put the cursor into the filter.
    FocusFilter,
    /// Take it out again.
    LeaveFilter,
    /// Close what is open.
    Escape,
    /// Open or close the sheet of keys.
    ToggleHelp,
    /// Dark or light.
    ToggleTheme,
    /// Local time or UTC.
    ToggleZone,
    /// Open or close the event log.
    ToggleLog,
    /// Put a text into the clipboard.
    Copy(String),
}

/// The page.
pub(super) struct App {
    pub(super) store: Rc<RefCell<Store>>,
    pub(super) canvas: Canvas,
    pub(super) drag: Option<Drag>,
    pub(super) socket: Option<socket::Socket>,
    pub(super) retry: Option<Timeout>,
    pub(super) filter: NodeRef,
    pub(super) file_input: NodeRef,
    pub(super) dragging: bool,
    pub(super) log_open: bool,
    /// Number of the last reading of a file or address.
    pub(super) reading: Rc<Cell<Reading>>,
    painted: Rc<RefCell<u64>>,
    _ticker: Interval,
    _listeners: Vec<EventListener>,
    wheel: Option<EventListener>,
}

impl Component for App {
    type Message = Message;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let store = Rc::new(RefCell::new(Store::new(settings::load())));
        let painted = Rc::new(RefCell::new(0));
        window_api::install(&store, &painted);
        let tick = ctx.link().callback(|()| Message::Act(Action::Tick));
        let app = Self {
            store,
            canvas: Canvas::default(),
            drag: None,
            socket: None,
            retry: None,
            filter: NodeRef::default(),
            file_input: NodeRef::default(),
            dragging: false,
            log_open: true,
            reading: Rc::default(),
            painted,
            _ticker: Interval::new(canvas::TICK, move || tick.emit(())),
            _listeners: input::listeners(ctx.link()),
            wheel: None,
        };
        app.begin(ctx);
        app
    }

    fn update(&mut self, ctx: &Context<Self>, message: Message) -> bool {
        match message {
            Message::Act(Action::Tick) => return self.tick(ctx),
            Message::Act(action) => self.act(action, ctx),
            Message::Frame => {
                self.paint(ctx);
                return false;
            }
            Message::Repaint => {
                self.repaint(ctx);
                return false;
            }
            Message::Pressed(event) => self.pressed(&event),
            Message::Moved(event) => return self.moved(&event, ctx),
            Message::Released(event) => self.released(&event, ctx),
            Message::Left => {
                self.canvas.pointing = Default::default();
                self.repaint(ctx);
            }
            Message::Dragging(over) => self.dragging = over,
            Message::Chosen(file) => {
                self.dragging = false;
                self.open_file(file, ctx);
            }
            other => self.control(other, ctx),
        }
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        components::page(self, ctx, page_clock())
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if first && let Some(canvas) = self.canvas.node.cast::<Element>() {
            self.wheel = Some(input::wheel_listener(&canvas, ctx.link()));
        }
        self.repaint(ctx);
    }
}

impl App {
    /// Opens what the page was called with: a capture, or else the socket beside the page.
    fn begin(&self, ctx: &Context<Self>) {
        if let Some(url) = socket::capture_url() {
            self.open_url(url, ctx);
        } else if let Some(url) = socket::own_url() {
            ctx.link().send_message(Message::Act(Action::Connect(url)));
        }
    }

    /// Hands something to the store, does what it asks for, and has the timeline painted.
    pub(super) fn act(&mut self, action: Action, ctx: &Context<Self>) {
        let effects = self.store.borrow_mut().reduce(action, page_clock());
        effects.into_iter().for_each(|effect| self.run(effect, ctx));
        self.repaint(ctx);
    }

    pub(super) fn repaint(&mut self, ctx: &Context<Self>) {
        self.canvas.schedule(&ctx.link().callback(|()| Message::Frame));
    }

    pub(super) fn shared(&self) -> Shared {
        Shared(self.store.clone())
    }

    fn paint(&mut self, ctx: &Context<Self>) {
        let again = self.canvas.paint(&mut self.store.borrow_mut(), page_clock());
        *self.painted.borrow_mut() = self.canvas.painted;
        if again {
            self.repaint(ctx);
        }
    }

    fn tick(&mut self, ctx: &Context<Self>) -> bool {
        let waits = matches!(self.store.borrow().source.state, crate::store::SourceState::Lost { .. });
        let moves = canvas::moves(&self.store.borrow());
        if moves {
            self.act(Action::Tick, ctx);
        }
        moves || waits
    }

    fn control(&mut self, message: Message, ctx: &Context<Self>) {
        let settings = self.store.borrow().settings;
        match message {
            Message::AskForFile => {
                if let Some(input) = self.file_input.cast::<HtmlInputElement>() {
                    input.set_value("");
                    input.click();
                }
            }
            Message::FocusFilter => self.with_filter(|filter| filter.focus()),
            Message::LeaveFilter => {
                self.with_filter(|filter| filter.blur());
                self.act(Action::Filter(String::new()), ctx);
            }
            Message::Escape => self.escape(ctx),
            Message::ToggleHelp => {
                let open = !self.store.borrow().help;
                self.act(Action::Help(open), ctx);
            }
            Message::ToggleTheme => self.set(Settings { theme: settings.theme.other(), ..settings }, ctx),
            Message::ToggleZone => {
                let utc = !settings.zone.utc;
                let offset = if utc { 0 } else { settings.local_offset };
                self.set(Settings { zone: Zone { offset, utc }, ..settings }, ctx);
            }
            Message::ToggleLog => self.log_open = !self.log_open,
            Message::Copy(text) => copy(&text),
            _ => {}
        }
    }

    fn set(&mut self, settings: Settings, ctx: &Context<Self>) {
        settings::store(&settings);
        self.act(Action::Settings(settings), ctx);
    }

    fn escape(&mut self, ctx: &Context<Self>) {
        let help = self.store.borrow().help;
        let action = if help { Action::Help(false) } else { Action::Select(None) };
        self.act(action, ctx);
    }

    fn with_filter(&self, act: impl Fn(&HtmlInputElement) -> Result<(), wasm_bindgen::JsValue>) {
        if let Some(filter) = self.filter.cast::<HtmlInputElement>() {
            warn(act(&filter));
        }
    }
}

fn copy(text: &str) {
    let Some(window) = web_sys::window() else { return };
    let promise = window.navigator().clipboard().write_text(text);
    wasm_bindgen_futures::spawn_local(async move {
        warn(wasm_bindgen_futures::JsFuture::from(promise).await);
    });
}

/// A callback that sends a message.
pub(super) fn sends<E: 'static>(ctx: &Context<App>, message: fn(E) -> Message) -> Callback<E> {
    ctx.link().callback(message)
}
