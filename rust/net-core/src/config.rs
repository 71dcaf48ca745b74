//! What the library is told, by the environment of the program.

use std::path::PathBuf;
use std::time::Duration;

use afterbay_net_proto::GroupName;
use afterbay_net_ring::Capacity;

/// Path of the agent's socket. Without it, all is plain TCP.
pub const AGENT: &str = "AFTERBAY_NET_AGENT";
/// The trust group, [`DEFAULT_GROUP`] by default.
pub const GROUP: &str = "AFTERBAY_NET_GROUP";
/// Bytes of a ring, in each direction; a power of two, with `k` or `m`. [`DEFAULT_RING`] by default.
pub const RING: &str = "AFTERBAY_NET_RING";
/// Bytes that all rings which the program offers may take, with `k`, `m` or `g`. [`DEFAULT_MEMORY`] by default.
pub const MEMORY: &str = "AFTERBAY_NET_MEMORY";
/// `auto`, the default: a thread that waits looks for a short while before it sleeps, where there are processors for it. `off`.
pub const SPIN: &str = "AFTERBAY_NET_SPIN";
/// Operations (calls that move bytes, both ways) after which a connection moves to memory; [`DEFAULT_AFTER`] by default. 0: it is
/// offered before its first packet.
pub const AFTER: &str = "AFTERBAY_NET_AFTER";
/// `true`: all is plain TCP, whatever else is said.
pub const OFF: &str = "AFTERBAY_NET_OFF";
/// Whole seconds that an agent may take to answer, and a relay to begin; [`DEFAULT_PATIENCE`] by default. For tests, which may be held
/// up for longer on a busy machine; no program needs it.
pub const PATIENCE: &str = "AFTERBAY_NET_PATIENCE";

/// The trust group of who names none.
pub const DEFAULT_GROUP: &str = "default";
/// Bytes of a ring.
pub const DEFAULT_RING: u64 = 256 << 10;
/// Bytes of all rings that a program offers.
pub const DEFAULT_MEMORY: u64 = 512 << 20;
/// Operations after which a connection moves to memory: about as many as cost what rings cost (`docs/net-results.md`).
pub const DEFAULT_AFTER: u32 = 32;
/// How long an agent may take to answer, and a relay to begin.
pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(2);

/// What the library is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Path of the agent's socket.
    pub agent: PathBuf,
    /// The trust group.
    pub group: GroupName,
    /// Bytes of a ring.
    pub ring: Capacity,
    /// Bytes of all rings.
    pub memory: u64,
    /// Whether waiting threads may look for a while before they sleep.
    pub spin: bool,
    /// Operations after which a connection moves to memory.
    pub after: u32,
    /// How long an agent may take to answer, and a relay to begin.
    pub patience: Duration,
}

impl Config {
    /// From the environment. Nothing if all is to be plain TCP; what is wrong, in words for its user.
    pub fn of(get: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let Some(agent) = get(AGENT).filter(|path| !path.is_empty()) else { return Ok(None) };
        match get(OFF).as_deref() {
            None | Some("" | "false") => {}
            Some("true") => return Ok(None),
            Some(other) => return Err(format!("{OFF}: {other:?} is neither true nor false")),
        }
        let group = get(GROUP).unwrap_or_else(|| DEFAULT_GROUP.to_owned());
        let group = group.parse().map_err(|error| format!("{GROUP}: {group:?}: {error}"))?;
        let ring = bytes(RING, get(RING), DEFAULT_RING)?;
        let ring =
            Capacity::new(ring).ok().filter(|ring| ring.bytes() >= 4096).ok_or_else(|| {
                format!("{RING}: {ring} bytes; a ring has a power of two of them, from 4k to 1024m")
            })?;
        let memory = bytes(MEMORY, get(MEMORY), DEFAULT_MEMORY)?;
        let spin = match get(SPIN).as_deref() {
            None | Some("" | "auto") => true,
            Some("off") => false,
            Some(other) => return Err(format!("{SPIN}: {other:?} is neither auto nor off")),
        };
        let after = match get(AFTER).filter(|after| !after.is_empty()) {
            None => DEFAULT_AFTER,
            Some(after) => after.parse().map_err(|_| {
                format!("{AFTER}: {after:?} is no number of operations, such as {DEFAULT_AFTER}")
            })?,
        };
        let patience = match get(PATIENCE).filter(|seconds| !seconds.is_empty()) {
            None => DEFAULT_PATIENCE,
            Some(seconds) => {
                let some = seconds.parse::<u32>().ok().filter(|&seconds| seconds > 0);
                let some = some.map(|seconds| Duration::from_secs(seconds.into()));
                some.ok_or_else(|| format!("{PATIENCE}: {seconds:?} is no number of seconds"))?
            }
        };
        Ok(Some(Config { agent: agent.into(), group, ring, memory, spin, after, patience }))
    }
}

/// A number of bytes, with `k`, `m` or `g` behind it.
fn bytes(name: &str, text: Option<String>, default: u64) -> Result<u64, String> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(default) };
    let digits = text.trim_end_matches(['k', 'm', 'g']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => 64,
    };
    let number = digits.parse::<u64>().ok().and_then(|number| {
        number.checked_shl(shift).filter(|bytes| shift < 64 && bytes >> shift == number)
    });
    number.ok_or_else(|| format!("{name}: {text:?} is no number of bytes, such as 256k or 512m"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn of(given: &[(&str, &str)]) -> Result<Option<Config>, String> {
        Config::of(|name| {
            let found = given.iter().find(|(given, _)| *given == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn without_an_agent_it_is_off() {
        assert_eq!(of(&[]), Ok(None));
        assert_eq!(of(&[(AGENT, "")]), Ok(None));
        assert_eq!(of(&[(AGENT, "/a"), (OFF, "true"), (RING, "nonsense")]), Ok(None));
    }

    #[test]
    fn what_is_not_said_has_a_default() {
        let config = of(&[(AGENT, "/a")]).unwrap().unwrap();
        assert_eq!(config.group.as_str(), DEFAULT_GROUP);
        assert_eq!((config.ring.bytes(), config.memory), (DEFAULT_RING, DEFAULT_MEMORY));
        assert!(config.spin);
        assert_eq!((config.after, config.patience), (DEFAULT_AFTER, DEFAULT_PATIENCE));
    }

    #[test]
    fn what_is_said_counts() {
        let given = [
            (AGENT, "/a"),
            (GROUP, "shop"),
            (RING, "64k"),
            (MEMORY, "1g"),
            (SPIN, "off"),
            (AFTER, "0"),
            (OFF, "false"),
            (PATIENCE, "240"),
        ];
        let config = of(&given).unwrap().unwrap();
        assert_eq!(config.group.as_str(), "shop");
        assert_eq!((config.ring.bytes(), config.memory, config.spin), (1 << 16, 1 << 30, false));
        assert_eq!((config.after, config.patience), (0, Duration::from_secs(240)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = [
            (GROUP, "a b"),
            (RING, "100k"),
            (RING, "2k"),
            (RING, "4x"),
            (RING, "64kk"),
            (MEMORY, "18446744073709551615g"),
            (SPIN, "on"),
            (AFTER, "-1"),
            (OFF, "yes"),
            (PATIENCE, "0"),
            (PATIENCE, "2s"),
        ];
        for (name, value) in wrong {
            let error = of(&[(AGENT, "/a"), (name, value)]).unwrap_err();
            assert!(error.starts_with(&format!("{name}: ")), "{error}");
        }
    }
}
