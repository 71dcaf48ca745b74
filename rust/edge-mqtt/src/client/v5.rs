//! MQTT 5.

use rumqttc::v5::mqttbytes::v5::{
    ConnectReturnCode, DisconnectReasonCode, Filter, Packet, PubAckReason, Publish,
    RetainForwardRule, SubscribeReasonCode,
};
use rumqttc::v5::mqttbytes::{Error as MqttError, QoS};
use rumqttc::v5::{AsyncClient, ConnectionError, EventLoop, MqttOptions, StateError};
use rumqttc::{Outgoing, Transport};

use super::{
    Client, Ended, Event, KEEP_ALIVE, NotTaken, ONLY_QOS_0, PACKET_BYTES_MAX, Purpose,
    REQUESTS_MAX, Requests, client_id_refused, is_closing, login_refused, not_authorised,
    protocol_refused, topic_refused,
};
use crate::options::Access;
use crate::shared::WAITING_MAX;
use crate::unacknowledged::Delivery;

/// The session stays for ever (MQTT 5, 3.1.2.11.2).
const NEVER: u32 = u32::MAX;

pub(crate) struct V5 {
    events: EventLoop,
    access: Access,
    is_connected: bool,
}

/// Before the first connection: to the broker, or to a Unix socket that leads there.
pub(crate) fn open(access: &Access, purpose: Purpose, socket: Option<&str>) -> (V5, AsyncClient) {
    let Access { broker, client_id, login, .. } = access;
    let mut mqtt = MqttOptions::new(client_id, socket.unwrap_or(&broker.host), broker.port);
    if socket.is_some() {
        mqtt.set_transport(Transport::unix());
    }
    let is_kept = purpose == Purpose::Subscribe;
    mqtt.set_clean_start(!is_kept).set_manual_acks(true).set_keep_alive(KEEP_ALIVE);
    // None ends with its connection.
    mqtt.set_session_expiry_interval(is_kept.then_some(NEVER));
    mqtt.set_receive_maximum(Some(WAITING_MAX as u16));
    mqtt.set_max_packet_size(Some(PACKET_BYTES_MAX));
    mqtt.set_outgoing_inflight_upper_limit(purpose.sent_max());
    if let Some(login) = login {
        mqtt.set_credentials(&login.user, &login.password);
    }
    let (requests, events) = AsyncClient::new(mqtt, REQUESTS_MAX);
    (V5 { events, access: access.clone(), is_connected: false }, requests)
}

impl Client for V5 {
    async fn poll(&mut self) -> Result<Event, Ended> {
        match self.events.poll().await {
            Ok(event) => {
                self.is_connected = true;
                Ok(event_of(event))
            }
            Err(error) => {
                let was_connected = std::mem::take(&mut self.is_connected);
                Err(self.ended(error, was_connected))
            }
        }
    }

    fn left(&mut self) -> Vec<Event> {
        let left = std::mem::take(&mut self.events.state.events);
        left.into_iter().map(event_of).collect()
    }
}

impl V5 {
    fn ended(&self, error: ConnectionError, was_connected: bool) -> Ended {
        match error {
            ConnectionError::ConnectionRefused(code) => self.refused(code),
            ConnectionError::MqttState(StateError::ServerDisconnect {
                reason_code,
                reason_string,
            }) => self.disconnected(reason_code, reason_string),
            ConnectionError::MqttState(
                StateError::OutgoingPacketTooLarge { pkt_size, max }
                | StateError::Deserialization(MqttError::OutgoingPacketTooLarge { pkt_size, max }),
            ) => Ended::TooLarge(format!(
                "it has {pkt_size} bytes, and this broker takes {max} (max_packet_size)"
            )),
            ConnectionError::MqttState(StateError::ConnectionAborted) if was_connected => {
                Ended::Closed
            }
            ConnectionError::MqttState(StateError::Io(error))
                if was_connected && is_closing(&error) =>
            {
                Ended::Closed
            }
            ConnectionError::MqttState(
                error @ (StateError::ConnectionAborted | StateError::Deserialization(_)),
            ) if !was_connected => {
                let is_plain = self.access.tls.is_none();
                let or_tls = if is_plain { "; if it speaks TLS there, give mqtts://" } else { "" };
                Ended::Lost(format!(
                    "{error}; if it speaks MQTT 3.1.1 only, give --mqtt-version 3{or_tls}"
                ))
            }
            other => Ended::Lost(other.to_string()),
        }
    }

