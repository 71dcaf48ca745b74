//! `LIKE`, as Flink's `LikeCallGen` and `SqlLikeUtils` have it.

/// A constant pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `%`: whatever.
    Any,
    /// `_`: one code point, but no end of a line: Flink makes Java's `.` of it.
    One,
    Exactly(char),
}

impl Pattern {
    /// A pattern, and the character that takes their meaning from `%`, `_` and itself.
    pub(crate) fn new(text: &str, escape: Option<&str>) -> Result<Self, String> {
        let escape = match escape.map(|escape| (escape, escape.chars().count())) {
            None => None,
            Some((escape, 1)) => escape.chars().next(),
            Some(_) => return Err("ESCAPE needs one character".to_owned()),
        };
        if text.is_empty() {
            return Err("an empty pattern does not run at a site".to_owned());
        }
        // Flink pastes patterns into Java source, where these two have a meaning of their own.
        if text.contains(['\\', '"', '\n', '\r']) || escape.is_some_and(|c| c == '\\' || c == '"') {
            return Err(r#"patterns with \, " or ends of lines do not run at a site"#.to_owned());
        }
        // These have a meaning in the regular expression that Flink makes, which it escapes with one character too many.
        if escape.is_some_and(|c| "[]()|^-+*?{}$.".contains(c)) {
            return Err("this ESCAPE does not run at a site: ! and / do, for example".to_owned());
        }
        let mut parts = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            parts.push(match c {
                c if Some(c) == escape => match chars.next() {
                    Some(next) if next == '%' || next == '_' || next == c => Part::Exactly(next),
                    _ => return Err(format!("{c:?} stands before %, _ or itself only")),
                },
                '%' => Part::Any,
                '_' => Part::One,
                c => Part::Exactly(c),
            });
        }
        Ok(Self(parts))
    }

    /// Whether the whole text is of this form. Takes at most the product of both lengths.
    pub fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.as_slice();
        let mut text = text.chars();
        // Where to go on when what follows the last `%` did not fit: one character further.
        let mut again: Option<(&[Part], std::str::Chars<'_>)> = None;
        loop {
            let rest = text.clone();
            let fits = match (parts.first(), text.next()) {
                (None, None) => return true,
                (Some(Part::Any), _) => {
                    parts = &parts[1..];
                    text = rest.clone();
                    again = Some((parts, rest));
                    continue;
                }
                (Some(Part::One), Some(c)) => !is_line_end(c),
                (Some(Part::Exactly(expected)), Some(c)) => *expected == c,
                (None, Some(_)) | (Some(_), None) => false,
            };
            if fits {
                parts = &parts[1..];
                continue;
            }
            let Some((from, mut at)) = again else { return false };
            if at.next().is_none() {
                return false;
            }
            parts = from;
            text = at.clone();
            again = Some((from, at));
        }
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
