//! The two halves of a plan that is cut, each a plan that Flink's `loadPlan` takes.
//!
//! Lower: the nodes of the sites, and a sink into the table between the halves. Upper: that table's scan, its watermark and a
//! calc, in front of what stays in the cloud. The table has the site's columns and four of its own:
//!
//! | column | |
//! |---|---|
//! | `edge_site` STRING | the site's name |
//! | `edge_row` BOOLEAN | false: only the watermark moves on, the columns before are null |
//! | `edge_watermark` BIGINT | ms: **what was emitted before the row**, or what is emitted now if there is none |
//! | `edge_time` TIMESTAMP_LTZ(3), computed | the same as a time: `WATERMARK FOR edge_time AS edge_time` |
//!
//! A row carries the watermark *before* it, since Flink's assigner emits a row's watermark behind the row: with the watermark
//! that made a flush, its second row would be late.
//!
//! A table of Kafka's makes the watermark in its source, partition by partition, as Flink plans it. A watermark node behind it
//! would have one for all partitions that a task reads: that of the one ahead, and what is late to it is lost.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::cut::{Cut, Pipeline, Rows};
use crate::plan::{FLINK_VERSION, Plan};
use crate::types::{Field, Kind, write_kind, write_row};

/// Name of the table between the halves; behind it comes the scan's number if there are several sources.
pub const TABLE: &str = "edge_partials";

/// Its name if its rows are final at a site: other columns, so that nobody takes one for the other.
pub const FINAL_TABLE: &str = "edge_finals";

/// The two halves.
#[derive(Debug, Clone, PartialEq)]
pub struct Halves {
    /// What runs at the sites: one plan, with all sources.
    pub lower: Json,
    /// What stays in the cloud.
    pub upper: Json,
}

/// The table into which a site writes what this pipeline gives.
pub fn table_name(cut: &Cut, pipeline: &Pipeline) -> String {
    let scan = pipeline.ids.first().copied().unwrap_or(0);
    let table = if pipeline.rows() == Rows::Final { FINAL_TABLE } else { TABLE };
    if cut.pipelines.len() == 1 { table.to_owned() } else { format!("{table}_{scan}") }
}

/// Whether a plan is a lower half that was cut with local columns, and gives final rows: without them, it would be cut lower.
pub fn writes_final_rows(plan: &Plan) -> bool {
    let of_one = identifier(FINAL_TABLE);
    let of_several = identifier(&format!("{FINAL_TABLE}_"));
    plan.nodes.iter().any(|node| {
        let name = node.json["dynamicTableSink"]["table"]["identifier"].as_str();
        name.is_some_and(|name| {
            name == of_one || name.starts_with(of_several.trim_end_matches('`'))
        })
    })
}

/// A table of ours, as plans name it.
fn identifier(table: &str) -> String {
    format!("`default_catalog`.`default_database`.`{table}`")
}

/// Writes both halves. `options` are those of the table between them.
pub fn halves(plan: &Plan, cut: &Cut, options: &[(String, String)]) -> Halves {
    let is_partitioned =
        options.iter().any(|(name, value)| name == "connector" && value == "kafka");
    let options: Json = options
        .iter()
        .map(|(name, value)| (name.clone(), Json::from(value.as_str())))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let mut ids = 1 + plan.nodes.iter().map(|node| node.id).max().unwrap_or(0);
    // The last node of each pipeline, and what takes its place above.
    let mut ends = BTreeMap::new();
    let mut lower = Half::default();
    let mut upper = Half::default();
    for pipeline in &cut.pipelines {
        let name = table_name(cut, pipeline);
        let table = Between { name, fields: pipeline.output(), options: &options, is_partitioned };
        lower.take(plan, |id| pipeline.ids.contains(&id).then_some(id));
        lower.sink(&table, pipeline, ids);
        ids = upper.source(plan, &table, pipeline, ids);
        ends.extend(pipeline.ids.last().map(|end| (*end, ids - 1)));
    }
    let at_edge = |id| cut.pipelines.iter().any(|pipeline| pipeline.ids.contains(&id));
    upper.take(plan, |id| if at_edge(id) { ends.get(&id).copied() } else { Some(id) });
    Halves { lower: lower.write(), upper: upper.write() }
}

