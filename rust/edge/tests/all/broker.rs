//! A broker of MQTT 3.1.1 and 5 in memory: sessions that stay, QoS 1 that is sent again with DUP, and what goes wrong.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::BytesMut;
use rumqttc::v5::mqttbytes::QoS as QoS5;
use rumqttc::v5::mqttbytes::v5 as five;
use rumqttc::{QoS, mqttbytes::v4 as three};

const PACKET_BYTES_MAX: usize = 64 << 20;

/// See the module. It goes with its process.
pub(crate) struct Broker {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    /// Connections that have heard something, and wait for the state to answer.
    asking: Arc<AtomicU64>,
}

/// Who wants to know what is acknowledged.
type Watch = Box<dyn FnMut(&Published) + Send>;

/// A message, by its number of those that were published.
#[derive(Clone)]
pub(crate) struct Published {
    pub(crate) number: u64,
    pub(crate) topic: String,
    pub(crate) payload: Vec<u8>,
}

/// What a client has published.
pub(crate) struct Taken {
    pub(crate) client: String,
    pub(crate) topic: String,
    pub(crate) payload: String,
}

/// Everything, for tests to look at and to change.
#[derive(Default)]
pub(crate) struct State {
    sessions: BTreeMap<String, Session>,
    published: u64,
    connected: u64,
    /// Messages that may be on their way to a client; 0 is as many as it likes.
    pub(crate) window: usize,
    /// Nobody gets in.
    pub(crate) is_down: bool,
    /// Who gets in, if not everybody.
    pub(crate) login: Option<(String, String)>,
    /// What everybody is told who connects, by MQTT 3.1.1 and 5.
    pub(crate) refusal: Option<(three::ConnectReturnCode, five::ConnectReturnCode)>,
    /// Topic filters that are refused, and those that get QoS 0 only.
    pub(crate) denied: BTreeSet<String>,
    pub(crate) only_qos0: BTreeSet<String>,
    /// So many who subscribe lose their connection before anything is noted.
    pub(crate) loses_subscriptions: u64,
    /// Connections are closed as soon as they are there.
    pub(crate) closes: bool,
    /// Called for what is acknowledged.
    pub(crate) watch: Option<Watch>,
    /// What clients have published, and the broker has kept.
    pub(crate) taken: Vec<Taken>,
    /// What clients publish is neither kept nor acknowledged; so many were not.
    pub(crate) is_deaf: bool,
    pub(crate) unheard: u64,
    /// What clients of MQTT 5 are told of what they publish.
    pub(crate) denies: Option<five::PubAckReason>,
    /// The most messages at once, and bytes of one, that clients of MQTT 5 are told.
    pub(crate) limits: Option<(u16, u32)>,
    /// It is killed with every so manieth message that a client publishes, in turns before and behind the moment at which it keeps
    /// that, and never with an acknowledgement. 0 is never.
    pub(crate) dies_every: u64,
    /// How often that was, and how often after it had kept the message.
    pub(crate) deaths: (u64, u64),
    came: u64,
    /// Messages that were acknowledged, and acknowledgements of none.
    pub(crate) acknowledged: Vec<u64>,
    pub(crate) stray: u64,
    /// How often somebody has said that it goes.
    pub(crate) goodbyes: u64,
    /// Messages that were sent again.
    pub(crate) again: u64,
    /// The most that were on their way at once.
    pub(crate) most_in_flight: usize,
}

#[derive(Default)]
struct Session {
    filters: BTreeSet<String>,
    waiting: VecDeque<Published>,
    in_flight: VecDeque<(u16, Published)>,
    last_packet: u16,
    link: Option<Link>,
}

struct Link {
    number: u64,
    stream: TcpStream,
    is_v5: bool,
    receive_max: usize,
}

/// What a client says.
enum Said {
    Connect { id: String, login: Option<(String, String)>, clean: bool, receive_max: usize },
    Subscribe { packet: u16, filters: Vec<String> },
    Acknowledge(u16),
    Publish { packet: u16, topic: String, payload: Vec<u8> },
    Ping,
    Goodbye,
    End,
}

