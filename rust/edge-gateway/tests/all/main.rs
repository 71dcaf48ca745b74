//! The merge, and the output in files.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use afterbay_edge_gateway::{Merge, Partitions, Row};
use afterbay_edge_wire::Frame;

mod epochs;
mod files;
mod merge;
mod model;
mod power;

pub(crate) const SITES: [&str; 3] = ["a", "b", "c"];

pub(crate) fn names(sites: &[&str]) -> BTreeSet<String> {
    sites.iter().map(|site| (*site).to_owned()).collect()
}

pub(crate) fn frame(
    site: &str,
    epoch: u64,
    sequence: u64,
    watermark: i64,
    lines: &str,
) -> Frame<'static> {
    Frame {
        site: site.to_owned().into(),
        stream: "rows".into(),
        epoch,
        sequence,
        watermark,
        payload: lines.as_bytes().to_vec().into(),
    }
}

pub(crate) fn merge(sites: &[&str], partitions: Partitions) -> Merge {
    let mut merge = Merge::recover(&BTreeMap::new(), partitions).unwrap();
    merge.register(&names(sites));
    for site in sites {
        merge.open(site, "rows", (1, 0), &["x".to_owned()]).unwrap();
    }
    merge
}

pub(crate) fn json(row: &Row) -> serde_json::Value {
    serde_json::from_str(&row.json).unwrap()
}

pub(crate) fn lines(rows: &[Row]) -> Vec<String> {
    let line = |row: &Row| {
        let late = if row.late { ".late" } else { "" };
        format!("{}{late}/{} {}", row.stream, row.partition, row.json)
    };
    rows.iter().map(line).collect()
}
