//! Three-valued logic.

use afterbay_edge_plan::Value::{self, Boolean, Null};
use serde_json::Value as Json;

use crate::support::{call, eval, input, try_eval};

const VALUES: [Value; 3] = [Boolean(true), Boolean(false), Null];
const COLUMNS: [&str; 2] = ["BOOLEAN", "BOOLEAN"];

fn of_two(name: &str) -> Json {
    call(name, "BINARY", &[input(0, "BOOLEAN"), input(1, "BOOLEAN")], "BOOLEAN")
}

#[test]
fn and_and_or_have_nine_cases() {
    let (t, f, n) = (Boolean(true), Boolean(false), Null);
    let and = [[&t, &f, &n], [&f, &f, &f], [&n, &f, &n]];
    let or = [[&t, &t, &t], [&t, &f, &n], [&t, &n, &n]];
    for (name, table) in [("$AND$1", and), ("$OR$1", or)] {
        for (left, row) in VALUES.iter().zip(table) {
            for (right, expected) in VALUES.iter().zip(row) {
                let found = eval(&COLUMNS, &of_two(name), &[left.clone(), right.clone()]);
                assert_eq!(found, *expected, "{left:?} {name} {right:?}");
            }
        }
    }
}

#[test]
fn what_is_true_false_and_unknown() {
    let (t, f, n) = (Boolean(true), Boolean(false), Null);
    for (name, syntax, of, expected) in [
        ("$NOT$1", "PREFIX", "BOOLEAN", [&f, &t, &n]),
        ("$IS NULL$1", "POSTFIX", "BOOLEAN NOT NULL", [&f, &f, &t]),
        ("$IS NOT NULL$1", "POSTFIX", "BOOLEAN NOT NULL", [&t, &t, &f]),
        ("$IS TRUE$1", "POSTFIX", "BOOLEAN NOT NULL", [&t, &f, &f]),
        ("$IS NOT TRUE$1", "POSTFIX", "BOOLEAN NOT NULL", [&f, &t, &t]),
        ("$IS FALSE$1", "POSTFIX", "BOOLEAN NOT NULL", [&f, &t, &f]),
        ("$IS NOT FALSE$1", "POSTFIX", "BOOLEAN NOT NULL", [&t, &f, &t]),
    ] {
        for (value, expected) in VALUES.iter().zip(expected) {
            let expr = call(name, syntax, &[input(0, "BOOLEAN")], of);
            let found = eval(&["BOOLEAN"], &expr, std::slice::from_ref(value));
            assert_eq!(found, *expected, "{name} of {value:?}");
        }
    }
}

/// As Flink's code, which skips the right side: so an error there is none.
#[test]
fn what_is_decided_is_not_computed_further() {
    let division = call("$/$1", "BINARY", &[input(1, "INT"), input(1, "INT")], "INT");
    let fails = call("$=$1", "BINARY", &[division, input(1, "INT")], "BOOLEAN");
    for (name, decides) in [("$AND$1", false), ("$OR$1", true)] {
        let expr = call(name, "BINARY", &[input(0, "BOOLEAN"), fails.clone()], "BOOLEAN");
        let columns = ["BOOLEAN", "INT"];
        let row = [Boolean(decides), Value::Whole(0)];
        assert_eq!(eval(&columns, &expr, &row), Boolean(decides));
        let row = [Null, Value::Whole(0)];
        assert!(try_eval(&columns, &expr, &row).unwrap_err().contains("division by zero"));
    }
}

#[test]
fn case_takes_the_first_that_is_true() {
    let operands = [
        input(0, "BOOLEAN"),
        input(2, "INT"),
        input(1, "BOOLEAN"),
        input(3, "INT"),
        input(4, "INT"),
    ];
    let expr = call("$CASE$1", "SPECIAL", &operands, "INT");
    let columns = ["BOOLEAN", "BOOLEAN", "INT", "INT", "INT"];
    for (first, second, expected) in [
        (Boolean(true), Boolean(true), 1),
        (Null, Boolean(true), 2),
        (Boolean(false), Null, 3),
        (Boolean(false), Boolean(false), 3),
    ] {
        let row = [first, second, Value::Whole(1), Value::Whole(2), Value::Whole(3)];
        assert_eq!(eval(&columns, &expr, &row), Value::Whole(expected));
    }
}

#[test]
fn coalesce_takes_the_first_that_is_not_null() {
    let expr = call("$COALESCE$1", "FUNCTION", &[input(0, "INT"), input(1, "INT")], "INT");
    for (row, expected) in [
        ([Value::Whole(1), Null], Value::Whole(1)),
        ([Null, Value::Whole(2)], Value::Whole(2)),
        ([Null, Null], Null),
    ] {
        assert_eq!(eval(&["INT", "INT"], &expr, &row), expected);
    }
}
