//! `LIKE`, against the definition by recursion.

use afterbay_edge_plan::Value::{self, Boolean};
use afterbay_test_form::edge_cases;
use proptest::prelude::*;

use crate::support::{call, eval, input, literal, refusal};

fn like(text: &str, pattern: &str) -> bool {
    let of = "VARCHAR(100)";
    let expr = call(
        "$LIKE$1",
        "SPECIAL",
        &[input(0, of), literal(pattern, "VARCHAR(99) NOT NULL")],
        "BOOLEAN",
    );
    eval(&[of], &expr, &[Value::text(text)]) == Boolean(true)
}

fn model(text: &[char], pattern: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some(('%', rest)), _) => {
            model(text, rest) || text.split_first().is_some_and(|(_, after)| model(after, pattern))
        }
        (Some(('_', rest)), Some((c, after))) => *c != '\n' && model(after, rest),
        (Some((expected, rest)), Some((c, after))) => c == expected && model(after, rest),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    #[test]
    fn patterns_match_as_they_are_defined(text in "[ab\u{e9}\n]{0,8}", pattern in "[ab\u{e9}%_]{1,7}") {
        let (chars, parts): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
        prop_assert_eq!(like(&text, &pattern), model(&chars, &parts));
    }
}

#[test]
fn an_escape_takes_the_meaning_away() {
    let of = "VARCHAR(100)";
    for (text, pattern, expected) in [
        ("10%", "10!%", true),
        ("100", "10!%", false),
        ("a_b!", "a!_b!!", true),
        ("axb!", "a!_b!!", false),
    ] {
        let operands = [
            input(0, of),
            literal(pattern, "VARCHAR(99) NOT NULL"),
            literal("!", "CHAR(1) NOT NULL"),
        ];
        let expr = call("$LIKE$1", "SPECIAL", &operands, "BOOLEAN");
        assert_eq!(eval(&[of], &expr, &[Value::text(text)]), Boolean(expected), "{pattern}");
    }
    for (pattern, escape) in
        [("a!b", "!"), ("a!", "!"), ("a", "!!"), ("a^%", "^"), ("a\\%", "!"), ("", "!")]
    {
        let operands = [
            input(0, of),
            literal(pattern, "VARCHAR(99) NOT NULL"),
            literal(escape, "VARCHAR(9) NOT NULL"),
        ];
        let why = refusal(&[of], &call("$LIKE$1", "SPECIAL", &operands, "BOOLEAN"));
        assert!(why.contains("LIKE: "), "{why}");
    }
    let operands = [input(0, of), input(0, of)];
    assert!(refusal(&[of], &call("$LIKE$1", "SPECIAL", &operands, "BOOLEAN")).contains("constant"));
}

/// A matcher that goes back over and over needs minutes for this.
#[test]
fn many_percent_signs_are_no_trouble() {
    let text = "a".repeat(3000);
    assert!(!like(&text, &format!("{}b", "%a".repeat(30))));
    assert!(like(&text, &"%a".repeat(30)));
}
