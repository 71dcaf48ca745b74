//! What is behind the exchange of a windowed aggregate, where a site runs it too: the exchange, which moves nothing, and the
//! global node, or the only one of sessions.
//!
//! A global node is read beside the local one in front of it, and has to fit: the same key, calls and windows.

use serde_json::{Value as Json, json};

use crate::aggregate::{Outcome, Part, outcomes, parts};
use crate::error::{Refusal, Result};
use crate::node::{LocalAggregate, Node, Operator, grouping, time_column, zone};
use crate::scan::same_columns;
use crate::strict::Object;
use crate::types::{DataType, Field, Kind, data_type, row_type};
use crate::window::{Window, merged_windowing, session_windowing};

/// The type of an exchange.
pub(crate) const EXCHANGE: &str = "stream-exec-exchange_1";
/// The type of the upper half of a windowed aggregate.
pub(crate) const GLOBAL: &str = "stream-exec-global-window-aggregate_1";

/// The upper half of a windowed aggregate: what it gives of the parts of one key and window.
#[derive(Debug, Clone, PartialEq)]
pub struct GlobalAggregate {
    /// Of the columns of the key, in its order, which are local to a site. At least one of them is not null.
    pub local_keys: Vec<usize>,
    /// Their names.
    pub local_names: Vec<String>,
    /// What is between the key and the window, in order.
    pub outcomes: Vec<Outcome>,
    /// What it says of the window, in order.
    pub properties: Vec<WindowProperty>,
}

/// The type of a windowed aggregate of one phase.
pub(crate) const ONE_PHASE: &str = "stream-exec-window-aggregate_1";

/// Rows of a key that follow each other within a gap, made into one.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionAggregate {
    /// The columns of the key.
    pub grouping: Vec<usize>,
    /// What is accumulated.
    pub parts: Vec<Part>,
    /// The column of a row's time.
    pub time_column: usize,
    /// A session is over so many ms after its last row; one that comes right then belongs to it.
    pub gap: i64,
    /// What it gives.
    pub results: GlobalAggregate,
}

/// What a row says of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowProperty {
    /// Its first ms.
    Start,
    /// The ms behind it.
    End,
    /// Its last ms: the time of the row.
    Time,
}

/// Reads the exchange of rows with these columns by these keys.
pub(crate) fn exchange(json: &Json, keys: &[usize], inputs: &[Field], place: &str) -> Result<Node> {
    let mut object = head(json, EXCHANGE, place)?;
    let distribution = json!([{
        "requiredDistribution": {"type": "HASH", "keys": keys},
        "damBehavior": "PIPELINED", "priority": 0
    }]);
    object.only("inputProperties", &distribution)?;
    let output = output(&mut object, inputs)?;
    object.end()?;
    Ok(Node { operator: Operator::Exchange, output })
}

/// Reads the global half of a local aggregate, and what it is of: the columns of the local one, and what that gives.
pub(crate) fn global(
    json: &Json,
    local: &LocalAggregate,
    local_inputs: &[Field],
    inputs: &[Field],
    local_keys: Vec<usize>,
    place: &str,
) -> Result<Node> {
    let mut object = head(json, GLOBAL, place)?;
    let zone = aggregate_head(&mut object)?;
    let keys = local.grouping.len();
    object.only("grouping", &json!((0..keys).collect::<Vec<_>>()))?;
    let at = object.place("localAggInputRowType");
    let of = row_type(object.required("localAggInputRowType")?, &at)?;
    same_columns(&of, local_inputs, &at)?;
    let at = object.place("windowing");
    let end_column = keys + local.parts.len();
    let windowing = object.required("windowing")?;
    let time = merged_windowing(windowing, zone, &local.windowing, end_column, &at)?;
    let at = object.place("aggCalls");
    let calls = object.array("aggCalls")?;
    let counts_rows = matches!(local.windowing.window, Window::Hopping { .. });
    let own = parts(calls, local_inputs, counts_rows, &at)?;
    if !own.iter().map(|(_, part, _)| part).eq(&local.parts) {
        return Err(Refusal::new(&at, "the local aggregate has other calls"));
    }
    let (results, outcomes): (Vec<_>, Vec<_>) =
        outcomes(calls, local_inputs, &at)?.into_iter().unzip();
    let (windows, properties): (Vec<_>, Vec<_>) =
        window_properties(&mut object, time)?.into_iter().unzip();
    let keys = inputs.iter().take(keys).cloned();
    let expected: Vec<Field> = keys.chain(results).chain(windows).collect();
    let output = output(&mut object, &expected)?;
    object.end()?;
    let names = local_keys.iter().filter_map(|&key| inputs.get(key));
    let local_names = names.map(|column| column.name.clone()).collect();
    let aggregate = GlobalAggregate { local_keys, local_names, outcomes, properties };
    Ok(Node { operator: Operator::GlobalAggregate(aggregate), output })
}

