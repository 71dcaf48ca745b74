//! What people write: key files and arguments, for `fuzz/`.

use crate::AccessKey;
use crate::cli::values;

/// Reads the content of a key's file.
pub fn key_file(text: &str) -> String {
    match AccessKey::parse(text) {
        Ok(key) => {
            assert!(!key.access.is_empty() && key.secret.len() >= 16);
            assert!(!format!("{key:?}").contains(&key.secret) || key.access.contains(&key.secret));
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
