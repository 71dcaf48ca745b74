//! Where each plan is cut, and why there.

use afterbay_edge_plan::{
    Accumulator, Assignment, Cut, Location, Operator, Outcome, Part, Pipeline, Plan, Rows, Window,
    WindowProperty, cut, cut_with_local,
};

use crate::plan;

fn cut_of(name: &str) -> Cut {
    cut(&plan(name))
}

fn only(cut: &Cut) -> &Pipeline {
    assert_eq!(cut.pipelines.len(), 1);
    &cut.pipelines[0]
}

/// Why the first node of the cloud is there.
fn why(cut: &Cut) -> &str {
    let mut whys = cut.placed.iter().filter_map(|node| match &node.location {
        Location::Cloud { why } => Some(why),
        Location::Edge => None,
    });
    whys.next().unwrap()
}

#[test]
fn windows_of_all_kinds_are_cut_behind_their_local_half() {
    for (name, nodes, window) in [
        ("tumble", 4, Window::Tumbling { size: 10_000, offset: 0 }),
        ("hop", 4, Window::Hopping { size: 15_000, slide: 5000, offset: 0 }),
        ("hopstar", 3, Window::Hopping { size: 15_000, slide: 5000, offset: 0 }),
        ("cumulate", 4, Window::Cumulative { max_size: 15_000, step: 5000, offset: 0 }),
        ("offset", 4, Window::Tumbling { size: 60_000, offset: 10_000 }),
        ("attached", 5, Window::Tumbling { size: 60_000, offset: 0 }),
        ("attached-hop", 5, Window::Hopping { size: 120_000, slide: 60_000, offset: 0 }),
        ("computed-time", 4, Window::Tumbling { size: 10_000, offset: 0 }),
        // The source makes the watermark.
        ("kafka", 3, Window::Tumbling { size: 10_000, offset: 0 }),
        ("kafka-computed-time", 3, Window::Tumbling { size: 10_000, offset: 0 }),
        ("functions", 4, Window::Tumbling { size: 10_000, offset: 0 }),
    ] {
        let cut = cut_of(name);
        let pipeline = only(&cut);
        assert_eq!(
            (pipeline.nodes.len(), pipeline.rows()),
            (nodes, Rows::Partial),
            "{name}: {}",
            why(&cut)
        );
        let Operator::LocalAggregate(aggregate) = &pipeline.nodes[nodes - 1].operator else {
            panic!("{name}");
        };
        assert_eq!(aggregate.windowing.window, window, "{name}");
        let exchange = cut.placed.iter().position(|node| node.kind == "stream-exec-exchange_1");
        let first = cut.placed.iter().position(|node| node.location != Location::Edge);
        assert_eq!(first, exchange, "{name}");
    }
}

#[test]
fn the_reference_plan_is_read_in_every_detail() {
    let cut = cut_of("lower");
    let pipeline = only(&cut);
    assert_eq!(pipeline.ids, [1, 2, 3, 4]);
    let Operator::Scan(scan) = &pipeline.nodes[0].operator else { panic!("no scan") };
    assert_eq!(scan.table, "`default_catalog`.`default_database`.`sensor`");
    assert_eq!(scan.columns.len(), 5);
    assert_eq!(scan.projection, [1, 2, 3, 4]);
    assert_eq!(scan.options["format"], "csv");
    let Operator::Watermark(watermark) = &pipeline.nodes[1].operator else {
        panic!("no watermark")
    };
    assert!(watermark.rowtime.is_input(3), "{:?}", watermark.rowtime);
    let Operator::Calc(calc) = &pipeline.nodes[2].operator else { panic!("no calc") };
    assert!(calc.is_filter(4) && calc.condition.is_some());
    let Operator::LocalAggregate(aggregate) = &pipeline.nodes[3].operator else {
        panic!("no half")
    };
    assert_eq!(aggregate.grouping, [0]);
    assert_eq!(aggregate.windowing.assignment, Assignment::Time { column: 3 });
    let accumulators: Vec<&str> = aggregate.parts.iter().map(kind).collect();
    assert_eq!(accumulators, ["sum from 0", "count", "count rows", "max"]);
    let columns: Vec<String> =
        pipeline.output().iter().map(|field| format!("{} {}", field.name, field.of)).collect();
    let expected = [
        "room INT",
        "sum$0 DOUBLE",
        "count$1 BIGINT",
        "count1$2 BIGINT",
        "max$3 DOUBLE",
        "$slice_end BIGINT",
    ];
    assert_eq!(columns, expected);
}

