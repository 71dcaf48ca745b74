//! Kafka as the output of a gateway.
//!
//! ```text
//!   commit: begin -> rows to TOPIC and TOPIC.late, records to afterbay-edge-progress -> commit -> acknowledged
//! ```
//!
//! # Nothing lost, nothing doubled
//! - A commit is one transaction: readers with `isolation.level=read_committed` see rows and records together, or neither.
//! - Records are in a topic of one partition that Kafka compacts: the last one of each key is what was committed.
//! - Who opens it (`init_transactions`) fences every gateway of the same id, and ends the transaction that one may have left,
//!   before it reads the records. So what it reads is all that there is.
//! - Topics are looked at before they are used: one that forgets, or that takes no rows, is refused by name, and so are the sites
//!   whose stream it is ([`Output::refuses`]); others go on. New ones have up to three copies; if there are three, a commit waits
//!   for two of them. Brokers make none by themselves (`allow.auto.create.topics=false`): theirs would be of other settings.
//! - A row that is too large for a message never comes here ([`Output::row_bytes_max`]).
//! - A message that has waited too long for a broker fails its transaction, and so does everything else that is wrong: nothing is
//!   acknowledged, the gateway opens its output anew, and sites send again.

mod topics;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use afterbay_edge_gateway::output::{Output, topic};
use afterbay_edge_gateway::{GatewayError, Refused, Row};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::metadata::MetadataTopic;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use rdkafka::types::RDKafkaRespErr;

use topics::{MESSAGE_BYTES_MAX, Topic, Use};

/// The topic of records, behind the prefix.
const PROGRESS: &str = "afterbay-edge-progress";
/// How long brokers may take for a step.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often somebody looks whether a new topic is there.
const LOOK: Duration = Duration::from_millis(50);
/// What a message has beside its row, at most.
const OVERHEAD_BYTES: u64 = 1000;
/// A transaction of a gateway that has gone is ended by the brokers after so long, ms, if no other gateway ends it before.
const TRANSACTION_MS: &str = "60000";

type Result<T> = std::result::Result<T, GatewayError>;

/// Kafka. See the crate.
pub struct KafkaOutput {
    bootstrap: String,
    prefix: String,
    /// Of new topics.
    partitions: u32,
    producer: Option<BaseProducer>,
    /// Topics that are known to be there.
    topics: BTreeSet<String>,
    /// Topics of which a commit has found that they are of no use.
    faulty: BTreeSet<String>,
    /// Whether topics are made.
    makes_topics: bool,
    patience: Duration,
}

impl std::fmt::Debug for KafkaOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KafkaOutput").field("bootstrap", &self.bootstrap).finish_non_exhaustive()
    }
}

impl KafkaOutput {
    /// At these brokers (`HOST:PORT`, with commas between). Topics are called as streams are, behind the prefix; new ones get so
    /// many partitions. Two gateways with the same prefix fence each other.
    pub fn new(bootstrap: &str, prefix: &str, partitions: u32) -> Self {
        let (bootstrap, prefix) = (bootstrap.to_owned(), prefix.to_owned());
        let (producer, topics, faulty) = (None, BTreeSet::new(), BTreeSet::new());
        let (makes_topics, patience) = (true, PATIENCE);
        Self { bootstrap, prefix, partitions, producer, topics, faulty, makes_topics, patience }
    }

    /// With topics that somebody else has made, and so much patience: for brokers of tests.
    #[doc(hidden)]
    pub fn with_topics(bootstrap: &str, prefix: &str, patience: Duration) -> Self {
        Self { makes_topics: false, patience, ..Self::new(bootstrap, prefix, 1) }
    }

    fn config(&self) -> ClientConfig {
        config(&self.bootstrap)
    }

    fn progress(&self) -> String {
        format!("{}{PROGRESS}", self.prefix)
    }

    fn failed(&self, what: &str) -> impl Fn(KafkaError) -> GatewayError + use<> {
        let place = format!("Kafka at {}: {what}", self.bootstrap);
        move |error| GatewayError::Output(format!("{place}: {error}"))
    }

