//! Which topics a filter has (MQTT 4.7).

/// Marks that stand in front of a filter and are in no message's topic: of groups that share messages (MQTT 5, 4.8.2), and two of
/// EMQX.
const SHARED: &str = "$share/";
const MARKS: [&str; 2] = ["$queue/", "$exclusive/"];

/// Two filters, the second of which has no topic that the first has not: a broker may send its messages twice (MQTT
/// 3.1.1, 3.3.5).
pub fn covered(filters: &[String]) -> Option<(&str, &str)> {
    filters.iter().enumerate().find_map(|(index, part)| {
        let is_another = |other: usize, all: &str| {
            // Of two that are alike, the second one.
            other != index && covers(plain(all), plain(part)) && (other < index || all != part)
        };
        let all = filters.iter().enumerate().find(|(other, all)| is_another(*other, all));
        all.map(|(_, all)| (all.as_str(), part.as_str()))
    })
}

/// Whether messages of a topic come by a filter.
pub fn has(filter: &str, topic: &str) -> bool {
    // A topic is a filter without wildcards.
    covers(plain(filter), topic)
}

fn plain(filter: &str) -> &str {
    let of_group = filter.strip_prefix(SHARED).and_then(|rest| rest.split_once('/'));
    let marked = MARKS.iter().find_map(|mark| filter.strip_prefix(*mark));
    of_group.map(|(_, filter)| filter).or(marked).unwrap_or(filter)
}

fn covers(all: &str, part: &str) -> bool {
    if part.starts_with('$') && all.starts_with(['+', '#']) {
        // Such as $SYS, which nobody gets who has not asked for it (4.7.2).
        return false;
    }
    let (mut all, mut part) = (all.split('/'), part.split('/'));
    loop {
        match (all.next(), part.next()) {
            // What is above it, too: a/# has a.
            (Some("#"), _) | (None, None) => return true,
            (Some("+"), Some(level)) if level != "#" => {}
            (Some(level), Some(other)) if level == other => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_has_topics_as_the_standard_says() {
        for (filter, topic, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a/b/c", false),
            ("a/b/c", "a/b", false),
            ("a/+/c", "a/b/c", true),
            ("a/+/c", "a//c", true),
            ("a/+", "a", false),
            ("a/+", "a/b/c", false),
            ("+/+", "/a", true),
            ("+", "/a", false),
            ("a/#", "a", true),
            ("a/#", "a/b/c", true),
            ("a/#", "ab", false),
            ("#", "a/b", true),
            ("#", "$SYS/a", false),
            ("+/a", "$SYS/a", false),
            ("$SYS/#", "$SYS/a", true),
            ("ä/+", "ä/ö", true),
            ("ä/+", "ö/ä", false),
            ("$share/g/a/+", "a/b", true),
            ("$share/g/a/+", "g/a/b", false),
            ("$queue/a/+", "a/b", true),
            ("$exclusive/a", "a", true),
        ] {
            assert_eq!(has(filter, topic), expected, "{filter} {topic}");
        }
    }

    #[test]
    fn a_filter_in_another_one_is_found() {
        let found = |filters: &[&str]| {
            let filters: Vec<String> = filters.iter().map(|&filter| filter.to_owned()).collect();
            covered(&filters).map(|(all, part)| (all.to_owned(), part.to_owned()))
        };
        for (all, part) in [
            ("a/#", "a/b"),
            ("a/#", "a"),
            ("a/#", "a/+"),
            ("a/#", "a/b/#"),
            ("a/+", "a/b"),
            ("a/+/c", "a/b/c"),
            ("+/b", "+/b"),
            ("#", "a"),
            ("$share/g/a/#", "a/b"),
            ("a/#", "$share/g/a/+"),
        ] {
            let expected = Some((all.to_owned(), part.to_owned()));
            assert_eq!(found(&[all, part]), expected);
            assert_eq!(found(&["$x", part, "$y", all]), expected, "{all} {part}");
        }
        for filters in [
            &["a/b"][..],
            &["a/+", "a/b/c", "b/#"],
            // Some topics are of both: neither has all of the other's.
            &["a/+/c", "a/b/+"],
            &["#", "$SYS/a"],
        ] {
            assert_eq!(found(filters), None, "{filters:?}");
        }
    }
}
