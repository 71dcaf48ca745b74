//! Drives the state machine: one task has it, and does what it says.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use afterbay_blob_cluster::{
    Action, Call, ClientAnswer, ClientRequest, LocalStore, Message, Node, NodeId, NodeStatus, Now,
    StoreAnswer,
};
use afterbay_blob_store::{Clock, SystemClock};
use tokio::sync::{mpsc, oneshot};

use crate::peers::Outbox;
use crate::report::report;

/// Something that has happened.
#[derive(Debug)]
pub(crate) enum Event {
    Client(ClientRequest, oneshot::Sender<ClientAnswer>),
    Message(NodeId, Message),
    Unsent(NodeId, Call),
    Stored(u64, StoreAnswer),
    Status(oneshot::Sender<String>),
}

/// Bounded by what the node lets be under way.
pub(crate) type Events = mpsc::UnboundedSender<Event>;

/// What the task has.
pub(crate) struct Driver {
    pub(crate) node: Node,
    pub(crate) store: Arc<LocalStore>,
    pub(crate) outboxes: BTreeMap<NodeId, Outbox>,
    pub(crate) events: Events,
    pub(crate) began: Instant,
    pub(crate) clients: BTreeMap<u64, oneshot::Sender<ClientAnswer>>,
    pub(crate) next_client: u64,
}

/// The clocks of this machine.
pub(crate) fn now(began: Instant) -> Now {
    let mono_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Now { mono_ms, wall_ms: SystemClock.now_ms() }
}

impl Driver {
    pub(crate) async fn run(mut self, mut events: mpsc::UnboundedReceiver<Event>) {
        let actions = self.node.start(now(self.began));
        self.perform(actions);
        loop {
            let wake_ms = self.node.next_wake_ms().min(now(self.began).mono_ms + 1000);
            let wake = tokio::time::Instant::from_std(self.began + Duration::from_millis(wake_ms));
            let actions = tokio::select! {
                event = events.recv() => match event {
                    Some(event) => self.on(event),
                    None => return,
                },
                () = tokio::time::sleep_until(wake) => self.node.on_tick(now(self.began)),
            };
            self.perform(actions);
        }
    }

    fn on(&mut self, event: Event) -> Vec<Action> {
        let now = now(self.began);
        match event {
            Event::Client(request, answer) => {
                self.next_client += 1;
                self.clients.insert(self.next_client, answer);
                self.node.on_client(now, self.next_client, request)
            }
            Event::Message(from, message) => self.node.on_message(now, &from, message),
            Event::Unsent(to, call) => self.node.on_unsent(now, &to, call),
            Event::Stored(call, answer) => self.node.on_stored(now, call, answer),
            Event::Status(answer) => {
                let status: NodeStatus = self.node.status();
                let _ = answer.send(report(&status, &self.store).to_string());
                Vec::new()
            }
        }
    }

    fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send { to, message } => self.send(&to, message),
                Action::Store { call, partition, operation } => {
                    let (store, events) = (self.store.clone(), self.events.clone());
                    tokio::task::spawn_blocking(move || {
                        let answer = store.execute(partition, operation);
                        let _ = events.send(Event::Stored(call, answer));
                    });
                }
                Action::Answer { call, answer } => {
                    if let Some(client) = self.clients.remove(&call) {
                        // Who asked may have gone.
                        let _ = client.send(answer);
                    }
                }
            }
        }
    }

    fn send(&mut self, to: &NodeId, message: Message) {
        let call = message.call;
        let sent = self.outboxes.get(to).is_some_and(|outbox| outbox.send(message));
        if !sent {
            let _ = self.events.send(Event::Unsent(to.clone(), call));
        }
    }
}
