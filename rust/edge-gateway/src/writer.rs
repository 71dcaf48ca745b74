//! The one thread that merges and writes: what has come goes into one commit, and is acknowledged behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use afterbay_edge_link::{Message, Refusal, Sender};
use afterbay_edge_wire::{DecodeError, Frame, Verdict, is_name};

use crate::error::GatewayError;
use crate::merge::{Merge, Refused, fenced};
use crate::options::{Absent, Partitions};
use crate::output::Output;
use crate::room::Taken;
use crate::sites::{KnownKey, SiteKeys};
use crate::status::{GatewayStatus, RevokedSite, SiteStatus, StreamStatus};

/// Bytes of rows from which on a commit begins.
const COMMIT_BYTES: usize = 8 << 20;
/// Requests in one commit.
const COMMIT_REQUESTS: usize = 10_000;
/// How often clocks, and the folder of keys, are looked at.
const TICK: Duration = Duration::from_millis(100);
/// How often keys of sites that are connected are looked at.
const KEYS_TICK: Duration = Duration::from_secs(1);
/// Between two attempts to open an output that failed.
const RETRY: Duration = Duration::from_millis(500);

/// What a session wants.
#[derive(Debug)]
pub(crate) enum Request {
    /// A site has connected.
    Came(u64, Client),
    /// It says something, but for frames.
    Says(u64, Message),
    /// It sends a frame: that, or what is wrong with it.
    Sends(u64, Result<Frame<'static>, DecodeError>, Taken),
    /// It has gone.
    Gone(u64),
    /// The end.
    Stop,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) site: String,
    /// What it has proved.
    pub(crate) key: KnownKey,
    /// What it is to be told.
    pub(crate) answers: SyncSender<Message>,
    pub(crate) link: Sender,
    /// Streams that it has opened.
    pub(crate) streams: Vec<String>,
}

/// What the status shows.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    status: Mutex<GatewayStatus>,
    /// A site whose key could not be read when it came last, and why.
    key_error: Mutex<Option<(String, String)>>,
    /// By site. There are no more of them than there were files of keys.
    revoked: Mutex<BTreeMap<String, RevokedSite>>,
    /// Why nobody knows which sites have keys.
    keys_away: Mutex<Option<String>>,
    failed: Mutex<Option<GatewayError>>,
}

impl Shared {
    pub(crate) fn status(&self) -> GatewayStatus {
        let (key_error, revoked) = (self.why_no_key(), self.revoked());
        GatewayStatus { key_error, revoked, ..self.lock().clone() }
    }

    /// Sites that were sent away since their keys have gone or changed.
    pub(crate) fn revoked(&self) -> Vec<RevokedSite> {
        self.revoked_sites().values().cloned().collect()
    }

    fn revoked_sites(&self) -> MutexGuard<'_, BTreeMap<String, RevokedSite>> {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is wrong with keys.
    pub(crate) fn why_no_key(&self) -> Option<String> {
        let away = self.keys_away.lock().unwrap_or_else(PoisonError::into_inner).clone();
        away.or_else(|| self.key_error().clone().map(|(_, error)| error))
    }

    fn keys_are(&self, away: Option<String>) {
        *self.keys_away.lock().unwrap_or_else(PoisonError::into_inner) = away;
    }

    pub(crate) fn failed(&self) -> Option<GatewayError> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A site has come whose key cannot be read.
    pub(crate) fn key_failed(&self, site: &str, error: String) {
        *self.key_error() = Some((site.to_owned(), error));
    }

    /// The key of a site was read, or it has none.
    pub(crate) fn key_is_read(&self, site: &str) {
        self.key_error().take_if(|(failed, _)| failed == site);
    }

    fn key_error(&self) -> MutexGuard<'_, Option<(String, String)>> {
        self.key_error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, GatewayStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Writer {
    pub(crate) output: Box<dyn Output>,
    pub(crate) partitions: Partitions,
    pub(crate) absent: Absent,
    pub(crate) keys: SiteKeys,
    pub(crate) requests: Receiver<Request>,
    pub(crate) shared: Arc<Shared>,
    clients: BTreeMap<u64, Client>,
    /// Since when a site of a stream is away: by stream and site.
    away: BTreeMap<(String, String), Instant>,
    /// Streams that the output has not taken, and that no site has opened since; and why.
    held: BTreeMap<String, String>,
    /// Sites with keys, as far as is known.
    sites: Option<BTreeSet<String>>,
    commits: u64,
}

/// That something was taken, or why not.
type Judged = Result<(), (Refusal, String)>;

/// What a batch leaves to be said: the last acknowledgement of each connection and stream.
type Acknowledgements = BTreeMap<(u64, String), (u64, u64)>;

impl Writer {
    pub(crate) fn new(
        output: Box<dyn Output>,
        options: (Partitions, Absent),
        keys: SiteKeys,
        requests: Receiver<Request>,
        shared: Arc<Shared>,
    ) -> Self {
        let (partitions, absent) = options;
        let (clients, away, held) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self {
            output,
            partitions,
            absent,
            keys,
            requests,
            shared,
            clients,
            away,
            held,
            sites: None,
            commits: 0,
        }
    }