impl Broker {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { window: 20, ..State::default() }));
        let asking = Arc::<AtomicU64>::default();
        let mine = (state.clone(), asking.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (state, asking) = mine.clone();
                std::thread::spawn(move || serve(stream, &state, &asking));
            }
        });
        Self { address, state, asking }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("mqtt://{}", self.address)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn publish(&self, topic: &str, payload: impl Into<Vec<u8>>) {
        self.state().publish(topic, payload.into(), false);
    }

    /// Waits for who is slow to read; in front of that, everybody is answered, as with a ping.
    pub(crate) fn publish_qos0(&self, topic: &str, payload: impl Into<Vec<u8>>) {
        while self.asking.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.state().publish(topic, payload.into(), true);
    }

    /// Whether somebody who is connected has subscribed to something.
    pub(crate) fn is_listened_to(&self) -> bool {
        let state = self.state();
        state.sessions.values().any(|session| session.link.is_some() && !session.filters.is_empty())
    }

    /// Messages that nobody has acknowledged.
    pub(crate) fn kept(&self) -> usize {
        let state = self.state();
        state.sessions.values().map(|session| session.waiting.len() + session.in_flight.len()).sum()
    }

    /// What clients have published on a topic.
    pub(crate) fn taken(&self, topic: &str) -> Vec<String> {
        let state = self.state();
        let taken = state.taken.iter().filter(|message| message.topic == topic);
        taken.map(|message| message.payload.clone()).collect()
    }

    /// Closes all connections.
    pub(crate) fn cut(&self) {
        self.state().cut();
    }

    /// Publishes, and closes all connections before anything of that can be acknowledged.
    pub(crate) fn publish_and_cut(&self, topic: &str, payloads: impl Iterator<Item = String>) {
        let mut state = self.state();
        payloads.for_each(|payload| state.publish(topic, payload.into_bytes(), false));
        state.cut();
    }

    /// Forgets all sessions, as a broker without a disk does that is started again.
    pub(crate) fn forget(&self) {
        self.state().forget();
    }

    /// The same, and nobody gets in until it is up again.
    pub(crate) fn forget_and_go(&self) {
        let mut state = self.state();
        state.is_down = true;
        state.forget();
    }
}

impl State {
    fn publish(&mut self, topic: &str, payload: Vec<u8>, qos0: bool) {
        let number = self.published;
        self.published += 1;
        for session in self.sessions.values_mut() {
            if session.filters.iter().any(|filter| rumqttc::matches(topic, filter)) {
                let (topic, payload) = (topic.to_owned(), payload.clone());
                let message = Published { number, topic, payload };
                // What nobody acknowledges waits for nothing, and is for those who are there.
                match &mut session.link {
                    Some(link) if qos0 => link.publish(0, false, &message),
                    _ if qos0 => {}
                    _ => session.waiting.push_back(message),
                }
            }
        }
        self.send();
    }

    /// Sends what the windows let through.
    fn send(&mut self) {
        for session in self.sessions.values_mut() {
            let Some(link) = &mut session.link else { continue };
            let window = if self.window == 0 { usize::MAX } else { self.window };
            while session.in_flight.len() < window.min(link.receive_max)
                && let Some(message) = session.waiting.pop_front()
            {
                let in_use = |packet| session.in_flight.iter().any(|(used, _)| *used == packet);
                // As most brokers do: the next one that is free.
                loop {
                    session.last_packet = session.last_packet % 1100 + 1;
                    if !in_use(session.last_packet) || session.in_flight.len() >= 1100 {
                        break;
                    }
                }
                link.publish(session.last_packet, false, &message);
                session.in_flight.push_back((session.last_packet, message));
            }
            self.most_in_flight = self.most_in_flight.max(session.in_flight.len());
        }
    }

