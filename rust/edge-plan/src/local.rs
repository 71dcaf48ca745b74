//! Columns that are local to a site: no value of them is at two sites. The user says so, and nobody checks it.
//!
//! What is grouped by such a column is complete at its site. A column stays local as long as it goes on unchanged; what is
//! computed of it (`UPPER(device)`) may be the same for two of its values, and so for two sites.

use std::collections::BTreeSet;

use crate::cut::Pipeline;
use crate::error::PlanError;
use crate::expr::Expr;
use crate::node::Operator;
use crate::scan::Scan;

/// What a user has declared: `COLUMN`, or `TABLE.COLUMN`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declared<'a>(pub(crate) &'a [String]);

impl Declared<'_> {
    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// For messages.
    pub(crate) fn names(self) -> String {
        self.0.join(", ")
    }

    fn has(self, scan: &Scan, column: &str) -> bool {
        self.0.iter().any(|declared| is_of(declared, scan, column))
    }

    /// Which columns behind an operator are local, if these in front of it are.
    pub(crate) fn behind(self, operator: &Operator, before: &[bool]) -> Vec<bool> {
        let is_local = |column: usize| before.get(column).copied().unwrap_or(false);
        match operator {
            Operator::Scan(scan) => {
                let columns = scan.projection.iter().filter_map(|&column| scan.columns.get(column));
                columns.map(|column| self.has(scan, &column.name)).collect()
            }
            Operator::Calc(calc) => {
                let unchanged = |expr: &Expr| match expr {
                    Expr::Input { index, .. } => is_local(*index),
                    Expr::Literal { .. } | Expr::Call { .. } => false,
                };
                calc.projection.iter().map(unchanged).collect()
            }
            Operator::LocalAggregate(aggregate) => {
                aggregate.grouping.iter().map(|&column| is_local(column)).collect()
            }
            // New columns are behind the others.
            Operator::Watermark(_)
            | Operator::Windows { .. }
            | Operator::Exchange
            | Operator::GlobalAggregate(_)
            | Operator::Sessions(_) => before.to_vec(),
        }
    }

    /// Whether each of them is a column of exactly one table that is read. Where a scan was refused, nobody knows its columns.
    pub(crate) fn check(self, pipelines: &[Pipeline], scans: usize) -> Result<(), PlanError> {
        let read =
            pipelines.iter().filter_map(|pipeline| match &pipeline.nodes.first()?.operator {
                Operator::Scan(scan) => Some(scan),
                _ => None,
            });
        let read: Vec<&Scan> = read.collect();
        for declared in self.0 {
            let tables: BTreeSet<&str> = read
                .iter()
                .filter(|scan| {
                    scan.columns.iter().any(|column| is_of(declared, scan, &column.name))
                })
                .map(|scan| scan.table.as_str())
                .collect();
            if tables.len() > 1 {
                let tables: Vec<&str> = tables.into_iter().map(short).collect();
                return Err(PlanError::Local(format!(
                    "{declared} is a column of several tables: say which one, as {}.{declared}",
                    tables.join(&format!(".{declared} or "))
                )));
            }
            if tables.is_empty() && read.len() == scans {
                return Err(PlanError::Local(unknown(declared, &read)));
            }
        }
        Ok(())
    }
}

fn unknown(declared: &str, read: &[&Scan]) -> String {
    let tables = read.iter().map(|scan| {
        let columns: Vec<&str> = scan.columns.iter().map(|column| column.name.as_str()).collect();
        format!("{} has {}", short(&scan.table), columns.join(", "))
    });
    // A table may be read more than once.
    let tables: BTreeSet<String> = tables.collect();
    let tables: Vec<String> = tables.into_iter().collect();
    format!("no table has a column {declared}: {}", tables.join("; "))
}

fn is_of(declared: &str, scan: &Scan, column: &str) -> bool {
    let rest = declared.strip_prefix(short(&scan.table)).and_then(|rest| rest.strip_prefix('.'));
    declared == column || rest == Some(column)
}

/// A table's name without its catalog and database.
fn short(table: &str) -> &str {
    table.strip_suffix('`').and_then(|table| table.rsplit('`').next()).unwrap_or(table)
}