    /// What the output has; opens it.
    pub(crate) fn recover(&mut self) -> Result<Merge, GatewayError> {
        let records = self.output.recover()?;
        let mut merge = Merge::recover(&records, self.partitions)?;
        merge.limit_rows(self.output.row_bytes_max());
        self.held.keys().for_each(|stream| merge.hold(stream));
        self.look_at_sites()?;
        self.sites.iter().for_each(|sites| merge.register(sites));
        self.show(&merge, None);
        Ok(merge)
    }

    /// Works until somebody ends it.
    pub(crate) fn run(mut self, mut merge: Merge) {
        loop {
            match self.work(&mut merge) {
                Ok(()) => return,
                Err(error) => {
                    self.show(&merge, Some(error.to_string()));
                    if let GatewayError::Stream { stream, reason } = &error {
                        self.held.insert(stream.clone(), reason.clone());
                    }
                    if error.is_final() {
                        return self.give_up(error);
                    }
                }
            }
            // What was merged and not committed has never been: sites send it again.
            self.clients.values().for_each(|client| client.link.close());
            merge = loop {
                match self.recover() {
                    Ok(merge) => break merge,
                    Err(error) if error.is_final() => return self.give_up(error),
                    Err(error) => self.shared.lock().error = Some(error.to_string()),
                }
                if self.is_ended_within(RETRY) {
                    return;
                }
            };
        }
    }

    /// Nothing is acknowledged any more.
    fn give_up(&self, error: GatewayError) {
        self.clients.values().for_each(|client| client.link.close());
        self.shared.lock().error = Some(error.to_string());
        *self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// Only connections that come and go are taken note of meanwhile.
    fn is_ended_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            match self.requests.recv_timeout(left) {
                Ok(Request::Stop) | Err(RecvTimeoutError::Disconnected) => return true,
                Ok(Request::Came(_, client)) => client.link.close(),
                Ok(Request::Gone(id)) => drop(self.clients.remove(&id)),
                Ok(Request::Says(..) | Request::Sends(..)) => {}
                Err(RecvTimeoutError::Timeout) => return false,
            }
        }
        false
    }

