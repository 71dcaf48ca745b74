//! Forks of a program whose other threads open and close connections meanwhile.

#![allow(unsafe_code, reason = "a fork of a process with threads")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use afterbay_test_form::Wait;

use crate::ends::Told;
use crate::memory::{Memory, has_rings};

/// Says that this process is the program below.
const IS_PROGRAM: &str = "AFTERBAY_NET_FORKS";
/// Connections that are opened and closed, and have rings. A fork may come between one and its rings.
const CONNECTIONS: u32 = 500;
/// How often a program says that it gets on.
const SAYS: u32 = 50;

/// A connection that is opened and closed. Whether it has had rings.
fn exchange(listener: &TcpListener) -> bool {
    let mut asks = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut serves = listener.accept().unwrap().0;
    for byte in 0..2 {
        let mut came = [7];
        asks.write_all(&[byte]).unwrap();
        serves.read_exact(&mut came).unwrap();
        assert_eq!(came, [byte]);
    }
    has_rings(std::process::id())
}

/// Forks until so many connections are closed.
fn runs() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut left = CONNECTIONS;
            while left > 0 {
                let had_rings = exchange(&listener);
                left -= u32::from(had_rings);
                if had_rings && left.is_multiple_of(SAYS) {
                    println!("{left} are left");
                }
            }
            is_done.store(true, SeqCst);
        });
        while !is_done.load(SeqCst) {
            // SAFETY: the child runs nothing but its end.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: as said.
                unsafe { libc::_exit(0) };
            }
            assert!(child > 0);
            // SAFETY: nothing is written.
            assert_eq!(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }, child);
        }
    });
    println!("all are closed");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

/// Children of the second program.
const CHILDREN: u32 = 100;
/// The program's own descriptors are below; those of the library are far above.
const OWN: Range<RawFd> = 3..64;
/// Of `struct tcp_info`: the other end has closed.
const CLOSE_WAIT: u8 = 8;

fn state(socket: &TcpStream) -> u8 {
    let mut info = [0_u8; 8];
    let mut length = info.len() as libc::socklen_t;
    let (level, name) = (libc::IPPROTO_TCP, libc::TCP_INFO);
    // SAFETY: the kernel writes as many bytes as there are.
    let got = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, name, info.as_mut_ptr().cast(), &raw mut length)
    };
    assert_eq!(got, 0);
    info[0]
}

/// Children that live on, and have closed what they have inherited: what the parent closes has an end all the same.
fn keeps_children() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = AtomicU32::new(0);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(SeqCst) {
                let mut asks = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                let mut serves = listener.accept().unwrap().0;
                let mut came = [7];
                asks.write_all(&[1]).unwrap();
                serves.read_exact(&mut came).unwrap();
                drop(asks);
                while state(&serves) != CLOSE_WAIT {
                    std::thread::sleep(Duration::from_millis(1));
                }
                closed.fetch_add(1, SeqCst);
            }
        });
        for child in 0..CHILDREN {
            if child.is_multiple_of(SAYS) {
                println!("{child} children have come");
            }
            let (mut output, input) = std::io::pipe().unwrap();
            // SAFETY: the child makes system calls only, and waits for its death.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: as said.
                unsafe {
                    for fd in OWN.filter(|&fd| fd != input.as_raw_fd()) {
                        libc::close(fd);
                    }
                    libc::write(input.as_raw_fd(), [0_u8].as_ptr().cast(), 1);
                    loop {
                        libc::pause();
                    }
                }
            }
            assert!(child > 0);
            output.read_exact(&mut [0]).unwrap();
            let before = closed.load(SeqCst);
            // The second one began after the child had closed all.
            Wait::block("connections are closed", || closed.load(SeqCst) > before + 1);
            // SAFETY: nothing is written.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                assert_eq!(libc::waitpid(child, std::ptr::null_mut(), 0), child);
            }
        }
        is_done.store(true, SeqCst);
    });
    println!("all are closed");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

/// Runs this test as a program, with few connections at once: what a closed one has had is free again.
fn check(runs: fn()) {
    if std::env::var_os(IS_PROGRAM).is_some() {
        return runs();
    }
    let memory = Memory::new();
    let mut command = memory.net(&["run", "--spin", "off", "--eager", "--memory", "1m", "--"]);
    command
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", std::thread::current().name().unwrap(), "--nocapture"])
        .env(IS_PROGRAM, "");
    let mut program = Told::start(command);
    let mut said = String::new();
    while said != "all are closed" {
        // Each line is waited for anew.
        (said, program) = program.says();
        assert!(program.goes_on(), "it ended");
    }
    program.tell("");
}

#[test]
fn connections_are_closed_beside_forks() {
    check(runs);
}

#[test]
fn connections_end_though_there_are_children() {
    check(keeps_children);
}
