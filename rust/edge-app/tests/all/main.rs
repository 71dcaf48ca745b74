//! App files, right and wrong.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use afterbay_edge_app::{App, Kind, Location, Sql, WhenFull};
use afterbay_test_form::edge_cases;
use proptest::prelude::*;

/// The example of the specification.
const TRAFFIC: &str = include_str!("../../../../spec/vectors/edge-app/traffic.toml");

#[test]
fn the_example_is_read() {
    let app = App::parse(TRAFFIC).unwrap();
    assert_eq!(app.name, "traffic");
    assert_eq!(app.services.len(), 4);
    let reports = &app.services["reports"];
    assert_eq!(reports.location, Location::EverySite);
    let Kind::Source { options, local, .. } = &reports.kind else { panic!("{:?}", reports.kind) };
    assert_eq!(options["format"], "json");
    assert_eq!(*local, ["district"]);
    let Kind::Statement(Sql::Here(sql)) = &app.services["jams"].kind else {
        panic!("no statement")
    };
    assert!(sql.contains("GROUP BY"));
    assert_eq!(app.services["results"].location, Location::Cloud("main".to_owned()));
    assert_eq!(app.inputs("jams").collect::<Vec<_>>(), ["valid"]);
    let when_full: Vec<Option<WhenFull>> =
        app.connections.iter().map(|connection| connection.when_full).collect();
    assert_eq!(when_full, [None, Some(WhenFull::Hold), None]);
}

#[test]
fn errors_name_line_and_what_is_allowed() {
    // What is changed, into what, a part of the line that is named, and what is said.
    let kind = "kind = \"view\"";
    let jams = "jams = \"cloud main\"";
    let name = "name = \"traffic\"";
    for (from, to, at, what) in [
        (
            kind,
            "kind = \"query\"",
            "query",
            "kind is \"query\": source, view, statement, sink, store are allowed",
        ),
        ("kind = \"view\"\n", "", "[services.valid]", "service valid has no kind: source, view"),
        (
            kind,
            "kind = 7",
            "kind = 7",
            "kind of service valid is an integer, and a string is needed",
        ),
        (
            kind,
            "kind = \"view\"\nretries = 3",
            "retries",
            "service valid has no key retries: kind, sql, sql-file are allowed",
        ),
        (
            kind,
            "kind = \"view\"\nsql-file = \"x\"",
            "[services.valid]",
            "service valid needs either sql or sql-file",
        ),
        (
            "local = [\"district\"]",
            "local = [\"city\"]",
            "local =",
            "source reports has no column city: it has street, district, speed, at",
        ),
        (
            "local = [\"district\"]",
            "local = [7]",
            "[7]",
            "local of service reports has an integer, and strings are needed",
        ),
        (
            "local = [\"district\"]",
            "local = 7",
            "= 7",
            "local of service reports is an integer, and a list is needed",
        ),
        (
            jams,
            "jams = \"cloud\"",
            "\"cloud\"",
            "jams is at \"cloud\": edge *, edge NAME and cloud NAME are allowed",
        ),
        (jams, "", "[services.jams]", "service jams has no place in [locations]"),
        (
            jams,
            "jams = \"cloud main\"\nmore = \"edge *\"",
            "more",
            "no service is called more: there are jams, reports, results, valid",
        ),
        (
            "from = \"valid\"",
            "from = \"vaild\"",
            "[[connections]]\nfrom = \"vaild\"",
            "no service is called vaild",
        ),
        (
            "when-full = \"hold\"",
            "when-full = \"drop\"",
            "drop",
            "when-full is \"drop\": hold, drop-oldest, merge are allowed",
        ),
        (
            "topic = \"jams\"",
            "topic = 7",
            "topic",
            "topic of options of service results is an integer, and a string is needed",
        ),
        (name, "name = \"a b\"", "name = ", "\"a b\" is no name: 1 to 63 letters"),
        (
            name,
            "name = \"traffic\"\nversion = 1",
            "version",
            "the app has no key version: name, services, connections, locations are allowed",
        ),
        (name, "", "# Jams", "the app has no name"),
        (name, "name = \"traffic", "name = ", "no TOML: "),
    ] {
        let changed = TRAFFIC.replacen(from, to, 1);
        assert_ne!(changed, TRAFFIC, "{from}");
        let errors = App::parse(&changed).unwrap_err();
        let error = errors.0.iter().find(|error| error.what.contains(what));
        let error = error.unwrap_or_else(|| panic!("{what}: {errors}"));
        let expected = 1 + changed[..changed.find(at).unwrap()].matches('\n').count();
        assert_eq!(error.line, expected, "{errors}");
    }
}