    fn open_producer(&self) -> Result<BaseProducer> {
        let failed = self.failed("a producer with transactions");
        let producer: BaseProducer = self
            .config()
            .set("transactional.id", format!("{}afterbay-edge-gateway", self.prefix))
            .set("transaction.timeout.ms", TRANSACTION_MS)
            .set("message.timeout.ms", TRANSACTION_MS)
            .set("message.max.bytes", MESSAGE_BYTES_MAX.to_string())
            // Those of transactions anyhow.
            .set("acks", "all")
            .set("compression.type", "lz4")
            .set("linger.ms", "5")
            .create()
            .map_err(&failed)?;
        producer.init_transactions(self.patience).map_err(&failed)?;
        Ok(producer)
    }

    /// Makes a topic, unless it is there; says why it is of no use, if it is of none.
    fn fault_of(&mut self, name: &str, usage: Use) -> Result<Option<String>> {
        if self.topics.contains(name) {
            return Ok(None);
        }
        let failed = self.failed(&format!("topic {name}"));
        let admin: AdminClient<DefaultClientContext> = self.config().create().map_err(&failed)?;
        if self.makes_topics
            && let Some(fault) = self.make_topic(&admin, name, usage)?
        {
            return Ok(Some(fault));
        }
        let mut topic = match self.find(&admin, name)? {
            Ok(topic) => topic,
            Err(fault) => return Ok(Some(fault)),
        };
        if self.makes_topics {
            let options = AdminOptions::new().request_timeout(Some(PATIENCE));
            let asked = [ResourceSpecifier::Topic(name)];
            let told = block_on(admin.describe_configs(&asked, &options)).map_err(&failed)?;
            for resource in told {
                let entries = match resource {
                    Ok(resource) => resource.entries.into_iter(),
                    Err(code) => {
                        let what =
                            "its configuration cannot be read: DescribeConfigs has to be allowed";
                        return Ok(Some(format!("{what} ({code})")));
                    }
                };
                topic.config.extend(entries.filter_map(|one| Some((one.name, one.value?))));
            }
        }
        let fault = topic.fault(usage, &self.bootstrap);
        if fault.is_none() {
            self.topics.insert(name.to_owned());
        }
        Ok(fault)
    }

    /// Whose fault it is.
    fn of_topic(&self, name: &str, fault: &str) -> String {
        format!("Kafka at {}: topic {name}: {fault}", self.bootstrap)
    }

    /// Makes a topic, unless it is there; or says why the brokers make none.
    fn make_topic(
        &self,
        admin: &AdminClient<DefaultClientContext>,
        name: &str,
        usage: Use,
    ) -> Result<Option<String>> {
        let failed = self.failed(&format!("topic {name}"));
        let cluster = admin.inner().fetch_metadata(Some(name), self.patience).map_err(&failed)?;
        let (copies, config) = usage.new_topic(cluster.brokers().len());
        let partitions = i32::try_from(usage.partitions()).unwrap_or(i32::MAX);
        let mut topic = NewTopic::new(name, partitions, TopicReplication::Fixed(copies));
        for (key, value) in &config {
            topic = topic.set(key, value);
        }
        let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
        let made = block_on(admin.create_topics([&topic], &options)).map_err(&failed)?;
        for result in made {
            match result {
                Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
                Err((_, code)) => {
                    return Ok(Some(format!("it is not there, and cannot be made: {code}")));
                }
            }
        }
        Ok(None)
    }

