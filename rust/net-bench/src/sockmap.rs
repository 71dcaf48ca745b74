//! eBPF's sockmap: what a socket writes goes straight into the queue of its peer, in the kernel. The strongest other way to
//! spare two programs of a host the network; it takes root (`CAP_BPF` and `CAP_NET_ADMIN`).
//!
//! Both ends put their sockets into one map, by their two ports; a program of 15 instructions looks for the other end of
//! whoever writes, and without one lets TCP have the bytes. As the kernel gives a reader what was redirected before what came by
//! TCP, a client begins only when the server has said that it is in the map, and has nothing on TCP any more.

#![allow(unsafe_code, reason = "there is no safe call for bpf(2)")]

use std::env;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::error::{Error, Result};

/// Where processes find the map: the number of a descriptor that they inherit.
pub(crate) const VARIABLE: &str = "AFTERBAY_BENCH_SOCKMAP";

const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE_ELEM: libc::c_int = 2;
const PROG_LOAD: libc::c_int = 5;
const PROG_ATTACH: libc::c_int = 8;
const SOCKHASH: u32 = 18;
const SK_MSG: u32 = 16;
const SK_MSG_VERDICT: u32 = 7;
const SOCKETS_MAX: u32 = 65_536;
const ATTRIBUTE_BYTES: usize = 128;

/// A socket by its own port and its peer's.
type Key = [u32; 2];

/// The map, with its program.
#[derive(Debug)]
pub(crate) struct Sockmap {
    map: OwnedFd,
    _program: OwnedFd,
}

/// Arguments of the system call, by offset.
struct Attributes([u8; ATTRIBUTE_BYTES]);

impl Attributes {
    fn new() -> Self {
        Attributes([0; ATTRIBUTE_BYTES])
    }

    fn u32(mut self, at: usize, value: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    /// Something that lives until the call returns.
    fn pointer<T: ?Sized>(mut self, at: usize, to: &T) -> Self {
        let address = std::ptr::from_ref(to).cast::<u8>() as u64;
        self.0[at..at + 8].copy_from_slice(&address.to_ne_bytes());
        self
    }

    fn call(mut self, command: libc::c_int) -> io::Result<RawFd> {
        // SAFETY: the kernel reads `ATTRIBUTE_BYTES` from here, and through the pointers what `pointer` was given, which the
        // caller has borrowed until after this call.
        let said =
            unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_mut_ptr(), ATTRIBUTE_BYTES) };
        if said < 0 { Err(io::Error::last_os_error()) } else { Ok(said as RawFd) }
    }

    fn open(self, command: libc::c_int) -> io::Result<OwnedFd> {
        let fd = self.call(command)?;
        // SAFETY: the kernel has just made it, for nobody else.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

/// `struct bpf_insn`.
fn instruction(code: u8, to: u8, from: u8, offset: i16, value: i32) -> [u8; 8] {
    let [a, b] = offset.to_ne_bytes();
    let [c, d, e, f] = value.to_ne_bytes();
    [code, to | from << 4, a, b, c, d, e, f]
}

/// Redirects a message to the peer of its socket, and passes it to TCP if that is in no map. Fields of `struct sk_msg_md`: the
/// remote port at 60, in network order in its upper half, and the local one at 64.
fn program(map: RawFd) -> Vec<u8> {
    let redirect_hash = 71;
    let into_its_queue = 1;
    let pass = 1;
    [
        instruction(0xbf, 6, 1, 0, 0),   // r6 = message
        instruction(0x61, 2, 6, 60, 0),  // r2 = remote port
        instruction(0xdc, 2, 0, 0, 32),  // in the order of this machine
        instruction(0x63, 10, 2, -8, 0), // own port of the peer
        instruction(0x61, 2, 6, 64, 0),  // r2 = local port
        instruction(0x63, 10, 2, -4, 0), // the other port of the peer
        instruction(0xbf, 1, 6, 0, 0),
        instruction(0x18, 2, 1, 0, map), // r2 = the map
        instruction(0, 0, 0, 0, 0),
        instruction(0xbf, 3, 10, 0, 0),
        instruction(0x07, 3, 0, 0, -8), // r3 = the key
        instruction(0xb7, 4, 0, 0, into_its_queue),
        instruction(0x85, 0, 0, 0, redirect_hash),
        instruction(0x55, 0, 0, 1, 0), // done, unless there is no peer
        instruction(0xb7, 0, 0, 0, pass),
        instruction(0x95, 0, 0, 0, 0),
    ]
    .concat()
}

impl Sockmap {
    pub(crate) fn new() -> Result<Self> {
        let refused = |what: &str| {
            let what = format!("{what}: way sockmap needs root (CAP_BPF and CAP_NET_ADMIN)");
            move |cause| Error::System { what, cause }
        };
        let key = size_of::<Key>() as u32;
        let map = Attributes::new()
            .u32(0, SOCKHASH)
            .u32(4, key)
            .u32(8, 4)
            .u32(12, SOCKETS_MAX)
            .open(MAP_CREATE)
            .map_err(refused("make a map of sockets"))?;
        let code = program(map.as_raw_fd());
        let program = Attributes::new()
            .u32(0, SK_MSG)
            .u32(4, (code.len() / 8) as u32)
            .pointer(8, code.as_slice())
            .pointer(16, c"Apache-2.0")
            .open(PROG_LOAD)
            .map_err(refused("load the program that redirects"))?;
        Attributes::new()
            .u32(0, map.as_raw_fd() as u32)
            .u32(4, program.as_raw_fd() as u32)
            .u32(8, SK_MSG_VERDICT)
            .call(PROG_ATTACH)
            .map_err(refused("attach the program that redirects"))?;
        // Processes inherit it.
        rustix::io::fcntl_setfd(&map, rustix::io::FdFlags::empty())
            .map_err(|e| refused("pass the map on")(e.into()))?;
        Ok(Sockmap { map, _program: program })
    }

    /// For [`VARIABLE`].
    pub(crate) fn descriptor(&self) -> String {
        self.map.as_raw_fd().to_string()
    }
}

/// Whether this process has inherited a map.
pub(crate) fn is_used() -> bool {
    env::var_os(VARIABLE).is_some()
}

/// Puts a socket into the map that this process has inherited, if it has.
pub(crate) fn add(socket: &impl AsRawFd, own_port: u16, peer_port: u16) -> io::Result<bool> {
    let Some(map) = env::var(VARIABLE).ok().and_then(|text| text.parse().ok()) else {
        return Ok(false);
    };
    let key: Key = [own_port.into(), peer_port.into()];
    let value = socket.as_raw_fd() as u32;
    Attributes::new()
        .u32(0, map)
        .pointer(8, &key)
        .pointer(16, &value)
        .call(MAP_UPDATE_ELEM)
        .map(|_| true)
}
