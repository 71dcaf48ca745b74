//! Clients: what they ask for, and what they are told.

use std::collections::BTreeMap;
use std::time::Duration;

use afterbay_blob_cluster::{ClientAnswer, ClientError, ClientRequest, Content, Policy};
use afterbay_blob_store::{BlobId, Durability, PartitionId};
use bytes::Bytes;
use uuid::Uuid;

use crate::network::Address;
use crate::random::Random;
use crate::settings::Load;
use crate::story::{Action, Expected, Loss, Outcome, Story};
use crate::violation::{Law, Violation};
use crate::wall_clock::BEGIN_MS;
use crate::world::{Event, World};

/// Expiries from here on are not met within a simulation, whatever clocks do.
pub(crate) const FAR_MS: u64 = BEGIN_MS + 86_400_000;

/// Bodies begin with the number of the call that put them.
const NUMBER_BYTES: usize = 8;

/// Clients, with what they know.
#[derive(Debug)]
pub(crate) struct Clients {
    load: Load,
    random: Random,
    /// Blobs whose put was acknowledged.
    pub(crate) stories: Vec<Story>,
    by_id: BTreeMap<BlobId, usize>,
    /// What was ever put, by the number of the call.
    bodies: BTreeMap<u64, Bytes>,
    open: BTreeMap<u64, Open>,
    asked: u32,
    calls: u64,
    pub(crate) counts: Counts,
}

/// What came out of requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests.
    pub asked: u64,
    /// Changes that were acknowledged.
    pub done: u64,
    /// Reads that returned the blob.
    pub read: u64,
    /// Requests that were refused: there is no such blob, it is deleted, expired or not deleted.
    pub refused: u64,
    /// Requests whose end nobody knows.
    pub unknown: u64,
}

/// A request without an answer.
#[derive(Debug)]
struct Open {
    client: u32,
    what: What,
}

#[derive(Debug)]
enum What {
    Put(Story),
    /// Of a story, when so many changes were asked for.
    Get {
        story: usize,
        steps: usize,
        is_last: bool,
    },
    Change(usize),
}

impl Clients {
    pub(crate) fn new(load: Load, random: Random) -> Self {
        Clients {
            load,
            random,
            stories: Vec::new(),
            by_id: BTreeMap::new(),
            bodies: BTreeMap::new(),
            open: BTreeMap::new(),
            asked: 0,
            calls: 0,
            counts: Counts::default(),
        }
    }

