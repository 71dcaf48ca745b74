//! `topics make` and `topics remove`, for runs that leave nothing behind at a broker.

use afterbay_edge_gateway::Refused;
use afterbay_edge_gateway::output::Output as _;
use afterbay_edge_kafka::{KafkaOutput, remove_topics};
use clap::{Args, Subcommand};

use super::{Failed, Result, say};

#[derive(Debug, Subcommand)]
pub(crate) enum TopicsCommand {
    /// Makes the topic of a stream, with one partition, unless it is there
    Make(MakeArgs),
    /// Removes all topics whose names begin with the prefix
    Remove(RemoveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The brokers, HOST:PORT with commas between
    #[arg(long, value_name = "HOST:PORT")]
    bootstrap: String,
    /// What the names of the topics begin with
    #[arg(long, value_name = "PREFIX", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    topic_prefix: String,
}

#[derive(Debug, Args)]
pub(crate) struct MakeArgs {
    /// The name of the stream
    #[arg(value_name = "STREAM", value_parser = super::name)]
    stream: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(command: &TopicsCommand) -> Result<()> {
    match command {
        TopicsCommand::Make(args) => {
            let mut output = KafkaOutput::new(&args.place.bootstrap, &args.place.topic_prefix, 1);
            match output.refuses(&args.stream) {
                None => Ok(()),
                Some(
                    Refused::Fenced(why)
                    | Refused::Forgotten(why)
                    | Refused::Columns(why)
                    | Refused::Wrong(why)
                    | Refused::NotNow(why),
                ) => Err(Failed::Done(why)),
            }
        }
        TopicsCommand::Remove(args) => {
            let removed = remove_topics(&args.place.bootstrap, &args.place.topic_prefix)
                .map_err(|error| Failed::Done(error.to_string()))?;
            say(&serde_json::json!({"removed": removed}))
        }
    }
}
