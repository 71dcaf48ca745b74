//! `exec`: the lower half of a plan, on a file.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use afterbay_edge_exec::{Flush, Format, Output, Reader, Run, Settings, write_row};
use afterbay_edge_plan::{Cut, Field, Location, Operator, Pipeline, Scan, Value};
use clap::{Args, ValueEnum};

use super::{Failed, Result, failed, read_plan, unwritten};

/// A line that is longer is no reading.
const LINE_BYTES_MAX: usize = 16 << 20;

#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    /// The compiled plan of the job, or its lower half
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,
    /// The name of this site: letters, digits, - and _
    #[arg(long, value_name = "NAME", value_parser = site)]
    site: String,
    /// The rows, one a line; - is the standard input
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
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
    /// Groups of key and slice in memory; with more, parts are emitted early
    #[arg(long, value_name = "COUNT", default_value_t = Settings::default().groups_max)]
    groups_max: usize,
    /// What is emitted when a slice is over: everything, as Flink does, or what is over, which are fewer rows
    #[arg(long, value_name = "WHAT", default_value = "all")]
    flush: FlushArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FlushArg {
    All,
    Over,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatArg {
    Json,
    Csv,
}

fn site(text: &str) -> std::result::Result<String, String> {
    const LENGTH_MAX: usize = 63;
    let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || text.len() > LENGTH_MAX || !text.chars().all(known) {
        return Err(format!("1 to {LENGTH_MAX} letters, digits, - and _ are allowed"));
    }
    Ok(text.to_owned())
}

pub(crate) fn run(args: &ExecArgs) -> Result<()> {
    let (_, cut) = read_plan(&args.plan)?;
    let (pipeline, scan) = select(args, &cut)?;
    let format = args.format.map(|format| match format {
        FormatArg::Json => Format::Json,
        FormatArg::Csv => Format::Csv,
    });
    let ignores = args.ignore_parse_errors.then_some(true);
    let reader = Reader::new(scan, format, ignores).map_err(|error| failed(&args.plan, error))?;
    let settings = Settings {
        watermark_interval: args.watermark_interval,
        groups_max: args.groups_max,
        flush: match args.flush {
            FlushArg::All => Flush::All,
            FlushArg::Over => Flush::Over,
        },
    };
    let mut run = Run::new(pipeline, settings);
    // Who feeds a pipe waits for what comes out of it.
    let mut out = Lines::new(pipeline.output(), args.input == Path::new("-"));
    each_line(&args.input, |number, line| {
        let at_line = |what: &dyn std::fmt::Display| {
            Failed::Done(format!("{}:{number}: {what}", args.input.display()))
        };
        if let Some(row) = reader.read(line).map_err(|error| at_line(&error))? {
            run.push(&row, &mut out).map_err(|error| at_line(&error))?;
        }
        out.result()
    })?;
    run.finish(&mut out);
    out.end()
}

fn each_line(path: &Path, mut take: impl FnMut(u64, &str) -> Result<()>) -> Result<()> {
    let mut input: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(path).map_err(|error| failed(path, error))?))
    };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut limited = std::io::Read::take(&mut input, LINE_BYTES_MAX as u64 + 1);
        let read = limited.read_until(b'\n', &mut line).map_err(|error| failed(path, error))?;
        if read == 0 {
            break;
        }
        let at_line = |what: &str| Failed::Done(format!("{}:{number}: {what}", path.display()));
        if line.len() > LINE_BYTES_MAX {
            return Err(at_line("a line has 16 MiB at most"));
        }
        let text = std::str::from_utf8(&line).map_err(|_| at_line("this is not UTF-8"))?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        take(number, text.strip_suffix('\r').unwrap_or(text))?;
    }
    Ok(())
}

/// The pipeline that is asked for, and its table.
fn select<'a>(args: &ExecArgs, cut: &'a Cut) -> Result<(&'a Pipeline, &'a Scan)> {
    let all = cut.pipelines.iter().filter_map(|pipeline| {
        match pipeline.nodes.first().map(|node| &node.operator) {
            Some(Operator::Scan(scan)) => Some((pipeline, scan)),
            _ => None,
        }
    });
    let all: Vec<_> = all.collect();
    let names = || all.iter().map(|(_, scan)| short(&scan.table)).collect::<Vec<_>>().join(", ");
    match (&args.table, all.as_slice()) {
        (_, []) => Err(failed(&args.plan, format!("nothing runs at a site: {}", whys(cut)))),
        (None, [one]) => Ok(*one),
        (None, _) => {
            let what = format!("several tables are read: --table says which one, of {}", names());
            Err(failed(&args.plan, what))
        }
        (Some(name), all) => {
            let is_it = |scan: &Scan| short(&scan.table) == name || scan.table == *name;
            let found: Vec<_> = all.iter().filter(|(_, scan)| is_it(scan)).collect();
            match found.as_slice() {
                [one] => Ok(**one),
                [] => {
                    let what = format!("no table {name} is read at a site, but {}", names());
                    Err(failed(&args.plan, what))
                }
                several => {
                    let what = format!(
                        "table {name} is read {} times: a site runs one reading of a table",
                        several.len()
                    );
                    Err(failed(&args.plan, what))
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

/// The standard output: an object a line.
struct Lines<'a> {
    fields: &'a [Field],
    out: BufWriter<std::io::StdoutLock<'static>>,
    line: String,
    flushes: bool,
    done: std::io::Result<()>,
}

impl<'a> Lines<'a> {
    fn new(fields: &'a [Field], flushes: bool) -> Self {
        let out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
        Self { fields, out, line: String::new(), flushes, done: Ok(()) }
    }

    fn write(&mut self) {
        self.line.push('\n');
        if self.done.is_ok() {
            self.done = self.out.write_all(self.line.as_bytes());
        }
    }

    /// Whether everything was taken so far.
    fn result(&mut self) -> Result<()> {
        std::mem::replace(&mut self.done, Ok(())).map_err(unwritten)
    }

    fn end(mut self) -> Result<()> {
        self.result()?;
        self.out.flush().map_err(unwritten)
    }
}

impl Output for Lines<'_> {
    fn row(&mut self, row: &[Value]) {
        self.line.clear();
        self.line.push_str("{\"row\":");
        write_row(self.fields, row, &mut self.line);
        self.line.push('}');
        self.write();
    }

    fn watermark(&mut self, millis: i64) {
        self.line.clear();
        // Writing into a string does not fail.
        let _ = write!(self.line, "{{\"watermark\":{millis}}}");
        self.write();
        if self.flushes && self.done.is_ok() {
            self.done = self.out.flush();
        }
    }
}
