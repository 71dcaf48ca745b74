//! Drives the state machine: one task has it, and does what it says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use afterbay_blob_cluster::{
    Action, AskedScrub, Body, Call, ClientAnswer, ClientRequest, Message, Node, NodeId, NodeStatus,
    Now, StoreAnswer,
};
use afterbay_blob_store::{Clock, PartitionId, SystemClock};
use tokio::sync::{mpsc, oneshot};

use crate::inbox::Received;
use crate::outbox::Outbox;
use crate::scrubs::{ScrubCommand, Scrubs};
use crate::store_queue::{Memory, StoreQueue};

/// Something that has happened besides messages.
#[derive(Debug)]
pub(crate) enum Event {
    Client(ClientRequest, oneshot::Sender<ClientAnswer>),
    Unsent(NodeId, Call),
    /// The connection to a node is gone: what it was asked for it does not answer.
    Gone(NodeId),
    Stored(u64, StoreAnswer),
    Status(oneshot::Sender<NodeStatus>),
    /// Answered by whether one was under way already, or why none can be begun.
    Scrub(ScrubCommand, oneshot::Sender<Result<bool, String>>),
    /// Ends when nothing of the store is under way any more; the sender is dropped then.
    Stop(oneshot::Sender<()>),
}

/// Bounded by what the node lets be under way, and by the requests that the server lets in.
pub(crate) type Events = mpsc::UnboundedSender<Event>;

/// Nodes that this one takes for down, for who chooses a partition.
pub(crate) type Down = Arc<Mutex<Vec<NodeId>>>;

/// An answer that has not come after so long will not; all times of the node are shorter.
const ASKED_TIME_MAX: Duration = Duration::from_secs(120);

/// What the task has.
pub(crate) struct Driver {
    pub(crate) node: Node,
    pub(crate) store: StoreQueue,
    pub(crate) outboxes: BTreeMap<NodeId, Outbox>,
    pub(crate) events: Events,
    pub(crate) began: Instant,
    pub(crate) down: Down,
    pub(crate) scrubs: Arc<Scrubs>,
    pub(crate) clients: BTreeMap<u64, oneshot::Sender<ClientAnswer>>,
    pub(crate) next_client: u64,
    /// Requests to other nodes, by their number, and when they were sent.
    pub(crate) asked: BTreeMap<NodeId, BTreeMap<u64, (Call, Instant)>>,
    /// Operations of the store that are under way.
    pub(crate) storing: usize,
}

/// The clocks of this machine.
pub(crate) fn now(began: Instant) -> Now {
    let mono_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Now { mono_ms, wall_ms: SystemClock.now_ms() }
}

impl Driver {
    pub(crate) async fn run(
        mut self,
        mut events: mpsc::UnboundedReceiver<Event>,
        mut messages: mpsc::Receiver<Received>,
    ) {
        let actions = self.node.start(now(self.began));
        self.perform(actions, &None);
        loop {
            let wake_ms = self.node.next_wake_ms().min(now(self.began).mono_ms + 1000);
            let wake = tokio::time::Instant::from_std(self.began + Duration::from_millis(wake_ms));
            tokio::select! {
                event = events.recv() => match event {
                    Some(Event::Stop(stopped)) => return self.stop(events, stopped).await,
                    Some(event) => self.on(event),
                    None => return,
                },
                Some(received) = messages.recv() => self.on_message(received),
                () = tokio::time::sleep_until(wake) => {
                    let actions = self.node.on_tick(now(self.began));
                    self.perform(actions, &None);
                }
            }
            self.note_down();
        }
    }

    /// Waits for the store, and for nothing else: others are not answered any more, and nothing new is begun.
    async fn stop(
        mut self,
        mut events: mpsc::UnboundedReceiver<Event>,
        stopped: oneshot::Sender<()>,
    ) {
        self.outboxes.clear();
        self.clients.clear();
        self.store.close();
        self.scrubs.close();
        while self.storing > 0 {
            match events.recv().await {
                Some(Event::Stored(..)) => self.storing -= 1,
                Some(_) => {}
                None => break,
            }
        }
        drop(stopped);
    }

