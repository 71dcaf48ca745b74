//! `status`.

use std::time::Duration;

use afterbay_net_agent::{AgentClient, AgentError};
use clap::Args;

use super::{AgentDirectory, Failed, Patience, print};
use crate::place::Place;
use crate::report::Report;

/// The group of who only looks, which none of its programs needs to be in.
const LOOKS: &str = "default";

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    afterbay net status\n  \
    afterbay net status --json | jq '.connections[] | select(.out.transport == \"tcp\") | .reason'\n\
    A connection has a line for each of its programs that runs by 'net run'. Bytes are those since the connection was made.")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    agent: AgentDirectory,
    #[command(flatten)]
    patience: Patience,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &StatusArgs) -> Result<(), Failed> {
    let (place, process, mut client) = ask(&args.agent)?;
    let report = report(&place, process, &mut client, args.patience.time())?;
    match args.json {
        true => print(&format!("{}\n", serde_json::to_string(&report)?)),
        false => print(&report.text()?),
    }
}

/// Who to ask.
pub(crate) fn ask(agent: &AgentDirectory) -> Result<(Place, i32, AgentClient), Failed> {
    let place = agent.place()?;
    let process = place.agent()?;
    let client = AgentClient::connect(&place.socket(), &LOOKS.parse()?).map_err(explain)?;
    Ok((place, process, client))
}

/// A program that says nothing for so long is left out.
pub(crate) fn report(
    place: &Place,
    process: i32,
    client: &mut AgentClient,
    patience: Duration,
) -> Result<Report, Failed> {
    let status = client.status(patience).map_err(explain)?;
    Ok(Report::new(place.to_string(), process, &status))
}

fn explain(error: AgentError) -> Failed {
    match error {
        AgentError::Decode(error) => {
            format!("the agent is of another version ({error}); end it by its process id, and the next 'net run' starts one of this version").into()
        }
        error => error.into(),
    }
}
