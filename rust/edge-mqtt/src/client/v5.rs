//! MQTT 5.

use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{
    ConnectReturnCode, DisconnectReasonCode, Filter, Packet, Publish, RetainForwardRule,
    SubscribeReasonCode,
};
use rumqttc::v5::{AsyncClient, ConnectionError, EventLoop, MqttOptions, StateError};
use rumqttc::{Outgoing, Transport};

use super::{
    Client, Ended, Event, KEEP_ALIVE, ONLY_QOS_0, PACKET_BYTES_MAX, REQUESTS_MAX, Requests,
    client_id_refused, is_closing, login_refused, not_authorised, protocol_refused, topic_refused,
};
use crate::options::Options;
use crate::shared::WAITING_MAX;
use crate::unacknowledged::Delivery;

/// The session stays for ever (MQTT 5, 3.1.2.11.2).
const NEVER: u32 = u32::MAX;

pub(crate) struct V5 {
    events: EventLoop,
    options: Options,
    is_connected: bool,
}

/// Before the first connection: to the broker, or to a Unix socket that leads there.
pub(crate) fn open(options: &Options, socket: Option<&str>) -> (V5, AsyncClient) {
    let Options { broker, client_id, login, .. } = options;
    let mut mqtt = MqttOptions::new(client_id, socket.unwrap_or(&broker.host), broker.port);
    if socket.is_some() {
        mqtt.set_transport(Transport::unix());
    }
    mqtt.set_clean_start(false).set_manual_acks(true).set_keep_alive(KEEP_ALIVE);
    mqtt.set_session_expiry_interval(Some(NEVER));
    mqtt.set_receive_maximum(Some(WAITING_MAX as u16));
    mqtt.set_max_packet_size(Some(PACKET_BYTES_MAX));
    // Of what is published, which is nothing.
    mqtt.set_outgoing_inflight_upper_limit(1);
    if let Some(login) = login {
        mqtt.set_credentials(&login.user, &login.password);
    }
    let (requests, events) = AsyncClient::new(mqtt, REQUESTS_MAX);
    (V5 { events, options: options.clone(), is_connected: false }, requests)
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

    fn left(&mut self) -> Vec<Delivery> {
        let left = std::mem::take(&mut self.events.state.events);
        let left = left.into_iter().map(event_of);
        left.filter_map(|event| if let Event::Message(it) = event { Some(it) } else { None })
            .collect()
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
                let is_plain = self.options.tls.is_none();
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
                Ended::Refused(client_id_refused(&self.options))
            }
            Code::BadUserNamePassword => Ended::Refused(login_refused(&self.options)),
            Code::NotAuthorized => Ended::Refused(not_authorised(&self.options)),
            Code::Banned | Code::BadAuthenticationMethod => Ended::Refused(format!(
                "it refuses client {:?}: {code:?}; allow it there, or give another --client-id or --mqtt-user",
                self.options.client_id
            )),
            other => Ended::Lost(format!("it takes no connection just now: {other:?}")),
        }
    }

    fn disconnected(&self, code: DisconnectReasonCode, said: Option<String>) -> Ended {
        use DisconnectReasonCode as Code;
        let said = said.map(|said| format!(" ({said})")).unwrap_or_default();
        match code {
            Code::SessionTakenOver => Ended::Refused(format!(
                "another client has connected with the client id {:?}, and has the session now{said}; give each agent a --client-id of its own",
                self.options.client_id
            )),
            Code::NotAuthorized => Ended::Refused(not_authorised(&self.options) + &said),
            Code::TopicFilterInvalid
            | Code::SharedSubscriptionNotSupported
            | Code::WildcardSubscriptionsNotSupported => {
                let topics = self.options.topics.join(", ");
                Ended::Refused(format!(
                    "it refuses the topic {topics}: {code:?}{said}; give another --topic"
                ))
            }
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
        rumqttc::v5::Event::Outgoing(Outgoing::PingReq) => Event::Asked,
        rumqttc::v5::Event::Incoming(Packet::PingResp(_)) => Event::Answered,
        rumqttc::v5::Event::Outgoing(Outgoing::Disconnect) => Event::Disconnected,
        _ => Event::Other,
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

    fn disconnect(&self) -> bool {
        self.try_disconnect().is_ok()
    }
}