    fn work(&mut self, merge: &mut Merge) -> Result<(), GatewayError> {
        let (mut looked, mut keys_looked) = (Instant::now(), Instant::now());
        loop {
            let (mut acknowledgements, mut ends) = (Acknowledgements::new(), false);
            match self.requests.recv_timeout(TICK) {
                Ok(request) => {
                    ends = self.take(merge, request, &mut acknowledgements);
                    for _ in 1..COMMIT_REQUESTS {
                        if ends || merge.bytes() > COMMIT_BYTES {
                            break;
                        }
                        let Ok(request) = self.requests.try_recv() else { break };
                        ends = self.take(merge, request, &mut acknowledgements);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => ends = true,
            }
            let looks = looked.elapsed() >= TICK;
            if looks {
                looked = Instant::now();
                self.look_at_sites()?;
                self.sites.iter().for_each(|sites| merge.register(sites));
                self.look_at_clocks(merge);
                if keys_looked.elapsed() >= KEYS_TICK {
                    keys_looked = Instant::now();
                    self.look_at_keys();
                }
            }
            self.commit(merge)?;
            for ((id, stream), (epoch, next)) in acknowledgements {
                self.tell(id, Message::Next { stream, epoch, next });
            }
            if looks || ends {
                self.show(merge, None);
            }
            if ends {
                return Ok(());
            }
        }
    }

    fn commit(&mut self, merge: &mut Merge) -> Result<(), GatewayError> {
        let (rows, records) = merge.take();
        if rows.is_empty() && records.is_empty() {
            return Ok(());
        }
        self.output.commit(&rows, &records)?;
        self.commits += 1;
        Ok(())
    }

    /// Takes a request; true if it is the last one.
    fn take(&mut self, merge: &mut Merge, request: Request, acks: &mut Acknowledgements) -> bool {
        match request {
            Request::Came(id, client) => {
                self.shared.revoked_sites().remove(&client.site);
                self.clients.insert(id, client);
            }
            Request::Gone(id) => {
                self.clients.remove(&id);
            }
            Request::Stop => return true,
            // Who has been refused may still say something.
            Request::Says(id, message) => {
                if let Some(site) = self.site(id) {
                    let heard = self.hear(merge, id, &site, message, acks);
                    self.judged(id, heard);
                }
            }
            Request::Sends(id, frame, _taken) => {
                if let Some(site) = self.site(id) {
                    self.judged(id, take_frame(merge, id, &site, frame, acks));
                }
            }
        }
        false
    }

    fn site(&self, id: u64) -> Option<String> {
        self.clients.get(&id).map(|client| client.site.clone())
    }

    /// Says why something was not taken; that is the last word.
    fn judged(&mut self, id: u64, judged: Judged) {
        if let Err((refusal, text)) = judged {
            self.tell(id, Message::Refused { refusal, text });
            self.clients.remove(&id);
        }
    }

    fn hear(
        &mut self,
        merge: &mut Merge,
        id: u64,
        site: &str,
        message: Message,
        acks: &mut Acknowledgements,
    ) -> Judged {
        match message {
            Message::Open { stream, epoch, acknowledged, columns } => {
                if is_name(&stream)
                    && let Some(refused) = self.output.refuses(&stream)
                {
                    if let Refused::NotNow(why) = &refused {
                        self.held.insert(stream, why.clone());
                    }
                    return Err(refusal_of(refused));
                }
                merge.set_now(now_ms());
                let from = (epoch, acknowledged);
                let opened = merge.open(site, &stream, from, &columns).map_err(refusal_of)?;
                self.held.remove(&stream);
                if let Some(client) = self.clients.get_mut(&id) {
                    client.streams.push(stream.clone());
                }
                acks.insert((id, stream), (opened.epoch, opened.next));
                Ok(())
            }
            Message::Skip { stream, epoch, from, to, rows } => {
                let verdict =
                    merge.skip(site, &stream, epoch, from..to, rows).map_err(refusal_of)?;
                judge(verdict, site, (&stream, epoch, to), id, acks)
            }
            Message::Ping => {
                self.tell(id, Message::Pong);
                Ok(())
            }
            _ => Err((Refusal::Protocol, "a site says what only a gateway may say".to_owned())),
        }
    }

    fn tell(&mut self, id: u64, message: Message) {
        let Some(client) = self.clients.get(&id) else { return };
        // Who has gone is told nothing; who does not read ends, and comes again.
        if let Err(TrySendError::Full(_)) = client.answers.try_send(message) {
            client.link.close();
            self.clients.remove(&id);
        }
    }

    /// Who has keys. A folder that is away says nothing about that, but for the first time.
    fn look_at_sites(&mut self) -> Result<(), GatewayError> {
        let names = self.keys.names();
        self.shared.keys_are(names.as_ref().err().map(ToString::to_string));
        match names {
            Ok(names) => self.sites = Some(names),
            Err(error) if self.sites.is_none() => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }

    /// Who has lost its key may say nothing more.
    fn look_at_keys(&mut self) {
        self.keys.forget_changed();
        let mut lost = Vec::new();
        for (id, client) in &mut self.clients {
            if !self.keys.holds(&client.site, &mut client.key) {
                let file = self.keys.path(&client.site);
                let revoked = RevokedSite {
                    site: client.site.clone(),
                    key: client.key.key.access.clone(),
                    replaced: file.exists(),
                    file,
                    since_ms: now_ms(),
                };
                lost.push((*id, revoked));
            }
        }
        for (id, revoked) in lost {
            self.tell(id, Message::Refused { refusal: Refusal::Key, text: revoked.to_site() });
            self.clients.remove(&id);
            self.shared.revoked_sites().insert(revoked.site.clone(), revoked);
        }
    }

    /// Streams and sites that are connected.
    fn connected(&self) -> BTreeSet<(String, String)> {
        let of = |client: &Client| {
            let site = client.site.clone();
            let pair = move |stream: &String| (stream.clone(), site.clone());
            client.streams.iter().map(pair).collect::<Vec<_>>()
        };
        self.clients.values().flat_map(of).collect()
    }

    fn look_at_clocks(&mut self, merge: &mut Merge) {
        let Absent::Deadline(deadline) = self.absent else { return };
        let all: Vec<(String, String)> = merge
            .streams()
            .iter()
            .flat_map(|(stream, known)| {
                known.sites.keys().map(|site| (stream.clone(), site.clone()))
            })
            .collect();
        let connected = self.connected();
        for key in all {
            if connected.contains(&key) {
                self.away.remove(&key);
                merge.exclude(&key.0, &key.1, false);
            } else {
                let since = *self.away.entry(key.clone()).or_insert_with(Instant::now);
                if since.elapsed() > deadline {
                    merge.exclude(&key.0, &key.1, true);
                }
            }
        }
    }

    fn show(&self, merge: &Merge, error: Option<String>) {
        let all = self.connected();
        let streams = merge.streams().iter().map(|(name, stream)| {
            let site = |(site, known): (&String, &crate::merge::Site)| SiteStatus {
                site: site.clone(),
                partition: known.record.partition,
                connected: all.contains(&(name.clone(), site.clone())),
                excluded: known.record.excluded,
                epoch: known.record.epoch,
                next: known.record.next,
                watermark: known.record.watermark,
                rows: known.record.rows,
                late: known.record.late,
                large: known.record.large,
                gaps: known.record.gaps,
                lost_rows: known.record.lost_rows,
            };
            let partitions = stream.partitions.iter();
            let status = StreamStatus {
                stream: name.clone(),
                partitions: partitions.map(|(number, one)| (*number, one.watermark)).collect(),
                sites: stream.sites.iter().map(site).collect(),
                held: self.held.get(name).cloned(),
            };
            (name.clone(), status)
        });
        let mut streams: BTreeMap<String, StreamStatus> = streams.collect();
        // Also those that no site could open.
        for (stream, why) in &self.held {
            streams.entry(stream.clone()).or_insert_with(|| StreamStatus {
                stream: stream.clone(),
                partitions: Vec::new(),
                sites: Vec::new(),
                held: Some(why.clone()),
            });
        }
        let (streams, connections) = (streams.into_values().collect(), self.clients.len());
        let commits = self.commits;
        *self.shared.lock() =
            GatewayStatus { streams, commits, connections, error, ..GatewayStatus::default() };
    }
}

/// Since 1970.
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(0)
}

fn take_frame(
    merge: &mut Merge,
    id: u64,
    site: &str,
    frame: Result<Frame<'static>, DecodeError>,
    acks: &mut Acknowledgements,
) -> Judged {
    let protocol = |text: String| (Refusal::Protocol, text);
    let frame = frame.map_err(|error| protocol(error.to_string()))?;
    if frame.site != site {
        return Err(protocol(format!("site {site} sends a frame of site {}", frame.site)));
    }
    let verdict = merge.frame(&frame).map_err(refusal_of)?;
    let next = frame.sequence + 1;
    judge(verdict, site, (&frame.stream, frame.epoch, next), id, acks)
}

/// Acknowledges, or says why not.
fn judge(
    verdict: Verdict,
    site: &str,
    (stream, epoch, next): (&str, u64, u64),
    id: u64,
    acks: &mut Acknowledgements,
) -> Judged {
    match verdict {
        Verdict::Take | Verdict::Have => {
            let ack = acks.entry((id, stream.to_owned())).or_insert((epoch, next));
            // What is there already is not said to be less than what was said before.
            *ack = if ack.0 == epoch { (epoch, ack.1.max(next)) } else { (epoch, next) };
            Ok(())
        }
        Verdict::Gap { next } => Err((
            Refusal::Busy,
            format!("frame {next} of stream {stream} is missing: the site has to connect again"),
        )),
        Verdict::Fenced { epoch: newer } => {
            Err((Refusal::Fenced, fenced(site, stream, newer, epoch)))
        }
    }
}

fn refusal_of(refused: Refused) -> (Refusal, String) {
    match refused {
        Refused::Fenced(text) => (Refusal::Fenced, text),
        Refused::Forgotten(text) => (Refusal::Forgotten, text),
        Refused::Columns(text) => (Refusal::Columns, text),
        Refused::Wrong(text) => (Refusal::Protocol, text),
        Refused::NotNow(text) => (Refusal::Busy, text),
    }
}