#[derive(Debug, Default)]
struct Half {
    nodes: Vec<Json>,
    edges: Vec<Json>,
}

/// The table between the halves.
struct Between<'a> {
    name: String,
    fields: &'a [Field],
    options: &'a Json,
    /// Whether its source makes a watermark for each partition.
    is_partitioned: bool,
}

impl Half {
    /// Nodes, and what goes from one of them to another. `has` says who gives what a node gave, if somebody does.
    ///
    /// Edges keep their order: a node's first one is its left input.
    fn take(&mut self, plan: &Plan, has: impl Fn(usize) -> Option<usize>) {
        let is_here = |id| has(id) == Some(id);
        let nodes = plan.nodes.iter().filter(|node| is_here(node.id));
        self.nodes.extend(nodes.map(|node| node.json.clone()));
        for edge in plan.edges.iter().filter(|edge| is_here(edge.target)) {
            if let Some(source) = has(edge.source) {
                let mut json = edge.json.clone();
                json["source"] = source.into();
                self.edges.push(json);
            }
        }
    }

    fn connect(&mut self, source: usize, target: usize) {
        self.edges.push(json!({
            "source": source, "target": target,
            "shuffle": {"type": "FORWARD"}, "shuffleMode": "PIPELINED"
        }));
    }

    /// Writes what a site gives into a table without the columns of ours.
    fn sink(&mut self, table: &Between<'_>, pipeline: &Pipeline, id: usize) {
        let columns: Vec<Json> = table.fields.iter().map(column).collect();
        self.nodes.push(json!({
            "id": id,
            "type": "stream-exec-sink_2",
            "configuration": {
                "table.exec.sink.keyed-shuffle": "AUTO",
                "table.exec.sink.not-null-enforcer": "ERROR",
                "table.exec.sink.rowtime-inserter": "ENABLED",
                "table.exec.sink.type-length-enforcer": "IGNORE",
                "table.exec.sink.upsert-materialize": "AUTO"
            },
            "dynamicTableSink": {"table": table.write(columns, None)},
            "inputChangelogMode": ["INSERT"],
            "inputProperties": properties(),
            "outputType": write_row(table.fields),
            "description": format!("Sink(table=[{}])", table.name)
        }));
        if let Some(last) = pipeline.ids.last() {
            self.connect(*last, id);
        }
    }

