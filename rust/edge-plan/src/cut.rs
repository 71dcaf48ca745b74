//! Where a plan is cut: what runs at the sites, what stays in the cloud, and why.
//!
//! ```text
//!   scan -> watermark-assigner -> calc -> local-window-aggregate | exchange -> global-window-aggregate -> calc -> sink
//!   `------------------ at each site, by edge-exec -------------'  `------- in the cloud, by Flink, unmodified -------'
//! ```
//!
//! From each source, nodes are taken as long as they are understood in every detail, have one input and one reader, and rows
//! go straight on from one to the next. A local aggregate is the last: behind it, rows of a key come together from all sites.
//! But if the key has a column that is local to a site, they are all at one already: then the global aggregate runs there too, or
//! that of sessions, which has no local half, and calcs behind it that cannot fail. A row of an input that cannot be computed is
//! left out or ends the run; a window's result that cannot be computed would be of no row.

use crate::error::{PlanError, Refusal};
use crate::expr::Expr;
use crate::global::{EXCHANGE, GLOBAL, ONE_PHASE, exchange, global, sessions};
use crate::local::Declared;
use crate::node::{KNOWN, LocalAggregate, Node, Operator, node};
use crate::plan::{Plan, RawNode};
use crate::types::Field;

const CALC: &str = KNOWN[2];

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
    /// Aggregates, by key and window: the key says at which site its rows are.
    Final,
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
                Operator::Scan(_) | Operator::Watermark(_) | Operator::Exchange => rows,
                Operator::Calc(_) if rows == Rows::Final => rows,
                Operator::Calc(calc) if calc.is_filter(columns) => match rows {
                    Rows::Raw if calc.condition.is_some() => Rows::Filtered,
                    rows => rows,
                },
                Operator::Calc(_) | Operator::Windows { .. } => Rows::Projected,
                Operator::LocalAggregate(_) => Rows::Partial,
                Operator::GlobalAggregate(_) | Operator::Sessions(_) => Rows::Final,
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

/// Cuts a plan of which no column is local to a site.
pub fn cut(plan: &Plan) -> Cut {
    cut_declared(plan, Declared(&[])).0
}

/// Cuts a plan whose columns `local` are local to a site: **no value of one of them is at two sites**. Each is `COLUMN`, or
/// `TABLE.COLUMN`, of a table that is read. That is believed: where it is not so, a key that is at two sites has two rows.
///
/// # Errors
/// No table has such a column, or several have.
pub fn cut_with_local(plan: &Plan, local: &[String]) -> Result<Cut, PlanError> {
    let declared = Declared(local);
    let (cut, scans) = cut_declared(plan, declared);
    declared.check(&cut.pipelines, scans)?;
    Ok(cut)
}