    /// What the brokers say of a topic, or why they say nothing. A new one is known to all of them only after a while.
    fn find(
        &self,
        admin: &AdminClient<DefaultClientContext>,
        name: &str,
    ) -> Result<std::result::Result<Topic, String>> {
        let failed = self.failed(&format!("topic {name}"));
        let began = Instant::now();
        loop {
            let told = admin.inner().fetch_metadata(Some(name), self.patience).map_err(&failed)?;
            let topic = told.topics().iter().find(|topic| topic.name() == name);
            let error = topic.and_then(MetadataTopic::error);
            match topic {
                Some(topic) if topic.error().is_none() && !topic.partitions().is_empty() => {
                    let copies = topic.partitions().iter().map(|one| one.replicas().len()).min();
                    return Ok(Ok(Topic {
                        name: name.to_owned(),
                        partitions: topic.partitions().len(),
                        copies: copies.unwrap_or(0),
                        config: BTreeMap::new(),
                    }));
                }
                Some(_) if began.elapsed() >= self.patience || error.is_some_and(stays) => {
                    let code = error.map(RDKafkaErrorCode::from);
                    let why =
                        code.map_or_else(|| "no partitions".to_owned(), |code| code.to_string());
                    return Ok(Err(format!("the brokers say: {why}")));
                }
                None if began.elapsed() >= self.patience => {
                    return Ok(Err("the brokers do not know it".to_owned()));
                }
                _ => std::thread::sleep(LOOK),
            }
        }
    }

    /// The last record of each key.
    fn read_records(&self) -> Result<BTreeMap<String, String>> {
        let topic = self.progress();
        let failed = self.failed(&format!("topic {topic}"));
        let consumer: BaseConsumer = self
            .config()
            .set("group.id", &topic)
            .set("enable.auto.commit", "false")
            .set("isolation.level", "read_committed")
            .set("enable.partition.eof", "true")
            .create()
            .map_err(&failed)?;
        let mut place = TopicPartitionList::new();
        place.add_partition_offset(&topic, 0, Offset::Beginning).map_err(&failed)?;
        consumer.assign(&place).map_err(&failed)?;
        let mut records = BTreeMap::new();
        loop {
            match consumer.poll(self.patience) {
                None => {
                    let what = format!("nothing came for {:?}", self.patience);
                    return Err(GatewayError::Output(format!(
                        "Kafka at {}: topic {topic}: {what}",
                        self.bootstrap
                    )));
                }
                Some(Err(KafkaError::PartitionEOF(_))) => return Ok(records),
                Some(Err(error)) => return Err(failed(error)),
                Some(Ok(message)) => {
                    let text = |bytes: Option<&[u8]>| {
                        bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
                    };
                    if let (Some(key), Some(value)) = (text(message.key()), text(message.payload()))
                    {
                        records.insert(key, value);
                    }
                }
            }
        }
    }

    fn transaction(
        &self,
        producer: &BaseProducer,
        rows: &[Row],
        records: &[(String, String)],
    ) -> Result<()> {
        let failed = self.failed("a transaction");
        producer.begin_transaction().map_err(&failed)?;
        for row in rows {
            let topic = topic(&self.prefix, row);
            let partition = i32::try_from(row.partition).unwrap_or(i32::MAX);
            let record: BaseRecord<'_, str, str> =
                BaseRecord::to(&topic).partition(partition).payload(&row.json);
            send(producer, record)
                .map_err(self.failed(&format!("topic {topic}, partition {partition}")))?;
        }
        let progress = self.progress();
        for (key, value) in records {
            let record =
                BaseRecord::to(&progress).partition(0).key(key.as_str()).payload(value.as_str());
            send(producer, record).map_err(self.failed(&format!("topic {progress}")))?;
        }
        // It waits for all messages, and fails if one of them has failed.
        producer.commit_transaction(2 * PATIENCE).map_err(&failed)
    }
}

fn config(bootstrap: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", bootstrap);
    config.set("client.id", "afterbay-edge-gateway");
    // Also of who only asks: brokers would make what is asked for, with settings of their own.
    config.set("allow.auto.create.topics", "false");
    config
}

