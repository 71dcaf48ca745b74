//! The table that is read: its columns, and what of them goes further.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::error::{Refusal, Result};
use crate::expr::{Expr, expr};
use crate::strict::{Object, array, index, text};
use crate::types::{Field, data_type, row_type};

/// How watermarks are made of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Watermark {
    /// The watermark of a row; null is none.
    pub expr: Expr,
    /// The time of a row, which must not be null: a column, or what a column is computed from that comes behind the source.
    pub rowtime: Expr,
}

/// A source.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// The table's name in its catalog, in backticks.
    pub table: String,
    /// The columns that rows come with.
    pub columns: Vec<Field>,
    /// Which of them go further, in order.
    pub projection: Vec<usize>,
    /// Connector and format, as the table says.
    pub options: BTreeMap<String, String>,
    /// The watermark that the source makes, over the columns that go further.
    pub watermark: Option<Watermark>,
}

/// Reads `scanTableSource`.
pub(crate) fn scan(json: &Json, place: &str) -> Result<Scan> {
    let mut object = Object::new(json, place)?;
    let table_place = object.place("table");
    let mut table = Object::new(object.required("table")?, &table_place)?;
    let name = table.text("identifier")?.to_owned();
    let at = table.place("resolvedTable");
    let Some(resolved) = table.optional("resolvedTable") else {
        let what = "the plan has only the table's name: compile it with table.plan.compile.catalog-objects = ALL";
        return Err(Refusal::new(&table_place, what));
    };
    table.end()?;
    let (columns, options) = resolved_table(resolved, &at)?;
    let all = (0..columns.len()).collect();
    let mut scan = Scan { table: name, columns, projection: all, options, watermark: None };
    let at = object.place("abilities");
    if let Some(abilities) = object.optional("abilities") {
        for (number, json) in array(abilities, &at)?.iter().enumerate() {
            ability(&mut scan, json, &format!("{at}[{number}]"))?;
        }
    }
    object.end()?;
    Ok(scan)
}

impl Scan {
    /// The columns that go further.
    pub fn output(&self) -> Vec<Field> {
        self.projection.iter().map(|&column| self.columns[column].clone()).collect()
    }
}

fn resolved_table(json: &Json, place: &str) -> Result<(Vec<Field>, BTreeMap<String, String>)> {
    let mut object = Object::new(json, place)?;
    let at = object.place("schema");
    let mut schema = Object::new(object.required("schema")?, &at)?;
    let at = schema.place("columns");
    let mut columns = Vec::new();
    for (number, json) in schema.array("columns")?.iter().enumerate() {
        columns.extend(column(json, &format!("{at}[{number}]"))?);
    }
    // What the watermark is, the plan's nodes say again.
    for known in ["watermarkSpecs", "primaryKey"] {
        schema.optional(known);
    }
    schema.end()?;
    let at = object.place("partitionKeys");
    if let Some(keys) = object.optional("partitionKeys")
        && !array(keys, &at)?.is_empty()
    {
        return Err(Refusal::new(&at, "partitioned tables do not run at a site"));
    }
    object.optional_text("comment")?;
    let at = object.place("options");
    let Json::Object(map) = object.required("options")? else {
        return Err(Refusal::new(&at, "an object is needed"));
    };
    object.end()?;
    let option = |(name, value): (&String, &Json)| {
        Ok((name.clone(), text(value, &format!("{at}.{name}"))?.to_owned()))
    };
    Ok((columns, map.iter().map(option).collect::<Result<_>>()?))
}

/// A column that rows come with; a computed one is the business of a calc.
fn column(json: &Json, place: &str) -> Result<Option<Field>> {
    let mut object = Object::new(json, place)?;
    let name = object.text("name")?.to_owned();
    match object.optional_text("kind")? {
        None => {}
        Some("COMPUTED") => {
            object.required("expression")?;
            object.optional_text("comment")?;
            object.end()?;
            return Ok(None);
        }
        Some(other) => {
            let what = format!("column {name:?} is of kind {other}, which a site does not have");
            return Err(Refusal::new(&object.place("kind"), what));
        }
    }
    let at = object.place("dataType");
    let of = data_type(object.required("dataType")?, &at)?;
    object.optional_text("comment")?;
    object.end()?;
    Ok(Some(Field { name, of }))
}

/// What the planner has moved into the source.
fn ability(scan: &mut Scan, json: &Json, place: &str) -> Result<()> {
    let mut object = Object::new(json, place)?;
    match object.text("type")? {
        "ProjectPushDown" => {
            let at = object.place("projectedFields");
            let mut projection = Vec::new();
            for path in object.array("projectedFields")? {
                let [column] = array(path, &at)? else {
                    return Err(Refusal::new(
                        &at,
                        "fields of a column's rows do not run at a site",
                    ));
                };
                let column = index(column, &at)?;
                let Some(&column) = scan.projection.get(column) else {
                    return Err(Refusal::new(&at, format!("there is no column {column}")));
                };
                projection.push(column);
            }
            scan.projection = projection;
        }
        "ReadingMetadata" => object.only("metadataKeys", &Json::Array(Vec::new()))?,
        "WatermarkPushDown" => scan.watermark = Some(watermark(&mut object, &scan.output())?),
        other => {
            let what = format!("{other} was moved into the source, which a site has not");
            return Err(Refusal::new(&object.place("type"), what));
        }
    }
    if let Some(produced) = object.optional("producedType") {
        let at = object.place("producedType");
        same_columns(&row_type(produced, &at)?, &scan.output(), &at)?;
    }
    object.end()
}

/// A watermark that the source makes, partition by partition: a site is one of them.
fn watermark(object: &mut Object<'_>, columns: &[Field]) -> Result<Watermark> {
    let at = object.place("watermarkExpr");
    let watermark = expr(object.required("watermarkExpr")?, columns, &at)?;
    if !watermark.kind().is_timestamp() {
        return Err(Refusal::new(&at, format!("{} is no watermark", watermark.kind())));
    }
    let at = object.place("rowtimeExpr");
    let rowtime = expr(object.required("rowtimeExpr")?, columns, &at)?;
    if !rowtime.kind().is_timestamp() {
        return Err(Refusal::new(&at, format!("{} is no time", rowtime.kind())));
    }
    // Idle sources and alignment are matters of several sources; a site is one.
    object.only("idleTimeoutMillis", &Json::from(-1))?;
    let plain = serde_json::json!({
        "emitStrategy": "ON_PERIODIC", "alignGroupName": null, "alignMaxDrift": "PT0S",
        "alignUpdateInterval": "PT1S", "sourceIdleTimeout": -1
    });
    object.only("watermarkParams", &plain)?;
    Ok(Watermark { expr: watermark, rowtime })
}

/// Refuses a row's type that is not what was worked out.
pub(crate) fn same_columns(written: &[Field], expected: &[Field], place: &str) -> Result<()> {
    if written.len() != expected.len() {
        let what = format!("{} columns, and {} were expected", written.len(), expected.len());
        return Err(Refusal::new(place, what));
    }
    for (written, expected) in written.iter().zip(expected) {
        if written.name != expected.name || written.of.kind != expected.of.kind {
            let what = format!(
                "column {:?} {} was expected, not {:?} {}",
                expected.name, expected.of.kind, written.name, written.of.kind
            );
            return Err(Refusal::new(place, what));
        }
    }
    Ok(())
}
