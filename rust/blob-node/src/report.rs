//! What a node says of itself, as JSON.

use afterbay_blob_cluster::{LocalStore, NodeStatus};
use serde_json::{Value, json};

pub(crate) fn report(status: &NodeStatus, store: &LocalStore) -> Value {
    let replicas = status.replicas.iter().map(|replica| {
        let used_bytes = store.partition(replica.partition).map(|partition| partition.usage().0);
        let peers = replica.peers.iter().map(|peer| {
            json!({ "node": peer.node.as_str(), "lag": peer.lag, "comparing": peer.is_comparing })
        });
        json!({
            "partition": replica.partition.0,
            "used_bytes": used_bytes,
            "loaded": replica.is_loaded,
            "filled": replica.is_filled,
            "suspect": replica.is_suspect,
            "damaged": replica.damaged,
            "peers": peers.collect::<Vec<_>>(),
        })
    });
    json!({
        "node": status.node.as_str(),
        "quiet": status.is_quiet(),
        "down": status.down.iter().map(|node| node.as_str()).collect::<Vec<_>>(),
        "replicas": replicas.collect::<Vec<_>>(),
    })
}