    /// Keeps what a client has published. False if it is killed.
    fn take(&mut self, id: &str, packet: u16, topic: &str, payload: Vec<u8>) -> bool {
        if self.is_deaf {
            self.unheard += 1;
            return true;
        }
        let denies = self.denies;
        if denies.is_none() {
            self.came += 1;
            let dies = self.dies_every > 0 && self.came.is_multiple_of(self.dies_every);
            self.deaths.0 += u64::from(dies);
            if dies && self.deaths.0 % 2 == 1 {
                return false;
            }
            self.taken.push(Taken {
                client: id.to_owned(),
                topic: topic.to_owned(),
                payload: String::from_utf8(payload.clone()).unwrap(),
            });
            self.publish(topic, payload, false);
            if dies {
                self.deaths.1 += 1;
                return false;
            }
        }
        if let Some(link) = self.sessions.get_mut(id).and_then(|session| session.link.as_mut()) {
            link.acknowledge(packet, denies);
        }
        true
    }

    fn cut(&mut self) {
        for session in self.sessions.values_mut() {
            session.link.take().inspect(Link::close);
        }
    }

    fn forget(&mut self) {
        self.cut();
        self.sessions.clear();
    }

    /// Whether the connection may stay.
    fn hear(&mut self, said: Said, number: u64, stream: &TcpStream, is_v5: bool, id: &str) -> bool {
        match said {
            Said::Connect { id, login, clean, receive_max } => {
                let wrong = self.login.is_some() && login != self.login;
                let refusal = if wrong {
                    let of = (
                        three::ConnectReturnCode::BadUserNamePassword,
                        five::ConnectReturnCode::BadUserNamePassword,
                    );
                    Some(of)
                } else {
                    self.refusal
                };
                if self.is_down {
                    return false;
                }
                let mut link =
                    Link { number, stream: stream.try_clone().unwrap(), is_v5, receive_max };
                if let Some(refusal) = refusal {
                    link.accept(false, Some(refusal), None);
                    return false;
                }
                if clean {
                    self.sessions.remove(&id);
                }
                let is_known = self.sessions.contains_key(&id);
                link.accept(is_known, None, self.limits);
                if self.closes {
                    return false;
                }
                let session = self.sessions.entry(id).or_default();
                if let Some(mut other) = session.link.take() {
                    other.take_over();
                }
                for (packet, message) in &session.in_flight {
                    link.publish(*packet, true, message);
                    self.again += 1;
                }
                session.link = Some(link);
            }
            Said::Subscribe { packet, filters } => {
                if self.loses_subscriptions > 0 {
                    self.loses_subscriptions -= 1;
                    return false;
                }
                let Some(session) = self.sessions.get_mut(id) else { return false };
                let Some(link) = &mut session.link else { return false };
                let said: Vec<Option<bool>> = filters
                    .iter()
                    .map(|filter| {
                        let denied = self.denied.contains(filter);
                        (!denied).then(|| !self.only_qos0.contains(filter))
                    })
                    .collect();
                session.filters.extend(filters);
                link.subscribed(packet, &said);
            }
            Said::Acknowledge(packet) => {
                let Some(session) = self.sessions.get_mut(id) else { return false };
                let place = session.in_flight.iter().position(|(used, _)| *used == packet);
                match place.and_then(|place| session.in_flight.remove(place)) {
                    Some((_, message)) => {
                        if let Some(watch) = &mut self.watch {
                            watch(&message);
                        }
                        self.acknowledged.push(message.number);
                    }
                    None => self.stray += 1,
                }
            }
            Said::Publish { packet, topic, payload } => {
                if !self.take(id, packet, &topic, payload) {
                    self.cut();
                    return false;
                }
            }
            Said::Ping => {
                let Some(session) = self.sessions.get_mut(id) else { return false };
                if let Some(link) = &mut session.link {
                    link.write(&[0xD0, 0]);
                }
            }
            Said::Goodbye => {
                self.goodbyes += 1;
                return false;
            }
            Said::End => return false,
        }
        self.send();
        true
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>, asking: &AtomicU64) {
    let number = {
        let mut state = state.lock().unwrap();
        state.connected += 1;
        state.connected
    };
    let (mut bytes, mut part) = (BytesMut::new(), [0; 4096]);
    let (mut is_v5, mut id) = (None, String::new());
    'all: loop {
        match stream.read(&mut part) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&part[..count]),
            _ => break,
        }
        if is_v5.is_none() && bytes.len() > 16 {
            // Behind the fixed header's 2 bytes, or more, and the name.
            let name = bytes.windows(4).position(|four| four == b"MQTT").unwrap();
            is_v5 = Some(bytes[name + 4] == 5);
        }
        let Some(is_v5) = is_v5 else { continue };
        while let Some(said) = hear(&mut bytes, is_v5) {
            if let Said::Connect { id: said, .. } = &said {
                id.clone_from(said);
            }
            asking.fetch_add(1, Ordering::SeqCst);
            let state = state.lock();
            asking.fetch_sub(1, Ordering::SeqCst);
            let mut state = state.unwrap();
            let is_mine =
                |session: &Session| session.link.as_ref().is_some_and(|link| link.number == number);
            let is_over = !matches!(said, Said::Connect { .. })
                && !state.sessions.get(&id).is_some_and(is_mine);
            if is_over || !state.hear(said, number, &stream, is_v5, &id) {
                break 'all;
            }
        }
    }
    let mut state = state.lock().unwrap();
    if let Some(session) = state.sessions.get_mut(&id)
        && session.link.as_ref().is_some_and(|link| link.number == number)
    {
        session.link = None;
    }
    // A reset would take what has been said with it.
    let _ = stream.shutdown(Shutdown::Both);
}

