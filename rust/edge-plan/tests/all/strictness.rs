//! What is not known is refused: every object gets a field more, and loses each of its own.

use afterbay_edge_plan::{PlanError, cut, cut_with_local};
use serde_json::{Value, json};

use crate::{ALL, parse, text};

/// Keys from the root to an object.
type Path = Vec<String>;

fn at<'a>(mut value: &'a mut Value, path: &[String]) -> &'a mut Value {
    for key in path {
        value = match value {
            Value::Array(items) => &mut items[key.parse::<usize>().unwrap()],
            other => &mut other[key.as_str()],
        };
    }
    value
}

/// All objects below a value.
fn objects(value: &Value, path: &mut Path, found: &mut Vec<Path>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            found.push(path.clone());
            map.iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(key, value)| (key.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    for (key, child) in children {
        path.push(key);
        objects(child, path, found);
        path.pop();
    }
}

/// What a node says that does not change what it does at a site: the connector's options are looked at by the reader, and the
/// rest (a computed column's expression too) is said again by the nodes behind.
fn is_free(path: &[String]) -> bool {
    path.iter().any(|key| {
        matches!(key.as_str(), "options" | "watermarkSpecs" | "primaryKey" | "expression")
    })
}

/// Fields of which a plan has no need.
const OPTIONAL: [&str; 7] =
    ["abilities", "lower", "nullable", "offset", "producedType", "upper", "watermarkSpecs"];

/// Plans with windows that are final if this column is local to a site.
const FINAL: [(&str, &str); 5] = [
    ("tumble", "room"),
    ("hop", "room"),
    ("attached-hop", "room"),
    ("computed-time", "room"),
    ("session", "room"),
];

/// A plan, and the column that is local.
type Local<'a> = (&'a str, Option<&'a str>);

fn edge_ids(plan: &Value, local: Option<&str>) -> Option<Vec<usize>> {
    let plan = parse(&plan.to_string()).ok()?;
    let local: Vec<String> = local.into_iter().map(str::to_owned).collect();
    // Without its scan's columns, a plan has none that is local.
    let cut = cut_with_local(&plan, &local).unwrap_or_else(|_| cut(&plan));
    Some(cut.pipelines.into_iter().flat_map(|pipeline| pipeline.ids).collect())
}

/// Each object of each node that runs at a site: the plan, its place in it, and the number of its node.
fn each_object(mut check: impl FnMut(&Value, Option<&str>, &Path, usize)) -> usize {
    let mut count = 0;
    let finals = FINAL.map(|(name, column)| (name, Some(column)));
    let all = ALL.map(|name| (name, None)).into_iter().chain(finals);
    for (name, local) in all.collect::<Vec<Local<'_>>>() {
        let plan: Value = serde_json::from_str(&text(name)).unwrap();
        let at_edge = edge_ids(&plan, local).unwrap();
        for (index, node) in plan["nodes"].as_array().unwrap().iter().enumerate() {
            let id = usize::try_from(node["id"].as_u64().unwrap()).unwrap();
            if !at_edge.contains(&id) {
                continue;
            }
            let mut found = Vec::new();
            objects(node, &mut vec!["nodes".to_owned(), index.to_string()], &mut found);
            for path in found.iter().filter(|path| !is_free(path)) {
                check(&plan, local, path, id);
                count += 1;
            }
        }
    }
    count
}

#[test]
fn an_unknown_field_anywhere_keeps_its_node_in_the_cloud() {
    let objects = each_object(|plan, local, path, id| {
        let mut plan = plan.clone();
        at(&mut plan, path)["afterbay"] = json!(null);
        let ids = edge_ids(&plan, local).unwrap();
        assert!(!ids.contains(&id), "node {id} runs with an unknown field at {path:?}");
    });
    assert!(objects > 900, "{objects}");
}