    /// How long a client waits for an answer.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs(4)
    }

    /// Whether a client waits for something.
    pub(crate) fn are_waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// No more requests.
    pub(crate) fn stop(&mut self) {
        self.asked = self.load.requests;
    }

    /// What was put in the put that has this body, if there was one.
    pub(crate) fn was_put(&self, body: &[u8]) -> bool {
        let number = body.get(..NUMBER_BYTES).and_then(|bytes| bytes.try_into().ok());
        let put = number.and_then(|number| self.bodies.get(&u64::from_le_bytes(number)));
        put.is_some_and(|put| put == body)
    }

    pub(crate) fn story_of(&self, id: BlobId) -> Option<&Story> {
        self.by_id.get(&id).map(|&at| &self.stories[at])
    }

    /// A disk lost what it had.
    pub(crate) fn lose(&mut self, disk: Address, loss: Loss) {
        let open = self.open.values_mut().filter_map(|open| match &mut open.what {
            What::Put(story) => Some(story),
            _ => None,
        });
        open.chain(&mut self.stories).for_each(|story| story.lose(disk, loss));
    }

    /// Nobody can know that a blob was deleted, if it was.
    pub(crate) fn forget_deletes(&mut self, id: BlobId) -> bool {
        self.by_id.get(&id).is_some_and(|&at| self.stories[at].forget_deletes())
    }

    /// All replicas have the same.
    pub(crate) fn all_have_it(&mut self) {
        self.stories.iter_mut().for_each(Story::all_have_it);
    }

    fn expiry(&mut self, now: Duration) -> u64 {
        match self.random.below(6) {
            0 => BEGIN_MS + now.as_millis() as u64 + self.random.between(1_000, 8_000),
            1 => FAR_MS + self.random.below(1_000_000),
            _ => 0,
        }
    }

    fn policy(&mut self) -> Policy {
        if self.random.below(100) < self.load.one_percent {
            return Policy::One;
        }
        let policies = [Policy::K(2), Policy::K(2), Policy::Majority, Policy::All];
        *self.random.pick(&policies).unwrap_or(&Policy::Majority)
    }

    fn class(&mut self) -> Durability {
        if self.random.below(100) < self.load.fast_percent {
            Durability::Fast
        } else if self.random.one_in(8) {
            Durability::Paranoid
        } else {
            Durability::Durable
        }
    }

    /// One of the blobs, a new one more often.
    fn any_story(&mut self) -> Option<usize> {
        let count = self.stories.len() as u64;
        let among = if self.random.one_in(2) { count.min(5) } else { count };
        (among > 0).then(|| (count - 1 - self.random.below(among)) as usize)
    }

    fn body(&mut self, call: u64) -> Bytes {
        let length = self.random.between(0, self.load.body_bytes_max) as usize;
        let mut body = call.to_le_bytes().to_vec();
        body.extend(self.random.bytes(length));
        body.into()
    }

    /// The next request, and what it is.
    fn choose(&mut self, call: u64, now: Duration) -> (ClientRequest, What) {
        let weights = self.load.weights;
        let mut drawn = self.random.below(weights.iter().sum());
        let kind = weights.iter().position(|&weight| {
            let is_this = drawn < weight;
            drawn = drawn.saturating_sub(weight);
            is_this
        });
        let story = self.any_story();
        let (class, policy, expires_ms) = (self.class(), self.policy(), self.expiry(now));
        let action = match kind {
            Some(2) => Action::Delete,
            Some(3) => Action::Undelete,
            Some(4) => Action::UpdateTtl(expires_ms),
            _ => Action::Put,
        };
        match (story, kind) {
            (Some(story), Some(1)) => self.get(story, false),
            (Some(story), Some(2..)) if !self.stories[story].is_waited_for() => {
                let of = &mut self.stories[story];
                of.ask(action, class);
                (change(of.id, action, class, policy), What::Change(story))
            }
            // Somebody else changes it.
            (Some(story), Some(2..)) => self.get(story, false),
            _ => {
                let body = self.body(call);
                self.bodies.insert(call, body.clone());
                let id = BlobId { partition: PartitionId(0), uuid: Uuid::nil() };
                let mut story = Story { id, body: body.clone(), expires_ms, steps: Vec::new() };
                story.ask(Action::Put, class);
                let content = Content { container: 0, properties: Bytes::new(), body };
                (ClientRequest::Put { content, expires_ms, class, policy }, What::Put(story))
            }
        }
    }

    fn get(&mut self, story: usize, is_last: bool) -> (ClientRequest, What) {
        let of = &self.stories[story];
        let what = What::Get { story, steps: of.steps.len(), is_last };
        (ClientRequest::Get { id: of.id, range: 0..u32::MAX }, what)
    }

    /// The answer to a call; who waited for it.
    fn hear(
        &mut self,
        call: u64,
        answer: ClientAnswer,
        now: Duration,
    ) -> Result<Option<u32>, Violation> {
        let Some(Open { client, what }) = self.open.remove(&call) else {
            // Nobody waits for it any more.
            return Ok(None);
        };
        match (what, answer) {
            (What::Put(mut story), ClientAnswer::Put { id, replicas }) => {
                self.counts.done += 1;
                story.id = id;
                story.answer(Outcome::Done, replicas.len(), now);
                if self.by_id.insert(id, self.stories.len()).is_some() {
                    return Err(Violation::new(Law::Ids, id, "two puts got it"));
                }
                self.stories.push(story);
            }
            (What::Put(_), _) => self.counts.unknown += 1,
            (What::Get { story, is_last, .. }, ClientAnswer::Got { bytes, .. }) => {
                self.counts.read += 1;
                self.check_read(story, &bytes, is_last)?;
            }
            (What::Get { story, steps, is_last }, ClientAnswer::Failed(error)) => {
                if is_refusal(&error) {
                    self.counts.refused += 1;
                } else {
                    self.counts.unknown += 1;
                }
                if self.stories[story].steps.len() == steps {
                    check_error(&self.stories[story], &error, is_last)?;
                }
            }
            (What::Change(story), ClientAnswer::Done { replicas }) => {
                self.counts.done += 1;
                self.stories[story].answer(Outcome::Done, replicas.len(), now);
            }
            (What::Change(story), ClientAnswer::Failed(error)) if is_refusal(&error) => {
                self.counts.refused += 1;
                let story = &mut self.stories[story];
                story.answer(Outcome::Refused, 0, now);
                check_error(story, &error, false)?;
            }
            (What::Change(story), _) => {
                self.counts.unknown += 1;
                self.stories[story].answer(Outcome::Unknown, 0, now);
            }
            (What::Get { story, .. }, answer) => {
                let id = self.stories[story].id;
                return Err(Violation::new(Law::Content, id, format!("a read got {answer:?}")));
            }
        }
        Ok(Some(client))
    }

    fn check_read(&self, story: usize, bytes: &[u8], is_last: bool) -> Result<(), Violation> {
        let story = &self.stories[story];
        if *bytes != story.body {
            let (read, put) = (bytes.len(), story.body.len());
            let found = format!("a read got {read} bytes that are not the {put} of the put");
            return Err(Violation::new(Law::Content, story.id, found));
        }
        // Before it is quiet, a replica may answer that has not heard of a delete.
        if is_last && story.is_deleted() == Expected::Yes {
            return Err(Violation::new(
                Law::Deleted,
                story.id,
                "it was deleted, and a read got it",
            ));
        }
        Ok(())
    }
}

