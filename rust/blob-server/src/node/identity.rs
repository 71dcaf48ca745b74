//! Which disk a data directory is, and which disks belong together: two small files, for people and for this program.
//!
//! ```text
//!  DISK, on each disk                  DISKS, on the first one, beside the names
//!  afterbay-blob disk, format 1        afterbay-blob disks, format 1
//!  node 6fa1...                        node 6fa1...
//!  disk 0c2b...                        disk 0c2b... here /var/lib/afterbay
//!  first 0c2b...                       disk 77e0... here /mnt/b
//!  checksum 1a2b3c4d                   disk 91d4... lost /mnt/c
//!                                      checksum 99aabbcc
//! ```
//!
//! The format is in `spec/blob-disks.md`.

use afterbay_blob_format::crc32c_of;
use uuid::Uuid;

const DISK_LINE: &str = "afterbay-blob disk, format 1";
const DISKS_LINE: &str = "afterbay-blob disks, format 1";
const CHECKSUM: &str = "checksum ";

/// The disks of one node at most.
const DISKS_MAX: usize = 4096;

/// Which disk it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskIdentity {
    /// The node that it belongs to.
    pub node: Uuid,
    /// The disk.
    pub disk: Uuid,
    /// The disk of the same node that has the names and the root key.
    pub first: Uuid,
}

/// The disks of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskList {
    /// The node.
    pub node: Uuid,
    /// Its disks, the first one first.
    pub disks: Vec<KnownDisk>,
}

/// A disk, as the list has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownDisk {
    /// Which one.
    pub id: Uuid,
    /// It was given up: nobody expects it any more.
    pub lost: bool,
    /// Where it was last.
    pub place: String,
}

impl DiskIdentity {
    /// The stored form.
    pub fn encode(&self) -> String {
        let DiskIdentity { node, disk, first } = self;
        sealed(format!("{DISK_LINE}\nnode {node}\ndisk {disk}\nfirst {first}\n"))
    }

    /// Reads the stored form.
    pub fn parse(stored: &[u8]) -> Result<Self, String> {
        let mut lines = opened(stored, DISK_LINE)?;
        let identity = DiskIdentity {
            node: id_of(lines.next(), "node ")?,
            disk: id_of(lines.next(), "disk ")?,
            first: id_of(lines.next(), "first ")?,
        };
        match lines.next() {
            None => Ok(identity),
            Some(more) => Err(format!("it has a line too many: '{more}'")),
        }
    }
}

impl DiskList {
    /// The stored form.
    pub fn encode(&self) -> String {
        let mut text = format!("{DISKS_LINE}\nnode {}\n", self.node);
        for KnownDisk { id, lost, place } in &self.disks {
            let state = if *lost { "lost" } else { "here" };
            // A place is there for people: one with a line break is shown without.
            let place = place.replace(char::is_control, " ");
            text.push_str(&format!("disk {id} {state} {place}\n"));
        }
        sealed(text)
    }

    /// Reads the stored form.
    pub fn parse(stored: &[u8]) -> Result<Self, String> {
        let mut lines = opened(stored, DISKS_LINE)?;
        let node = id_of(lines.next(), "node ")?;
        let disks: Vec<_> = lines.take(DISKS_MAX + 1).map(known).collect::<Result<_, _>>()?;
        let doubled =
            |disk: &KnownDisk| disks.iter().filter(|other| other.id == disk.id).count() > 1;
        if disks.len() > DISKS_MAX || disks.is_empty() || disks.iter().any(doubled) {
            return Err("it has no disks, too many, or one twice".to_owned());
        }
        Ok(DiskList { node, disks })
    }
}

fn sealed(text: String) -> String {
    let checksum = crc32c_of(&[text.as_bytes()]);
    format!("{text}{CHECKSUM}{checksum:08x}\n")
}

/// The lines behind the first one and before the checksum, which is right.
fn opened<'a>(stored: &'a [u8], first: &str) -> Result<std::str::Lines<'a>, String> {
    let text = std::str::from_utf8(stored).map_err(|_| "it is not a text".to_owned())?;
    let found = text.lines().next().unwrap_or_default();
    if found != first {
        return Err(format!("it says '{found}' where this program reads '{first}'"));
    }
    let end = text.rfind(CHECKSUM).ok_or("it has no checksum")?;
    let (checked, checksum) = text.split_at(end);
    if checksum != format!("{CHECKSUM}{:08x}\n", crc32c_of(&[checked.as_bytes()])) {
        return Err("its checksum is wrong".to_owned());
    }
    let mut lines = checked.lines();
    lines.next();
    Ok(lines)
}

