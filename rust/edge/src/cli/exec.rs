//! `exec`: the lower half of a plan, on a file.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use afterbay_edge_exec::{Output, Run, write_row};
use afterbay_edge_plan::{Field, Value};
use clap::Args;

use super::select::{FlushArg, LowerArgs};
use super::{Failed, Result, failed, read_plan, unwritten};

/// A line that is longer is no reading.
const LINE_BYTES_MAX: usize = 16 << 20;

#[derive(Debug, Args)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    lower: LowerArgs,
    /// The rows, one a line; - is the standard input
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// What is emitted when a slice is over: everything, as Flink does, or what is over, which are fewer rows
    #[arg(long, value_name = "WHAT", default_value = "all")]
    flush: FlushArg,
}

pub(crate) fn run(args: &ExecArgs) -> Result<()> {
    let (_, cut) = read_plan(&args.lower.plan, &args.lower.local)?;
    let (pipeline, scan) = args.lower.select(&cut)?;
    let reader = args.lower.reader(scan)?;
    let mut run = Run::new(pipeline, args.lower.settings(args.flush));
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
    let finished = run.finish(&mut out);
    finished.map_err(|error| failed(&args.input, format!("at its end: {error}")))?;
    out.end()?;
    if run.late_rows() > 0 {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "afterbay edge: {} late rows were dropped, as Flink drops them",
            run.late_rows()
        );
    }
    Ok(())
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
