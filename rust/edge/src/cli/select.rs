//! Which pipeline of a plan a site runs, and how its lines are read: what `exec` and `agent` have in common.

use std::path::PathBuf;

use afterbay_edge_exec::{Flush, Format, Reader, Settings};
use afterbay_edge_plan::{Cut, Location, Operator, Pipeline, Scan};
use clap::{Args, ValueEnum};

use super::{Result, failed};

/// Of the lower half.
#[derive(Debug, Args)]
pub(crate) struct LowerArgs {
    /// The compiled plan of the job, or its lower half
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// Columns whose values each occur at one site only, the same ones as for 'cut'
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub(crate) local: Vec<String>,
    /// The name of this site: letters, digits, - and _
    #[arg(long, value_name = "NAME", value_parser = super::name)]
    pub(crate) site: String,
    /// What a line is, if not what the table says
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatArg>,
    /// Which table the rows are of, if the plan reads several
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Leave bad lines out and take null for bad fields, as FORMAT.ignore-parse-errors of the table does
    #[arg(long)]
    ignore_parse_errors: bool,
    /// Pass watermarks on that are further by more than this, as pipeline.auto-watermark-interval
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
    watermark_interval: i64,
    /// Groups of key and slice, or sessions, in memory at most; with more, parts are emitted early, but a run with final results ends
    #[arg(long, value_name = "COUNT", default_value_t = Settings::default().groups_max)]
    groups_max: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FlushArg {
    All,
    Over,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatArg {
    Json,
    Csv,
}

impl LowerArgs {
    pub(crate) fn settings(&self, flush: FlushArg) -> Settings {
        Settings {
            watermark_interval: self.watermark_interval,
            groups_max: self.groups_max,
            flush: match flush {
                FlushArg::All => Flush::All,
                FlushArg::Over => Flush::Over,
            },
        }
    }

    pub(crate) fn reader(&self, scan: &Scan) -> Result<Reader> {
        let format = self.format.map(|format| match format {
            FormatArg::Json => Format::Json,
            FormatArg::Csv => Format::Csv,
        });
        let ignores = self.ignore_parse_errors.then_some(true);
        Reader::new(scan, format, ignores).map_err(|error| failed(&self.plan, error))
    }

    /// What a saved state depends on, beside the plan.
    pub(crate) fn said(&self) -> String {
        let said = format!("{:?} {:?} {}", self.format, self.table, self.ignore_parse_errors);
        // As before, where there are none.
        if self.local.is_empty() { said } else { format!("{said} {:?}", self.local) }
    }

    /// The pipeline that is asked for, and its table.
    pub(crate) fn select<'a>(&self, cut: &'a Cut) -> Result<(&'a Pipeline, &'a Scan)> {
        let all = cut.pipelines.iter().filter_map(|pipeline| {
            match pipeline.nodes.first().map(|node| &node.operator) {
                Some(Operator::Scan(scan)) => Some((pipeline, scan)),
                _ => None,
            }
        });
        let all: Vec<_> = all.collect();
        let names =
            || all.iter().map(|(_, scan)| short(&scan.table)).collect::<Vec<_>>().join(", ");
        match (&self.table, all.as_slice()) {
            (_, []) => Err(failed(&self.plan, format!("nothing runs at a site: {}", whys(cut)))),
            (None, [one]) => Ok(*one),
            (None, _) => {
                let what =
                    format!("several tables are read: --table says which one, of {}", names());
                Err(failed(&self.plan, what))
            }
            (Some(name), all) => {
                let is_it = |scan: &Scan| short(&scan.table) == name || scan.table == *name;
                let found: Vec<_> = all.iter().filter(|(_, scan)| is_it(scan)).collect();
                match found.as_slice() {
                    [one] => Ok(**one),
                    [] => {
                        let what = format!("no table {name} is read at a site, but {}", names());
                        Err(failed(&self.plan, what))
                    }
                    several => {
                        let what = format!(
                            "table {name} is read {} times: a site runs one reading of a table",
                            several.len()
                        );
                        Err(failed(&self.plan, what))
                    }
                }
            }
        }
    }
}

/// A table's name without its catalog and database.
fn short(table: &str) -> &str {
    table.strip_suffix('`').and_then(|table| table.rsplit('`').next()).unwrap_or(table)
}

fn whys(cut: &Cut) -> String {
    let why = cut.placed.iter().find_map(|node| match &node.location {
        Location::Cloud { why } => Some(format!("node {} ({}): {why}", node.id, node.kind)),
        Location::Edge => None,
    });
    why.unwrap_or_else(|| "the plan has no nodes".to_owned())
}
