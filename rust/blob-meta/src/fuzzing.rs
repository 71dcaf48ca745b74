//! What is read from rows of the names' file, for `fuzz/`.

use prost::Message;

use crate::model::{
    AccessKey, Bucket, Garbage, ObjectEntry, Part, StoredGarbage, Upload, blob_from_bytes,
    blob_to_bytes,
};
use crate::{Attributes, Checksum};

/// Rows of all tables; the first byte says of which.
pub fn sample_rows() -> Vec<Vec<u8>> {
    let id = afterbay_blob_format::BlobId {
        partition: afterbay_blob_format::PartitionId(3),
        uuid: uuid::Uuid::from_u128(5),
    };
    let (blob, text) = (blob_to_bytes(id).to_vec(), "text".to_owned());
    let attributes = Attributes {
        headers: [("content-type".to_owned(), text.clone())].into(),
        metadata: [("a".to_owned(), text.clone())].into(),
        ..Attributes::default()
    };
    let checksum = Checksum { algorithm: "CRC32".to_owned(), value: text.clone(), composite: true };
    let bucket = Bucket { id: 1, owner: text.clone(), created_ms: 5, ..Bucket::default() };
    let object = ObjectEntry {
        blob: blob.clone(),
        length: 9,
        etag: text.clone(),
        attributes: Some(attributes.clone()),
        checksums: vec![checksum],
        ..ObjectEntry::default()
    };
    let upload = Upload { begun_ms: 7, attributes: Some(attributes), ..Upload::default() };
    let part = Part { blob: blob.clone(), length: 4, etag: text.clone(), ..Part::default() };
    let key = AccessKey { id: text.clone(), rights: [(text, 3)].into(), ..AccessKey::default() };
    let rows = [
        bucket.encode_to_vec(),
        object.encode_to_vec(),
        upload.encode_to_vec(),
        part.encode_to_vec(),
        key.encode_to_vec(),
        StoredGarbage::new(&Garbage::Blob(id), 8).encode_to_vec(),
        blob,
    ];
    rows.into_iter().zip(0..).map(|(row, kind)| [vec![kind], row].concat()).collect()
}

/// Reads a row and what is in it. Panics if what it reads is not what it would write.
pub fn read_row(bytes: &[u8]) -> String {
    let Some((kind, row)) = bytes.split_first() else {
        return "empty".to_owned();
    };
    match kind % 7 {
        0 => read::<Bucket>(row, |_| Ok(())),
        1 => read::<ObjectEntry>(row, |entry| entry.body().map(|_| ())),
        2 => read::<Upload>(row, |_| Ok(())),
        3 => read::<Part>(row, |part| part.blob_id().map(|_| ())),
        4 => read::<AccessKey>(row, |key| {
            assert!(!format!("{key:?}").contains("secret: \"s"));
            Ok(())
        }),
        5 => read::<StoredGarbage>(row, |stored| {
            let garbage = stored.garbage()?;
            assert_eq!(StoredGarbage::new(&garbage, 0).garbage().ok(), Some(garbage));
            Ok(())
        }),
        _ => match blob_from_bytes(row) {
            Ok(id) => {
                assert_eq!(blob_to_bytes(id), row);
                "ok".to_owned()
            }
            Err(error) => error.to_string(),
        },
    }
}

fn read<M: Message + Default + PartialEq>(
    row: &[u8],
    check: impl FnOnce(&M) -> crate::Result<()>,
) -> String {
    let message = match M::decode(row) {
        Ok(message) => message,
        Err(error) => return error.to_string(),
    };
    assert!(M::decode(&*message.encode_to_vec()).ok().as_ref() == Some(&message));
    check(&message).map_or_else(|error| error.to_string(), |()| "ok".to_owned())
}