fn kind(part: &Part) -> &'static str {
    match part.accumulator {
        Accumulator::CountRows => "count rows",
        Accumulator::Count { .. } => "count",
        Accumulator::Sum { from_zero: true, .. } => "sum from 0",
        Accumulator::Sum { .. } => "sum",
        Accumulator::Min { .. } => "min",
        Accumulator::Max { .. } => "max",
    }
}

/// HOP needs the number of rows in its upper half, and has it once.
#[test]
fn hopping_windows_count_rows() {
    for (name, expected) in
        [("hop", 1), ("hopstar", 1), ("attached-hop", 1), ("tumble", 1), ("offset", 0)]
    {
        let cut = cut_of(name);
        let Some(Operator::LocalAggregate(aggregate)) =
            only(&cut).nodes.last().map(|node| &node.operator)
        else {
            panic!("{name}");
        };
        let count = aggregate.parts.iter().filter(|part| kind(part) == "count rows").count();
        assert_eq!(count, expected, "{name}");
    }
}

#[test]
fn filters_are_of_parts() {
    let cut = cut_of("cumulate");
    let Operator::LocalAggregate(aggregate) = &only(&cut).nodes[3].operator else { panic!("none") };
    let filters: Vec<Option<usize>> = aggregate.parts.iter().map(|part| part.filter).collect();
    assert_eq!(filters, [None, None, None, Some(3), Some(5), None, None, None]);
}

#[test]
fn what_has_no_local_half_sends_columns() {
    for (name, nodes, rows, what) in [
        ("distinct", 2, Rows::Projected, "aggCalls[0].distinct: DISTINCT needs the set"),
        ("functions-of-numbers-and-time", 2, Rows::Projected, "LIKE: patterns with"),
        ("more-functions", 2, Rows::Projected, "GREATEST: as FUNCTION with 2 operands"),
        ("session", 2, Rows::Projected, "rows of one key come together"),
        ("lastvalue", 3, Rows::Projected, "rows of one key come together"),
        ("unbounded", 3, Rows::Projected, "rows of one key come together"),
        ("project", 3, Rows::Projected, "it writes the results of all sites"),
    ] {
        let cut = cut_of(name);
        let pipeline = only(&cut);
        assert_eq!((pipeline.nodes.len(), pipeline.rows()), (nodes, rows), "{name}");
        assert!(why(&cut).contains(what), "{name}: {}", why(&cut));
    }
}

/// Each source has a pipeline of its own; a node with two inputs is above all of them.
#[test]
fn sources_are_cut_one_by_one() {
    for (name, nodes, rows) in [("union", [3, 2], Rows::Projected), ("join", [3, 3], Rows::Partial)]
    {
        let cut = cut_of(name);
        let found: Vec<(usize, Rows)> =
            cut.pipelines.iter().map(|pipeline| (pipeline.nodes.len(), pipeline.rows())).collect();
        assert_eq!(found, nodes.map(|nodes| (nodes, rows)), "{name}");
    }
}

#[test]
fn one_phase_says_what_made_it_so() {
    let cut = cut_of("session");
    let aggregate = cut.placed.iter().find(|node| node.kind.contains("window-aggregate")).unwrap();
    let Location::Cloud { why } = &aggregate.location else { panic!("at the edge") };
    assert!(why.contains("SESSION") && why.contains("ONE_PHASE"), "{why}");
}

/// Nodes behind a branch need the same rows twice: they stay above.
#[test]
fn a_branch_ends_what_runs_at_a_site() {
    let text = crate::text("tumble").replace(
        r#"{"source":2,"target":3,"#,
        r#"{"source":2,"target":8,"shuffle":{"type":"FORWARD"},"shuffleMode":"PIPELINED"},{"source":2,"target":3,"#,
    );
    let cut = cut(&crate::parse(&text).unwrap());
    assert_eq!(only(&cut).ids, [1, 2]);
    let calc = cut.placed.iter().find(|node| node.id == 3).unwrap();
    let Location::Cloud { why } = &calc.location else { panic!("at the edge") };
    assert!(why.contains("more than once"), "{why}");
}

/// A shuffle in front of a node takes rows away from the site.
#[test]
fn rows_that_are_shuffled_are_not_a_site_s() {
    let text = crate::text("tumble").replace(
        r#"{"source":2,"target":3,"shuffle":{"type":"FORWARD"}"#,
        r#"{"source":2,"target":3,"shuffle":{"type":"REBALANCE"}"#,
    );
    let cut = cut(&crate::parse(&text).unwrap());
    assert_eq!(only(&cut).ids, [1, 2]);
}