/// The next thing that is said, if it is there as a whole.
fn hear(bytes: &mut BytesMut, is_v5: bool) -> Option<Said> {
    // DISCONNECT of both versions; the codec of MQTT 5 does not know the short one.
    if bytes.starts_with(&[0xE0, 0]) {
        return Some(Said::Goodbye);
    }
    if is_v5 {
        return match five::Packet::read(bytes, None) {
            Ok(five::Packet::Connect(connect, _, login)) => Some(Said::Connect {
                id: connect.client_id,
                login: login.map(|login| (login.username, login.password)),
                clean: connect.clean_start,
                receive_max: connect
                    .properties
                    .and_then(|it| it.receive_maximum)
                    .map_or(65_535, usize::from),
            }),
            Ok(five::Packet::Subscribe(subscribe)) => Some(Said::Subscribe {
                packet: subscribe.pkid,
                filters: subscribe.filters.into_iter().map(|filter| filter.path).collect(),
            }),
            Ok(five::Packet::PubAck(ack)) => Some(Said::Acknowledge(ack.pkid)),
            Ok(five::Packet::Publish(publish)) => Some(Said::Publish {
                packet: publish.pkid,
                topic: String::from_utf8(publish.topic.to_vec()).unwrap(),
                payload: publish.payload.to_vec(),
            }),
            Ok(five::Packet::PingReq(_)) => Some(Said::Ping),
            Err(rumqttc::v5::mqttbytes::Error::InsufficientBytes(_)) => None,
            _ => Some(Said::End),
        };
    }
    match three::Packet::read(bytes, PACKET_BYTES_MAX) {
        Ok(three::Packet::Connect(connect)) => Some(Said::Connect {
            id: connect.client_id,
            login: connect.login.map(|login| (login.username, login.password)),
            clean: connect.clean_session,
            receive_max: usize::MAX,
        }),
        Ok(three::Packet::Subscribe(subscribe)) => Some(Said::Subscribe {
            packet: subscribe.pkid,
            filters: subscribe.filters.into_iter().map(|filter| filter.path).collect(),
        }),
        Ok(three::Packet::PubAck(ack)) => Some(Said::Acknowledge(ack.pkid)),
        Ok(three::Packet::Publish(publish)) => Some(Said::Publish {
            packet: publish.pkid,
            topic: publish.topic,
            payload: publish.payload.to_vec(),
        }),
        Ok(three::Packet::PingReq) => Some(Said::Ping),
        Err(rumqttc::Error::InsufficientBytes(_)) => None,
        _ => Some(Said::End),
    }
}

impl Link {
    fn write(&mut self, bytes: &[u8]) {
        // Who has gone is noticed by the thread that reads.
        let _ = self.stream.write_all(bytes);
    }

