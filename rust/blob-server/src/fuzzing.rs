//! What people write and read: key files, arguments, times, for `fuzz/`.

use crate::AccessKey;
use crate::cli::values;

/// A time in milliseconds since 1970, as `2026-11-23T20:40:00Z`.
pub fn time(ms: u64) -> String {
    values::show_time(ms)
}

/// Reads the content of a key's file.
pub fn key_file(text: &str) -> String {
    match AccessKey::parse(text) {
        Ok(key) => {
            assert!(!key.access.is_empty() && key.secret.len() >= 16);
            // The access key is shown, with its escapes.
            let shown = format!("{:?}", key.access);
            assert!(!format!("{key:?}").contains(&key.secret) || shown.contains(&key.secret));
            "ok".to_owned()
        }
        Err(reason) => reason,
    }
}

/// Reads an argument as each of those there are.
pub fn argument(text: &str) -> String {
    let mut is = String::new();
    let mut note = |what: &str, accepted: bool| {
        if accepted {
            is += what;
        }
    };
    note("size", values::size(text).is_ok());
    note("count", values::count(text).is_ok_and(|count| count > 0));
    note("duration", values::duration(text).is_ok());
    note("durability", values::durability(text).is_ok());
    note("container", values::container_durability(text).is_ok());
    note("range", values::range(text).is_ok());
    if let Ok(name) = values::name(text) {
        assert_eq!(name.to_string(), text);
        note("name", true);
    }
    if let Ok(target) = values::target(text) {
        assert_eq!(target.to_string(), text);
        note("target", true);
    }
    if is.is_empty() { "none".to_owned() } else { format!("ok {is}") }
}
