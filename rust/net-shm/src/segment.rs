//! A file of shared memory with the two rings of a connection.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afterbay_net_ring::{
    Capacity, Direction, Field, GEOMETRY_BYTES, Geometry, LayoutError, Shared,
};
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, ftruncate,
    memfd_create,
};
use rustix::io::{Errno, pread, pwrite};

use crate::error::{Result, ShmError, system};
use crate::map::Map;

/// Nobody can cut the file off beneath a mapping, or take this back.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
/// What `fstatfs` says of a memfd with small pages.
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// The two rings of a connection, mapped into this process, and their file.
#[derive(Debug)]
pub struct Segment {
    file: OwnedFd,
    map: Arc<Map>,
    geometry: Geometry,
}

impl Segment {
    /// A new one, with two empty rings. Takes memory for what is used of it.
    pub fn create(geometry: Geometry) -> Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("afterbay-net", flags).map_err(system("make shared memory"))?;
        let length = geometry.segment_bytes();
        ftruncate(&file, length as u64).map_err(system("size shared memory"))?;
        write(&file, &geometry.encode(), 0)?;
        for direction in [Direction::ToAcceptor, Direction::ToConnector] {
            for field in Field::ALL {
                let at = direction.control_offset() + field.offset();
                write(&file, &field.initial().to_le_bytes(), at)?;
            }
        }
        fcntl_add_seals(&file, SEALS).map_err(system("seal shared memory"))?;
        let map = Arc::new(Map::of_file(file.as_fd(), length)?);
        Ok(Segment { file, map, geometry })
    }

    /// One that another process made, after a look at all that it could have made wrong.
    pub fn open(file: OwnedFd) -> Result<Self> {
        let geometry = check(&file)?;
        let map = Arc::new(Map::of_file(file.as_fd(), geometry.segment_bytes())?);
        Ok(Segment { file, map, geometry })
    }

    /// A view of one ring. It keeps the memory mapped.
    pub fn ring(&self, direction: Direction) -> MappedRing {
        MappedRing {
            map: self.map.clone(),
            capacity: self.geometry.capacity(direction),
            control: direction.control_offset(),
            data: self.geometry.data_offset(direction),
        }
    }

    /// How large its rings are.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }
}

impl AsFd for Segment {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn write(file: &OwnedFd, bytes: &[u8], at: usize) -> Result<()> {
    let written = pwrite(file, bytes, at as u64).map_err(system("write shared memory"))?;
    if written == bytes.len() { Ok(()) } else { Err(system("write shared memory")(Errno::NOSPC)) }
}

fn check(file: &OwnedFd) -> Result<Geometry> {
    // Also of the file system of huge pages, whose pages may be out when they are touched.
    let magic = fstatfs(file).map_err(|_| ShmError::NotMemory)?.f_type;
    if u64::try_from(magic) != Ok(TMPFS_MAGIC) {
        return Err(ShmError::NotMemory);
    }
    let seals = fcntl_get_seals(file).map_err(|_| ShmError::NotMemory)?;
    if !seals.contains(SEALS) {
        return Err(ShmError::Seals { found: seals.bits(), needed: SEALS.bits() });
    }
    // From here on, the length does not change.
    let stat = fstat(file).map_err(system("look at shared memory"))?;
    let mut head = [0; GEOMETRY_BYTES];
    let read = pread(file, &mut head, 0).map_err(system("read shared memory"))?;
    if read != head.len() {
        return Err(LayoutError::Magic.into());
    }
    let geometry = Geometry::parse(&head)?;
    let (found, needed) = (stat.st_size.unsigned_abs(), geometry.segment_bytes() as u64);
    if found != needed {
        return Err(ShmError::Length { found, needed });
    }
    Ok(geometry)
}

/// One side's view of a ring of a segment.
#[derive(Debug, Clone)]
pub struct MappedRing {
    map: Arc<Map>,
    capacity: Capacity,
    control: usize,
    data: usize,
}

impl MappedRing {
    /// A word, for a look from outside.
    pub fn value(&self, field: Field) -> u64 {
        self.word(field).load(Ordering::Acquire)
    }
}

impl Shared for MappedRing {
    type Word = AtomicU64;

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn word(&self, field: Field) -> &AtomicU64 {
        self.map.word(self.control + field.offset())
    }

    fn put(&self, at: usize, bytes: &[u8]) {
        self.map.put(self.data + at, bytes);
    }

    fn get(&self, at: usize, out: &mut [u8]) {
        self.map.get(self.data + at, out);
    }
}