    fn say_three(&mut self, packet: &three::Packet) {
        let mut bytes = BytesMut::new();
        packet.write(&mut bytes, PACKET_BYTES_MAX).unwrap();
        self.write(&bytes);
    }

    fn say_five(&mut self, packet: &five::Packet) {
        let mut bytes = BytesMut::new();
        packet.write(&mut bytes, None).unwrap();
        self.write(&bytes);
    }

    fn accept(
        &mut self,
        session_present: bool,
        refusal: Option<(three::ConnectReturnCode, five::ConnectReturnCode)>,
        limits: Option<(u16, u32)>,
    ) {
        if let Some((count, bytes)) = limits.filter(|_| self.is_v5) {
            // CONNACK with Receive Maximum and Maximum Packet Size (MQTT 5, 3.2.2.3).
            let mut packet = vec![0x20, 11, u8::from(session_present), 0, 8, 0x21];
            packet.extend_from_slice(&count.to_be_bytes());
            packet.push(0x27);
            packet.extend_from_slice(&bytes.to_be_bytes());
            self.write(&packet);
        } else if self.is_v5 {
            let code = refusal.map_or(five::ConnectReturnCode::Success, |(_, code)| code);
            let connack = five::ConnAck { session_present, code, properties: None };
            self.say_five(&five::Packet::ConnAck(connack));
        } else {
            let code = refusal.map_or(three::ConnectReturnCode::Success, |(code, _)| code);
            self.say_three(&three::Packet::ConnAck(three::ConnAck { session_present, code }));
        }
    }

    fn publish(&mut self, packet: u16, again: bool, message: &Published) {
        let (topic, payload) = (message.topic.clone(), message.payload.clone());
        if self.is_v5 {
            let qos = if packet == 0 { QoS5::AtMostOnce } else { QoS5::AtLeastOnce };
            let mut publish = five::Publish::new(topic, qos, payload, None);
            (publish.pkid, publish.dup) = (packet, again);
            self.say_five(&five::Packet::Publish(publish));
        } else {
            let qos = if packet == 0 { QoS::AtMostOnce } else { QoS::AtLeastOnce };
            let mut publish = three::Publish::new(topic, qos, payload);
            (publish.pkid, publish.dup) = (packet, again);
            self.say_three(&three::Packet::Publish(publish));
        }
    }

    /// Says that a message is kept, or why not.
    fn acknowledge(&mut self, packet: u16, denied: Option<five::PubAckReason>) {
        if self.is_v5 {
            let reason = denied.unwrap_or(five::PubAckReason::Success);
            self.say_five(&five::Packet::PubAck(five::PubAck {
                pkid: packet,
                reason,
                properties: None,
            }));
        } else {
            self.say_three(&three::Packet::PubAck(three::PubAck::new(packet)));
        }
    }

    /// For each filter: none is a refusal, false is QoS 0.
    fn subscribed(&mut self, packet: u16, said: &[Option<bool>]) {
        if self.is_v5 {
            let codes = said.iter().map(|granted| match granted {
                None => five::SubscribeReasonCode::NotAuthorized,
                Some(true) => five::SubscribeReasonCode::Success(QoS5::AtLeastOnce),
                Some(false) => five::SubscribeReasonCode::Success(QoS5::AtMostOnce),
            });
            let suback =
                five::SubAck { pkid: packet, return_codes: codes.collect(), properties: None };
            self.say_five(&five::Packet::SubAck(suback));
        } else {
            let codes = said.iter().map(|granted| match granted {
                None => three::SubscribeReasonCode::Failure,
                Some(true) => three::SubscribeReasonCode::Success(QoS::AtLeastOnce),
                Some(false) => three::SubscribeReasonCode::Success(QoS::AtMostOnce),
            });
            let suback = three::SubAck::new(packet, codes.collect());
            self.say_three(&three::Packet::SubAck(suback));
        }
    }

    /// Another client has its session.
    fn take_over(&mut self) {
        if self.is_v5 {
            // DISCONNECT with its reason and no properties: the codec would not write their length.
            self.write(&[0xE0, 2, five::DisconnectReasonCode::SessionTakenOver as u8, 0]);
        }
        self.close();
    }

    fn close(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
