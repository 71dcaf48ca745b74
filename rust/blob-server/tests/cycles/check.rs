//! What must be found after an interruption, by asking the server.

use std::collections::{BTreeMap, BTreeSet};

use afterbay_blob_client::Code;

use super::Server;
use super::ledger::{BUCKET, Ending, Ledger, Said, Upload, Value, body};
use super::multipart::chosen_xml;
use super::s3::{Ask, S3, Unanswered};
use super::work::{etag, path};

/// Names that are asked for at once.
const PAGE: usize = 20;

/// What is wrong. Of blobs without names, every `step`-th is read. What was uncertain is certain then.
pub async fn check(ledger: &Ledger, server: &Server, step: u64) -> Vec<String> {
    match try_check(ledger, server, step).await {
        Ok(wrong) => wrong,
        Err(Unanswered) => vec!["the server does not answer".to_owned()],
    }
}

async fn try_check(ledger: &Ledger, server: &Server, step: u64) -> Result<Vec<String>, Unanswered> {
    server.make_bucket().await?;
    let s3 = server.s3();
    let mut wrong = check_names(ledger, &s3).await?;
    wrong.extend(check_uploads(ledger, &s3).await?);
    wrong.extend(check_blobs(ledger, server, step).await);
    Ok(wrong)
}

async fn listed(s3: &S3) -> Result<BTreeSet<String>, Unanswered> {
    let (mut all, mut after) = (BTreeSet::new(), String::new());
    loop {
        let ask = Ask::new("GET", format!("/{BUCKET}"))
            .query("list-type", 2)
            .query("max-keys", PAGE)
            .query("start-after", &after);
        let answer = s3.ask(ask).await?;
        let keys = answer.all("Key");
        after = keys.last().cloned().unwrap_or_default();
        all.extend(keys);
        if answer.first("IsTruncated").as_deref() != Some("true") {
            return Ok(all);
        }
    }
}

async fn check_names(ledger: &Ledger, s3: &S3) -> Result<Vec<String>, Unanswered> {
    let mut wrong = Vec::new();
    let mut listed = listed(s3).await?;
    let keys = ledger.state().keys.clone();
    for (key, possible) in keys {
        let answer = s3.ask(Ask::new("GET", path(&key))).await?;
        let found = (answer.status == 200).then_some(&answer.body);
        match possible.iter().find(|value| value.bytes().as_ref() == found) {
            Some(value) => ledger.settle(&key, value.clone()),
            None => {
                let found = found.map(|body| body.len());
                let status = answer.status;
                wrong.push(format!("{key}: {status}, {found:?} bytes; it may be {possible:?}"));
            }
        }
        if listed.remove(&key) != found.is_some() {
            wrong.push(format!("{key}: listed otherwise than it is read, {}", answer.status));
        }
    }
    wrong.extend(listed.into_iter().map(|key| format!("{key}: nobody put it")));
    ledger.state().keys.retain(|_, possible| *possible != [Value::Nothing]);
    Ok(wrong)
}

async fn check_uploads(ledger: &Ledger, s3: &S3) -> Result<Vec<String>, Unanswered> {
    let mut wrong = Vec::new();
    let answer = s3.ask(Ask::new("GET", format!("/{BUCKET}")).query("uploads", "")).await?;
    let mut listed: BTreeMap<String, String> =
        answer.all("UploadId").into_iter().zip(answer.all("Key")).collect();
    let (uploads, ended, begun) = {
        let mut state = ledger.state();
        (state.uploads.clone(), state.ended.clone(), std::mem::take(&mut state.begun))
    };
    for upload in uploads {
        let is_open = listed.remove(&upload.id).is_some();
        let failed = check_upload(ledger, s3, &upload, is_open).await?;
        wrong.extend(failed.into_iter().map(|e| format!("{}, {}: {e}", upload.key, upload.id)));
    }
    for (id, key) in listed {
        if ended.iter().any(|(_, ended)| *ended == id) {
            wrong.push(format!("{key}, {id}: this upload had ended"));
        } else if begun.contains(&key) {
            // Nobody knows it: its client heard nothing.
            s3.ask(Ask::new("DELETE", path(&key)).query("uploadId", &id)).await?;
        } else {
            wrong.push(format!("{key}, {id}: nobody began this upload"));
        }
    }
    Ok(wrong)
}

