//! Which nodes are down, from the outcomes of requests alone (Ambry, section 2.4.2, figure 2.5): no heartbeats.
//!
//! ```text
//!             failures_max consecutive failures          wait_period_ms is over:
//!             within check_period_ms                     the next request is the probe
//!  available -------------------------------------> down --------------------------> probing
//!      ^                                             ^                                 |  |
//!      |                                             +------------- fails -------------+  |
//!      +----------------------------------- an answer comes ------------------------------+
//! ```

use std::collections::BTreeMap;

use crate::identity::NodeId;

/// Settings of a detector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectorOptions {
    /// So many consecutive failures mark a node as down.
    pub failures_max: u32,
    /// They have to lie within so many milliseconds: more than from the end of one request to that of the next one.
    pub check_period_ms: u64,
    /// A node that is down gets no request for so many milliseconds.
    pub wait_period_ms: u64,
}

/// What is known of the other nodes.
#[derive(Debug)]
pub struct Detector {
    options: DetectorOptions,
    nodes: BTreeMap<NodeId, Health>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    /// With the failures since the last success: how many, and when the first one was.
    Available {
        failures: u32,
        since_ms: u64,
    },
    Down {
        until_ms: u64,
    },
    Probing,
}

const WELL: Health = Health::Available { failures: 0, since_ms: 0 };

impl Detector {
    /// All nodes are available.
    pub fn new(options: DetectorOptions) -> Self {
        Detector { options, nodes: BTreeMap::new() }
    }

    fn health(&self, node: &NodeId) -> Health {
        self.nodes.get(node).copied().unwrap_or(WELL)
    }

    /// Whether a request to the node would be sent now.
    pub fn is_available(&self, node: &NodeId, now_ms: u64) -> bool {
        match self.health(node) {
            Health::Available { .. } => true,
            Health::Down { until_ms } => now_ms >= until_ms,
            Health::Probing => false,
        }
    }

    /// Whether the node failed so often that requests are held back, or one is under way to see.
    pub fn is_down(&self, node: &NodeId) -> bool {
        !matches!(self.health(node), Health::Available { .. })
    }

    /// To be called before each request: whether to send it. To a node that was down for long enough one is, and the others
    /// wait for its outcome, which has to be reported.
    pub fn ask(&mut self, node: &NodeId, now_ms: u64) -> bool {
        let asks = self.is_available(node, now_ms);
        if asks && self.is_down(node) {
            self.nodes.insert(node.clone(), Health::Probing);
        }
        asks
    }

    /// An answer came, whatever it says.
    pub fn succeeded(&mut self, node: &NodeId) {
        if self.nodes.remove(node).is_some_and(|health| health != WELL) {
            tracing::debug!(%node, "answers");
        }
    }

    /// No answer came.
    pub fn failed(&mut self, node: &NodeId, now_ms: u64) {
        let down = Health::Down { until_ms: now_ms + self.options.wait_period_ms };
        let next = match self.health(node) {
            Health::Available { failures, since_ms } => {
                let counts =
                    failures > 0 && now_ms.saturating_sub(since_ms) <= self.options.check_period_ms;
                let (failures, since_ms) =
                    if counts { (failures + 1, since_ms) } else { (1, now_ms) };
                if failures >= self.options.failures_max {
                    tracing::info!(%node, failures, "taken for down");
                    down
                } else {
                    Health::Available { failures, since_ms }
                }
            }
            Health::Probing => down,
            // Of requests that were sent before: the wait is not longer for them.
            Health::Down { until_ms } => Health::Down { until_ms },
        };
        self.nodes.insert(node.clone(), next);
    }

    /// Nodes that are taken for down.
    pub fn down(&self) -> Vec<NodeId> {
        self.nodes.keys().filter(|node| self.is_down(node)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detector() -> (Detector, NodeId) {
        let options =
            DetectorOptions { failures_max: 2, check_period_ms: 100, wait_period_ms: 1000 };
        (Detector::new(options), NodeId::new("n1"))
    }

    #[test]
    fn consecutive_failures_within_the_period_count() {
        let (mut detector, n1) = detector();
        detector.failed(&n1, 0);
        detector.failed(&n1, 101);
        assert!(!detector.is_down(&n1), "too far from each other");
        detector.succeeded(&n1);
        detector.failed(&n1, 110);
        assert!(!detector.is_down(&n1), "there was a success between");
        detector.failed(&n1, 210);
        assert!(detector.is_down(&n1));
        assert_eq!(detector.down(), [n1]);
    }

    #[test]
    fn after_the_wait_one_request_probes() {
        let (mut detector, n1) = detector();
        detector.failed(&n1, 0);
        detector.failed(&n1, 10);
        detector.failed(&n1, 900);
        assert!(!detector.ask(&n1, 1009), "down until 1010, also if more fail");
        assert!(detector.ask(&n1, 1010), "the probe");
        assert!(!detector.ask(&n1, 1011), "the others wait");
        detector.failed(&n1, 1050);
        assert!(!detector.ask(&n1, 2049));
        assert!(detector.ask(&n1, 2050));
        detector.succeeded(&n1);
        assert!(detector.ask(&n1, 2051) && detector.ask(&n1, 2051));
        assert!(!detector.is_down(&n1));
    }
}