    fn refused(&self, code: ConnectReturnCode) -> Ended {
        use ConnectReturnCode as Code;
        match code {
            Code::UnsupportedProtocolVersion | Code::RefusedProtocolVersion => {
                Ended::Refused(protocol_refused("5", "3"))
            }
            Code::ClientIdentifierNotValid | Code::BadClientId => {
                Ended::Refused(client_id_refused(&self.access))
            }
            Code::BadUserNamePassword => Ended::Refused(login_refused(&self.access)),
            Code::NotAuthorized => Ended::Refused(not_authorised(&self.access)),
            Code::Banned | Code::BadAuthenticationMethod => Ended::Refused(format!(
                "it refuses client {:?}: {code:?}; allow it there, or give another {} or --mqtt-user",
                self.access.client_id, self.access.flags.client_id
            )),
            other => Ended::Lost(format!("it takes no connection just now: {other:?}")),
        }
    }

    fn disconnected(&self, code: DisconnectReasonCode, said: Option<String>) -> Ended {
        use DisconnectReasonCode as Code;
        let said = said.map(|said| format!(" ({said})")).unwrap_or_default();
        match code {
            Code::SessionTakenOver => Ended::Refused(format!(
                "another client has connected with the client id {:?}, and has the session now{said}; give each agent a {} of its own",
                self.access.client_id, self.access.flags.client_id
            )),
            Code::NotAuthorized => Ended::Refused(not_authorised(&self.access) + &said),
            Code::TopicFilterInvalid
            | Code::SharedSubscriptionNotSupported
            | Code::WildcardSubscriptionsNotSupported => Ended::Refused(format!(
                "it refuses a topic: {code:?}{said}; give another {}",
                self.access.flags.topic
            )),
            other => Ended::Lost(format!("it has closed the connection: {other:?}{said}")),
        }
    }
}

fn event_of(event: rumqttc::v5::Event) -> Event {
    match event {
        rumqttc::v5::Event::Incoming(Packet::ConnAck(connack)) => {
            Event::Connected { is_same_session: connack.session_present }
        }
        rumqttc::v5::Event::Incoming(Packet::Publish(publish)) => Event::Message(Delivery {
            packet: publish.pkid,
            again: publish.dup,
            topic: String::from_utf8_lossy(&publish.topic).into_owned(),
            // A copy: the other one holds all that was read with it.
            payload: publish.payload.to_vec(),
        }),
        rumqttc::v5::Event::Incoming(Packet::SubAck(suback)) => {
            let said = suback.return_codes.iter().map(|code| match code {
                SubscribeReasonCode::Success(QoS::AtMostOnce) => Err(ONLY_QOS_0.to_owned()),
                SubscribeReasonCode::Success(_) => Ok(()),
                why => Err(topic_refused(&format!("is refused ({why:?})"))),
            });
            Event::Granted(said.collect())
        }
        rumqttc::v5::Event::Outgoing(Outgoing::Publish(packet)) => Event::Sent(packet),
        rumqttc::v5::Event::Incoming(Packet::PubAck(puback)) => {
            Event::Taken(puback.pkid, taken(puback.reason))
        }
        rumqttc::v5::Event::Outgoing(Outgoing::PingReq) => Event::Asked,
        rumqttc::v5::Event::Incoming(Packet::PingResp(_)) => Event::Answered,
        rumqttc::v5::Event::Outgoing(Outgoing::Disconnect) => Event::Disconnected,
        _ => Event::Other,
    }
}

/// What a broker says of a message (MQTT 5, 3.4.2.1).
fn taken(reason: PubAckReason) -> Result<(), NotTaken> {
    use PubAckReason as Reason;
    match reason {
        Reason::Success | Reason::NoMatchingSubscribers => Ok(()),
        Reason::PayloadFormatInvalid => Err(NotTaken::Message(format!("{reason:?}"))),
        other => Err(NotTaken::All(format!("{other:?}"))),
    }
}

impl Requests for AsyncClient {
    fn acknowledge(&self, packet: u16) -> bool {
        let mut publish = Publish::new(String::new(), QoS::AtLeastOnce, Vec::new(), None);
        publish.pkid = packet;
        self.try_ack(&publish).is_ok()
    }

    fn subscribe(&self, topics: &[String]) -> bool {
        let filters = topics.iter().map(|topic| {
            let mut filter = Filter::new(topic.clone(), QoS::AtLeastOnce);
            // What is retained comes when the session begins, and not at each connection.
            filter.retain_forward_rule = RetainForwardRule::OnNewSubscribe;
            filter
        });
        self.try_subscribe_many(filters).is_ok()
    }

    fn publish(&self, topic: &str, payload: &[u8]) -> bool {
        self.try_publish(topic, QoS::AtLeastOnce, false, payload.to_vec()).is_ok()
    }

    fn disconnect(&self) -> bool {
        self.try_disconnect().is_ok()
    }
}
