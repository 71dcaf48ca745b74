//! The durability class of a bucket, as its names keep it. Nobody else reads or writes that text.

use afterbay_blob_meta::{Bucket, BucketChange};
use afterbay_blob_router::Durability;

/// The class that objects of a bucket are stored at, at least; `None`: the server's.
pub fn durability_of(bucket: &Bucket) -> Option<Durability> {
    match bucket.durability.as_str() {
        "fast" => Some(Durability::Fast),
        "durable" => Some(Durability::Durable),
        "paranoid" => Some(Durability::Paranoid),
        _ => None,
    }
}

/// The change that lets [`durability_of`] return `class`.
pub fn change_of_durability(class: Option<Durability>) -> BucketChange {
    let text = match class {
        None => "",
        Some(Durability::Fast) => "fast",
        Some(Durability::Durable) => "durable",
        Some(Durability::Paranoid) => "paranoid",
    };
    BucketChange::Durability(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_read() {
        for class in
            [None, Some(Durability::Fast), Some(Durability::Durable), Some(Durability::Paranoid)]
        {
            let BucketChange::Durability(durability) = change_of_durability(class) else {
                panic!("another setting");
            };
            let bucket = Bucket { durability, ..Bucket::default() };
            assert_eq!(durability_of(&bucket), class);
        }
    }
}
