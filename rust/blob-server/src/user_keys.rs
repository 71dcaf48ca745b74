//! Keys for users: made, listed and deleted in the names' file, from where both endpoints take them.

use std::collections::BTreeMap;

use afterbay_blob_meta::{ALL_BUCKETS, AccessKey, Command, Names, Rights, now_ms};
use afterbay_blob_proto::{Code, CreatedKey, Failure, Grant, KeyEntry, NewKey};

use crate::buckets::check_bucket;
use crate::caller::ROOT;
use crate::names::refused;

/// The user of requests without a key.
const ANONYMOUS: &str = "anonymous";
/// Buckets that one key can have rights in by name.
const GRANTS_MAX: usize = 1000;
const USER_BYTES_MAX: usize = 64;

pub(crate) async fn create(names: &dyn Names, wanted: NewKey) -> Result<CreatedKey, Failure> {
    let rights = check(&wanted)?;
    let no_numbers = |e: std::io::Error| Failure::new(Code::Unavailable, e.to_string());
    let made = crate::keys::AccessKey::random().map_err(no_numbers)?;
    let key = AccessKey {
        id: made.access.clone(),
        secret: made.secret.clone(),
        display_name: wanted.user.clone(),
        user: wanted.user,
        rights,
        may_create_buckets: wanted.may_create_buckets,
        created_ms: now_ms(),
    };
    tracing::info!(key = key.id, user = key.user, "a key is made");
    names.apply(Command::PutKey(key)).await.map_err(refused)?;
    Ok(CreatedKey { access: made.access, secret: made.secret })
}

pub(crate) async fn delete(names: &dyn Names, access: &str) -> Result<(), Failure> {
    match names.access_key(access) {
        Some(key) if key.user == ROOT => {
            let text = "the root key is not deleted like this; to have another one, stop the server, remove the file \
                        root-key, and start it";
            Err(Failure::new(Code::Invalid, text))
        }
        Some(key) => {
            tracing::info!(key = key.id, user = key.user, "a key is deleted");
            let delete = Command::DeleteKey { id: access.to_owned() };
            names.apply(delete).await.map(|_| ()).map_err(refused)
        }
        None => Err(Failure::new(Code::NoSuchName, format!("there is no key '{access}'"))),
    }
}

/// All but the root key.
pub(crate) fn list(names: &dyn Names) -> Vec<KeyEntry> {
    let all = names.access_keys();
    all.iter().filter(|key| key.user != ROOT).map(|key| entry(key)).collect()
}

fn entry(key: &AccessKey) -> KeyEntry {
    // Rights are three bits.
    let grant = |(bucket, rights): (&String, &u32)| Grant {
        bucket: bucket.clone(),
        rights: (rights & Rights::ALL.0) as u8,
    };
    let grants = key.rights.iter().map(grant).collect();
    let (user, may_create_buckets) = (key.user.clone(), key.may_create_buckets);
    let key_of = NewKey { user, may_create_buckets, grants };
    KeyEntry { access: key.id.clone(), created_ms: key.created_ms, key: key_of }
}

fn check(wanted: &NewKey) -> Result<BTreeMap<String, u32>, Failure> {
    let invalid = |text: String| Err(Failure::new(Code::Invalid, text));
    let user = &wanted.user;
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._@-".contains(&b);
    if !(1..=USER_BYTES_MAX).contains(&user.len()) || !user.bytes().all(allowed) {
        return invalid(format!(
            "'{user}' is no name for a user: 1 to {USER_BYTES_MAX} letters, digits, '.', '_', '@', '-'"
        ));
    }
    if [ROOT, ANONYMOUS].contains(&user.as_str()) {
        return invalid(format!("'{user}' is taken; give another name"));
    }
    if wanted.grants.len() > GRANTS_MAX {
        return invalid(format!("rights in more than {GRANTS_MAX} buckets; give them for '*'"));
    }
    if wanted.grants.is_empty() && !wanted.may_create_buckets {
        return invalid("a key without any right".to_owned());
    }
    let mut rights = BTreeMap::new();
    for Grant { bucket, rights: bits } in &wanted.grants {
        if bucket != ALL_BUCKETS {
            check_bucket(bucket)?;
        }
        let bits = u32::from(*bits);
        if bits == 0 || !Rights::ALL.allow(Rights(bits)) {
            return invalid(format!("rights {bits} in '{bucket}' are not known"));
        }
        if rights.insert(bucket.clone(), bits).is_some() {
            return invalid(format!("bucket '{bucket}' is given twice"));
        }
    }
    Ok(rights)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(user: &str, bucket: &str, rights: u8) -> NewKey {
        let grants = vec![Grant { bucket: bucket.to_owned(), rights }];
        NewKey { user: user.to_owned(), may_create_buckets: false, grants }
    }

    #[test]
    fn what_can_be_asked_for() {
        assert_eq!(check(&wanted("ann", "logs", 3)).unwrap()["logs"], 3);
        assert_eq!(check(&wanted("ann@x.org", "*", 7)).unwrap()["*"], 7);
        for wrong in [
            wanted("", "logs", 1),
            wanted("root", "logs", 1),
            wanted("anonymous", "logs", 1),
            wanted("a b", "logs", 1),
            wanted("ann", "Logs", 1),
            wanted("ann", "logs", 0),
            wanted("ann", "logs", 8),
            NewKey { user: "ann".to_owned(), ..NewKey::default() },
        ] {
            assert_eq!(check(&wrong).unwrap_err().code, Code::Invalid, "{wrong:?}");
        }
        let mut twice = wanted("ann", "logs", 1);
        twice.grants.push(twice.grants[0].clone());
        assert!(check(&twice).unwrap_err().text.contains("twice"));
    }
}
