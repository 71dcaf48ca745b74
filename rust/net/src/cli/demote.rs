//! `demote`.

use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use afterbay_values::counted;
use clap::Args;

use super::status::{ask, report};
use super::{AgentDirectory, Failed, print};
use crate::report::Connection;

/// How often it is looked whether connections are back.
const LOOK: Duration = Duration::from_millis(20);

/// Arguments of `demote`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay net demote 4711\n  \
    afterbay net demote 4711/3\n\
    From then on, tcpdump and firewalls see what goes through these connections. They stay on TCP until they are closed; the program's \
    new ones move to memory again.")]
pub(crate) struct DemoteArgs {
    /// A program by its process id, or one of its connections by what 'status' calls it
    #[arg(value_name = "PID|CONNECTION")]
    target: Target,
    #[command(flatten)]
    agent: AgentDirectory,
    /// Wait so many seconds until it is so
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    timeout: u64,
}

/// A program, or a connection of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Target {
    process: u32,
    connection: Option<u64>,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (process, connection) = match text.split_once('/') {
            Some((process, connection)) => (process, Some(connection)),
            None => (text, None),
        };
        let some = |number: u64| (number > 0).then_some(number);
        let process = process.parse().ok().filter(|process| *process > 0);
        let connection = connection.map(|number| number.parse().ok().and_then(some));
        match (process, connection) {
            (Some(process), None) => Ok(Target { process, connection: None }),
            (Some(process), Some(Some(number))) => Ok(Target { process, connection: Some(number) }),
            _ => Err(format!("'{text}' is neither a process id (4711) nor a connection (4711/3)")),
        }
    }
}

impl Target {
    fn is(self, connection: &Connection) -> bool {
        connection.process == self.process
            && self.connection.is_none_or(|number| connection.number == number)
    }

    fn to_connection(self) -> u64 {
        self.connection.unwrap_or(0)
    }
}

pub(crate) fn run(args: &DemoteArgs) -> Result<(), Failed> {
    let (place, process, mut client) = ask(&args.agent)?;
    let target = args.target;
    let mut look = || -> Result<Vec<Connection>, Failed> {
        let found = report(&place, process, &mut client)?.connections;
        Ok(found.into_iter().filter(|connection| target.is(connection)).collect())
    };
    let meant = look()?;
    if meant.is_empty() {
        return Err(not_found(target).into());
    }
    client_demote(args, target)?;
    let began = Instant::now();
    loop {
        // One that was closed meanwhile is not there any more, and new ones are not meant.
        let now = look()?;
        let left = now.iter().filter(|connection| !connection.is_on_tcp());
        let left = left.filter(|now| meant.iter().any(|meant| meant.number == now.number)).count();
        if left == 0 {
            let program = &meant[0].program;
            let connections = counted(meant.len() as u64, "connection");
            return print(&format!("{connections} of {program} ({}) on TCP\n", target.process));
        }
        if began.elapsed() >= Duration::from_secs(args.timeout) {
            let left = counted(left as u64, "connection");
            return Err(format!(
                "{left} not on TCP yet: it is told, and goes back when both of its programs run on; 'afterbay net status' shows it"
            )
            .into());
        }
        thread::sleep(LOOK);
    }
}

fn client_demote(args: &DemoteArgs, target: Target) -> Result<(), Failed> {
    let (.., mut client) = ask(&args.agent)?;
    match client.demote(target.process, target.to_connection())? {
        0 => Err(not_found(target).into()),
        _ => Ok(()),
    }
}

fn not_found(target: Target) -> String {
    let Target { process, connection } = target;
    let of = connection.map(|number| format!("connection {number} of ")).unwrap_or_default();
    format!(
        "the agent knows no {of}program {process} with connections; 'afterbay net status' lists what there is"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_program_or_a_connection() {
        assert_eq!("7".parse(), Ok(Target { process: 7, connection: None }));
        assert_eq!("7/3".parse(), Ok(Target { process: 7, connection: Some(3) }));
        for refused in ["", "x", "0", "7/", "7/0", "7/x", "/3", "-1"] {
            assert!(refused.parse::<Target>().is_err(), "{refused}");
        }
    }
}
