//! What is of the blob store on its command line, as people write it.

use std::fmt;
use std::time::Duration;

use afterbay_blob_client::{Grant, Name, Target};
use afterbay_blob_router::{BlobId, ByteRange, Durability};
use afterbay_blob_store::{InvalidPolicy, Policy};
pub(crate) use afterbay_values::{counted, duration, show_bytes, size};

use crate::buckets::NAMES_ARE_DURABLE;

/// The same, and not none.
pub(crate) fn some_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err(format!("'{text}' is no time")),
        some => Ok(some),
    }
}

/// `7d`, or `never`, which is [`Duration::MAX`].
pub(crate) fn duration_or_never(text: &str) -> Result<Duration, String> {
    if text == "never" { Ok(Duration::MAX) } else { duration(text) }
}

/// A partition as the map of a cluster has it (`3`), or as ids and messages do (16 hexadecimal digits).
pub(crate) fn partition(text: &str) -> Result<u64, String> {
    let number = if text.len() == 16 { u64::from_str_radix(text, 16) } else { text.parse() };
    number.map_err(|_| {
        format!("'{text}' is no partition: a number, as in the map, or the 16 digits before the '-' of an id")
    })
}

/// `1` and more.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    match text.parse::<u32>() {
        Ok(0) | Err(_) => Err(format!("'{text}' is not a number from 1 to {}", u32::MAX)),
        Ok(count) => Ok(count as usize),
    }
}

/// `fast`, `durable`, `paranoid`.
pub(crate) fn durability(text: &str) -> Result<Durability, String> {
    match text {
        "fast" => Ok(Durability::Fast),
        "durable" => Ok(Durability::Durable),
        "paranoid" => Ok(Durability::Paranoid),
        _ => Err(format!("'{text}' is none of fast, durable, paranoid")),
    }
}

/// `7=fast`.
pub(crate) fn container_durability(text: &str) -> Result<(u32, Durability), String> {
    let (container, class) =
        text.split_once('=').ok_or_else(|| format!("'{text}' is not like 7=fast"))?;
    let container = container.parse().map_err(|_| format!("'{container}' is no container"))?;
    Ok((container, durability(class)?))
}

/// `7=all`.
pub(crate) fn container_policy(text: &str) -> Result<(u32, Policy), String> {
    let (container, policy) =
        text.split_once('=').ok_or_else(|| format!("'{text}' is not like 7=all"))?;
    let container = container.parse().map_err(|_| format!("'{container}' is no container"))?;
    Ok((container, policy.parse().map_err(|e: InvalidPolicy| e.to_string())?))
}

/// `bucket/key`.
pub(crate) fn name(text: &str) -> Result<Name, String> {
    match text.split_once('/') {
        Some((bucket, key)) if !bucket.is_empty() && !key.is_empty() => {
            Ok(Name { bucket: bucket.to_owned(), key: key.to_owned() })
        }
        _ => Err(format!("'{text}' is no name; bucket/key is one")),
    }
}

/// A blob's id, or `bucket/key`.
pub(crate) fn target(text: &str) -> Result<Target, String> {
    match text.parse() {
        Ok(id) => Ok(Target::Id(id)),
        Err(_) if text.contains('/') => name(text).map(Target::Name),
        Err(_) => Err(format!("'{text}' is neither a name (bucket/key) nor a blob id")),
    }
}

/// A bucket, or what is below a prefix in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) bucket: String,
    /// Empty, or ends with a slash.
    pub(crate) prefix: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bucket, self.prefix)
    }
}

/// `bucket`, `bucket/prefix`, `bucket/prefix/`.
pub(crate) fn place(text: &str) -> Result<Place, String> {
    let (bucket, prefix) = text.split_once('/').unwrap_or((text, ""));
    if bucket.is_empty() {
        return Err(format!("'{text}' is neither a bucket nor a prefix (bucket/prefix/)"));
    }
    if text.parse::<BlobId>().is_ok() {
        return Err(format!(
            "'{text}' is a blob id, and nothing is below one; leave --recursive out"
        ));
    }
    let slash = if prefix.is_empty() || prefix.ends_with('/') { "" } else { "/" };
    Ok(Place { bucket: bucket.to_owned(), prefix: format!("{prefix}{slash}") })
}

/// The same, where a place is possible too.
pub(crate) fn target_not_place(text: &str) -> Result<Target, String> {
    target(text).map_err(|reason| format!("{reason}; a bucket or a prefix needs --recursive"))
}

/// Without what would steer a terminal.
pub(crate) fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().map(shown).collect()
}

/// The class of a bucket; `None`: the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BucketClass(pub(crate) Option<Durability>);

/// `durable`, `paranoid` or `default`.
pub(crate) fn bucket_class(text: &str) -> Result<BucketClass, String> {
    match text {
        "default" => Ok(BucketClass(None)),
        "fast" => Err(NAMES_ARE_DURABLE.to_owned()),
        "durable" | "paranoid" => durability(text).map(|class| BucketClass(Some(class))),
        _ => Err(format!("'{text}' is none of durable, paranoid, default")),
    }
}

/// `fast`, as it is written.
pub(crate) fn show_durability(class: Durability) -> &'static str {
    match class {
        Durability::Fast => "fast",
        Durability::Durable => "durable",
        Durability::Paranoid => "paranoid",
    }
}