#[test]
fn all_errors_of_keys_are_found_at_once() {
    let changed = TRAFFIC
        .replace("kind = \"view\"", "kind = \"query\"")
        .replace("when-full = \"hold\"", "when-full = \"drop\"")
        .replace("results = \"cloud main\"", "results = \"moon\"");
    let errors = App::parse(&changed).unwrap_err();
    assert_eq!(errors.0.len(), 3, "{errors}");
    assert!(errors.0.is_sorted_by_key(|error| error.line));
    assert_eq!(errors.to_string().lines().count(), 3);
}

fn app(services: &[(&str, &str, &str)], connections: &[(&str, &str)]) -> String {
    let mut text = "name = \"x\"\n".to_owned();
    for (name, kind, _) in services {
        let body = match *kind {
            "view" | "statement" => "sql = \"SELECT 1\"",
            _ => "columns = \"a INT\"",
        };
        text.push_str(&format!("[services.{name}]\nkind = \"{kind}\"\n{body}\n"));
    }
    for (from, to) in connections {
        text.push_str(&format!("[[connections]]\nfrom = \"{from}\"\nto = \"{to}\"\n"));
    }
    text.push_str("[locations]\n");
    for (name, _, location) in services {
        text.push_str(&format!("{name} = \"{location}\"\n"));
    }
    text
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let whole = [
        ("s", "source", "edge *"),
        ("v", "view", "edge *"),
        ("w", "view", "cloud main"),
        ("i", "statement", "cloud main"),
        ("t", "sink", "cloud main"),
    ];
    let connections = [("s", "v"), ("v", "w"), ("w", "i"), ("i", "t")];
    App::parse(&app(&whole, &connections)).unwrap();
    for (more, what) in [
        (("w", "w"), "services go round in a circle: w -> w"),
        (("i", "w"), "services go round in a circle: "),
        (("w", "v"), "w (cloud main) and v (edge *): nothing goes from the cloud to a site"),
        (("t", "w"), "t is a sink, from which nothing comes"),
        (("v", "s"), "s is a source, into which nothing goes"),
        (("s", "v"), "s and v are connected twice"),
    ] {
        let connections: Vec<_> = connections.into_iter().chain([more]).collect();
        let errors = App::parse(&app(&whole, &connections)).unwrap_err().to_string();
        assert!(errors.contains(what), "{errors}");
    }
    for (without, what) in [
        (0, "source s is connected to nothing"),
        (1, "nothing is connected to view w"),
        (3, "nothing is connected to sink t"),
    ] {
        let connections: Vec<_> = connections
            .into_iter()
            .enumerate()
            .filter(|(index, _)| *index != without)
            .map(|(_, one)| one)
            .collect();
        let errors = App::parse(&app(&whole, &connections)).unwrap_err().to_string();
        assert!(errors.contains(what), "{errors}");
    }
    let mut moved = whole;
    moved[1].2 = "edge dev1";
    let errors = App::parse(&app(&moved, &connections)).unwrap_err().to_string();
    assert!(errors.contains("s (edge *) and v (edge dev1): two services at sites"), "{errors}");
    let text = app(&whole, &connections).replace("to = \"v\"", "to = \"v\"\nwhen-full = \"hold\"");
    let errors = App::parse(&text).unwrap_err().to_string();
    assert!(errors.contains("when-full is of connections from a site to the cloud"), "{errors}");
}

/// A move is one changed line.
#[test]
fn a_service_moves_by_one_line() {
    let before = App::parse(TRAFFIC).unwrap();
    let after = App::parse(
        &TRAFFIC
            .replace("valid = \"edge *\"", "valid = \"cloud main\"")
            .replace("when-full = \"hold\"\n", ""),
    )
    .unwrap();
    assert_ne!(before, after);
    assert_eq!(after.services["valid"].location, Location::Cloud("main".to_owned()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(edge_cases()))]

    #[test]
    fn whatever_the_text_is_it_is_read_or_refused(
        at in any::<prop::sample::Index>(), length in 0_usize..40,
        insert in "[-a-z0-9=\"'\\[\\]{}.,\n# *é]{0,12}",
    ) {
        let mut begin = at.index(TRAFFIC.len());
        while !TRAFFIC.is_char_boundary(begin) {
            begin -= 1;
        }
        let mut end = (begin + length).min(TRAFFIC.len());
        while !TRAFFIC.is_char_boundary(end) {
            end += 1;
        }
        let text = format!("{}{insert}{}", &TRAFFIC[..begin], &TRAFFIC[end..]);
        let lines = 1 + text.matches('\n').count();
        match App::parse(&text) {
            Ok(app) => prop_assert!(app.services.len() >= 2),
            Err(errors) => {
                prop_assert!(!errors.0.is_empty());
                for error in &errors.0 {
                    prop_assert!((1..=lines).contains(&error.line), "{}", error);
                }
            }
        }
    }
}
