//! The files that say which disks belong together.

use afterbay_blob_format::crc32c_of;
use afterbay_blob_server::node::{DiskIdentity, DiskList, KnownDisk};
use uuid::Uuid;

use crate::outcome;

const CHECKSUM: &str = "checksum ";

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let [node, first, other] = [1, 2, 3].map(Uuid::from_u128);
    let known = |id, lost, place: &str| KnownDisk { id, lost, place: place.to_owned() };
    let disks = vec![known(first, false, "/var/lib/afterbay"), known(other, true, "/mnt/é b")];
    let identity = DiskIdentity { node, disk: other, first };
    [identity.encode(), DiskList { node, disks }.encode()].map(String::into_bytes).into()
}

/// With the checksum that its lines have.
fn repaired(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let checked = &text[..text.rfind(CHECKSUM)?];
    let checksum = crc32c_of(&[checked.as_bytes()]);
    Some(format!("{checked}{CHECKSUM}{checksum:08x}\n").into_bytes())
}

fn parse(bytes: &[u8]) -> String {
    let disk = DiskIdentity::parse(bytes);
    if let Ok(identity) = &disk {
        assert_eq!(DiskIdentity::parse(identity.encode().as_bytes()), disk);
        return outcome(disk);
    }
    let list = DiskList::parse(bytes);
    if let Ok(disks) = &list {
        let stored = disks.encode();
        let again = DiskList::parse(stored.as_bytes());
        assert_eq!(again.map(|list| list.encode()), Ok(stored));
    }
    outcome(list)
}

pub(crate) fn run(bytes: &[u8]) -> String {
    let first = parse(bytes);
    repaired(bytes).map_or(first, |bytes| parse(&bytes))
}
