//! The limit of the network here: one TCP stream over loopback, from memory to memory, between two threads.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;

use crate::error::{Error, Result, in_system};
use crate::measured::{Counts, Mark, Measured};

const BUFFER_BYTES: usize = 1 << 20;

#[derive(Debug, Args)]
pub(crate) struct LoopbackArguments {
    /// Time before bytes count.
    #[arg(long, default_value_t = 0.0)]
    warmup_s: f64,

    /// Counted time.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

/// Prints the bytes that arrived; a request is a buffer of 1 MiB. Processor time is that of both ends.
pub(crate) fn run(arguments: &LoopbackArguments) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(in_system("listen"))?;
    let address = listener.local_addr().map_err(in_system("listen"))?;
    let sender = TcpStream::connect(address).map_err(in_system("connect"))?;
    let (receiver, _) = listener.accept().map_err(in_system("accept"))?;
    let received = Arc::new(AtomicU64::new(0));
    let ended = Arc::new(AtomicBool::new(false));
    let threads = [
        thread::spawn({
            let ended = ended.clone();
            move || send(sender, &ended)
        }),
        thread::spawn({
            let received = received.clone();
            move || receive(receiver, &received)
        }),
    ];
    thread::sleep(Duration::from_secs_f64(arguments.warmup_s));
    let (mark, before) = (Mark::now(&[]), received.load(Ordering::Relaxed));
    thread::sleep(Duration::from_secs_f64(arguments.seconds));
    let bytes = received.load(Ordering::Relaxed) - before;
    let passed = mark.elapsed();
    ended.store(true, Ordering::Relaxed);
    for thread in threads {
        let ended = thread.join().map_err(|_| Error::Thread)?;
        ended.map_err(in_system("use the stream"))?;
    }
    let mut counts = Counts::new()?;
    counts.bytes = bytes;
    counts.requests = bytes / BUFFER_BYTES as u64;
    Measured::new(&counts, passed).print()
}

fn send(mut stream: TcpStream, ended: &AtomicBool) -> std::io::Result<()> {
    let buffer = vec![7; BUFFER_BYTES];
    while !ended.load(Ordering::Relaxed) {
        stream.write_all(&buffer)?;
    }
    Ok(())
}

fn receive(mut stream: TcpStream, received: &AtomicU64) -> std::io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => received.fetch_add(count as u64, Ordering::Relaxed),
            Err(e) if e.kind() == ErrorKind::Interrupted => 0,
            Err(e) => return Err(e),
        };
    }
}