/// Reads an aggregate of sessions of rows with these columns, of which some are local.
pub(crate) fn sessions(json: &Json, inputs: &[Field], local: &[bool], place: &str) -> Result<Node> {
    let mut object = head(json, ONE_PHASE, place)?;
    let zone = aggregate_head(&mut object)?;
    let grouping = grouping(&mut object, inputs)?;
    let at = object.place("windowing");
    let windowing = session_windowing(object.required("windowing")?, zone, &grouping, &at)?;
    time_column(inputs, windowing.time_column, &at)?;
    let at = object.place("aggCalls");
    let calls = object.array("aggCalls")?;
    let parts = parts(calls, inputs, false, &at)?.into_iter().map(|(_, part, _)| part).collect();
    let (results, outcomes): (Vec<_>, Vec<_>) = outcomes(calls, inputs, &at)?.into_iter().unzip();
    let (windows, properties): (Vec<_>, Vec<_>) =
        window_properties(&mut object, windowing.time)?.into_iter().unzip();
    let keys: Vec<Field> = grouping.iter().map(|&column| inputs[column].clone()).collect();
    let is_local = |column: usize| local.get(column).copied().unwrap_or(false);
    let local_keys: Vec<usize> =
        (0..grouping.len()).filter(|&key| is_local(grouping[key])).collect();
    if local_keys.is_empty() {
        let what = "it has no column that is local to a site";
        return Err(Refusal::new(&object.place("grouping"), what));
    }
    let local_names = local_keys.iter().map(|&key| keys[key].name.clone()).collect();
    let expected: Vec<Field> = keys.into_iter().chain(results).chain(windows).collect();
    let output = output(&mut object, &expected)?;
    object.end()?;
    let results = GlobalAggregate { local_keys, local_names, outcomes, properties };
    let (time_column, gap) = (windowing.time_column, windowing.gap);
    let aggregate = SessionAggregate { grouping, parts, time_column, gap, results };
    Ok(Node { operator: Operator::Sessions(aggregate), output })
}

/// What each aggregate behind an exchange has, and the session's zone.
fn aggregate_head<'a>(object: &mut Object<'a>) -> Result<&'a str> {
    let properties = json!([{
        "requiredDistribution": {"type": "UNKNOWN"}, "damBehavior": "PIPELINED", "priority": 0
    }]);
    object.only("inputProperties", &properties)?;
    object.only("needRetraction", &false.into())?;
    zone(object)
}

/// What each node has.
fn head<'a>(json: &'a Json, kind: &str, place: &str) -> Result<Object<'a>> {
    let mut object = Object::new(json, place)?;
    object.index("id")?;
    object.text("description")?;
    object.only("type", &kind.into())?;
    Ok(object)
}

fn output(object: &mut Object<'_>, expected: &[Field]) -> Result<Vec<Field>> {
    let at = object.place("outputType");
    let output = row_type(object.required("outputType")?, &at)?;
    same_columns(&output, expected, &at)?;
    Ok(output)
}

fn window_properties(object: &mut Object<'_>, time: Kind) -> Result<Vec<(Field, WindowProperty)>> {
    let at = object.place("namedWindowProperties");
    let read = |(number, json): (usize, &Json)| {
        let mut named = Object::new(json, &format!("{at}[{number}]"))?;
        let name = named.text("name")?.to_owned();
        let place = named.place("property");
        let (kind, property) = window_property(named.required("property")?, time, &place)?;
        named.end()?;
        Ok((Field { name, of: DataType { kind, nullable: false } }, property))
    };
    object.array("namedWindowProperties")?.iter().enumerate().map(read).collect()
}

fn window_property(json: &Json, time: Kind, place: &str) -> Result<(Kind, WindowProperty)> {
    let mut object = Object::new(json, place)?;
    let at = object.place("reference");
    let mut reference = Object::new(object.required("reference")?, &at)?;
    reference.text("name")?;
    let at = reference.place("type");
    let of = data_type(reference.required("type")?, &at)?;
    if of.kind != time {
        return Err(Refusal::new(&at, format!("{of} is not the window's time, which is {time}")));
    }
    reference.end()?;
    let at = object.place("kind");
    let property = match object.text("kind")? {
        "WindowStart" => (Kind::Timestamp(3), WindowProperty::Start),
        "WindowEnd" => (Kind::Timestamp(3), WindowProperty::End),
        "Rowtime" if matches!(time, Kind::TimestampLtz(_)) => {
            (Kind::TimestampLtz(3), WindowProperty::Time)
        }
        "Rowtime" => (Kind::Timestamp(3), WindowProperty::Time),
        other => {
            let what =
                format!("{other} does not run at a site: WindowStart, WindowEnd and Rowtime do");
            return Err(Refusal::new(&at, what));
        }
    };
    object.end()?;
    Ok(property)
}
