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
//! - Topics are looked at before they are used: one that forgets, or that takes no rows, is refused by name. New ones have up to
//!   three copies, two of which a commit waits for.
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
use afterbay_edge_gateway::{GatewayError, Row};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::metadata::MetadataTopic;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

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
        let (producer, topics) = (None, BTreeSet::new());
        let (makes_topics, patience) = (true, PATIENCE);
        Self { bootstrap, prefix, partitions, producer, topics, makes_topics, patience }
    }

    /// With topics that somebody else has made, and little patience: for brokers of tests.
    #[doc(hidden)]
    pub fn with_topics(bootstrap: &str, prefix: &str) -> Self {
        let patience = Duration::from_secs(10);
        Self { makes_topics: false, patience, ..Self::new(bootstrap, prefix, 1) }
    }

    fn config(&self) -> ClientConfig {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &self.bootstrap);
        config.set("client.id", "afterbay-edge-gateway");
        config
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
    fn check_topic(&mut self, name: &str, usage: Use) -> Result<()> {
        if self.topics.contains(name) {
            return Ok(());
        }
        let failed = self.failed(&format!("topic {name}"));
        let admin: AdminClient<DefaultClientContext> = self.config().create().map_err(&failed)?;
        if self.makes_topics {
            self.make_topic(&admin, name, usage)?;
        }
        let mut topic = self.find(&admin, name)?;
        if self.makes_topics {
            let options = AdminOptions::new().request_timeout(Some(PATIENCE));
            let asked = [ResourceSpecifier::Topic(name)];
            let told = block_on(admin.describe_configs(&asked, &options)).map_err(&failed)?;
            for resource in told {
                let resource = resource.map_err(|code| {
                    let what =
                        "its configuration cannot be read (DescribeConfigs has to be allowed)";
                    self.failed(&format!("topic {name}: {what}"))(KafkaError::AdminOp(code))
                })?;
                let entries = resource.entries.into_iter();
                topic.config.extend(entries.filter_map(|one| Some((one.name, one.value?))));
            }
        }
        if let Some(fault) = topic.fault(usage, &self.bootstrap) {
            let what = format!("Kafka at {}: topic {name}: {fault}", self.bootstrap);
            return Err(GatewayError::Output(what));
        }
        self.topics.insert(name.to_owned());
        Ok(())
    }

    fn make_topic(
        &self,
        admin: &AdminClient<DefaultClientContext>,
        name: &str,
        usage: Use,
    ) -> Result<()> {
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
                Err((_, code)) => return Err(failed(KafkaError::AdminOp(code))),
            }
        }
        Ok(())
    }

    /// What the brokers say of a topic. A new one is known to all of them only after a while.
    fn find(&self, admin: &AdminClient<DefaultClientContext>, name: &str) -> Result<Topic> {
        let failed = self.failed(&format!("topic {name}"));
        let began = Instant::now();
        loop {
            let told = admin.inner().fetch_metadata(Some(name), self.patience).map_err(&failed)?;
            let topic = told.topics().iter().find(|topic| topic.name() == name);
            let error = topic.map(MetadataTopic::error);
            match topic {
                Some(topic) if topic.error().is_none() && !topic.partitions().is_empty() => {
                    let copies = topic.partitions().iter().map(|one| one.replicas().len()).min();
                    return Ok(Topic {
                        name: name.to_owned(),
                        partitions: topic.partitions().len(),
                        copies: copies.unwrap_or(0),
                        config: BTreeMap::new(),
                    });
                }
                _ if began.elapsed() < self.patience => std::thread::sleep(LOOK),
                _ => {
                    let what = format!("Kafka at {}: topic {name}: {error:?}", self.bootstrap);
                    return Err(GatewayError::Output(what));
                }
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

impl Output for KafkaOutput {
    fn row_bytes_max(&self) -> usize {
        (MESSAGE_BYTES_MAX - OVERHEAD_BYTES) as usize
    }

    fn recover(&mut self) -> Result<BTreeMap<String, String>> {
        self.producer = None;
        self.topics.clear();
        let progress = self.progress();
        self.check_topic(&progress, Use::Progress)?;
        self.producer = Some(self.open_producer()?);
        self.read_records()
    }

    fn commit(&mut self, rows: &[Row], records: &[(String, String)]) -> Result<()> {
        let topics: BTreeSet<String> = rows.iter().map(|row| topic(&self.prefix, row)).collect();
        for topic in topics {
            self.check_topic(&topic, Use::Rows(self.partitions))?;
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
