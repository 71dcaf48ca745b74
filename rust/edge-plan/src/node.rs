//! The nodes that run at a site. Each is of one version, and has no field that is not read.

use serde_json::Value as Json;

use crate::aggregate::{Part, parts};
use crate::error::{Refusal, Result};
use crate::expr::{Expr, expr};
use crate::global::{GlobalAggregate, SessionAggregate};
use crate::scan::{Scan, Watermark, same_columns, scan};
use crate::strict::{Object, array, index};
use crate::types::{DataType, Field, Kind, row_type};
use crate::window::{Assignment, Window, Windowing, windowing};

/// What a node does.
#[derive(Debug, Clone, PartialEq)]
pub enum Operator {
    /// Reads a table.
    Scan(Scan),
    /// Makes watermarks of rows, which go through it.
    Watermark(Watermark),
    /// Filters and computes.
    Calc(Calc),
    /// Gives a row once for each of its windows, which become columns: beginning, end, and the last ms.
    Windows {
        /// Which windows.
        window: Window,
        /// The column of a row's time.
        time_column: usize,
    },
    /// Adds up by key and slice.
    LocalAggregate(LocalAggregate),
    /// Brings rows of one key together, which are at this site anyway.
    Exchange,
    /// Makes of what a local aggregate in front of the exchange gives a row for each key and window.
    GlobalAggregate(GlobalAggregate),
    /// Makes of rows one for each key and session.
    Sessions(SessionAggregate),
}

/// A calc.
#[derive(Debug, Clone, PartialEq)]
pub struct Calc {
    /// Rows for which it is true go further.
    pub condition: Option<Expr>,
    /// The columns of what goes further.
    pub projection: Vec<Expr>,
}

impl Calc {
    /// Whether its rows are those it gets.
    pub fn is_filter(&self, columns: usize) -> bool {
        let same = |(index, expr): (usize, &Expr)| expr.is_input(index);
        self.projection.len() == columns && self.projection.iter().enumerate().all(same)
    }
}

/// The lower half of a windowed aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalAggregate {
    /// The columns of the key.
    pub grouping: Vec<usize>,
    /// What is accumulated, in the order of the columns behind the key.
    pub parts: Vec<Part>,
    /// Names and types of what is accumulated.
    pub accumulated: Vec<Field>,
    /// Of which windows.
    pub windowing: Windowing,
}

impl LocalAggregate {
    /// Key, accumulators, and the end of the slice or window.
    fn columns(&self, inputs: &[Field]) -> Vec<Field> {
        let keys = self.grouping.iter().map(|&column| inputs[column].clone());
        let name = match self.windowing.assignment {
            Assignment::Time { .. } => "$slice_end",
            Assignment::Attached { .. } => "$window_end",
        };
        let of = DataType { kind: Kind::BigInt, nullable: true };
        let end = Field { name: name.to_owned(), of };
        keys.chain(self.accumulated.iter().cloned()).chain([end]).collect()
    }
}

/// A node that runs at a site.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it does.
    pub operator: Operator,
    /// The columns of what it gives.
    pub output: Vec<Field>,
}

/// Types of node that [`node`] knows.
pub(crate) const KNOWN: [&str; 5] = [
    "stream-exec-table-source-scan_2",
    "stream-exec-watermark-assigner_1",
    "stream-exec-calc_1",
    "stream-exec-window-table-function_1",
    "stream-exec-local-window-aggregate_1",
];

/// Reads a node whose input has these columns.
pub(crate) fn node(json: &Json, inputs: &[Field], place: &str) -> Result<Node> {
    let mut object = Object::new(json, place)?;
    object.index("id")?;
    object.text("description")?;
    let kind = object.text("type")?;
    let at = object.place("outputType");
    let written = object.required("outputType")?;
    if kind != KNOWN[0] {
        input_properties(&mut object)?;
    }
    let operator = match kind {
        "stream-exec-table-source-scan_2" => {
            let source = object.place("scanTableSource");
            Operator::Scan(scan(object.required("scanTableSource")?, &source)?)
        }
        "stream-exec-watermark-assigner_1" => watermark(&mut object, inputs)?,
        "stream-exec-calc_1" => calc(&mut object, inputs)?,
        "stream-exec-window-table-function_1" => windows(&mut object, inputs)?,
        "stream-exec-local-window-aggregate_1" => local_aggregate(&mut object, inputs)?,
        other => {
            let what = format!("{other} does not run at a site: {} do", KNOWN.join(", "));
            return Err(Refusal::new(&object.place("type"), what));
        }
    };
    object.end()?;
    // Last, since what does not run here is said better by the parts above it.
    let output = row_type(written, &at)?;
    let expected = columns_of(&operator, inputs, &output);
    same_columns(&output, &expected, &at)?;
    Ok(Node { operator, output })
}

/// What an operator's columns have to be. Where the plan only names them, the names are taken from it.
fn columns_of(operator: &Operator, inputs: &[Field], written: &[Field]) -> Vec<Field> {
    match operator {
        Operator::Watermark(_) => inputs.to_vec(),
        Operator::Calc(calc) => {
            let names = written.iter().map(|field| Some(field.name.clone()));
            let names = names.chain(std::iter::repeat(None));
            let column = |(expr, name): (&Expr, Option<String>)| Field {
                name: name.unwrap_or_default(),
                of: expr.of(),
            };
            calc.projection.iter().zip(names).map(column).collect()
        }
        Operator::Windows { time_column, .. } => {
            let not_null = |kind| DataType { kind, nullable: false };
            let time = inputs[*time_column].of.kind;
            let window = [
                ("window_start", Kind::Timestamp(3)),
                ("window_end", Kind::Timestamp(3)),
                ("window_time", time),
            ];
            let window =
                window.map(|(name, kind)| Field { name: name.to_owned(), of: not_null(kind) });
            inputs.iter().cloned().chain(window).collect()
        }
        Operator::Scan(scan) => scan.output(),
        Operator::LocalAggregate(aggregate) => aggregate.columns(inputs),
        // `global` reads them.
        Operator::Exchange | Operator::GlobalAggregate(_) | Operator::Sessions(_) => Vec::new(),
    }
}

