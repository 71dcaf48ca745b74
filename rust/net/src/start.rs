//! Starts an agent that goes on by itself, once.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::Mode;
use rustix::process::{setsid, umask};

use crate::inherited;
use crate::place::{Place, PlaceError};
use crate::preload::LD_PRELOAD;

/// What an agent says that listens.
const READY: &str = "ready";

/// Why there is no agent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("the agent could not be started: {0}")]
    Process(#[from] io::Error),
    #[error("the agent did not start: {0}")]
    Agent(String),
}

/// What came of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Started {
    /// There is a new agent, of this process id.
    New(i32),
    /// There was one.
    Already(i32),
}

/// Starts an agent at a place, unless there is one. However many ask at once, one comes of it. The agent is this process's child:
/// for processes that end soon.
pub(crate) fn start(place: &Place, arguments: &[&str]) -> Result<Started, StartError> {
    place.make()?;
    let _lock = place.lock_start()?;
    match place.agent() {
        Ok(process) => return Ok(Started::Already(process)),
        Err(PlaceError::NoAgent(_)) => {}
        Err(error) => return Err(error.into()),
    }
    inherited::keep_to_ourselves();
    let mut agent = Command::new(std::env::current_exe()?)
        .args(["agent", "--foreground", "--detached"])
        .args(arguments)
        .arg("--dir")
        .arg(place.as_ref() as &Path)
        // Else it would keep a disk from being unmounted.
        .current_dir("/")
        .env_remove(LD_PRELOAD)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(place.create_log()?)
        .spawn()?;
    let mut said = String::new();
    if let Some(mut output) = agent.stdout.take() {
        output.read_to_string(&mut said)?;
    }
    match said.trim_end() {
        READY => Ok(Started::New(agent.id().cast_signed())),
        "" => {
            Err(StartError::Agent(format!("it said nothing; its log is {}", place.log().display())))
        }
        reason => Err(StartError::Agent(reason.to_owned())),
    }
}

/// The agent's side: leaves the terminal and the session that it was started in.
pub(crate) fn leave_session() {
    // An error says that it leads a session already.
    let _ = setsid();
    umask(Mode::RWXG | Mode::RWXO);
}

/// Says to who started it that it listens, and says nothing more.
pub(crate) fn say_ready() -> io::Result<()> {
    say(READY)?;
    let nothing = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(nothing)?)
}

/// Says why it does not.
pub(crate) fn say(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{text}")?;
    output.flush()
}
