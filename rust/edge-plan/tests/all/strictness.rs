//! What is not known is refused: every object gets a field more, and loses each of its own.

use afterbay_edge_plan::{PlanError, cut};
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

fn edge_ids(plan: &Value) -> Option<Vec<usize>> {
    let plan = parse(&plan.to_string()).ok()?;
    Some(cut(&plan).pipelines.into_iter().flat_map(|pipeline| pipeline.ids).collect())
}

/// Each object of each node that runs at a site: the plan, its place in it, and the number of its node.
fn each_object(mut check: impl FnMut(&Value, &Path, usize)) -> usize {
    let mut count = 0;
    for name in ALL {
        let plan: Value = serde_json::from_str(&text(name)).unwrap();
        let at_edge = edge_ids(&plan).unwrap();
        for (index, node) in plan["nodes"].as_array().unwrap().iter().enumerate() {
            let id = usize::try_from(node["id"].as_u64().unwrap()).unwrap();
            if !at_edge.contains(&id) {
                continue;
            }
            let mut found = Vec::new();
            objects(node, &mut vec!["nodes".to_owned(), index.to_string()], &mut found);
            for path in found.iter().filter(|path| !is_free(path)) {
                check(&plan, path, id);
                count += 1;
            }
        }
    }
    count
}

#[test]
fn an_unknown_field_anywhere_keeps_its_node_in_the_cloud() {
    let objects = each_object(|plan, path, id| {
        let mut plan = plan.clone();
        at(&mut plan, path)["afterbay"] = json!(null);
        let ids = edge_ids(&plan).unwrap();
        assert!(!ids.contains(&id), "node {id} runs with an unknown field at {path:?}");
    });
    assert!(objects > 700, "{objects}");
}

#[test]
fn a_missing_field_anywhere_keeps_its_node_in_the_cloud() {
    let mut fields = 0;
    each_object(|plan, path, id| {
        let keys: Vec<String> = {
            let mut plan = plan.clone();
            at(&mut plan, path).as_object().unwrap().keys().cloned().collect()
        };
        for key in keys.iter().filter(|key| !OPTIONAL.contains(&key.as_str())) {
            let mut plan = plan.clone();
            at(&mut plan, path).as_object_mut().unwrap().remove(key);
            fields += 1;
            // Without its number, the plan is none.
            let Some(ids) = edge_ids(&plan) else { continue };
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
        assert!(!edge_ids(&plan).unwrap().contains(&id), "{kind}");
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