/// `FIRST-LAST`, `FIRST-`, `-COUNT`, as in HTTP.
pub(crate) fn range(text: &str) -> Result<ByteRange, String> {
    let wrong = || format!("'{text}' is not like 0-99, 100- or -100");
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    match (first, last) {
        ("", count) => Ok(ByteRange::Last(number(count)?)),
        (first, "") => Ok(ByteRange::From(number(first)?)),
        (first, last) => Ok(ByteRange::Inclusive(number(first)?, number(last)?)),
    }
}

/// `name=value`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("'{text}' is not like name=value")),
    }
}

const RIGHTS: [(&str, u8); 3] = [("read", 1), ("write", 2), ("admin", 4)];

/// `papers=read,write`.
pub(crate) fn grant(text: &str) -> Result<Grant, String> {
    let (bucket, words) =
        pair(text).map_err(|_| format!("'{text}' is not like papers=read,write"))?;
    let mut rights = 0;
    for word in words.split(',') {
        let found = RIGHTS.iter().find(|(name, _)| *name == word);
        rights |= found.ok_or_else(|| format!("'{word}' is none of read, write, admin"))?.1;
    }
    Ok(Grant { bucket, rights })
}

/// `read,write`.
pub(crate) fn show_rights(rights: u8) -> String {
    let words = RIGHTS.iter().filter(|(_, bit)| rights & bit != 0).map(|(name, _)| *name);
    words.collect::<Vec<_>>().join(",")
}

/// `2026-11-23T20:40:00Z`.
pub(crate) fn show_time(ms: u64) -> String {
    let (days, of_day) = (ms / 86_400_000, ms / 1000 % 86_400);
    // Civil from days, with years that begin in March (Howard Hinnant's algorithm).
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (h, m, s) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_classes() {
        assert_eq!(some_duration("1ms"), Ok(Duration::from_millis(1)));
        assert!(some_duration("0s").is_err() && some_duration("x").is_err());
        assert_eq!(duration_or_never("never"), Ok(Duration::MAX));
        assert_eq!(duration_or_never("7d"), Ok(Duration::from_secs(7 * 86_400)));
        assert_eq!(container_durability("7=fast"), Ok((7, Durability::Fast)));
        assert!(container_durability("7").is_err());
        assert_eq!(container_policy("7=all"), Ok((7, Policy::All)));
        assert!(container_policy("7").is_err() && container_policy("7=0").is_err());
    }

    #[test]
    fn partitions() {
        assert_eq!((partition("3"), partition("00000000000000ab")), (Ok(3), Ok(0xab)));
        assert!(partition("x").is_err() && partition("000000000000000g").is_err());
    }

    #[test]
    fn targets() {
        let id = "00000000000000ab-0123456789abcdef0123456789abcdef";
        assert_eq!(target(id), Ok(Target::Id(id.parse().unwrap())));
        assert!(matches!(target("a/b/c"), Ok(Target::Name(name)) if name.key == "b/c"));
        assert!(target("a").is_err() && target("a/").is_err() && target("/a").is_err());
        assert_eq!(range("3-"), Ok(ByteRange::From(3)));
        assert_eq!(range("3-5"), Ok(ByteRange::Inclusive(3, 5)));
        assert_eq!(range("-5"), Ok(ByteRange::Last(5)));
        assert!(range("5").is_err() && range("-").is_err() && range("a-b").is_err());
    }

    #[test]
    fn places() {
        let of = |text: &str| place(text).map(|place| place.to_string());
        for (text, shown) in [("a", "a/"), ("a/", "a/"), ("a/b", "a/b/"), ("a/b/c/", "a/b/c/")] {
            assert_eq!(of(text).as_deref(), Ok(shown));
        }
        let id = "00000000000000ab-0123456789abcdef0123456789abcdef";
        assert!(of("").is_err() && of("/a").is_err() && of(id).is_err());
        assert!(target_not_place("a/").unwrap_err().contains("--recursive"));
        assert_eq!(printable("a\x1b[2J\u{e9}"), "a\u{fffd}[2J\u{e9}");
    }

    #[test]
    fn classes_of_buckets() {
        assert_eq!(bucket_class("default"), Ok(BucketClass(None)));
        for class in [Durability::Durable, Durability::Paranoid] {
            assert_eq!(bucket_class(show_durability(class)), Ok(BucketClass(Some(class))));
        }
        assert!(bucket_class("fast").unwrap_err().contains("'durable' at least"));
        assert!(bucket_class("slow").unwrap_err().contains("none of durable, paranoid, default"));
    }

    #[test]
    fn rights_of_keys() {
        let both = Grant { bucket: "papers".to_owned(), rights: 3 };
        assert_eq!(grant("papers=read,write"), Ok(both));
        assert_eq!(grant("*=admin").map(|g| g.rights), Ok(4));
        assert!(grant("papers").is_err() && grant("papers=").is_err() && grant("=read").is_err());
        assert!(grant("papers=fly").is_err());
        assert_eq!((show_rights(7), show_rights(2)), ("read,write,admin".into(), "write".into()));
    }

    #[test]
    fn times() {
        assert_eq!(show_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(show_time(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(show_time(1_795_466_400_000), "2026-11-23T20:40:00Z");
    }
}
