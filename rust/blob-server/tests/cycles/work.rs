//! Puts, overwrites, deletes, copies, conditions.

use std::sync::Arc;
use std::time::Duration;

use afterbay_blob_client::{Client, PutHead};
use afterbay_blob_proto::{Name, Target};
use afterbay_blob_router::{BlobId, PutOptions, source};
use md5::{Digest, Md5};

use super::ledger::{BUCKET, Ledger, NAMELESS, Said, Value, body, is_whole};
use super::s3::{Answer, Ask, S3, Unanswered, hex};
use super::{Random, Server};

/// Names of one worker.
const KEYS: u64 = 6;

pub type Done = Result<(), Unanswered>;

#[derive(Debug)]
pub struct Worker {
    pub server: Server,
    pub s3: S3,
    pub ledger: Arc<Ledger>,
    pub random: Random,
    pub number: u64,
}

impl Worker {
    pub fn new(server: &Server, ledger: &Arc<Ledger>, number: u64, seed: u64) -> Self {
        Worker {
            s3: server.s3(),
            server: server.clone(),
            ledger: ledger.clone(),
            random: Random::new(seed << 8 | number),
            number,
        }
    }

    pub fn key(&mut self) -> String {
        format!("k{}-{}", self.number, self.random.below(KEYS))
    }

    /// Puts under a key; `condition` is a header that must hold or not.
    pub async fn put(&self, key: &str, condition: Option<(&'static str, String, bool)>) -> Done {
        let number = self.ledger.number();
        self.ledger.begin(key, Value::Whole(number));
        let mut ask = Ask::new("PUT", path(key)).body(body(number));
        if let Some((name, value, _)) = &condition {
            ask = ask.header(name, value);
        }
        let answer = self.s3.ask(ask).await?;
        if condition.is_none_or(|(_, _, holds)| holds) {
            expect(&answer, 200);
            assert_eq!(answer.etag, format!("\"{}\"", etag(number)));
            self.ledger.settle(key, Value::Whole(number));
            self.ledger.count("put");
        } else {
            expect(&answer, 412);
            self.ledger.refused(key);
            self.ledger.count("condition refused");
        }
        Ok(())
    }

    pub async fn delete(&self, key: &str) -> Done {
        self.ledger.begin(key, Value::Nothing);
        expect(&self.s3.ask(Ask::new("DELETE", path(key))).await?, 204);
        self.ledger.settle(key, Value::Nothing);
        self.ledger.count("delete");
        Ok(())
    }

    async fn read(&self, key: &str) -> Done {
        let answer = self.s3.ask(Ask::new("GET", path(key))).await?;
        match self.ledger.value(key).bytes() {
            None => expect(&answer, 404),
            Some(content) => assert!(answer.body == content, "{key}: other content"),
        }
        self.ledger.count("read");
        Ok(())
    }

    /// If the object is as it is, and if it is not.
    async fn put_on_condition(&mut self, key: &str) -> Done {
        let condition = match (self.ledger.value(key), self.random.below(2)) {
            (Value::Whole(number), 0) => ("if-match", format!("\"{}\"", etag(number)), true),
            (Value::Whole(number), _) => ("if-match", format!("\"{}\"", etag(number + 1)), false),
            (Value::Parts(_), _) => ("if-none-match", "*".to_owned(), false),
            (Value::Nothing, _) => ("if-none-match", "*".to_owned(), true),
        };
        self.put(key, Some(condition)).await
    }

    async fn copy(&mut self) -> Done {
        let (from, to) = (self.key(), self.key());
        let value = self.ledger.value(&from);
        if from == to || value == Value::Nothing {
            return Ok(());
        }
        self.ledger.begin(&to, value.clone());
        let ask = Ask::new("PUT", path(&to)).header("x-amz-copy-source", path(&from));
        let answer = self.s3.ask(ask).await?;
        expect(&answer, 200);
        if answer.first("ETag").is_none() {
            // An answer that began with 200 before it was known how it would end.
            return Err(Unanswered);
        }
        self.ledger.settle(&to, value);
        self.ledger.count("copy");
        Ok(())
    }

    async fn delete_some(&mut self) -> Done {
        let first = self.random.below(KEYS);
        let keys: Vec<_> =
            (0..3).map(|i| format!("k{}-{}", self.number, (first + i) % KEYS)).collect();
        keys.iter().for_each(|key| self.ledger.begin(key, Value::Nothing));
        let objects: String =
            keys.iter().map(|key| format!("<Object><Key>{key}</Key></Object>")).collect();
        let xml = format!("<Delete>{objects}</Delete>");
        let md5 = base64_simd::STANDARD.encode_to_string(Md5::digest(xml.as_bytes()));
        let ask = Ask::new("POST", format!("/{BUCKET}")).query("delete", "");
        let answer = self.s3.ask(ask.header("content-md5", md5).body(xml)).await?;
        expect(&answer, 200);
        assert_eq!(answer.all("Error"), Vec::<String>::new());
        keys.iter().for_each(|key| self.ledger.settle(key, Value::Nothing));
        self.ledger.count("batch delete");
        Ok(())
    }

    async fn object_step(&mut self) -> Done {
        let key = self.key();
        match self.random.below(16) {
            0..=5 => self.put(&key, None).await,
            6..=8 => self.put_on_condition(&key).await,
            9..=10 => self.delete(&key).await,
            11 => self.delete_some().await,
            12..=13 => self.copy().await,
            _ => self.read(&key).await,
        }
    }

    /// Two clients make the same object, each if there is none: one of them does.
    async fn race(&self, other: &S3) -> Done {
        let (a, b) = (self.ledger.number(), self.ledger.number());
        let key = format!("r{}-{a}", self.number);
        self.ledger.begin(&key, Value::Whole(a));
        self.ledger.begin(&key, Value::Whole(b));
        let ask =
            |number| Ask::new("PUT", path(&key)).header("if-none-match", "*").body(body(number));
        let (of_a, of_b) = tokio::join!(self.s3.ask(ask(a)), other.ask(ask(b)));
        let said = |answer: &Result<Answer, Unanswered>| answer.as_ref().map_or(0, |a| a.status);
        // An object that is in the way is there for good, whether its writer heard of it or not.
        let winner = match (said(&of_a), said(&of_b)) {
            (200, 412) | (200, 0) | (0, 412) => a,
            (412, 200) | (0, 200) | (412, 0) => b,
            (0, 0) => return Err(Unanswered),
            both => panic!("{key}: the answers are {both:?}"),
        };
        self.ledger.settle(&key, Value::Whole(winner));
        self.ledger.count("race");
        of_a.and(of_b)?;
        self.ledger.begin(&key, Value::Nothing);
        let tag = format!("\"{}\"", etag(winner));
        let answer = self.s3.ask(Ask::new("DELETE", path(&key)).header("if-match", tag)).await?;
        expect(&answer, 204);
        self.ledger.settle(&key, Value::Nothing);
        Ok(())
    }

    async fn native_name_step(&mut self) -> Done {
        let key = self.key();
        let name = Name { bucket: BUCKET.to_owned(), key: key.clone() };
        let client = &self.server.client;
        if self.random.below(4) > 0 || self.ledger.value(&key) == Value::Nothing {
            let number = self.ledger.number();
            self.ledger.begin(&key, Value::Whole(number));
            let head = PutHead { name: Some(name), ..PutHead::default() };
            client.put(head, source(body(number))).await.map_err(|_| Unanswered)?;
            self.ledger.settle(&key, Value::Whole(number));
            self.ledger.count("native put of a name");
        } else {
            self.ledger.begin(&key, Value::Nothing);
            client.delete(Target::Name(name)).await.map_err(|_| Unanswered)?;
            self.ledger.settle(&key, Value::Nothing);
            self.ledger.count("native delete of a name");
        }
        Ok(())
    }
}

pub fn path(key: &str) -> String {
    format!("/{BUCKET}/{key}")
}

/// As S3 computes it, without quotes.
pub fn etag(number: u64) -> String {
    hex(&Md5::digest(body(number)))
}

pub fn expect(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.text());
}

