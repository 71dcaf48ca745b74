//! Functions of the C library that programs call on sockets. Loaded by LD_PRELOAD, they come first; for descriptors that are no
//! TCP connections they only lead on to the next ones. What the others do is in `afterbay-net-core`.
//!
//! A function may be called before this library's constructor, in a signal handler, and between `fork` and `exec`.
#![cfg(target_os = "linux")]

mod accept;
mod close;
mod connect;
mod dup;
mod epoll;
mod exec;
mod fork;
mod fresh;
mod ioctl;
mod other;
mod poll;
mod real;
mod recv;
mod select;
mod send;
mod start;
mod stream;
mod vfork;