fn change(id: BlobId, action: Action, class: Durability, policy: Policy) -> ClientRequest {
    match action {
        Action::Undelete => ClientRequest::Undelete { id, class, policy },
        Action::UpdateTtl(expires_ms) => ClientRequest::UpdateTtl { id, expires_ms, class, policy },
        Action::Put | Action::Delete => ClientRequest::Delete { id, class, policy },
    }
}

/// Whether nothing was changed because of what the blob is.
fn is_refusal(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::NotFound
            | ClientError::Deleted
            | ClientError::Expired
            | ClientError::NotDeleted
            | ClientError::Busy
    )
}

/// An error if a request must not be answered so.
fn check_error(story: &Story, error: &ClientError, is_last: bool) -> Result<(), Violation> {
    let deletes = story
        .steps
        .iter()
        .any(|step| step.action == Action::Delete && step.outcome != Outcome::Refused);
    // Nothing that was ever said of it can be so.
    let is_untouched = story.must_exist() && !deletes && !story.ever_expires_before(FAR_MS);
    let must_be_read = is_last
        && story.must_exist()
        && story.is_deleted() == Expected::No
        && !story.ever_expires_before(FAR_MS);
    let law = match error {
        ClientError::NotFound if is_untouched => Law::Acknowledged,
        ClientError::Deleted if is_untouched => Law::Deleted,
        ClientError::Expired if !story.ever_expires_before(FAR_MS) => Law::Expiry,
        // Who asks so many replicas that one of them knows meets none that does if that one has lost it. It stays deleted.
        ClientError::NotDeleted
            if story.is_deleted() == Expected::Yes && story.is_deleted_everywhere_it_was() =>
        {
            Law::Deleted
        }
        _ if must_be_read => Law::Acknowledged,
        _ => return Ok(()),
    };
    Err(Violation::new(law, story.id, format!("a client was told {error:?}")))
}

impl World {
    /// It is a client's turn.
    pub(crate) fn turn(&mut self, client: u32) {
        let now = self.now();
        let clients = &mut self.clients;
        if clients.asked >= clients.load.requests {
            return;
        }
        clients.asked += 1;
        let call = clients.next_call();
        let (request, what) = clients.choose(call, now);
        let there = self.machines.iter().filter(|machine| !machine.is_gone);
        let there: Vec<_> = there.map(|machine| machine.address).collect();
        let Some(&node) = clients.random.pick(&there) else {
            return;
        };
        clients.open.insert(call, Open { client, what });
        self.request(node, call, request);
    }

    /// All blobs are read once more, each by one of these nodes.
    pub(crate) fn read_all(&mut self, nodes: &[Address]) {
        for story in 0..self.clients.stories.len() {
            let clients = &mut self.clients;
            let call = clients.next_call();
            let (request, what) = clients.get(story, true);
            clients.open.insert(call, Open { client: u32::MAX, what });
            if let Some(&node) = self.clients.random.pick(nodes) {
                self.request(node, call, request);
            }
        }
    }

    /// A client gets an answer.
    pub(crate) fn answer(&mut self, call: u64, answer: ClientAnswer) -> Result<(), Violation> {
        let now = self.now();
        if let Some(client) = self.clients.hear(call, answer, now)? {
            self.rest(client);
        }
        Ok(())
    }

    /// A client does not wait any longer.
    pub(crate) fn give_up(&mut self, call: u64) -> Result<(), Violation> {
        let reason = "no answer came".to_owned();
        let error = ClientError::Unavailable { answered: 0, needed: 0, reason };
        self.answer(call, ClientAnswer::Failed(error))
    }

    /// A client's next turn comes.
    pub(crate) fn rest(&mut self, client: u32) {
        let mean = self.clients.load.idle_mean.as_micros() as u64;
        let idle = Duration::from_micros(self.clients.random.around(mean));
        self.events.add(idle, Event::Turn { client });
    }

    /// All clients begin.
    pub(crate) fn begin_clients(&mut self) {
        (0..self.clients.load.clients).for_each(|client| self.rest(client));
    }
}

impl Clients {
    fn next_call(&mut self) -> u64 {
        self.calls += 1;
        self.counts.asked += 1;
        self.calls
    }
}
