//! Forks of a program whose other threads open and close connections meanwhile.

#![allow(unsafe_code, reason = "a fork of a process with threads")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use afterbay_test_form::Wait;

use crate::ends::Told;
use crate::memory::{Memory, has_rings};

/// Says that this process is the program below.
const IS_PROGRAM: &str = "AFTERBAY_NET_FORKS";
/// Connections that are opened and closed, and have rings. A fork may come between one and its rings.
const CONNECTIONS: u32 = 500;

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
                left -= u32::from(exchange(&listener));
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

#[test]
fn connections_are_closed_beside_forks() {
    if std::env::var_os(IS_PROGRAM).is_some() {
        return runs();
    }
    let memory = Memory::new();
    // Of few connections at once: what a closed one has had is free again.
    let mut command = memory.net(&["run", "--spin", "off", "--eager", "--memory", "1m", "--"]);
    command
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", std::thread::current().name().unwrap(), "--nocapture"])
        .env(IS_PROGRAM, "");
    let mut program = Told::start(command);
    let said = std::thread::spawn(move || {
        while program.hear() != "all are closed" {
            assert!(program.goes_on(), "it ended");
        }
        program
    });
    Wait::block("all connections are closed", || said.is_finished());
    let mut program = said.join().unwrap();
    assert!(program.goes_on());
    program.tell("");
}
