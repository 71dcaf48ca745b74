//! App files: what an edge-cloud application consists of, and where its parts are (`spec/edge-app.md`).
//!
//! ```text
//!   text --Table--> services, connections, locations --check--> App
//!           (keys and types, each with its line)       (names, direction, circles, places)
//! ```
//!
//! Steel (thesis 2018, chapter 4) declares an app as services, connections and a location map, so that a move is one changed
//! line. Here a service is what Flink SQL knows: a table, a view or a statement.
//!
//! # Invariants
//! - Whatever the text, [`App::parse`] returns; nothing is read but the text.
//! - All errors of one kind are found at once, in the order of their lines; each names what may stand there.
//! - An [`App`] has no circle, no service without a place, and no connection from the cloud to a site.

mod app;
mod check;
mod error;
mod location;
mod read;
mod table;

pub use app::{App, Connection, Kind, Service, Sql, WhenFull};
pub use error::{AppError, Errors};
pub use location::Location;
