//! Plans made in the tests, and what comes out of them.

use afterbay_edge_exec::{Output, Run, Settings};
use afterbay_edge_plan::{Location, Pipeline, Plan, Value, cut_with_local};
use serde_json::{Value as Json, json};

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    Row(Vec<Value>),
    Watermark(i64),
}

#[derive(Debug, Default)]
pub(crate) struct Events(pub(crate) Vec<Event>);

impl Output for Events {
    fn row(&mut self, row: &[Value]) {
        self.0.push(Event::Row(row.to_vec()));
    }

    fn watermark(&mut self, millis: i64) {
        self.0.push(Event::Watermark(millis));
    }
}

fn properties() -> Json {
    json!([{"requiredDistribution": {"type": "UNKNOWN"}, "damBehavior": "PIPELINED", "priority": 0}])
}

fn row_type(columns: &[(&str, &str)]) -> String {
    let columns: Vec<String> = columns.iter().map(|(name, of)| format!("`{name}` {of}")).collect();
    format!("ROW<{}>", columns.join(", "))
}

/// A scan of these columns.
pub(crate) fn scan(columns: &[(&str, &str)], options: &Json) -> Json {
    let fields: Vec<Json> =
        columns.iter().map(|(name, of)| json!({"name": name, "dataType": of})).collect();
    json!({
        "id": 1, "type": "stream-exec-table-source-scan_2",
        "scanTableSource": {"table": {
            "identifier": "`c`.`d`.`t`",
            "resolvedTable": {"schema": {"columns": fields}, "options": options}
        }},
        "outputType": row_type(columns), "description": ""
    })
}

pub(crate) fn calc(id: u64, projection: &[Json], condition: &Json) -> Json {
    let kinds: Vec<String> =
        projection.iter().map(|expr| expr["type"].as_str().unwrap().to_owned()).collect();
    let columns: Vec<String> =
        kinds.iter().enumerate().map(|(index, of)| format!("`x{index}` {of}")).collect();
    json!({
        "id": id, "type": "stream-exec-calc_1", "projection": projection, "condition": condition,
        "inputProperties": properties(),
        "outputType": format!("ROW<{}>", columns.join(", ")), "description": ""
    })
}

pub(crate) fn watermark(id: u64, columns: &[(&str, &str)], column: usize, delay: i64) -> Json {
    let of = columns[column].1;
    json!({
        "id": id, "type": "stream-exec-watermark-assigner_1",
        "watermarkExpr": call("$-$1", "BINARY", &[input(column, of), interval(delay)], of),
        "rowtimeFieldIndex": column, "inputProperties": properties(),
        "outputType": row_type(columns), "description": ""
    })
}

/// A local aggregate over rows of these columns.
pub(crate) fn local(
    id: u64,
    grouping: &[usize],
    calls: &[Json],
    window: &Json,
    time_column: usize,
    output: &[(&str, &str)],
) -> Json {
    json!({
        "id": id, "type": "stream-exec-local-window-aggregate_1",
        "configuration": {"table.local-time-zone": "UTC"},
        "grouping": grouping, "aggCalls": calls,
        "windowing": {
            "strategy": "TimeAttribute", "window": window,
            "timeAttributeType": {
                "type": "TIMESTAMP_WITHOUT_TIME_ZONE", "precision": 3, "kind": "ROWTIME"
            },
            "timeAttributeIndex": time_column, "isRowtime": true
        },
        "needRetraction": false, "inputProperties": properties(),
        "outputType": row_type(output), "description": ""
    })
}

pub(crate) fn aggregate(
    name: &str,
    column: Option<usize>,
    filter: Option<usize>,
    of: &str,
) -> Json {
    let arguments: Vec<usize> = column.into_iter().collect();
    let filter = filter.map_or(-1, |filter| filter as i64);
    let mut json = json!({
        "name": "x", "internalName": format!("${name}$1"), "argList": arguments,
        "filterArg": filter, "distinct": false, "approximate": false, "ignoreNulls": false,
        "type": of
    });
    if name == "COUNT" {
        json["syntax"] = "FUNCTION_STAR".into();
    }
    json
}

/// The exchange behind a local aggregate with so many keys.
pub(crate) fn exchange(id: u64, keys: usize, output: &[(&str, &str)]) -> Json {
    let keys: Vec<usize> = (0..keys).collect();
    json!({
        "id": id, "type": "stream-exec-exchange_1",
        "inputProperties": [{
            "requiredDistribution": {"type": "HASH", "keys": keys},
            "damBehavior": "PIPELINED", "priority": 0
        }],
        "outputType": row_type(output), "description": ""
    })
}

/// The global half of a local aggregate over rows of the columns `of`, with one key. The end of a slice is in `slice_end`.
pub(crate) fn global(
    id: u64,
    of: &[(&str, &str)],
    calls: &[Json],
    window: &Json,
    slice_end: usize,
    output: &[(&str, &str)],
) -> Json {
    let time = json!({"type": "TIMESTAMP_WITHOUT_TIME_ZONE", "precision": 3, "kind": "ROWTIME"});
    let property = |name: &str, kind: &str| json!({"name": name, "property": {"kind": kind, "reference": {"name": "w$", "type": time}}});
    json!({
        "id": id, "type": "stream-exec-global-window-aggregate_1",
        "configuration": {"table.local-time-zone": "UTC"},
        "grouping": [0], "aggCalls": calls,
        "windowing": {
            "strategy": "SliceAttached", "window": window, "timeAttributeType": time,
            "sliceEnd": slice_end, "isRowtime": true
        },
        "namedWindowProperties": [
            property("s", "WindowStart"), property("e", "WindowEnd"), property("r", "Rowtime")
        ],
        "needRetraction": false, "inputProperties": properties(),
        "localAggInputRowType": row_type(of),
        "outputType": row_type(output), "description": ""
    })
}