/// Removes all topics whose names begin with a prefix, with the rows in them: what a gateway of that prefix, which has ended, has
/// made. Returns their names.
pub fn remove_topics(bootstrap: &str, prefix: &str) -> Result<Vec<String>> {
    let failed = |error| GatewayError::Output(format!("Kafka at {bootstrap}: {error}"));
    let admin: AdminClient<DefaultClientContext> = config(bootstrap).create().map_err(failed)?;
    let told = admin.inner().fetch_metadata(None, PATIENCE).map_err(failed)?;
    let names: Vec<String> = told.topics().iter().map(|topic| topic.name().to_owned()).collect();
    let names: Vec<String> = names.into_iter().filter(|name| name.starts_with(prefix)).collect();
    let asked: Vec<&str> = names.iter().map(String::as_str).collect();
    if asked.is_empty() {
        return Ok(names);
    }
    let options = AdminOptions::new().operation_timeout(Some(PATIENCE));
    for result in block_on(admin.delete_topics(&asked, &options)).map_err(failed)? {
        match result {
            Ok(_) | Err((_, RDKafkaErrorCode::UnknownTopicOrPartition)) => {}
            Err((name, code)) => {
                let what = format!("Kafka at {bootstrap}: topic {name} cannot be removed: {code}");
                return Err(GatewayError::Output(what));
            }
        }
    }
    Ok(names)
}

impl Output for KafkaOutput {
    fn row_bytes_max(&self) -> usize {
        (MESSAGE_BYTES_MAX - OVERHEAD_BYTES) as usize
    }

    fn recover(&mut self) -> Result<BTreeMap<String, String>> {
        self.producer = None;
        self.topics.clear();
        let progress = self.progress();
        if let Some(fault) = self.fault_of(&progress, Use::Progress)? {
            return Err(GatewayError::Output(self.of_topic(&progress, &fault)));
        }
        self.producer = Some(self.open_producer()?);
        self.read_records()
    }

    fn refuses(&mut self, stream: &str) -> Option<Refused> {
        if stream == PROGRESS {
            let what = format!(
                "stream {stream} cannot be called so: the gateway's own records are in that topic; give the agent another --stream"
            );
            return Some(Refused::Wrong(what));
        }
        let rows = format!("{}{stream}", self.prefix);
        // Others are made when there is something for them; those are looked at that were of no use.
        let others = [".late", ".large"].map(|behind| format!("{rows}{behind}"));
        let others = others.into_iter().filter(|topic| self.faulty.contains(topic));
        let topics: Vec<String> = others.chain([rows]).collect();
        for topic in topics {
            match self.fault_of(&topic, Use::Rows(self.partitions)) {
                Ok(None) => drop(self.faulty.remove(&topic)),
                Ok(Some(fault)) => return Some(Refused::NotNow(self.of_topic(&topic, &fault))),
                Err(error) => return Some(Refused::NotNow(error.to_string())),
            }
        }
        None
    }

    fn commit(&mut self, rows: &[Row], records: &[(String, String)]) -> Result<()> {
        let topics: BTreeMap<String, &str> =
            rows.iter().map(|row| (topic(&self.prefix, row), row.stream.as_str())).collect();
        for (topic, stream) in topics {
            if let Some(fault) = self.fault_of(&topic, Use::Rows(self.partitions))? {
                let stream = stream.strip_suffix(".large").unwrap_or(stream).to_owned();
                let reason = self.of_topic(&topic, &fault);
                self.faulty.insert(topic);
                return Err(GatewayError::Stream { stream, reason });
            }
        }
        // Whatever is wrong with it, the next one is another: it fences this one, and ends what this one has left.
        let Some(producer) = self.producer.take() else {
            return Err(GatewayError::Output("Kafka was not opened".to_owned()));
        };
        let done = self.transaction(&producer, rows, records);
        if done.is_ok() {
            self.producer = Some(producer);
        }
        done
    }
}

/// Whether it will be the same in a moment.
fn stays(error: RDKafkaRespErr) -> bool {
    matches!(
        RDKafkaErrorCode::from(error),
        RDKafkaErrorCode::TopicAuthorizationFailed | RDKafkaErrorCode::InvalidTopic
    )
}

/// Hands a message over; waits while the queue is full.
fn send(
    producer: &BaseProducer,
    record: BaseRecord<'_, str, str>,
) -> std::result::Result<(), KafkaError> {
    let mut record = record;
    loop {
        match producer.send(record) {
            Ok(()) => return Ok(()),
            Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), again)) => {
                producer.poll(Duration::from_millis(100));
                record = again;
            }
            Err((error, _)) => return Err(error),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for what another thread completes.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
