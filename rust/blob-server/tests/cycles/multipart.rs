//! Uploads in parts, which go on after a restart.

use super::ledger::{Ending, LARGE, Upload, Value, body};
use super::s3::{Ask, Unanswered};
use super::work::{Done, Worker, etag, expect, path, until_it_ends};

/// Uploads of one worker at once.
const OPEN: usize = 3;

pub async fn uploads(mut worker: Worker) {
    until_it_ends!(worker.upload_step());
}

/// The XML of a complete.
pub fn chosen_xml(parts: &[(u16, u64)]) -> String {
    let part = |(at, number): &(u16, u64)| {
        let tag = etag(*number);
        format!("<Part><PartNumber>{at}</PartNumber><ETag>\"{tag}\"</ETag></Part>")
    };
    let parts: String = parts.iter().map(part).collect();
    format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>")
}

impl Worker {
    async fn upload_step(&mut self) -> Done {
        let prefix = format!("k{}-", self.number);
        let mine: Vec<Upload> = {
            let state = self.ledger.state();
            state.uploads.iter().filter(|u| u.key.starts_with(&prefix)).cloned().collect()
        };
        let key = self.key();
        if mine.is_empty() || mine.len() < OPEN && self.random.below(8) == 0 {
            return self.create(&key).await;
        }
        let upload = &mine[self.random.below(mine.len() as u64) as usize];
        match self.random.below(16) {
            0..=8 => self.part(upload).await,
            9..=12 => self.complete(upload).await,
            13 => self.abort(upload).await,
            14 => self.delete(&key).await,
            _ => self.put(&key, None).await,
        }
    }

    async fn create(&self, key: &str) -> Done {
        self.ledger.state().begun.insert(key.to_owned());
        let answer = self.s3.ask(Ask::new("POST", path(key)).query("uploads", "")).await?;
        expect(&answer, 200);
        let id = answer.first("UploadId").ok_or(Unanswered)?;
        let mut state = self.ledger.state();
        state.begun.remove(key);
        let (key, parts) = (key.to_owned(), Default::default());
        state.uploads.push(Upload { key, id, parts, ending: None, completing: Vec::new() });
        drop(state);
        self.ledger.count("upload begun");
        Ok(())
    }

    async fn part(&mut self, upload: &Upload) -> Done {
        let large = !self.server.small_parts && self.random.below(300) == 0;
        let number = self.ledger.number() + if large { LARGE } else { 0 };
        let at = if large { 1 } else { 1 + self.random.below(4) as u16 };
        let begun = |upload: &mut Upload| {
            upload.parts.entry(at).or_insert_with(|| vec![None]).push(Some(number));
        };
        self.ledger.upload(&upload.id, begun);
        let ask = Ask::new("PUT", path(&upload.key));
        let ask = ask.query("partNumber", at).query("uploadId", &upload.id).body(body(number));
        let answer = self.s3.ask(ask).await?;
        expect(&answer, 200);
        assert_eq!(answer.etag, format!("\"{}\"", etag(number)));
        self.ledger.upload(&upload.id, |upload| upload.parts.insert(at, vec![Some(number)]));
        self.ledger.count(if large { "large part" } else { "part" });
        Ok(())
    }

    /// Some of the parts; the others become garbage.
    fn choose(&mut self, upload: &Upload) -> Vec<(u16, u64)> {
        let all = upload.parts.iter().filter_map(|(at, possible)| Some((*at, possible[0]?)));
        let mut chosen: Vec<_> = all.filter(|_| self.random.below(3) > 0).collect();
        if !self.server.small_parts {
            // All but the last must be large.
            while chosen.len() > 1 && chosen[chosen.len() - 2].1 < LARGE {
                chosen.remove(chosen.len() - 2);
            }
        }
        chosen
    }

    async fn complete(&mut self, upload: &Upload) -> Done {
        let chosen = self.choose(upload);
        if chosen.is_empty() {
            return Ok(());
        }
        let numbers: Vec<u64> = chosen.iter().map(|(_, number)| *number).collect();
        let value = Value::Parts(numbers.clone());
        self.ledger.begin(&upload.key, value.clone());
        let is_there = self.ledger.value(&upload.key) != Value::Nothing;
        let only_new = self.random.below(4) == 0;
        self.ledger.upload(&upload.id, |upload| {
            upload.ending = Some(Ending::Completes);
            upload.completing = chosen.clone();
        });
        let mut ask = Ask::new("POST", path(&upload.key)).query("uploadId", &upload.id);
        if only_new {
            ask = ask.header("if-none-match", "*");
        }
        let ask = ask.body(chosen_xml(&chosen));
        let answer = self.s3.ask(ask.clone()).await?;
        if only_new && is_there {
            expect(&answer, 412);
            self.ledger.refused(&upload.key);
            self.ledger.upload(&upload.id, |upload| upload.ending = None);
            self.ledger.count("condition refused");
            return Ok(());
        }
        expect(&answer, 200);
        // An answer that began with 200 before it was known how it would end.
        answer.first("ETag").ok_or(Unanswered)?;
        self.ledger.settle(&upload.key, value);
        self.ledger.end_upload(&upload.id);
        self.ledger.count(if chosen.len() > 1 { "complete of several" } else { "complete" });
        if !only_new && self.random.below(4) == 0 {
            // As a client does that did not hear the answer.
            let again = self.s3.ask(ask).await?;
            assert_eq!(again.first("ETag"), answer.first("ETag"));
        }
        Ok(())
    }

    async fn abort(&self, upload: &Upload) -> Done {
        self.ledger.upload(&upload.id, |upload| upload.ending = Some(Ending::Aborts));
        let ask = Ask::new("DELETE", path(&upload.key)).query("uploadId", &upload.id);
        expect(&self.s3.ask(ask).await?, 204);
        self.ledger.end_upload(&upload.id);
        self.ledger.count("abort");
        Ok(())
    }
}