fn id_of(line: Option<&str>, name: &str) -> Result<Uuid, String> {
    let id = line.and_then(|line| line.strip_prefix(name)).and_then(|id| id.parse().ok());
    id.ok_or_else(|| format!("it has no line '{name}...'"))
}

fn known(line: &str) -> Result<KnownDisk, String> {
    let parse = || {
        let (id, rest) = line.strip_prefix("disk ")?.split_once(' ')?;
        let (state, place) = rest.split_once(' ')?;
        let lost = match state {
            "here" => false,
            "lost" => true,
            _ => return None,
        };
        Some(KnownDisk { id: id.parse().ok()?, lost, place: place.to_owned() })
    };
    parse().ok_or_else(|| format!("it has a line that is not known: '{line}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn identity() -> DiskIdentity {
        let id = Uuid::from_u128;
        DiskIdentity { node: id(1), disk: id(2), first: id(3) }
    }

    fn list() -> DiskList {
        let known = |id, lost, place: &str| KnownDisk {
            id: Uuid::from_u128(id),
            lost,
            place: place.to_owned(),
        };
        let disks = vec![
            known(3, false, "/var/lib/after bay"),
            known(2, false, ""),
            known(4, true, "/mnt/ü"),
        ];
        DiskList { node: Uuid::from_u128(1), disks }
    }

    #[test]
    fn stored_and_back_and_each_bit_counts() {
        let stored = identity().encode().into_bytes();
        assert_eq!(DiskIdentity::parse(&stored), Ok(identity()));
        let stored_list = list().encode().into_bytes();
        assert_eq!(DiskList::parse(&stored_list), Ok(list()));
        for bit in 0..8 * stored.len().max(stored_list.len()) {
            for (stored, both) in [(&stored, false), (&stored_list, true)] {
                let mut damaged = stored.clone();
                let Some(byte) = damaged.get_mut(bit / 8) else { continue };
                *byte ^= 1 << (bit % 8);
                let refused = if both {
                    DiskList::parse(&damaged).is_err()
                } else {
                    DiskIdentity::parse(&damaged).is_err()
                };
                assert!(refused, "bit {bit}");
            }
        }
        for end in 0..stored_list.len() {
            assert!(DiskList::parse(&stored_list[..end]).is_err());
        }
    }

    #[test]
    fn what_is_not_allowed_is_refused() {
        let refused = |change: fn(&mut DiskList)| {
            let mut list = list();
            change(&mut list);
            DiskList::parse(list.encode().as_bytes()).is_err()
        };
        assert!(!refused(|_| ()));
        assert!(refused(|list| list.disks.clear()), "no disk");
        assert!(refused(|list| list.disks[0].id = list.disks[1].id), "one twice");
        let newer = sealed("afterbay-blob disk, format 2\n".to_owned());
        let refused = DiskIdentity::parse(newer.as_bytes()).unwrap_err();
        assert!(refused.contains("format 2"), "{refused}");
        let more = identity().encode();
        let more = sealed(more[..more.rfind(CHECKSUM).unwrap()].to_owned() + "more\n");
        assert!(DiskIdentity::parse(more.as_bytes()).is_err());
        let mut odd = list();
        odd.disks[0].place = "/a\nb".to_owned();
        assert_eq!(DiskList::parse(odd.encode().as_bytes()).unwrap().disks[0].place, "/a b");
    }

    /// The vectors of `spec/blob-disks.md`.
    #[test]
    fn as_specified() {
        let vector = |name: &str, written: String| {
            let path = format!("{}/../../spec/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
            if std::env::var_os("AFTERBAY_VECTORS_WRITE").is_some() {
                std::fs::write(&path, &written).unwrap();
            }
            assert_eq!(std::fs::read_to_string(path).unwrap(), written);
        };
        vector("blob-disk.txt", identity().encode());
        vector("blob-disks.txt", list().encode());
    }

    proptest! {
        #[test]
        fn whatever_the_lines_it_answers(lines in proptest::collection::vec("(disk|node|first|checksum)? ?[0-9a-f-]{0,40} ?(here|lost)?.{0,9}", 0..6)) {
            for first in [DISK_LINE, DISKS_LINE] {
                let text = sealed(format!("{first}\n{}\n", lines.join("\n")));
                let _ = DiskIdentity::parse(text.as_bytes());
                if let Ok(list) = DiskList::parse(text.as_bytes()) {
                    prop_assert_eq!(DiskList::parse(list.encode().as_bytes()), Ok(list));
                }
            }
        }
    }
}