async fn check_upload(
    ledger: &Ledger,
    s3: &S3,
    upload: &Upload,
    is_open: bool,
) -> Result<Option<String>, Unanswered> {
    let completing: Vec<u64> = upload.completing.iter().map(|(_, number)| *number).collect();
    let completed = ledger.value(&upload.key) == Value::Parts(completing);
    match (upload.ending, is_open) {
        (None | Some(Ending::Aborts), true) => {}
        (Some(Ending::Completes), true) if !completed => {}
        (Some(Ending::Completes), true) => return Ok(Some("open and complete".to_owned())),
        (None, false) => return Ok(Some("gone".to_owned())),
        (Some(Ending::Completes), false) if !completed => {
            return Ok(Some("neither open nor complete".to_owned()));
        }
        (Some(Ending::Completes), false) => {
            ledger.end_upload(&upload.id);
            let ask = Ask::new("POST", path(&upload.key)).query("uploadId", &upload.id);
            let again = s3.ask(ask.body(chosen_xml(&upload.completing))).await?;
            let told = (again.status != 200).then(|| format!("complete again: {}", again.text()));
            return Ok(told);
        }
        (Some(Ending::Aborts), false) => {
            ledger.end_upload(&upload.id);
            return Ok(None);
        }
    }
    check_parts(ledger, s3, upload).await
}

/// Each part is one of those it may be.
async fn check_parts(
    ledger: &Ledger,
    s3: &S3,
    upload: &Upload,
) -> Result<Option<String>, Unanswered> {
    let answer = s3.ask(Ask::new("GET", path(&upload.key)).query("uploadId", &upload.id)).await?;
    let tags = answer.all("ETag").into_iter().map(|tag| tag.trim_matches('"').to_owned());
    let mut found: BTreeMap<u16, String> =
        answer.all("PartNumber").iter().filter_map(|at| at.parse().ok()).zip(tags).collect();
    let mut parts = BTreeMap::new();
    for (at, possible) in &upload.parts {
        let tag = found.remove(at);
        match possible.iter().find(|number| number.map(etag) == tag) {
            Some(None) => {}
            Some(number) => {
                parts.insert(*at, vec![*number]);
            }
            None => return Ok(Some(format!("part {at} is {tag:?}; it may be {possible:?}"))),
        }
    }
    ledger.upload(&upload.id, |upload| {
        upload.parts = parts;
        upload.ending = None;
    });
    Ok((!found.is_empty()).then(|| format!("has parts that nobody put: {found:?}")))
}

async fn check_blobs(ledger: &Ledger, server: &Server, step: u64) -> Vec<String> {
    let mut wrong = Vec::new();
    let blobs = ledger.state().blobs.clone();
    for (id, (number, said)) in blobs.iter().filter(|(_, (n, _))| n.is_multiple_of(step)) {
        let found = match server.client.get(*id, None).await {
            Ok(got) => got.content.read_all().await,
            Err(error) => Err(error),
        };
        let gone = |code| [Some(Code::NotFound), Some(Code::Deleted)].contains(&code);
        let right = match (said, &found) {
            (Said::Stored | Said::Deletes, Ok(content)) => *content == body(*number),
            (Said::Deletes | Said::Deleted, Err(error)) => gone(error.code()),
            _ => false,
        };
        if !right {
            let found = found.map(|content| content.len());
            let text = format!("blob {id}, number {number}, of which {said:?} was said: {found:?}");
            wrong.push(text);
        }
    }
    wrong
}