/// An aggregate of sessions of the first column.
pub(crate) fn sessions(
    id: u64,
    calls: &[Json],
    gap: &str,
    time_column: usize,
    output: &[(&str, &str)],
) -> Json {
    let window = json!({"type": "SessionWindow", "gap": gap, "partition_key_indices": [0]});
    // It has no local half, whose columns it would name.
    let mut node = global(id, &[], calls, &window, 0, output);
    node["type"] = "stream-exec-window-aggregate_1".into();
    node["windowing"]["strategy"] = "TimeAttribute".into();
    node["windowing"]["timeAttributeIndex"] = time_column.into();
    for (place, field) in [("/windowing", "sliceEnd"), ("", "localAggInputRowType")] {
        node.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(field);
    }
    node
}

/// Nodes 1, 2, …, one behind the other.
pub(crate) fn pipeline(nodes: &[Json]) -> Pipeline {
    pipeline_of_one_site(nodes, &[])
}

/// The same, with columns that are local to a site.
pub(crate) fn pipeline_of_one_site(nodes: &[Json], local: &[&str]) -> Pipeline {
    let edges: Vec<Json> = (1..nodes.len())
        .map(|id| {
            json!({
                "source": id, "target": id + 1,
                "shuffle": {"type": "FORWARD"}, "shuffleMode": "PIPELINED"
            })
        })
        .collect();
    let plan = json!({"flinkVersion": "2.3", "nodes": nodes, "edges": edges});
    let local: Vec<String> = local.iter().map(|&column| column.to_owned()).collect();
    let cut = cut_with_local(&Plan::parse(&plan.to_string()).unwrap(), &local).unwrap();
    for node in &cut.placed {
        if let Location::Cloud { why } = &node.location {
            panic!("node {} does not run: {why}", node.id);
        }
    }
    cut.pipelines.into_iter().next().unwrap()
}

pub(crate) fn settings() -> Settings {
    Settings { watermark_interval: 0, ..Settings::default() }
}

/// What comes out of these rows, to their end.
pub(crate) fn run(pipeline: &Pipeline, settings: Settings, rows: &[Vec<Value>]) -> Vec<Event> {
    let mut run = Run::new(pipeline, settings);
    let mut events = Events::default();
    for row in rows {
        run.push(row, &mut events).unwrap();
    }
    run.finish(&mut events).unwrap();
    assert_eq!(run.groups(), 0, "something is left");
    events.0
}

pub(crate) fn input(index: usize, of: &str) -> Json {
    json!({"kind": "INPUT_REF", "inputIndex": index, "type": of})
}

pub(crate) fn literal(value: impl Into<Json>, of: &str) -> Json {
    json!({"kind": "LITERAL", "value": value.into(), "type": of})
}

pub(crate) fn interval(millis: i64) -> Json {
    literal(millis.to_string(), "INTERVAL SECOND(6) NOT NULL")
}

pub(crate) fn call(name: &str, syntax: &str, operands: &[Json], of: &str) -> Json {
    let mut json = json!({"kind": "CALL", "internalName": name, "operands": operands, "type": of});
    if syntax != "FUNCTION" {
        json["syntax"] = syntax.into();
    }
    json
}

/// A function of two columns.
pub(crate) fn binary(name: &str, left: &str, right: &str, of: &str) -> Json {
    call(name, "BINARY", &[input(0, left), input(1, right)], of)
}

/// What an expression gives for a row of these types, or the error.
pub(crate) fn try_eval(columns: &[&str], expr: &Json, row: &[Value]) -> Result<Value, String> {
    let names: Vec<String> = (0..columns.len()).map(|index| format!("c{index}")).collect();
    let columns: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(columns.iter().copied()).collect();
    let nodes = [scan(&columns, &json!({})), calc(2, std::slice::from_ref(expr), &Json::Null)];
    let pipeline = pipeline(&nodes);
    let mut events = Events::default();
    let mut run = Run::new(&pipeline, settings());
    run.push(row, &mut events).map_err(|error| error.to_string())?;
    match events.0.pop() {
        Some(Event::Row(mut row)) => Ok(row.pop().unwrap()),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn eval(columns: &[&str], expr: &Json, row: &[Value]) -> Value {
    try_eval(columns, expr, row).unwrap()
}

/// Why a plan with this expression does not run at a site.
pub(crate) fn refusal(columns: &[&str], expr: &Json) -> String {
    let names: Vec<String> = (0..columns.len()).map(|index| format!("c{index}")).collect();
    let columns: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(columns.iter().copied()).collect();
    let plan = json!({
        "flinkVersion": "2.3",
        "nodes": [scan(&columns, &json!({})), calc(2, std::slice::from_ref(expr), &Json::Null)],
        "edges": [{
            "source": 1, "target": 2, "shuffle": {"type": "FORWARD"}, "shuffleMode": "PIPELINED"
        }]
    });
    let cut = cut_with_local(&Plan::parse(&plan.to_string()).unwrap(), &[]).unwrap();
    match &cut.placed[1].location {
        Location::Cloud { why } => why.clone(),
        Location::Edge => panic!("it runs at a site"),
    }
}
