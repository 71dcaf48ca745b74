//! A compiled plan: nodes and edges. What a node says is read when somebody wants to run it.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::error::{PlanError, Refusal};
use crate::strict::{Object, unlike};

/// The only version whose plans are understood.
pub const FLINK_VERSION: &str = "2.3";

/// A plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub(crate) nodes: Vec<RawNode>,
    pub(crate) edges: Vec<Edge>,
}

/// A node as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RawNode {
    pub(crate) id: usize,
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) json: Json,
}

impl RawNode {
    /// How messages call it.
    pub(crate) fn place(&self) -> String {
        format!("node {} ({}):", self.id, self.kind)
    }
}

/// What goes from one node to another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edge {
    pub(crate) source: usize,
    pub(crate) target: usize,
    /// Whether rows stay in their order and in their task.
    pub(crate) forward: bool,
    pub(crate) json: Json,
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// It is not JSON, not of [`FLINK_VERSION`], or no graph of nodes. What does not run at a site is no error.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let json = serde_json::from_str(text);
        let json: Json = json.map_err(|error| PlanError::NotJson(error.to_string()))?;
        let mut object = Object::new(&json, "plan")?;
        let version = object.required("flinkVersion")?;
        if version.as_str() != Some(FLINK_VERSION) {
            return Err(PlanError::Version { found: version.to_string() });
        }
        let nodes = object.array("nodes")?.iter().enumerate().map(raw_node);
        let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
        let edges = object.array("edges")?.iter().enumerate().map(edge);
        let edges = edges.collect::<Result<Vec<_>, _>>()?;
        object.end()?;
        check(&nodes, &edges)?;
        Ok(Self { nodes, edges })
    }

    pub(crate) fn node(&self, id: usize) -> Option<&RawNode> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// What comes out of a node.
    pub(crate) fn from(&self, id: usize) -> Vec<&Edge> {
        self.edges.iter().filter(|edge| edge.source == id).collect()
    }

    /// What goes into a node.
    pub(crate) fn into(&self, id: usize) -> Vec<&Edge> {
        self.edges.iter().filter(|edge| edge.target == id).collect()
    }
}

fn raw_node((index, json): (usize, &Json)) -> Result<RawNode, Refusal> {
    let mut object = Object::new(json, &format!("nodes[{index}]"))?;
    let id = object.index("id")?;
    let kind = object.text("type")?.to_owned();
    let description = object.optional_text("description")?.unwrap_or_default().to_owned();
    Ok(RawNode { id, kind, description, json: json.clone() })
}

fn edge((index, json): (usize, &Json)) -> Result<Edge, Refusal> {
    let mut object = Object::new(json, &format!("edges[{index}]"))?;
    let (source, target) = (object.index("source")?, object.index("target")?);
    let at = object.place("shuffle");
    let mut shuffle = Object::new(object.required("shuffle")?, &at)?;
    let forward = shuffle.text("type")? == "FORWARD";
    let mode = object.text("shuffleMode")?;
    if mode != "PIPELINED" {
        let at = object.place("shuffleMode");
        return Err(unlike(&at, "PIPELINED, as of a job on streams,", &mode.into()));
    }
    object.end()?;
    Ok(Edge { source, target, forward, json: json.clone() })
}

fn check(nodes: &[RawNode], edges: &[Edge]) -> Result<(), Refusal> {
    let mut ids = BTreeSet::new();
    for node in nodes {
        if !ids.insert(node.id) {
            return Err(Refusal::new("nodes", format!("there are two nodes {}", node.id)));
        }
    }
    for edge in edges {
        for end in [edge.source, edge.target] {
            if !ids.contains(&end) {
                return Err(Refusal::new("edges", format!("there is no node {end}")));
            }
        }
    }
    Ok(())
}