    fn on(&mut self, event: Event) {
        let now = now(self.began);
        let actions = match event {
            Event::Client(request, answer) => {
                self.next_client += 1;
                self.clients.insert(self.next_client, answer);
                self.node.on_client(now, self.next_client, request)
            }
            Event::Unsent(to, call) => {
                if let Some(asked) = self.asked.get_mut(&to) {
                    asked.remove(&call.number);
                }
                self.node.on_unsent(now, &to, call)
            }
            Event::Gone(node) => {
                let asked = self.asked.remove(&node).unwrap_or_default();
                let each =
                    asked.values().flat_map(|(call, _)| self.node.on_unsent(now, &node, *call));
                each.collect()
            }
            Event::Stored(call, answer) => {
                self.storing -= 1;
                self.node.on_stored(now, call, answer)
            }
            Event::Status(answer) => {
                // Who asked may have gone.
                let _ = answer.send(self.node.status());
                Vec::new()
            }
            Event::Scrub(command, answer) => {
                let (done, actions) = self.scrub(now, &command);
                // Who asked may have gone.
                let _ = answer.send(done);
                actions
            }
            Event::Stop(_) => Vec::new(),
        };
        self.perform(actions, &None);
    }

    fn scrub(&mut self, now: Now, command: &ScrubCommand) -> (Result<bool, String>, Vec<Action>) {
        let was_running = self.node.asked_scrub().is_some_and(AskedScrub::is_running);
        let (bytes_per_s, partition) = match *command {
            ScrubCommand::Start { bytes_per_s, partition } => (bytes_per_s, partition),
            ScrubCommand::Status => return (Ok(was_running), Vec::new()),
            ScrubCommand::Stop => return (Ok(was_running), self.node.stop_scrub(now)),
        };
        if bytes_per_s == 0 {
            let reason = "a scrub that reads 0 bytes a second does not end; give 1 or more";
            return (Err(reason.to_owned()), Vec::new());
        }
        let actions = match self.node.scrub(now, partition.map(PartitionId), bytes_per_s) {
            Ok(actions) => actions,
            Err(refusal) => return (Err(refusal.to_string()), Vec::new()),
        };
        if let Some(asked) = self.node.asked_scrub().filter(|_| !was_running) {
            let bytes = self.store.scrub_bytes(&asked.partitions);
            self.scrubs.follow(asked.run, bytes);
            tracing::info!(bytes_per_s, bytes, replicas = asked.partitions.len(), "scrub began");
        }
        (Ok(was_running), actions)
    }

    fn on_message(&mut self, Received { from, message, memory }: Received) {
        if matches!(message.body, Body::Reply(_))
            && let Some(asked) = self.asked.get_mut(&from)
        {
            asked.remove(&message.call.number);
        }
        let actions = self.node.on_message(now(self.began), &from, message);
        // What is stored of it is in memory until then.
        self.perform(actions, &Some(Arc::new(memory)));
    }

    fn perform(&mut self, actions: Vec<Action>, memory: &Memory) {
        for action in actions {
            match action {
                Action::Send { to, message } => self.send(&to, message),
                Action::Store { call, partition, operation } => {
                    self.storing += 1;
                    self.store.add(call, partition, operation, memory);
                }
                Action::EndScrub { run } => self.scrubs.end(run),
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
        let is_request = matches!(message.body, Body::Request(_));
        let sent = self.outboxes.get(to).is_some_and(|outbox| outbox.send(message));
        if !is_request {
            return;
        }
        if !sent {
            let _ = self.events.send(Event::Unsent(to.clone(), call));
            return;
        }
        let asked = self.asked.entry(to.clone()).or_default();
        let now = Instant::now();
        while let Some(oldest) = asked.first_entry() {
            if now - oldest.get().1 < ASKED_TIME_MAX {
                break;
            }
            oldest.remove();
        }
        asked.insert(call.number, (call, now));
    }

    fn note_down(&self) {
        let down = self.node.down();
        *self.down.lock().unwrap_or_else(PoisonError::into_inner) = down;
    }
}