/// Until the server does not answer any more.
macro_rules! until_it_ends {
    ($step:expr) => {
        loop {
            if $step.await.is_err() {
                return;
            }
        }
    };
}
pub(crate) use until_it_ends;

pub async fn objects(mut worker: Worker) {
    until_it_ends!(worker.object_step());
}

pub async fn races(worker: Worker) {
    let other = worker.server.s3();
    until_it_ends!(worker.race(&other));
}

pub async fn native_names(mut worker: Worker) {
    until_it_ends!(worker.native_name_step());
}

/// Reads what others write: it is whole, old or new, or not there. One that is collected under the reader breaks off.
pub async fn readers(mut worker: Worker) {
    let mut failed = 0;
    while failed < 2 {
        // Beside the writers, not instead of them.
        tokio::time::sleep(Duration::from_millis(2)).await;
        let key = format!("k{}-{}", worker.random.below(6), worker.random.below(KEYS));
        match worker.s3.ask(Ask::new("GET", path(&key))).await {
            Ok(answer) if answer.status == 200 => {
                assert!(is_whole(&answer.body), "{key}: torn");
                worker.ledger.count("read beside writes");
                failed = 0;
            }
            Ok(answer) => assert_eq!(answer.status, 404, "{}", answer.text()),
            Err(Unanswered) => failed += 1,
        }
    }
}

/// Puts and deletes blobs that have no names.
pub async fn native_blobs(worker: Worker) {
    let mut mine: Vec<BlobId> = Vec::new();
    let (ledger, client) = (&worker.ledger, &worker.server.client);
    until_it_ends!(native_blob_step(ledger, client, &mut mine));
}

async fn native_blob_step(ledger: &Ledger, client: &Client, mine: &mut Vec<BlobId>) -> Done {
    let number = ledger.number();
    let options = PutOptions { container: NAMELESS, ..PutOptions::default() };
    let head = PutHead { options, ..PutHead::default() };
    let put = client.put(head, source(body(number))).await.map_err(|_| Unanswered)?;
    ledger.state().blobs.insert(put.id, (number, Said::Stored));
    ledger.count("native put");
    mine.push(put.id);
    if number.is_multiple_of(3) {
        return Ok(());
    }
    // All but a few go again, so that there is something to compact.
    let old = mine.swap_remove((number % mine.len() as u64) as usize);
    let say = |said| {
        ledger.state().blobs.entry(old).and_modify(|entry| entry.1 = said);
    };
    say(Said::Deletes);
    client.delete(old).await.map_err(|_| Unanswered)?;
    say(Said::Deleted);
    ledger.count("native delete");
    Ok(())
}
