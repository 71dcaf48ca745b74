//! MQTT 3.1.1.

use rumqttc::{
    AsyncClient, ConnectReturnCode, ConnectionError, EventLoop, Incoming, MqttOptions, Outgoing,
    Packet, Publish, QoS, StateError, SubscribeFilter, SubscribeReasonCode, Transport,
};

use super::{
    Client, Ended, Event, KEEP_ALIVE, ONLY_QOS_0, PACKET_BYTES_MAX, Purpose, REQUESTS_MAX,
    Requests, client_id_refused, login_refused, not_authorised, protocol_refused, topic_refused,
};
use crate::options::Access;
use crate::unacknowledged::Delivery;

pub(crate) struct V3 {
    events: EventLoop,
    access: Access,
}

/// Before the first connection: to the broker, or to a Unix socket that leads there.
pub(crate) fn open(access: &Access, purpose: Purpose, socket: Option<&str>) -> (V3, AsyncClient) {
    let Access { broker, client_id, login, .. } = access;
    let mut mqtt = MqttOptions::new(client_id, socket.unwrap_or(&broker.host), broker.port);
    if socket.is_some() {
        mqtt.set_transport(Transport::unix());
    }
    mqtt.set_clean_session(purpose == Purpose::Publish);
    mqtt.set_manual_acks(true).set_keep_alive(KEEP_ALIVE);
    mqtt.set_max_packet_size(PACKET_BYTES_MAX as usize, PACKET_BYTES_MAX as usize);
    mqtt.set_inflight(purpose.sent_max());
    if let Some(login) = login {
        mqtt.set_credentials(&login.user, &login.password);
    }
    let (requests, events) = AsyncClient::new(mqtt, REQUESTS_MAX);
    (V3 { events, access: access.clone() }, requests)
}

impl Client for V3 {
    async fn poll(&mut self) -> Result<Event, Ended> {
        match self.events.poll().await {
            Ok(event) => Ok(event_of(event)),
            Err(error) => Err(self.ended(error)),
        }
    }

    fn left(&mut self) -> Vec<Event> {
        let left = std::mem::take(&mut self.events.state.events);
        left.into_iter().map(event_of).collect()
    }
}

impl V3 {
    fn ended(&self, error: ConnectionError) -> Ended {
        match error {
            ConnectionError::ConnectionRefused(code) => match code {
                ConnectReturnCode::RefusedProtocolVersion => {
                    Ended::Refused(protocol_refused("3.1.1", "5"))
                }
                ConnectReturnCode::BadClientId => Ended::Refused(client_id_refused(&self.access)),
                ConnectReturnCode::BadUserNamePassword => {
                    Ended::Refused(login_refused(&self.access))
                }
                ConnectReturnCode::NotAuthorized => Ended::Refused(not_authorised(&self.access)),
                ConnectReturnCode::ServiceUnavailable | ConnectReturnCode::Success => {
                    Ended::Lost("it takes no connections just now".to_owned())
                }
            },
            ConnectionError::MqttState(StateError::ConnectionAborted) => Ended::Closed,
            ConnectionError::MqttState(StateError::Io(error)) if is_closing(&error) => {
                Ended::Closed
            }
            other => Ended::Lost(other.to_string()),
        }
    }
}

pub(crate) fn is_closing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset)
}

fn event_of(event: rumqttc::Event) -> Event {
    match event {
        rumqttc::Event::Incoming(Incoming::ConnAck(connack)) => {
            Event::Connected { is_same_session: connack.session_present }
        }
        rumqttc::Event::Incoming(Packet::Publish(publish)) => Event::Message(Delivery {
            packet: publish.pkid,
            again: publish.dup,
            topic: publish.topic,
            // A copy: the other one holds all that was read with it.
            payload: publish.payload.to_vec(),
        }),
        rumqttc::Event::Incoming(Packet::SubAck(suback)) => {
            let said = suback.return_codes.iter().map(|code| match code {
                SubscribeReasonCode::Success(QoS::AtMostOnce) => Err(ONLY_QOS_0.to_owned()),
                SubscribeReasonCode::Success(_) => Ok(()),
                SubscribeReasonCode::Failure => Err(topic_refused("is refused")),
            });
            Event::Granted(said.collect())
        }
        rumqttc::Event::Outgoing(Outgoing::Publish(packet)) => Event::Sent(packet),
        // It says nothing of why not: a broker that does not want a message closes the connection, or drops it.
        rumqttc::Event::Incoming(Packet::PubAck(puback)) => Event::Taken(puback.pkid, Ok(())),
        rumqttc::Event::Outgoing(Outgoing::PingReq) => Event::Asked,
        rumqttc::Event::Incoming(Packet::PingResp) => Event::Answered,
        rumqttc::Event::Outgoing(Outgoing::Disconnect) => Event::Disconnected,
        _ => Event::Other,
    }
}

impl Requests for AsyncClient {
    fn acknowledge(&self, packet: u16) -> bool {
        let mut publish = Publish::new(String::new(), QoS::AtLeastOnce, Vec::new());
        publish.pkid = packet;
        self.try_ack(&publish).is_ok()
    }

    fn subscribe(&self, topics: &[String]) -> bool {
        let filters =
            topics.iter().map(|topic| SubscribeFilter::new(topic.clone(), QoS::AtLeastOnce));
        self.try_subscribe_many(filters).is_ok()
    }

    fn publish(&self, topic: &str, payload: &[u8]) -> bool {
        self.try_publish(topic, QoS::AtLeastOnce, false, payload).is_ok()
    }

    fn disconnect(&self) -> bool {
        self.try_disconnect().is_ok()
    }
}
