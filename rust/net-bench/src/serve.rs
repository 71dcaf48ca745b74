//! The server: a thread for each connection.

use std::io::{self, Read, Write};
use std::thread;

use clap::Args;

use crate::content::Check;
use crate::error::{Result, doing};
use crate::socket::{Connection, Listener};
use crate::work::Greeting;

/// What is read at once of a stream of small blocks.
const READ_BYTES: usize = 64 << 10;

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// HOST:PORT, with port 0 for any, or unix:PATH.
    #[arg(long)]
    listen: String,
}

/// Says where it listens, and serves until its standard input ends.
pub(crate) fn run(arguments: &ServeArguments) -> Result<()> {
    let listener = Listener::open(&arguments.listen)?;
    println!("{}", listener.address(&arguments.listen)?);
    thread::spawn(move || {
        while let Ok(connection) = listener.accept() {
            // A client that goes ends its thread, and nothing else.
            thread::spawn(move || serve(connection));
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink()).map_err(doing("wait for the end of the input"))?;
    Ok(())
}

fn serve(mut connection: Connection) -> io::Result<()> {
    let greeting = Greeting::receive(&mut connection)?;
    if greeting.is_stream {
        take(connection, greeting.size)
    } else {
        echo(connection, greeting.size)
    }
}

fn echo(mut connection: Connection, size: usize) -> io::Result<()> {
    let mut message = vec![0; size];
    loop {
        connection.read_exact(&mut message)?;
        connection.write_all(&message)?;
    }
}

/// Answers the end of the stream: bytes, and how much of it was wrong.
fn take(mut connection: Connection, size: usize) -> io::Result<()> {
    let mut check = Check::new(size);
    let mut buffer = vec![0; size.max(READ_BYTES)];
    loop {
        match connection.read(&mut buffer)? {
            0 => break,
            read => check.see(&buffer[..read]),
        }
    }
    connection.write_all(&check.bytes().to_le_bytes())?;
    connection.write_all(&check.wrong().to_le_bytes())
}