#[test]
fn a_plan_that_is_a_circle_ends() {
    let text = r#"{"flinkVersion":"2.3","nodes":[NODE],"edges":[
        {"source":1,"target":1,"shuffle":{"type":"FORWARD"},"shuffleMode":"PIPELINED"}]}"#;
    let node = crate::text("tumble").lines().nth(1).unwrap().trim_end_matches(',').to_owned();
    let cut = cut(&crate::parse(&text.replace("NODE", &node)).unwrap());
    assert_eq!(cut.placed.len(), 1);
}

#[test]
fn zones_other_than_utc_stay_in_the_cloud() {
    let text = crate::text("tumble")
        .replace(r#""table.local-time-zone":"UTC""#, r#""table.local-time-zone":"Europe/Berlin""#);
    let cut = cut(&crate::parse(&text).unwrap());
    assert_eq!(only(&cut).rows(), Rows::Projected);
    assert!(why(&cut).contains("Europe/Berlin"), "{}", why(&cut));
    // Windows of a TIMESTAMP do not follow it.
    let text = crate::text("offset")
        .replace(r#""table.local-time-zone":"UTC""#, r#""table.local-time-zone":"Europe/Berlin""#);
    assert_eq!(only(&cut_of_text(&text)).rows(), Rows::Partial);
}

fn cut_of_text(text: &str) -> Cut {
    cut(&crate::parse(text).unwrap())
}

fn local(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|&column| column.to_owned()).collect()
}

fn with_local(plan: &Plan, columns: &[&str]) -> Cut {
    cut_with_local(plan, &local(columns)).unwrap()
}

fn why_of(cut: &Cut, kind: &str) -> String {
    let whys = cut.placed.iter().filter(|node| node.kind == kind);
    let mut whys = whys.filter_map(|node| match &node.location {
        Location::Cloud { why } => Some(why.clone()),
        Location::Edge => None,
    });
    whys.next().unwrap_or_else(|| panic!("{kind} is at the edge"))
}

const EXCHANGE: &str = "stream-exec-exchange_1";
const GLOBAL: &str = "stream-exec-global-window-aggregate_1";
const CALC: &str = "stream-exec-calc_1";

/// Nothing but the sink stays in the cloud.
#[test]
fn a_key_that_is_local_to_a_site_makes_results_final() {
    for (name, nodes) in [
        ("tumble", 7),
        ("hop", 7),
        ("attached", 8),
        ("attached-hop", 8),
        ("computed-time", 7),
        ("kafka", 6),
        ("session", 5),
    ] {
        let plan = plan(name);
        let cut = with_local(&plan, &["room"]);
        let pipeline = only(&cut);
        assert_eq!((pipeline.nodes.len(), pipeline.rows()), (nodes, Rows::Final), "{name}");
        let cloud: Vec<&str> = cut
            .placed
            .iter()
            .filter(|node| node.location != Location::Edge)
            .map(|node| node.kind.as_str())
            .collect();
        assert_eq!(cloud, ["stream-exec-sink_2"], "{name}");
        // The table may be named, too.
        let Operator::Scan(scan) = &pipeline.nodes[0].operator else { panic!("no scan") };
        let table = scan.table.trim_end_matches('`').rsplit('`').next().unwrap();
        assert_eq!(with_local(&plan, &[&format!("{table}.room")]), cut, "{name}");
        // Without a local column, it is as if none was declared.
        assert_eq!(self::cut(&plan), cut_with_local(&plan, &[]).unwrap());
    }
}

#[test]
fn a_final_aggregate_is_read_in_every_detail() {
    let cut = with_local(&plan("tumble"), &["room"]);
    let pipeline = only(&cut);
    assert_eq!(pipeline.ids, [1, 2, 3, 4, 5, 6, 7]);
    let Operator::GlobalAggregate(global) = &pipeline.nodes[5].operator else { panic!("none") };
    assert_eq!(
        (&global.local_keys[..], &global.local_names[..]),
        (&[0][..], &local(&["room"])[..])
    );
    let expected = [
        Outcome::Average { sum: 0, count: 1, number: afterbay_edge_plan::Number::Double },
        Outcome::Part(2),
        Outcome::Part(3),
    ];
    assert_eq!(global.outcomes, expected);
    assert_eq!(global.properties, [WindowProperty::Start, WindowProperty::End]);
    let columns: Vec<String> =
        pipeline.output().iter().map(|field| format!("{} {}", field.name, field.of)).collect();
    let expected = [
        "window_start TIMESTAMP(3) NOT NULL",
        "window_end TIMESTAMP(3) NOT NULL",
        "room INT",
        "EXPR$3 DOUBLE",
        "EXPR$4 BIGINT NOT NULL",
        "EXPR$5 DOUBLE",
    ];
    assert_eq!(columns, expected);
}

#[test]
fn what_is_not_final_says_why() {
    // No key of this one.
    let cut = with_local(&plan("tumble"), &["temperature"]);
    assert_eq!(only(&cut).rows(), Rows::Partial);
    let why = why_of(&cut, EXCHANGE);
    assert!(why.contains("no column that is local to one (declared: temperature)"), "{why}");
    let cut = with_local(&plan("cumulate"), &["device"]);
    assert_eq!(only(&cut).rows(), Rows::Partial);
    let why = why_of(&cut, GLOBAL);
    assert!(why.contains("aggCalls[1]: AVG of a DECIMAL is rounded twice"), "{why}");
    assert!(why_of(&cut, EXCHANGE).contains("not finished at a site"));
    // One phase.
    let cut = with_local(&plan("session"), &["device"]);
    assert_eq!(only(&cut).rows(), Rows::Projected);
    let why = why_of(&cut, "stream-exec-window-aggregate_1");
    assert_eq!(why, "grouping: it has no column that is local to a site");
    let cut = with_local(&plan("lastvalue"), &["room"]);
    assert_eq!(only(&cut).rows(), Rows::Projected);
    let why = why_of(&cut, "stream-exec-window-aggregate_1");
    assert!(why.contains("in one phase does not run at a site"), "{why}");
}

/// What is computed of a local column may be the same at two sites.
#[test]
fn only_an_unchanged_column_is_local() {
    let text = crate::text("tumble");
    let calc = text.lines().find(|line| line.starts_with(r#"{"id":3,"#)).unwrap();
    let computed = calc.replacen(
        r#"{"kind":"INPUT_REF","inputIndex":0,"type":"INT"}"#,
        r#"{"kind":"CALL","internalName":"$ABS$1","operands":[{"kind":"INPUT_REF","inputIndex":0,"type":"INT"}],"type":"INT"}"#,
        1,
    );
    assert_ne!(calc, computed);
    let plan = crate::parse(&text.replace(calc, &computed)).unwrap();
    assert_eq!(only(&with_local(&plan, &["room"])).rows(), Rows::Partial);
}

/// Behind a window there is no row of the input that could be blamed.
#[test]
fn a_calc_that_may_fail_is_not_behind_a_final_aggregate() {
    let count = r#"{"kind":"INPUT_REF","inputIndex":2,"type":"BIGINT NOT NULL"}"#;
    let call = |name: &str| {
        format!(
            r#"{{"kind":"CALL","syntax":"BINARY","internalName":"{name}","operands":[{count},{count}],"type":"BIGINT NOT NULL"}}"#
        )
    };
    for (name, nodes) in [("$*$1", 7), ("$/$1", 6)] {
        let text = crate::text("tumble").replacen(count, &call(name), 1);
        assert_ne!(text, crate::text("tumble"));
        let plan = crate::parse(&text).unwrap();
        let cut = with_local(&plan, &["room"]);
        assert_eq!((only(&cut).ids.len(), only(&cut).rows()), (nodes, Rows::Final), "{name}");
        if nodes == 6 {
            assert!(why_of(&cut, CALC).starts_with("it may fail"), "{}", why_of(&cut, CALC));
        }
    }
}

#[test]
fn a_column_that_nobody_has_is_refused() {
    for (name, columns, what) in [
        ("tumble", &["room", "rom"][..], "no table has a column rom: sensor has device, room,"),
        ("tumble", &["meter.room"], "no table has a column meter.room: sensor has"),
        (
            "union",
            &["room"],
            "room is a column of several tables: say which one, as csensor2.room or sensor.room",
        ),
    ] {
        let error = cut_with_local(&plan(name), &local(columns)).unwrap_err().to_string();
        assert!(error.starts_with("local columns: ") && error.contains(what), "{error}");
    }
    cut_with_local(&plan("union"), &local(&["sensor.room", "csensor2.room"])).unwrap();
}
