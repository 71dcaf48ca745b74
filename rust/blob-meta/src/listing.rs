//! Pages of ordered names, with rows below a delimiter rolled up into common prefixes.
//!
//! The work for a page is bounded: at most one row is read for each thing on the page, and one more. Rows below a
//! common prefix are not walked over: the walk continues behind the prefix.

use crate::error::Result;

/// What to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListRequest {
    /// Only names that begin so.
    pub prefix: String,
    /// Names that have this behind the prefix are shown once, up to it. Empty: none are.
    pub delimiter: String,
    /// Only what is behind this name, or behind all that is below this common prefix.
    pub after: String,
    /// Of the name `after`, only uploads behind this one. For lists of uploads. Empty: none of them.
    pub after_upload: String,
    /// The most names and prefixes together.
    pub max: usize,
}

/// A name, or all below a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<V> {
    /// Names in their order. `upload` is empty in lists of objects.
    pub rows: Vec<Row<V>>,
    /// Common prefixes, with the delimiter at their end, in their order.
    pub prefixes: Vec<String>,
    /// Whether there is more: then behind `next`.
    pub truncated: bool,
    /// The last name or prefix of the page: [`ListRequest::after`] of the next one.
    pub next: String,
    /// [`ListRequest::after_upload`] of the next one.
    pub next_upload: String,
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<V> {
    /// The name.
    pub key: String,
    /// The upload, in lists of uploads.
    pub upload: String,
    /// What it stands for.
    pub value: V,
}

/// Where to go on reading.
pub(crate) enum Start {
    /// With this name, or the first behind it.
    At(Vec<u8>),
    /// Behind this name and upload.
    Behind(String, String),
}

/// Ordered rows that can be read from any place.
pub(crate) trait Rows {
    type Value;
    fn seek(&mut self, start: &Start) -> Result<()>;
    fn next(&mut self) -> Result<Option<Row<Self::Value>>>;
}

pub(crate) fn list<R: Rows>(rows: &mut R, request: &ListRequest) -> Result<Page<R::Value>> {
    let mut page = Page {
        rows: Vec::new(),
        prefixes: Vec::new(),
        truncated: false,
        next: String::new(),
        next_upload: String::new(),
    };
    if request.max == 0 {
        return Ok(page);
    }
    rows.seek(&first_place(request))?;
    while let Some(row) = rows.next()? {
        if !row.key.starts_with(&request.prefix) {
            break;
        }
        let common = common_prefix(request, &row.key).map(str::to_owned);
        if let Some(common) = &common
            && *common == request.after
        {
            rows.seek(&Start::At(behind_all_below(common)))?;
            continue;
        }
        if page.rows.len() + page.prefixes.len() == request.max {
            page.truncated = true;
            break;
        }
        match common {
            Some(common) => {
                rows.seek(&Start::At(behind_all_below(&common)))?;
                page.next.clone_from(&common);
                page.next_upload.clear();
                page.prefixes.push(common);
            }
            None => {
                page.next.clone_from(&row.key);
                page.next_upload.clone_from(&row.upload);
                page.rows.push(row);
            }
        }
    }
    Ok(page)
}

fn first_place(request: &ListRequest) -> Start {
    if request.after < request.prefix || request.after.is_empty() {
        Start::At(request.prefix.clone().into_bytes())
    } else if request.after_upload.is_empty() {
        // The least name behind it.
        let mut behind = request.after.clone().into_bytes();
        behind.push(0);
        Start::At(behind)
    } else {
        Start::Behind(request.after.clone(), request.after_upload.clone())
    }
}

fn common_prefix<'a>(request: &ListRequest, key: &'a str) -> Option<&'a str> {
    if request.delimiter.is_empty() {
        return None;
    }
    let behind = &key[request.prefix.len()..];
    let at = behind.find(&request.delimiter)?;
    Some(&key[..request.prefix.len() + at + request.delimiter.len()])
}