/// The cut, and how many scans the plan has.
fn cut_declared(plan: &Plan, declared: Declared<'_>) -> (Cut, usize) {
    let mut refusals = Vec::new();
    let mut pipelines = Vec::new();
    let mut scans = 0;
    for scan in plan.nodes.iter().filter(|node| node.kind == KNOWN[0]) {
        scans += 1;
        let mut way = Way::new(plan, declared);
        way.follow(scan);
        refusals.extend(way.refusals);
        if !way.pipeline.nodes.is_empty() {
            pipelines.push(way.pipeline);
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
    (Cut { pipelines, placed }, scans)
}

/// From a source, as far as it goes.
struct Way<'a> {
    plan: &'a Plan,
    declared: Declared<'a>,
    pipeline: Pipeline,
    /// Which of the columns that come out of it are local.
    local: Vec<bool>,
    /// Why nodes behind it stay in the cloud.
    refusals: Vec<(usize, String)>,
}

impl<'a> Way<'a> {
    fn new(plan: &'a Plan, declared: Declared<'a>) -> Self {
        let pipeline = Pipeline { ids: Vec::new(), nodes: Vec::new() };
        Self { plan, declared, pipeline, local: Vec::new(), refusals: Vec::new() }
    }

    fn follow(&mut self, scan: &'a RawNode) {
        let mut raw = scan;
        loop {
            // A plan may be a circle.
            if self.pipeline.ids.contains(&raw.id) {
                return;
            }
            let is_final = self.pipeline.rows() == Rows::Final;
            match node(&raw.json, self.pipeline.output(), &raw.place()) {
                Err(refusal) => return self.refuse(raw, &refusal),
                Ok(read) => {
                    if is_final && may_fail(&read.operator) {
                        let why = "it may fail (a division of whole numbers, a CAST, a DECIMAL that is calculated with), and behind a window there is no row at which it would";
                        return self.refusals.push((raw.id, why.to_owned()));
                    }
                    self.take(raw, read);
                }
            }
            let last = self.pipeline.nodes.last().map(|node| &node.operator);
            if let Some(Operator::LocalAggregate(aggregate)) = last {
                let aggregate = aggregate.clone();
                match self.finish(raw, &aggregate) {
                    Some(global) => raw = global,
                    None => return,
                }
            } else if self.pipeline.rows() != Rows::Final
                && let Some(sessions) = self.finish_sessions(raw)
            {
                raw = sessions;
            }
            let is_final = self.pipeline.rows() == Rows::Final;
            match self.next(raw) {
                Some(next) if is_final && next.kind == CALC => raw = next,
                Some(next) if !is_final && KNOWN[1..].contains(&next.kind.as_str()) => raw = next,
                Some(next) if is_final && KNOWN.contains(&next.kind.as_str()) => {
                    let why =
                        "it is of rows that are final at a site, behind which only calcs run there";
                    return self.refusals.push((next.id, why.to_owned()));
                }
                _ => return,
            }
        }
    }

    fn take(&mut self, raw: &RawNode, node: Node) {
        self.local = self.declared.behind(&node.operator, &self.local);
        self.pipeline.ids.push(raw.id);
        self.pipeline.nodes.push(node);
    }

    fn refuse(&mut self, raw: &RawNode, refusal: &Refusal) {
        self.refusals.push((raw.id, in_words(refusal, raw)));
    }

    /// The only reader of what a node gives, if rows go straight on to it, and it reads nothing else.
    fn next(&self, raw: &RawNode) -> Option<&'a RawNode> {
        let plan = self.plan;
        match plan.from(raw.id).as_slice() {
            [edge] if edge.forward && plan.into(edge.target).len() == 1 => plan.node(edge.target),
            _ => None,
        }
    }

    /// Takes the upper half of a windowed aggregate, if the key says at which site its rows are. Returns its global node.
    fn finish(&mut self, raw: &RawNode, aggregate: &LocalAggregate) -> Option<&'a RawNode> {
        if self.declared.is_empty() {
            return None;
        }
        let moved = self.next(raw).filter(|next| next.kind == EXCHANGE)?;
        let merged = self.next(moved).filter(|next| next.kind == GLOBAL)?;
        let keys: Vec<usize> =
            self.local.iter().enumerate().filter_map(|(key, local)| local.then_some(key)).collect();
        if keys.is_empty() {
            let why = format!(
                "rows of one key come together here, from all sites: the key has no column that is local to one (declared: {})",
                self.declared.names()
            );
            self.refusals.push((moved.id, why));
            return None;
        }
        let before = self.pipeline.nodes.len().checked_sub(2);
        let of = before.and_then(|before| self.pipeline.nodes.get(before))?.output.clone();
        let parts = self.pipeline.output().to_vec();
        let moved_by: Vec<usize> = (0..aggregate.grouping.len()).collect();
        let read = exchange(&moved.json, &moved_by, &parts, &moved.place());
        let through = read.map_err(|refusal| self.refuse(moved, &refusal)).ok()?;
        let read = global(&merged.json, aggregate, &of, &parts, keys, &merged.place());
        let global = read.map_err(|refusal| self.refuse_both(moved, merged, &refusal)).ok()?;
        self.take(moved, through);
        self.take(merged, global);
        Some(merged)
    }

    /// Takes an aggregate of sessions, if one is behind the next exchange. Returns its node.
    fn finish_sessions(&mut self, raw: &RawNode) -> Option<&'a RawNode> {
        if self.declared.is_empty() {
            return None;
        }
        let moved = self.next(raw).filter(|next| next.kind == EXCHANGE)?;
        let merged = self.next(moved).filter(|next| next.kind == ONE_PHASE)?;
        let inputs = self.pipeline.output().to_vec();
        let read = sessions(&merged.json, &inputs, &self.local, &merged.place());
        let node = read.map_err(|refusal| self.refuse_both(moved, merged, &refusal)).ok()?;
        let Operator::Sessions(aggregate) = &node.operator else { return None };
        let read = exchange(&moved.json, &aggregate.grouping, &inputs, &moved.place());
        let through = read.map_err(|refusal| self.refuse(moved, &refusal)).ok()?;
        self.take(moved, through);
        self.take(merged, node);
        Some(merged)
    }

    fn refuse_both(&mut self, moved: &RawNode, merged: &RawNode, refusal: &Refusal) {
        let why = "the aggregate behind it is not finished at a site, so rows of all sites come together here";
        self.refusals.push((moved.id, why.to_owned()));
        self.refuse(merged, refusal);
    }
}

/// Whether there are rows for which it fails.
fn may_fail(operator: &Operator) -> bool {
    match operator {
        Operator::Calc(calc) => calc.condition.iter().chain(&calc.projection).any(Expr::may_fail),
        _ => true,
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
