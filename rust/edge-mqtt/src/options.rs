//! Which broker, and what of it.

use std::fmt;

/// The port of MQTT without TLS.
const PORT: u16 = 1883;

/// Where a broker is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Broker {
    /// Reads `mqtt://HOST:PORT`.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let of = "mqtt://HOST:PORT";
        let Some(rest) = text.strip_prefix("mqtt://") else {
            return Err(match text.split_once("://") {
                Some((scheme @ ("mqtts" | "ssl"), _)) => format!(
                    "{scheme} is not built in: the broker is the site's own; give {of}, or that of a TLS tunnel on this machine"
                ),
                _ => format!("'{text}' is not like {of}"),
            });
        };
        if rest.contains('@') {
            return Err(
                "a user and a password do not belong here: give --user and --password-file".into(),
            );
        }
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse::<u16>().ok()),
            _ => (rest, Some(PORT)),
        };
        let is_bare_v6 = host.contains(':') && !(host.starts_with('[') && host.ends_with(']'));
        let is_host = !host.is_empty() && !host.contains(['/', '?', '#', ' ']) && !is_bare_v6;
        match port {
            Some(port) if port > 0 && is_host => Ok(Self { host: host.to_owned(), port }),
            _ => Err(format!("'{text}' is not like {of}")),
        }
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mqtt://{}:{}", self.host, self.port)
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

/// What is subscribed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The broker.
    pub broker: Broker,
    /// Topic filters, one at least.
    pub topics: Vec<String>,
    /// Of MQTT.
    pub version: Version,
    /// The session's name. Two clients with the same one take it from each other.
    pub client_id: String,
    /// Who connects, if the broker wants to know.
    pub login: Option<Login>,
}

/// Whether a text may be subscribed to (MQTT 4.7).
pub fn is_topic_filter(text: &str) -> bool {
    !text.contains('\0') && rumqttc::valid_filter(text)
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
        for (text, what) in [
            ("localhost:1883", "is not like mqtt://HOST:PORT"),
            ("mqtt://", "is not like"),
            ("mqtt://:1883", "is not like"),
            ("mqtt://::1", "is not like"),
            ("mqtt://host:0", "is not like"),
            ("mqtt://host:99999", "is not like"),
            ("mqtt://host/topic", "is not like"),
            ("mqtts://host", "mqtts is not built in"),
            ("mqtt://me:secret@host", "--password-file"),
        ] {
            assert!(read(text).unwrap_err().contains(what), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn a_password_is_not_shown() {
        let login = Login { user: "me".to_owned(), password: "secret".to_owned() };
        assert!(!format!("{login:?}").contains("secret"));
    }
}
