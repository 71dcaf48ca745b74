//! Settings of buckets that are kept as S3's XML, and the form in which they are used.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use afterbay_blob_meta::Bucket;
use s3s::xml::{Deserialize, Deserializer, Serialize, Serializer};
use s3s::{S3Error, S3Result, s3_error};

/// Buckets whose settings are kept as they are used; of more, they are read again.
const KNOWN_MAX: usize = 1024;

/// A setting of all buckets, as it is used. XML is read once for each change of a bucket, not once for each request.
pub(crate) struct Documents<T> {
    /// Of the document in [`Bucket::documents`].
    name: &'static str,
    read: fn(&[u8]) -> Option<T>,
    known: Mutex<HashMap<String, Known<T>>>,
}

struct Known<T> {
    /// What it was read from: a changed bucket is another one.
    from: Arc<Bucket>,
    document: Option<Arc<T>>,
}

impl<T> Documents<T> {
    pub(crate) fn new(name: &'static str, read: fn(&[u8]) -> Option<T>) -> Self {
        Documents { name, read, known: Mutex::default() }
    }

    /// That of a bucket; `None` if it has none.
    pub(crate) fn of(&self, name: &str, bucket: &Arc<Bucket>) -> Option<Arc<T>> {
        let stored = bucket.documents.get(self.name)?;
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(name)
            && Arc::ptr_eq(&known.from, bucket)
        {
            return known.document.clone();
        }
        let document = (self.read)(stored).map(Arc::new);
        if document.is_none() {
            tracing::error!(bucket = name, setting = self.name, "cannot be read; set it anew");
        }
        let mut known = lock();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(name.to_owned(), Known { from: bucket.clone(), document: document.clone() });
        document
    }
}

/// The XML of a setting that is to be kept.
pub(crate) fn to_xml(setting: &impl Serialize, bytes_max: usize) -> S3Result<Vec<u8>> {
    let mut xml = Vec::new();
    setting.serialize(&mut Serializer::new(&mut xml)).map_err(S3Error::internal_error)?;
    if xml.len() > bytes_max {
        return Err(s3_error!(
            MaxMessageLengthExceeded,
            "the configuration has more than {bytes_max} bytes"
        ));
    }
    Ok(xml)
}

pub(crate) fn from_xml<T: for<'xml> Deserialize<'xml>>(xml: &[u8]) -> Option<T> {
    T::deserialize(&mut Deserializer::new(xml)).ok()
}

#[cfg(test)]
mod tests {
    use s3s::dto::{CORSConfiguration, CORSRule};

    use super::*;

    fn bucket(text: &str) -> Arc<Bucket> {
        let documents = [("colour".to_owned(), text.as_bytes().to_vec())].into();
        Arc::new(Bucket { documents, ..Bucket::default() })
    }

    #[test]
    fn each_bucket_is_read_once_until_it_changes() {
        let documents = Documents::new("colour", |stored| String::from_utf8(stored.to_vec()).ok());
        let (first, second) = (bucket("red"), bucket("blue"));
        let red = documents.of("a", &first).unwrap();
        assert!(Arc::ptr_eq(&red, &documents.of("a", &first).unwrap()));
        assert_eq!(*documents.of("b", &second).unwrap(), "blue");
        assert_eq!(*documents.of("a", &bucket("green")).unwrap(), "green");
        assert_eq!(*red, "red");
        assert!(documents.of("a", &Arc::default()).is_none());
    }

    #[test]
    fn what_cannot_be_read_is_none() {
        let documents: Documents<u8> = Documents::new("colour", |_| None);
        assert!(documents.of("a", &bucket("red")).is_none());
    }

    #[test]
    fn what_is_kept_comes_back() {
        for id in ["", " a ", "\r\n\t", "<&>\"'", "ä\u{1F600}", "]]>", "&amp;", "\u{1}", "\u{85}"]
        {
            let rule = CORSRule {
                allowed_headers: None,
                allowed_methods: vec!["GET".to_owned()],
                allowed_origins: vec![id.to_owned()],
                expose_headers: None,
                id: Some(id.to_owned()),
                max_age_seconds: None,
            };
            let setting = CORSConfiguration { cors_rules: vec![rule] };
            let xml = to_xml(&setting, 1000).unwrap();
            assert!(from_xml(&xml) == Some(setting.clone()), "{id:?}");
            assert_eq!(
                to_xml(&setting, 10).unwrap_err().code().as_str(),
                "MaxMessageLengthExceeded"
            );
        }
    }

    #[test]
    fn many_buckets_do_not_take_room_for_ever() {
        let documents = Documents::new("colour", |stored| Some(stored.len()));
        for number in 0..2 * KNOWN_MAX {
            assert_eq!(documents.of(&number.to_string(), &bucket("red")).as_deref(), Some(&3));
        }
        assert!(documents.known.lock().unwrap().len() <= KNOWN_MAX);
    }
}
