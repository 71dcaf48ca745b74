//! `cut`: where a plan's nodes run, and why.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use afterbay_edge_plan::{
    Cut, FLINK_VERSION, Field, Location, Operator, Pipeline, Plan, Rows, halves, table_name,
};
use clap::Args;
use serde_json::{Value as Json, json};

use super::{Failed, Result, failed, read_plan, unwritten};

#[derive(Debug, Args)]
pub(crate) struct CutArgs {
    /// The compiled plan of the job
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// Columns whose values each occur at one site only, COLUMN or TABLE.COLUMN: aggregates with one of them in their key are
    /// final at the site. This is not checked
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    local: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the lower half, which runs at the sites, as a plan with a sink into the table between the halves
    #[arg(long, value_name = "FILE")]
    lower: Option<PathBuf>,
    /// Write the upper half, which reads that table, as a plan for Flink
    #[arg(long, value_name = "FILE")]
    upper: Option<PathBuf>,
    /// An option of the table between the halves, instead of connector=filesystem, format=json, path=edge_partials
    #[arg(long = "table-option", value_name = "NAME=VALUE", value_parser = option)]
    options: Vec<(String, String)>,
}

fn option(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("NAME=VALUE is needed, such as connector=kafka".to_owned()),
    }
}

pub(crate) fn run(args: &CutArgs) -> Result<()> {
    let (plan, cut) = read_plan(&args.plan, &args.local)?;
    let text = if args.json { format!("{}\n", to_json(&cut)) } else { to_text(&cut) };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(unwritten)?;
    write_halves(args, &plan, &cut)
}

fn write_halves(args: &CutArgs, plan: &Plan, cut: &Cut) -> Result<()> {
    if args.lower.is_none() && args.upper.is_none() {
        return Ok(());
    }
    if cut.pipelines.is_empty() {
        let what = "no node runs at a site, so there are no halves";
        return Err(failed(&args.plan, what));
    }
    let default = [("connector", "filesystem"), ("format", "json"), ("path", "edge_partials")];
    let options = if args.options.is_empty() {
        default.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    } else {
        args.options.clone()
    };
    let halves = halves(plan, cut, &options);
    for (path, half) in [(&args.lower, &halves.lower), (&args.upper, &halves.upper)] {
        if let Some(path) = path {
            write_file(path, half)?;
        }
    }
    Ok(())
}

fn write_file(path: &Path, json: &Json) -> Result<()> {
    let text =
        serde_json::to_string_pretty(json).map_err(|error| Failed::Done(error.to_string()))?;
    std::fs::write(path, text + "\n").map_err(|error| failed(path, error))
}

fn name(rows: Rows) -> &'static str {
    match rows {
        Rows::Raw => "raw",
        Rows::Filtered => "filtered",
        Rows::Projected => "projected",
        Rows::Partial => "partial",
        Rows::Final => "final",
    }
}

fn to_json(cut: &Cut) -> Json {
    let nodes = cut.placed.iter().map(|node| {
        let (location, why) = match &node.location {
            Location::Edge => ("edge", None),
            Location::Cloud { why } => ("cloud", Some(why)),
        };
        json!({
            "id": node.id, "type": node.kind, "description": node.description,
            "location": location, "why": why
        })
    });
    let column = |field: &Field| json!({"name": field.name, "type": field.of.kind.to_string()});
    let pipelines = cut.pipelines.iter().map(|pipeline| {
        json!({
            "ids": pipeline.ids,
            "source": source(pipeline),
            "rows": name(pipeline.rows()),
            "watermark": pipeline.has_watermark(),
            "columns": pipeline.output().iter().map(column).collect::<Vec<_>>(),
            "table": table_name(cut, pipeline)
        })
    });
    let (nodes, pipelines): (Vec<_>, Vec<_>) = (nodes.collect(), pipelines.collect());
    json!({"flinkVersion": FLINK_VERSION, "nodes": nodes, "pipelines": pipelines})
}

fn source(pipeline: &Pipeline) -> &str {
    match pipeline.nodes.first().map(|node| &node.operator) {
        Some(Operator::Scan(scan)) => &scan.table,
        _ => "",
    }
}

fn to_text(cut: &Cut) -> String {
    let mut text = String::new();
    for node in &cut.placed {
        let location = if node.location == Location::Edge { "edge " } else { "cloud" };
        // Writing into a string does not fail.
        let _ = writeln!(text, "{location}  {:>3}  {}", node.id, node.kind);
        if !node.description.is_empty() {
            let _ = writeln!(text, "            {}", node.description);
        }
        if let Location::Cloud { why } = &node.location {
            let _ = writeln!(text, "            why: {why}");
        }
    }
    text.push('\n');
    if cut.pipelines.is_empty() {
        text.push_str("Nothing runs at the sites.\n");
    }
    for pipeline in &cut.pipelines {
        let rows = match pipeline.rows() {
            Rows::Raw => "its rows as they come",
            Rows::Filtered => "some of its rows",
            Rows::Projected => "columns of its rows",
            Rows::Partial => "parts of its aggregates, by key and slice",
            Rows::Final => "its aggregates, final, by key and window",
        };
        let columns: Vec<&str> =
            pipeline.output().iter().map(|field| field.name.as_str()).collect();
        let _ = writeln!(
            text,
            "From a site's {} go to the cloud: {rows} ({}).",
            source(pipeline),
            columns.join(", ")
        );
    }
    if !cut.pipelines.is_empty() && flink_makes_a_watermark(cut) {
        text.push_str(
            "Flink makes their watermark, one for each task that reads: give each site a partition of its own, and the source as many \
             tasks as there are partitions.\n",
        );
    }
    text
}

/// Of rows that come without one: the sites do not understand its expression.
fn flink_makes_a_watermark(cut: &Cut) -> bool {
    cut.placed.iter().any(|node| {
        node.location != Location::Edge && node.kind.starts_with("stream-exec-watermark-assigner")
    })
}
