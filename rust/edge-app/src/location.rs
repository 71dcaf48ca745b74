//! Where a service is.

use std::fmt;

use crate::app::is_name;

/// A place, or many.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    /// At each site: `edge *`.
    EverySite,
    /// At one site: `edge dev1`.
    Site(String),
    /// In a cluster: `cloud main`.
    Cloud(String),
}

impl Location {
    /// What may stand in a file.
    pub const FORMS: &str = "edge *, edge NAME and cloud NAME are allowed";

    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ')? {
            ("edge", "*") => Some(Self::EverySite),
            ("edge", name) if is_name(name) => Some(Self::Site(name.to_owned())),
            ("cloud", name) if is_name(name) => Some(Self::Cloud(name.to_owned())),
            _ => None,
        }
    }

    /// Whether it is at a site.
    pub fn is_edge(&self) -> bool {
        !matches!(self, Self::Cloud(_))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EverySite => f.write_str("edge *"),
            Self::Site(name) => write!(f, "edge {name}"),
            Self::Cloud(name) => write!(f, "cloud {name}"),
        }
    }
}