/// The least bytes that are greater than everything that begins with `prefix`. No byte of UTF-8 is 0xFF.
fn behind_all_below(prefix: &str) -> Vec<u8> {
    let mut bytes = prefix.as_bytes().to_vec();
    if let Some(last) = bytes.last_mut() {
        *last += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Map {
        rows: BTreeMap<(Vec<u8>, String), u32>,
        place: (Vec<u8>, String, bool),
        read: usize,
    }

    impl Map {
        fn new(keys: &[&str]) -> Self {
            let rows = keys.iter().map(|k| ((k.as_bytes().to_vec(), String::new()), 0)).collect();
            Map { rows, place: (Vec::new(), String::new(), true), read: 0 }
        }
    }

    impl Rows for Map {
        type Value = u32;

        fn seek(&mut self, start: &Start) -> Result<()> {
            self.place = match start {
                Start::At(key) => (key.clone(), String::new(), true),
                Start::Behind(key, upload) => (key.clone().into_bytes(), upload.clone(), false),
            };
            Ok(())
        }

        fn next(&mut self) -> Result<Option<Row<u32>>> {
            self.read += 1;
            let (key, upload, including) = self.place.clone();
            let place = (key, upload);
            let Some((found, value)) =
                self.rows.range(place.clone()..).find(|(k, _)| including || **k > place)
            else {
                return Ok(None);
            };
            self.place = (found.0.clone(), found.1.clone(), false);
            Ok(Some(Row {
                key: String::from_utf8(found.0.clone()).unwrap(),
                upload: found.1.clone(),
                value: *value,
            }))
        }
    }

    fn pages(
        keys: &[&str],
        prefix: &str,
        delimiter: &str,
        max: usize,
    ) -> Vec<(Vec<String>, Vec<String>)> {
        let mut map = Map::new(keys);
        let mut request = ListRequest {
            prefix: prefix.into(),
            delimiter: delimiter.into(),
            max,
            ..Default::default()
        };
        let mut pages = Vec::new();
        loop {
            let page = list(&mut map, &request).unwrap();
            pages.push((page.rows.into_iter().map(|r| r.key).collect(), page.prefixes));
            if !page.truncated {
                return pages;
            }
            request.after = page.next;
        }
    }

    #[test]
    fn prefixes_are_rolled_up_once_also_over_pages() {
        let keys = ["a", "b/1", "b/2", "c", "d/1/2", "d0"];
        assert_eq!(
            pages(&keys, "", "/", 10),
            [(vec!["a".into(), "c".into(), "d0".into()], vec!["b/".into(), "d/".into()])]
        );
        let single: Vec<_> = pages(&keys, "", "/", 1)
            .into_iter()
            .flat_map(|(rows, prefixes)| rows.into_iter().chain(prefixes))
            .collect();
        assert_eq!(single, ["a", "b/", "c", "d/", "d0"]);
    }

    #[test]
    fn prefix_and_delimiter_of_several_characters() {
        let keys = ["x--1", "y", "y--a--1", "y--a--2", "y--b"];
        assert_eq!(pages(&keys, "y--", "--", 10), [(vec!["y--b".into()], vec!["y--a--".into()])]);
    }

    #[test]
    fn a_start_below_a_prefix_shows_it_if_more_lies_below() {
        let mut map = Map::new(&["b/1", "b/2", "c"]);
        let request = |after: &str| ListRequest {
            delimiter: "/".into(),
            after: after.into(),
            max: 9,
            ..Default::default()
        };
        assert_eq!(list(&mut map, &request("b/1")).unwrap().prefixes, ["b/"]);
        assert!(list(&mut map, &request("b/2")).unwrap().prefixes.is_empty());
        assert!(list(&mut map, &request("b/")).unwrap().prefixes.is_empty());
    }

    #[test]
    fn rows_below_a_prefix_are_not_walked_over() {
        let keys: Vec<String> = (0..1000).map(|n| format!("p{}/{n:04}", n % 10)).collect();
        let mut map = Map::new(&keys.iter().map(String::as_str).collect::<Vec<_>>());
        let request = ListRequest { delimiter: "/".into(), max: 100, ..Default::default() };
        assert_eq!(list(&mut map, &request).unwrap().prefixes.len(), 10);
        assert!(map.read <= 11, "{} rows were read", map.read);
    }

    #[test]
    fn nothing_is_asked_for() {
        let mut map = Map::new(&["a"]);
        let page = list(&mut map, &ListRequest::default()).unwrap();
        assert!(!page.truncated && page.rows.is_empty());
    }
}