    /// Reads that table, and gives what the last node at the site gave. Returns the next free number.
    fn source(
        &mut self,
        plan: &Plan,
        table: &Between<'_>,
        pipeline: &Pipeline,
        id: usize,
    ) -> usize {
        let own = |name: &str, kind| Field {
            name: name.to_owned(),
            of: crate::types::DataType { kind, nullable: true },
        };
        let mut fields = table.fields.to_vec();
        let site = fields.len();
        fields.push(own("edge_site", Kind::VarChar(crate::types::LENGTH_MAX)));
        fields.push(own("edge_row", Kind::Boolean));
        fields.push(own("edge_watermark", Kind::BigInt));
        let (is_row, watermark, time) = (site + 1, site + 2, site + 3);
        let to_time = json!({
            "kind": "CALL", "internalName": "$TO_TIMESTAMP_LTZ$1",
            "operands": [
                {"kind": "INPUT_REF", "inputIndex": watermark, "type": "BIGINT"},
                {"kind": "LITERAL", "value": 3, "type": "INT NOT NULL"}
            ],
            "type": "TIMESTAMP(3) WITH LOCAL TIME ZONE"
        });
        let time_ref = json!({
            "kind": "INPUT_REF", "inputIndex": time, "type": "TIMESTAMP(3) WITH LOCAL TIME ZONE"
        });
        let mut columns: Vec<Json> = fields.iter().map(column).collect();
        columns.push(json!({
            "name": "edge_time", "kind": "COMPUTED",
            "expression": {
                "rexNode": to_time, "serializableString": "`TO_TIMESTAMP_LTZ`(`edge_watermark`, 3)"
            }
        }));
        let specs = json!([{
            "rowtimeAttribute": "edge_time",
            "expression": {"rexNode": time_ref, "serializableString": "`edge_time`"}
        }]);
        let row = write_row(&fields);
        let mut source = json!({"table": table.write(columns, Some(specs))});
        if pipeline.has_watermark() && table.is_partitioned {
            source["abilities"] = json!([watermark_by_partition(&to_time, &row)]);
        }
        self.nodes.push(json!({
            "id": id,
            "type": "stream-exec-table-source-scan_2",
            "scanTableSource": source,
            "outputType": row,
            "description": format!("TableSourceScan(table=[[{}]])", table.name)
        }));
        let mut last = id;
        if pipeline.has_watermark() && !table.is_partitioned {
            let mut computed: Vec<Json> = fields.iter().enumerate().map(reference).collect();
            computed.push(to_time);
            fields.push(own("edge_time", Kind::TimestampLtz(3)));
            self.nodes.push(calc(id + 1, &computed, &Json::Null, &write_row(&fields).into()));
            self.connect(id, id + 1);
            let mut output: Vec<Json> = fields[..time].iter().map(field).collect();
            output.push(json!({
                "name": "edge_time",
                "fieldType": {
                    "type": "TIMESTAMP_WITH_LOCAL_TIME_ZONE", "precision": 3, "kind": "ROWTIME"
                }
            }));
            self.nodes.push(json!({
                "id": id + 2,
                "type": "stream-exec-watermark-assigner_1",
                "watermarkExpr": time_ref,
                "rowtimeFieldIndex": time,
                "inputProperties": properties(),
                "outputType": {"type": "ROW", "fields": output},
                "description": "WatermarkAssigner(rowtime=[edge_time], watermark=[edge_time])"
            }));
            self.connect(id + 1, id + 2);
            last = id + 2;
        }
        let condition = json!({
            "kind": "CALL", "syntax": "POSTFIX", "internalName": "$IS TRUE$1",
            "operands": [{"kind": "INPUT_REF", "inputIndex": is_row, "type": "BOOLEAN"}],
            "type": "BOOLEAN NOT NULL"
        });
        let projection: Vec<Json> = table.fields.iter().enumerate().map(reference).collect();
        // As the site's last node says it: which of its columns is the time of events, the nodes above may want to know.
        let above = pipeline.ids.last().and_then(|id| plan.node(*id));
        let output = above.map_or(Json::Null, |node| node.json["outputType"].clone());
        self.nodes.push(calc(last + 1, &projection, &condition, &output));
        self.connect(last, last + 1);
        last + 2
    }

    fn write(self) -> Json {
        json!({"flinkVersion": FLINK_VERSION, "nodes": self.nodes, "edges": self.edges})
    }
}

impl Between<'_> {
    fn write(&self, columns: Vec<Json>, specs: Option<Json>) -> Json {
        let mut schema = json!({"columns": columns});
        if let Some(specs) = specs {
            schema["watermarkSpecs"] = specs;
        }
        json!({
            "identifier": identifier(&self.name),
            "resolvedTable": {"schema": schema, "options": self.options}
        })
    }
}

fn column(field: &Field) -> Json {
    json!({"name": field.name, "dataType": write_kind(field.of.kind)})
}

fn field(field: &Field) -> Json {
    json!({"name": field.name, "fieldType": write_kind(field.of.kind)})
}

fn reference((index, field): (usize, &Field)) -> Json {
    json!({"kind": "INPUT_REF", "inputIndex": index, "type": write_kind(field.of.kind)})
}

/// What a scan gets if its source makes the watermark, at each row.
fn watermark_by_partition(time: &Json, row: &str) -> Json {
    json!({
        "type": "WatermarkPushDown",
        "watermarkExpr": time,
        "rowtimeExpr": time,
        "idleTimeoutMillis": -1,
        "producedType": format!("{row} NOT NULL"),
        "watermarkParams": {
            "emitStrategy": "ON_EVENT", "alignGroupName": null, "alignMaxDrift": "PT0S",
            "alignUpdateInterval": "PT1S", "sourceIdleTimeout": -1
        }
    })
}

fn calc(id: usize, projection: &[Json], condition: &Json, output: &Json) -> Json {
    json!({
        "id": id,
        "type": "stream-exec-calc_1",
        "projection": projection,
        "condition": condition,
        "inputProperties": properties(),
        "outputType": output,
        "description": format!("Calc({id})")
    })
}

fn properties() -> Json {
    json!([{
        "requiredDistribution": {"type": "UNKNOWN"}, "damBehavior": "PIPELINED", "priority": 0
    }])
}