/// Rows of one input, in the order they come, wherever they are.
fn input_properties(object: &mut Object<'_>) -> Result<()> {
    let known = serde_json::json!([{
        "requiredDistribution": {"type": "UNKNOWN"}, "damBehavior": "PIPELINED", "priority": 0
    }]);
    object.only("inputProperties", &known)
}

fn watermark(object: &mut Object<'_>, inputs: &[Field]) -> Result<Operator> {
    let at = object.place("watermarkExpr");
    let expr = expr(object.required("watermarkExpr")?, inputs, &at)?;
    if !expr.kind().is_timestamp() {
        return Err(Refusal::new(&at, format!("{} is no watermark", expr.kind())));
    }
    let at = object.place("rowtimeFieldIndex");
    let rowtime = object.index("rowtimeFieldIndex")?;
    time_column(inputs, rowtime, &at)?;
    let rowtime = Expr::Input { index: rowtime, of: inputs[rowtime].of };
    Ok(Operator::Watermark(Watermark { expr, rowtime }))
}

pub(crate) fn time_column(inputs: &[Field], column: usize, place: &str) -> Result<()> {
    match inputs.get(column).map(|field| field.of.kind) {
        Some(kind) if kind.is_timestamp() => Ok(()),
        found => {
            let found = found.map_or_else(|| "nothing".to_owned(), |kind| kind.to_string());
            Err(Refusal::new(place, format!("column {column} is {found}, and no timestamp")))
        }
    }
}

fn calc(object: &mut Object<'_>, inputs: &[Field]) -> Result<Operator> {
    let at = object.place("projection");
    let read = |(number, json): (usize, &Json)| expr(json, inputs, &format!("{at}[{number}]"));
    let projection = object.array("projection")?.iter().enumerate().map(read);
    let projection = projection.collect::<Result<Vec<_>>>()?;
    let at = object.place("condition");
    let condition = match object.required("condition")? {
        Json::Null => None,
        json => {
            let condition = expr(json, inputs, &at)?;
            if condition.kind() != Kind::Boolean {
                return Err(Refusal::new(&at, format!("{} is no condition", condition.kind())));
            }
            Some(condition)
        }
    };
    Ok(Operator::Calc(Calc { condition, projection }))
}

/// The session's zone, the only setting these nodes have.
pub(crate) fn zone<'a>(object: &mut Object<'a>) -> Result<&'a str> {
    let at = object.place("configuration");
    let mut configuration = Object::new(object.required("configuration")?, &at)?;
    let zone = configuration.text("table.local-time-zone")?;
    configuration.end()?;
    Ok(zone)
}

fn windows(object: &mut Object<'_>, inputs: &[Field]) -> Result<Operator> {
    let zone = zone(object)?;
    let at = object.place("windowing");
    let windowing = windowing(object.required("windowing")?, zone, &at)?;
    let Assignment::Time { column } = windowing.assignment else {
        return Err(Refusal::new(&at, "windows of windows do not run at a site"));
    };
    time_column(inputs, column, &at)?;
    Ok(Operator::Windows { window: windowing.window, time_column: column })
}

fn local_aggregate(object: &mut Object<'_>, inputs: &[Field]) -> Result<Operator> {
    let zone = zone(object)?;
    object.only("needRetraction", &false.into())?;
    let grouping = grouping(object, inputs)?;
    let at = object.place("windowing");
    let windowing = windowing(object.required("windowing")?, zone, &at)?;
    let column = match windowing.assignment {
        Assignment::Time { column } => column,
        Assignment::Attached { end_column } => end_column,
    };
    time_column(inputs, column, &at)?;
    let counts_rows = matches!(windowing.window, Window::Hopping { .. });
    let at = object.place("aggCalls");
    let parts = parts(object.array("aggCalls")?, inputs, counts_rows, &at)?;
    let field = |(name, _, of): &(String, Part, DataType)| Field { name: name.clone(), of: *of };
    let accumulated = parts.iter().map(field).collect();
    let parts = parts.into_iter().map(|(_, part, _)| part).collect();
    Ok(Operator::LocalAggregate(LocalAggregate { grouping, parts, accumulated, windowing }))
}

/// The columns of a key.
pub(crate) fn grouping(object: &mut Object<'_>, inputs: &[Field]) -> Result<Vec<usize>> {
    let at = object.place("grouping");
    let grouping = array(object.required("grouping")?, &at)?;
    let grouping = grouping.iter().map(|json| index(json, &at)).collect::<Result<Vec<_>>>()?;
    for &column in &grouping {
        match inputs.get(column) {
            None => return Err(Refusal::new(&at, format!("there is no column {column}"))),
            Some(field) if field.of.kind.is_approximate() => {
                let what = format!(
                    "keys of type {} are told apart by their bits, which differ between machines",
                    field.of.kind
                );
                return Err(Refusal::new(&at, what));
            }
            Some(_) => {}
        }
    }
    Ok(grouping)
}