#[test]
fn a_missing_field_anywhere_keeps_its_node_in_the_cloud() {
    let mut fields = 0;
    each_object(|plan, local, path, id| {
        let keys: Vec<String> = {
            let mut plan = plan.clone();
            at(&mut plan, path).as_object().unwrap().keys().cloned().collect()
        };
        for key in keys.iter().filter(|key| !OPTIONAL.contains(&key.as_str())) {
            let mut plan = plan.clone();
            at(&mut plan, path).as_object_mut().unwrap().remove(key);
            fields += 1;
            // Without its number, the plan is none.
            let Some(ids) = edge_ids(&plan, local) else { continue };
            assert!(!ids.contains(&id), "node {id} runs without {key} at {path:?}");
        }
    });
    assert!(fields > 2000, "{fields}");
}

/// A version of a node that nobody has read the code of.
#[test]
fn another_version_of_a_node_stays_in_the_cloud() {
    for kind in [
        "stream-exec-table-source-scan_2",
        "stream-exec-watermark-assigner_1",
        "stream-exec-calc_1",
        "stream-exec-local-window-aggregate_1",
        "stream-exec-exchange_1",
        "stream-exec-global-window-aggregate_1",
    ] {
        let (name, version) = kind.rsplit_once('_').unwrap();
        let next = version.parse::<u32>().unwrap() + 1;
        let newer = text("tumble").replace(kind, &format!("{name}_{next}"));
        assert_ne!(newer, text("tumble"));
        let plan: Value = serde_json::from_str(&newer).unwrap();
        let node = plan["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|node| node["type"].as_str().unwrap() == format!("{name}_{next}"));
        let id = usize::try_from(node.unwrap()["id"].as_u64().unwrap()).unwrap();
        assert!(!edge_ids(&plan, Some("room")).unwrap().contains(&id), "{kind}");
    }
}

#[test]
fn another_flink_is_refused_by_name() {
    for version in [r#""2.2""#, r#""2.30""#, r#""2.3.0""#, "2.3", "null"] {
        let other = text("tumble")
            .replace(r#""flinkVersion":"2.3""#, &format!(r#""flinkVersion":{version}"#));
        let error = parse(&other).unwrap_err();
        assert_eq!(error, PlanError::Version { found: version.to_owned() });
        assert!(error.to_string().contains(version), "{error}");
    }
}

#[test]
fn the_frame_is_strict_too() {
    for (from, to, what) in [
        (r#""flinkVersion""#, r#""more":1,"flinkVersion""#, "plan.more: this field is not known"),
        (
            r#""shuffleMode":"PIPELINED""#,
            r#""shuffleMode":"BATCH""#,
            "PIPELINED, as of a job on streams",
        ),
        (r#""source":1,"target":2"#, r#""source":1,"target":77"#, "there is no node 77"),
        (r#"{"id":2,"type""#, r#"{"id":1,"type""#, "there are two nodes 1"),
        (r#""source":1,"target":2"#, r#""weight":1,"source":1,"target":2"#, "weight: this field"),
    ] {
        let other = text("tumble").replacen(from, to, 1);
        assert_ne!(other, text("tumble"), "{from}");
        let error = parse(&other).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    assert!(matches!(parse("{"), Err(PlanError::NotJson(_))));
}

/// One detail of a node is changed to what is not known: the message says what, and where.
#[test]
fn refusals_name_what_and_where() {
    for (name, from, to, what) in [
        (
            "tumble",
            "$>$1",
            "$>$2",
            "condition.internalName: >$2: as BINARY with 2 operands it does not run at a site",
        ),
        (
            "tumble",
            r#""inputIndex":1,"type":"DOUBLE""#,
            r#""inputIndex":1,"type":"FLOAT""#,
            r#"projection[1].type: FLOAT is needed, and column "temperature" is DOUBLE"#,
        ),
        (
            "tumble",
            "$MAX$1",
            "$LISTAGG$1",
            "aggCalls[2].internalName: LISTAGG(DOUBLE) does not run",
        ),
        (
            "tumble",
            r#""internalName":"$MAX$1""#,
            r#""systemName":"mine""#,
            "aggCalls[2]: aggregates of the user's own",
        ),
        (
            "tumble",
            r#""needRetraction":false"#,
            r#""needRetraction":true"#,
            "needRetraction: false is needed, not true",
        ),
        (
            "tumble",
            r#""type":"TumblingWindow","size":"PT10S""#,
            r#""type":"SessionWindow","gap":"PT10S""#,
            "windowing.window.type: SessionWindow has no slices",
        ),
        ("tumble", r#""approximate":false"#, r#""approximate":true"#, "aggCalls[0].approximate"),
        (
            "tumble",
            "`count$1` BIGINT, `count1$2` BIGINT, `max$3`",
            "`count$1` BIGINT, `count1$2` INT, `max$3`",
            r#"column "count1$2" BIGINT was expected, not "count1$2" INT"#,
        ),
        (
            "tumble",
            r#""grouping":[0],"aggCalls":[{"name":"EXPR$3""#,
            r#""grouping":[1],"aggCalls":[{"name":"EXPR$3""#,
            "grouping: keys of type DOUBLE",
        ),
        (
            "offset",
            r#""type":"ReadingMetadata","metadataKeys":[]"#,
            r#""type":"ReadingMetadata","metadataKeys":["x"]"#,
            "abilities[1].metadataKeys: [] is needed",
        ),
        (
            "offset",
            r#""type":"ReadingMetadata","metadataKeys":[]"#,
            r#""type":"FilterPushDown","predicates":[]"#,
            "FilterPushDown was moved into the source",
        ),
    ] {
        let other = text(name).replacen(from, to, 1);
        assert_ne!(other, text(name), "{from}");
        let cut = cut(&parse(&other).unwrap());
        let whys: Vec<String> =
            cut.placed.iter().map(|node| format!("{:?}", node.location)).collect();
        let found =
            whys.iter().any(|why| why.contains(&format!("{what:?}").trim_matches('"').to_owned()));
        assert!(found, "{what}: {whys:#?}");
    }
}

/// The upper half of an aggregate has to fit its lower half.
#[test]
fn an_upper_half_that_is_not_of_its_lower_half_is_refused() {
    let change = |(node, path, value, what): (usize, &str, Value, &str)| {
        let mut plan: Value = serde_json::from_str(&text("tumble")).unwrap();
        let place = plan["nodes"][node].pointer_mut(path).unwrap();
        assert_ne!(*place, value);
        *place = value;
        let plan = parse(&plan.to_string()).unwrap();
        let cut = cut_with_local(&plan, &["room".to_owned()]).unwrap();
        let found = format!("{:?}", cut.placed[node].location);
        assert!(found.contains(what), "{what}: {found}");
        assert_eq!(cut.pipelines[0].ids.len(), 4);
    };
    [
        (4, "/inputProperties/0/requiredDistribution/keys", json!([1]), "inputProperties: "),
        (
            4,
            "/inputProperties/0/requiredDistribution/type",
            json!("SINGLETON"),
            "inputProperties: ",
        ),
        (5, "/grouping", json!([1]), "grouping: [0] is needed, not [1]"),
        (
            5,
            "/aggCalls/2/internalName",
            json!("$MIN$1"),
            "aggCalls: the local aggregate has other calls",
        ),
        (5, "/aggCalls/1/filterArg", json!(0), "aggCalls[1].filterArg: a BOOLEAN column is needed"),
        (5, "/aggCalls/0/type", json!("BIGINT"), "AVG of DOUBLE does not give BIGINT"),
        (
            5,
            "/windowing/window/size",
            json!("PT20S"),
            "windowing.window: the local aggregate has other windows",
        ),
        (5, "/windowing/sliceEnd", json!(4), "windowing.sliceEnd: 5 is needed, not 4"),
        (5, "/windowing/isRowtime", json!(false), "windowing.isRowtime: true is needed"),
        (5, "/needRetraction", json!(true), "needRetraction: false is needed"),
        (
            5,
            "/namedWindowProperties/0/property/kind",
            json!("Proctime"),
            "kind: Proctime does not run at a site",
        ),
        (
            5,
            "/localAggInputRowType/fields/1/fieldType",
            json!("FLOAT"),
            "localAggInputRowType: column",
        ),
        (5, "/configuration/table.local-time-zone", json!("Asia/Tokyo"), "which is Asia/Tokyo"),
        (5, "/outputType", json!("ROW<`room` INT>"), "outputType: 1 columns, and 6 were expected"),
    ]
    .into_iter()
    .for_each(change);
}
