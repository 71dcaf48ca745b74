//! `demote`.

use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use afterbay_values::counted;
use clap::Args;

use super::status::{ask, report};
use super::{AgentDirectory, Failed, Patience, print};
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
    #[command(flatten)]
    patience: Patience,
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
    let mut look = || -> Result<Look, Failed> {
        let report = report(&place, process, &mut client, args.patience.time())?;
        let is_whole = report.silent == 0;
        let found = report.connections.into_iter().filter(|found| target.is(found)).collect();
        Ok(Look { found, is_whole })
    };
    let mut meant = look()?;
    if meant.found.is_empty() && meant.is_whole {
        return Err(not_found(target).into());
    }
    client_demote(args, target)?;
    let began = Instant::now();
    loop {
        let now = look()?;
        if meant.found.is_empty() {
            // It said nothing until now.
            meant.found.clone_from(&now.found);
        }
        let left = meant.left(&now);
        match &meant.found[..] {
            [first, ..] if left == 0 => {
                let (all, program) =
                    (counted(meant.found.len() as u64, "connection"), &first.program);
                return print(&format!("{all} of {program} ({}) on TCP\n", target.process));
            }
            [] if now.is_whole => return Err(not_found(target).into()),
            _ => {}
        }
        if began.elapsed() >= Duration::from_secs(args.timeout) {
            let left = match left {
                0 => "what it has is".to_owned(),
                left => counted(left as u64, "connection"),
            };
            return Err(format!(
                "{left} not on TCP yet: it is told, and goes back when both of its programs run on; 'afterbay net status' shows it"
            )
            .into());
        }
        thread::sleep(LOOK);
    }
}

/// What programs say of the connections that are meant.
#[derive(Debug)]
struct Look {
    found: Vec<Connection>,
    /// All programs have said what they have.
    is_whole: bool,
}

impl Look {
    /// How many of these are not on TCP now. One that was closed meanwhile is not there any more, unless its program says nothing;
    /// new ones are not meant.
    fn left(&self, now: &Look) -> usize {
        let is_left = |meant: &&Connection| {
            let found = now.found.iter().find(|now| now.number == meant.number);
            found.map_or(!now.is_whole, |now| !now.is_on_tcp())
        };
        self.found.iter().filter(is_left).count()
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
