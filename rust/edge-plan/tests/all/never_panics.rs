//! Whatever a plan's text is, it is read or refused.

use afterbay_edge_plan::{Plan, cut, cut_with_local, halves};
use afterbay_test_form::edge_cases;
use proptest::prelude::*;
use serde_json::Value;

use crate::{ALL, text};

/// Reads, cuts and writes again, if there is something to read.
fn run(text: &str) {
    if let Ok(plan) = Plan::parse(text) {
        let cut = cut(&plan);
        let placed: usize = cut.pipelines.iter().map(|pipeline| pipeline.ids.len()).sum();
        assert!(placed <= cut.placed.len());
        for pipeline in &cut.pipelines {
            assert_eq!(pipeline.ids.len(), pipeline.nodes.len());
        }
        halves(&plan, &cut, &[]);
        if let Ok(cut) = cut_with_local(&plan, &["room".to_owned()]) {
            halves(&plan, &cut, &[]);
        }
    }
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::from(u64::MAX)),
        any::<f64>().prop_map(Value::from),
        "[A-Z$<>`(),0-9 ]{0,20}".prop_map(Value::from),
        prop::sample::select(vec![
            "ROW<",
            "ROW<`a` INT",
            "DECIMAL(0, 9)",
            "DECIMAL(99, 99)",
            "PT",
            "PT9E9S",
            "$CASE$1",
            "$SEARCH$1",
            "$TRIM$1",
            "INTERVAL",
            "CHAR(99999999999)",
            "TIMESTAMP(10)",
            "$SUBSTRING$1",
            "$LIKE$1"
        ])
        .prop_map(Value::from),
        Just(Value::Array(Vec::new())),
        Just(serde_json::json!({})),
    ]
}

/// The value at a random place, by walking down as the numbers say.
fn somewhere<'a>(value: &'a mut Value, steps: &[usize]) -> &'a mut Value {
    let Some((&step, rest)) = steps.split_first() else { return value };
    let children = match value {
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    if children == 0 {
        return value;
    }
    let child = match value {
        Value::Array(items) => items.get_mut(step % children),
        Value::Object(map) => map.values_mut().nth(step % children),
        _ => None,
    };
    somewhere(child.expect("the index is below the number of children"), rest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    #[test]
    fn values_are_replaced(
        name in prop::sample::select(ALL.to_vec()),
        changes in prop::collection::vec((prop::collection::vec(any::<usize>(), 2..14), values()), 1..4),
    ) {
        let mut plan: Value = serde_json::from_str(&text(name)).unwrap();
        for (steps, value) in changes {
            *somewhere(&mut plan, &steps) = value;
        }
        run(&plan.to_string());
    }

    #[test]
    fn texts_are_cut_and_mixed(
        name in prop::sample::select(ALL.to_vec()),
        at in any::<prop::sample::Index>(),
        length in 0_usize..60,
        insert in "[-+{}\\[\\]\":,0-9a-zA-Z$`<>()é ]{0,12}",
    ) {
        let text = text(name);
        let mut begin = at.index(text.len());
        while !text.is_char_boundary(begin) {
            begin -= 1;
        }
        let mut end = (begin + length).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        run(&format!("{}{insert}{}", &text[..begin], &text[end..]));
    }
}

/// Deeper than anybody writes, and than a thread's stack is.
#[test]
fn depth_has_a_limit() {
    let call = r#"{"kind":"CALL","syntax":"PREFIX","internalName":"$NOT$1","operands":["#;
    let leaf = r#"{"kind":"LITERAL","value":true,"type":"BOOLEAN NOT NULL"}"#;
    for depth in [50, 120, 100_000] {
        let end = r#"],"type":"BOOLEAN NOT NULL"}"#.repeat(depth);
        let condition = format!("{}{leaf}{end}", call.repeat(depth));
        let text = text("project")
            .replace(r#""condition":{"#, &format!(r#""was":1,"condition":{condition},"x":{{"#));
        run(&text);
    }
}
