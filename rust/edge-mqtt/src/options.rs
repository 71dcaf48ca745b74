//! Which broker, and what of it.

use std::fmt;

use crate::tls::Tls;

/// The ports of MQTT without TLS, and with it.
const PORTS: (u16, u16) = (1883, 8883);

/// Where a broker is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether it is spoken to over TLS.
    pub is_tls: bool,
}

impl Broker {
    /// Reads `mqtt://HOST:PORT`, or `mqtts://HOST:PORT` for TLS.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let of = "mqtt://HOST:PORT or mqtts://HOST:PORT";
        let (rest, is_tls) = match text.split_once("://") {
            Some(("mqtt", rest)) => (rest, false),
            Some(("mqtts", rest)) => (rest, true),
            Some(("ssl" | "tls", rest)) => {
                return Err(format!("TLS is called mqtts here: mqtts://{rest}"));
            }
            _ => return Err(format!("'{text}' is not like {of}")),
        };
        if rest.contains('@') {
            return Err(
                "a user and a password do not belong here: give --mqtt-user and --mqtt-password-file"
                    .into(),
            );
        }
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse::<u16>().ok()),
            _ => (rest, Some(if is_tls { PORTS.1 } else { PORTS.0 })),
        };
        let is_bare_v6 = host.contains(':') && !(host.starts_with('[') && host.ends_with(']'));
        let is_host = !host.is_empty() && !host.contains(['/', '?', '#', ' ']) && !is_bare_v6;
        match port {
            Some(port) if port > 0 && is_host => Ok(Self { host: host.to_owned(), port, is_tls }),
            _ => Err(format!("'{text}' is not like {of}")),
        }
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "mqtts" } else { "mqtt" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

/// Which MQTT is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 3.1.1.
    V3,
    /// 5.0.
    V5,
}

/// Who connects.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The user.
    pub user: String,
    /// The password.
    pub password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// What the command line calls the options that a broker's answer may be about: messages say what to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags {
    /// Of the broker's address.
    pub broker: &'static str,
    /// Of the client id.
    pub client_id: &'static str,
    /// Of topics.
    pub topic: &'static str,
}

/// How a broker is reached, and who connects.
#[derive(Debug, Clone)]
pub struct Access {
    /// The broker.
    pub broker: Broker,
    /// What TLS needs, if the broker is spoken to over it.
    pub tls: Option<Tls>,
    /// Of MQTT.
    pub version: Version,
    /// The client's name. Two clients with the same one take the session from each other.
    pub client_id: String,
    /// Who connects, if the broker wants to know.
    pub login: Option<Login>,
    /// For messages.
    pub flags: Flags,
}

/// What is subscribed to.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where, and as whom; the client id is the name of the session that the broker keeps.
    pub access: Access,
    /// Topic filters, one at least.
    pub topics: Vec<String>,
}

/// What is published to.
#[derive(Debug, Clone)]
pub struct PublishOptions {
    /// Where, and as whom. The broker keeps no session of it.
    pub access: Access,
    /// The topic, which is one by [`is_topic`].
    pub topic: String,
}

/// Whether a text may be subscribed to (MQTT 4.7).
pub fn is_topic_filter(text: &str) -> bool {
    !text.contains('\0') && rumqttc::valid_filter(text)
}

/// Whether a text may be published to: no wildcards, and none of the broker's own topics (MQTT 4.7).
pub fn is_topic(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\0', '+', '#']) && !text.starts_with('$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_host_and_port() {
        let read = |text: &str| Broker::parse(text).map(|broker| broker.to_string());
        assert_eq!(read("mqtt://localhost"), Ok("mqtt://localhost:1883".to_owned()));
        assert_eq!(read("mqtt://10.0.0.7:1884/"), Ok("mqtt://10.0.0.7:1884".to_owned()));
        assert_eq!(read("mqtt://[::1]"), Ok("mqtt://[::1]:1883".to_owned()));
        assert_eq!(read("mqtt://[::1]:9"), Ok("mqtt://[::1]:9".to_owned()));
        assert_eq!(read("mqtts://localhost"), Ok("mqtts://localhost:8883".to_owned()));
        assert_eq!(read("mqtts://[::1]:9/"), Ok("mqtts://[::1]:9".to_owned()));
        for (text, what) in [
            ("localhost:1883", "is not like mqtt://HOST:PORT"),
            ("mqtt://", "is not like"),
            ("mqtt://:1883", "is not like"),
            ("mqtt://::1", "is not like"),
            ("mqtt://host:0", "is not like"),
            ("mqtt://host:99999", "is not like"),
            ("mqtt://host/topic", "is not like"),
            ("mqtts://host:0", "is not like"),
            ("ssl://host", "mqtts://host"),
            ("mqtt://me:secret@host", "--mqtt-password-file"),
            ("mqtts://me:secret@host", "--mqtt-password-file"),
        ] {
            assert!(read(text).unwrap_err().contains(what), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn a_topic_has_no_wildcards() {
        for topic in ["a", "a/b", "/a", "a//b", "ä ö"] {
            assert!(is_topic(topic), "{topic}");
        }
        for topic in ["", "a/+", "#", "a/b#", "$SYS/a", "$share/g/a", "a\0"] {
            assert!(!is_topic(topic), "{topic}");
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let login = Login { user: "me".to_owned(), password: "secret".to_owned() };
        assert!(!format!("{login:?}").contains("secret"));
    }
}
