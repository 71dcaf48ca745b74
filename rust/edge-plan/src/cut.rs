//! Where a plan is cut: what runs at the sites, what stays in the cloud, and why.
//!
//! ```text
//!   scan -> watermark-assigner -> calc -> local-window-aggregate | exchange -> global-window-aggregate -> calc -> sink
//!   `------------------ at each site, by edge-exec -------------'  `------- in the cloud, by Flink, unmodified -------'
//! ```
//!
//! From each source, nodes are taken as long as they are understood in every detail, have one input and one reader, and rows
//! go straight on from one to the next. A local aggregate is the last: behind it, rows of a key come together from all sites.

use crate::error::Refusal;
use crate::node::{KNOWN, Node, Operator, node};
use crate::plan::{Plan, RawNode};
use crate::types::Field;

/// A plan that is cut.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// What runs at a site, source by source.
    pub pipelines: Vec<Pipeline>,
    /// Every node of the plan, in its order.
    pub placed: Vec<Placed>,
}

/// Nodes that run at a site, one behind the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// Their numbers in the plan.
    pub ids: Vec<usize>,
    /// The nodes: a scan first.
    pub nodes: Vec<Node>,
}

/// What goes from a site to the cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Rows as they come.
    Raw,
    /// Some of them.
    Filtered,
    /// Less of each, or what is computed of them.
    Projected,
    /// Parts of aggregates, by key and slice.
    Partial,
}

/// A node, and where it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Its number in the plan.
    pub id: usize,
    /// Its type and version.
    pub kind: String,
    /// What it does, in the planner's words.
    pub description: String,
    /// Where it runs.
    pub location: Location,
}

/// Where a node runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// At each site.
    Edge,
    /// In the cloud.
    Cloud {
        /// Why.
        why: String,
    },
}

impl Pipeline {
    /// The columns of what goes to the cloud.
    pub fn output(&self) -> &[Field] {
        self.nodes.last().map_or(&[], |node| node.output.as_slice())
    }

    /// What goes to the cloud.
    pub fn rows(&self) -> Rows {
        let mut rows = Rows::Raw;
        let mut columns = 0;
        for node in &self.nodes {
            rows = match &node.operator {
                Operator::Scan(scan) if scan.projection.len() < scan.columns.len() => {
                    Rows::Projected
                }
                Operator::Scan(_) | Operator::Watermark(_) => rows,
                Operator::Calc(calc) if calc.is_filter(columns) => match rows {
                    Rows::Raw if calc.condition.is_some() => Rows::Filtered,
                    rows => rows,
                },
                Operator::Calc(_) | Operator::Windows { .. } => Rows::Projected,
                Operator::LocalAggregate(_) => Rows::Partial,
            };
            columns = node.output.len();
        }
        rows
    }

    /// Whether the site makes watermarks of the rows.
    pub fn has_watermark(&self) -> bool {
        self.nodes.iter().any(|node| match &node.operator {
            Operator::Scan(scan) => scan.watermark.is_some(),
            operator => matches!(operator, Operator::Watermark(_)),
        })
    }
}

/// Cuts a plan.
pub fn cut(plan: &Plan) -> Cut {
    let mut refusals = Vec::new();
    let mut pipelines = Vec::new();
    for scan in plan.nodes.iter().filter(|node| node.kind == KNOWN[0]) {
        let (pipeline, refusal) = follow(plan, scan);
        refusals.extend(refusal);
        if !pipeline.nodes.is_empty() {
            pipelines.push(pipeline);
        }
    }
    let place = |raw: &RawNode| {
        let at_edge = pipelines.iter().any(|pipeline| pipeline.ids.contains(&raw.id));
        let location = if at_edge {
            Location::Edge
        } else {
            let refused = refusals.iter().find(|(id, _)| *id == raw.id);
            Location::Cloud { why: refused.map_or_else(|| why(plan, raw), |(_, why)| why.clone()) }
        };
        let (kind, description) = (raw.kind.clone(), raw.description.clone());
        Placed { id: raw.id, kind, description, location }
    };
    let placed = plan.nodes.iter().map(place).collect();
    Cut { pipelines, placed }
}

type Reason = (usize, String);

/// Goes from a source as far as it goes.
fn follow(plan: &Plan, scan: &RawNode) -> (Pipeline, Option<Reason>) {
    let mut pipeline = Pipeline { ids: Vec::new(), nodes: Vec::new() };
    let mut raw = scan;
    loop {
        // A plan may be a circle.
        if pipeline.ids.contains(&raw.id) {
            return (pipeline, None);
        }
        match node(&raw.json, pipeline.output(), &raw.place()) {
            Err(refusal) => return (pipeline, Some((raw.id, in_words(&refusal, raw)))),
            Ok(read) => {
                let is_last = matches!(read.operator, Operator::LocalAggregate(_));
                pipeline.ids.push(raw.id);
                pipeline.nodes.push(read);
                if is_last {
                    return (pipeline, None);
                }
            }
        }
        let next = match plan.from(raw.id).as_slice() {
            [edge] if edge.forward && plan.into(edge.target).len() == 1 => plan.node(edge.target),
            _ => None,
        };
        match next {
            Some(next) if KNOWN[1..].contains(&next.kind.as_str()) => raw = next,
            _ => return (pipeline, None),
        }
    }
}

/// The refusal without the node's name, which stands before it anyway.
fn in_words(refusal: &Refusal, raw: &RawNode) -> String {
    let place = refusal.place.strip_prefix(&raw.place()).unwrap_or(&refusal.place);
    let place = place.trim_start();
    if place.is_empty() { refusal.what.clone() } else { format!("{place}: {}", refusal.what) }
}

/// Why a node stays in the cloud that nobody tried to read.
fn why(plan: &Plan, raw: &RawNode) -> String {
    let name = raw.kind.strip_prefix("stream-exec-").unwrap_or(&raw.kind);
    let (name, _) = name.rsplit_once('_').unwrap_or((name, ""));
    match name {
        "exchange" => "rows of one key come together here, from all sites".to_owned(),
        "global-window-aggregate" => "it merges the partial results of all sites".to_owned(),
        "sink" => "it writes the results of all sites into one table".to_owned(),
        "window-aggregate" => "it needs every row of a key: with a SESSION window, or an aggregate such as LAST_VALUE that cannot be merged, the whole statement has one phase; so it has with table.optimizer.agg-phase-strategy = ONE_PHASE".to_owned(),
        "group-aggregate" => "without a window it never ends, and has no half that could run at a site".to_owned(),
        "union" | "join" | "interval-join" | "window-join" | "lookup-join" | "temporal-join" => {
            "it needs the rows of several inputs".to_owned()
        }
        _ if !KNOWN.contains(&raw.kind.as_str()) => {
            format!("{} does not run at a site", raw.kind)
        }
        _ => match plan.into(raw.id).as_slice() {
            [] => "nothing goes into it".to_owned(),
            [edge] if !edge.forward => "rows do not go straight on to it".to_owned(),
            [edge] if plan.from(edge.source).len() > 1 => {
                format!("what node {} gives is needed more than once", edge.source)
            }
            [edge] => format!("it comes behind node {}, which stays in the cloud or is the last at a site", edge.source),
            _ => "it needs the rows of several inputs".to_owned(),
        },
    }
}
