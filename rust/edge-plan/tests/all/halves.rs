//! Both halves of every plan are plans again.

use std::collections::BTreeSet;

use afterbay_edge_plan::{
    Operator, Plan, Rows, cut, cut_with_local, halves, table_name, writes_final_rows,
};
use serde_json::Value;

use crate::{ALL, plan};

fn options() -> Vec<(String, String)> {
    options_of("filesystem")
}

fn options_of(connector: &str) -> Vec<(String, String)> {
    vec![("connector".to_owned(), connector.to_owned()), ("format".to_owned(), "json".to_owned())]
}

fn ids(half: &Value) -> BTreeSet<u64> {
    let nodes = half["nodes"].as_array().unwrap();
    let ids: BTreeSet<u64> = nodes.iter().map(|node| node["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), nodes.len(), "a number is there twice");
    ids
}

#[test]
fn the_lower_half_runs_what_the_whole_would() {
    for name in ALL {
        let whole = plan(name);
        let cut_whole = cut(&whole);
        let halves = halves(&whole, &cut_whole, &options());
        let lower = Plan::parse(&halves.lower.to_string()).unwrap();
        assert_eq!(cut(&lower).pipelines, cut_whole.pipelines, "{name}");
    }
}

#[test]
fn every_node_is_in_one_half() {
    for name in ALL {
        let whole = plan(name);
        let cut = cut(&whole);
        let halves = halves(&whole, &cut, &options());
        let (lower, upper) = (ids(&halves.lower), ids(&halves.upper));
        for node in &cut.placed {
            let id = node.id as u64;
            assert!(lower.contains(&id) != upper.contains(&id), "{name}: node {id}");
        }
        // A sink below; a scan, a watermark and two calcs above, or a scan and a calc without a watermark.
        let new = lower.len() + upper.len() - cut.placed.len();
        let expected: usize =
            cut.pipelines.iter().map(|pipeline| if pipeline.has_watermark() { 5 } else { 3 }).sum();
        assert_eq!(new, expected, "{name}");
        Plan::parse(&halves.upper.to_string()).unwrap();
    }
}

/// What the table between the halves gives is what the local node gave, with its columns' types.
#[test]
fn the_upper_half_begins_where_the_lower_ends() {
    let whole = plan("tumble");
    let halves = halves(&whole, &cut(&whole), &options());
    let upper = Plan::parse(&halves.upper.to_string()).unwrap();
    // Our own scan, watermark and calcs are plain ones, which the parser knows.
    let cut_upper = cut(&upper);
    let [pipeline] = cut_upper.pipelines.as_slice() else { panic!("no scan") };
    let Operator::Scan(scan) = &pipeline.nodes[0].operator else { panic!("no scan") };
    assert_eq!(scan.table, "`default_catalog`.`default_database`.`edge_partials`");
    assert_eq!(scan.options["connector"], "filesystem");
    let names: Vec<&str> = scan.columns.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names[names.len() - 3..], ["edge_site", "edge_row", "edge_watermark"]);
    let kinds: Vec<bool> =
        pipeline.nodes.iter().map(|node| matches!(node.operator, Operator::Watermark(_))).collect();
    assert_eq!(kinds, [false, false, true, false]);
    let original = cut(&whole).pipelines[0].output().to_vec();
    assert_eq!(pipeline.output(), original);
    let last = *pipeline.ids.last().unwrap() as u64;
    let edges = halves.upper["edges"].as_array().unwrap();
    let to_exchange = edges.iter().find(|edge| edge["target"] == 5).unwrap();
    assert_eq!(to_exchange["source"], last);
}

/// A task that reads several partitions has a watermark for each of them, and not that of the one ahead.
#[test]
fn the_source_of_a_topic_makes_watermarks_by_partition() {
    for name in ALL {
        let whole = plan(name);
        let cut_whole = cut(&whole);
        let kinds = |connector| {
            let upper = halves(&whole, &cut_whole, &options_of(connector)).upper;
            let nodes = upper["nodes"].as_array().unwrap().clone();
            let of_ours = |node: &&Value| {
                let table = &node["scanTableSource"]["table"]["identifier"];
                table.as_str().is_some_and(|table| table.contains("edge_partials"))
            };
            let moved = nodes.iter().filter(of_ours);
            let moved = moved.filter(|node| {
                node["scanTableSource"]["abilities"][0]["type"] == "WatermarkPushDown"
            });
            let assigner = "stream-exec-watermark-assigner_1";
            (moved.count(), nodes.iter().filter(|node| node["type"] == assigner).count())
        };
        let with_watermark =
            cut_whole.pipelines.iter().filter(|pipeline| pipeline.has_watermark()).count();
        let (topic, file) = (kinds("kafka"), kinds("filesystem"));
        assert_eq!((topic.0, file.0), (with_watermark, 0), "{name}");
        assert_eq!(file.1 - topic.1, with_watermark, "{name}");
    }
}

/// A key that is a constant without characters: Flink refuses `CHAR(0)` in its short form.
#[test]
fn texts_without_characters_are_strings_between_the_halves() {
    let empty = r#"{"type":"VARCHAR","length":0}"#;
    let text = crate::text("project").replace(
        r#""outputType":"ROW<`room` INT, `EXPR$1` DOUBLE, `device` VARCHAR(2147483647)>""#,
        &format!(
            r#""outputType":{{"type":"ROW","fields":[{{"name":"room","fieldType":"INT"}},{{"name":"EXPR$1","fieldType":"DOUBLE"}},{{"name":"device","fieldType":{empty}}}]}}"#
        ),
    );
    let text = text.replace(
        r#"{"kind":"INPUT_REF","inputIndex":0,"type":"VARCHAR(2147483647)"}"#,
        &format!(r#"{{"kind":"LITERAL","value":"","type":{empty}}}"#),
    );
    let whole = crate::parse(&text).unwrap();
    let cut = cut(&whole);
    assert_eq!(cut.pipelines[0].ids.len(), 3);
    let halves = halves(&whole, &cut, &options());
    let sink = halves.lower["nodes"].as_array().unwrap().last().unwrap();
    for written in [
        sink["outputType"].as_str().unwrap(),
        halves.upper["nodes"][0]["outputType"].as_str().unwrap(),
    ] {
        assert!(written.contains("`device` VARCHAR(2147483647)"), "{written}");
    }
    let columns =
        &halves.upper["nodes"][0]["scanTableSource"]["table"]["resolvedTable"]["schema"]["columns"];
    assert_eq!(columns[2]["dataType"], "VARCHAR(2147483647)");
}

/// A node's first edge is its left input: what takes a pipeline's place stands where the pipeline stood.
#[test]
fn edges_keep_their_order() {
    let text = crate::text("union");
    let edge = |source: u8| format!(r#"{{"source":{source},"target":6,"#);
    let swapped = text
        .replace(&edge(3), r#"{"source":99,"target":6,"#)
        .replace(&edge(5), &edge(3))
        .replace(r#"{"source":99,"target":6,"#, &edge(5));
    assert_ne!(swapped, text);
    let inputs = |text: &str| -> Vec<u64> {
        let whole = crate::parse(text).unwrap();
        let halves = halves(&whole, &cut(&whole), &options());
        let edges = halves.upper["edges"].as_array().unwrap();
        let into = edges.iter().filter(|edge| edge["target"] == 6);
        into.map(|edge| edge["source"].as_u64().unwrap()).collect()
    };
    let (straight, turned) = (inputs(&text), inputs(&swapped));
    assert_eq!(straight.len(), 2);
    assert_eq!(straight, turned.into_iter().rev().collect::<Vec<_>>());
}

/// Where results are final, only what is above them is left.
#[test]
fn the_upper_half_of_final_rows_begins_behind_them() {
    let whole = plan("tumble");
    let local = ["room".to_owned()];
    let cut_whole = cut_with_local(&whole, &local).unwrap();
    assert_eq!(table_name(&cut_whole, &cut_whole.pipelines[0]), "edge_finals");
    let halves = halves(&whole, &cut_whole, &options());
    let lower = Plan::parse(&halves.lower.to_string()).unwrap();
    assert_eq!(cut_with_local(&lower, &local).unwrap().pipelines, cut_whole.pipelines);
    // Without its columns, it would be cut lower; one can see that it must not be.
    assert_eq!(cut(&lower).pipelines[0].rows(), Rows::Partial);
    assert!(writes_final_rows(&lower) && !writes_final_rows(&whole));
    let upper = Plan::parse(&halves.upper.to_string()).unwrap();
    let cut_upper = cut(&upper);
    let [pipeline] = cut_upper.pipelines.as_slice() else { panic!("no scan") };
    let Operator::Scan(scan) = &pipeline.nodes[0].operator else { panic!("no scan") };
    assert_eq!(scan.table, "`default_catalog`.`default_database`.`edge_finals`");
    assert_eq!(pipeline.output(), cut_whole.pipelines[0].output());
    // Scan, calc, watermark and calc of ours, and the sink.
    assert_eq!((cut_upper.placed.len(), ids(&halves.upper).contains(&8)), (5, true));
    let edges = halves.upper["edges"].as_array().unwrap();
    let to_sink = edges.iter().find(|edge| edge["target"] == 8).unwrap();
    assert_eq!(to_sink["source"], *pipeline.ids.last().unwrap());
}
