//! The names below a prefix, however many there are.

use afterbay_blob_client::{Client, Entry, ListRequest};
use futures_util::{Stream, StreamExt, stream};
use serde_json::json;

use super::Failed;
use super::many::Ended;
use super::progress::Progress;
use super::values::Place;

/// How many names are asked for at once.
pub(crate) const PAGE: u32 = 1000;

/// All of them, in their order; the last one is an error if the list could not be read to its end. `progress` expects their content.
pub(crate) fn below(
    client: Client,
    place: Place,
    progress: Progress,
) -> impl Stream<Item = Result<Entry, Failed>> + Send {
    let first = ListRequest {
        bucket: place.bucket,
        prefix: place.prefix,
        after: String::new(),
        limit: PAGE,
    };
    let pages = stream::unfold(Some((client, first, progress)), |state| async {
        let (client, mut request, progress) = state?;
        match client.list(request.clone()).await {
            Ok(listing) => {
                progress.expect(listing.entries.iter().map(|entry| entry.content_bytes).sum());
                let last = listing.entries.last().filter(|_| listing.truncated);
                let next = last.map(|last| last.key.clone()).map(|after| {
                    request.after = after;
                    (client, request, progress)
                });
                Some((listing.entries.into_iter().map(Ok).collect::<Vec<_>>(), next))
            }
            Err(error) => Some((vec![Err(error.into())], None)),
        }
    });
    pages.flat_map(stream::iter)
}

/// The end of a list that could not be read.
pub(crate) fn broken(place: &Place, error: Failed) -> Ended {
    let name = place.to_string();
    let error = format!("the list of names could not be read to its end: {error}");
    Ended::new(name.clone(), json!({ "name": name }), Err(error.into()))
}

/// What is said when there are no names.
pub(crate) fn nothing_below(place: &Place) -> String {
    format!("{place}: there is nothing below it ('ls {}' shows what there is)", place.bucket)
}
