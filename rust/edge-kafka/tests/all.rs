//! Transactions, at the brokers that librdkafka brings for tests.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use afterbay_edge_gateway::output::Output;
use afterbay_edge_gateway::{GatewayError, Refused, Row};
use afterbay_edge_kafka::KafkaOutput;
use afterbay_test_form::{PATIENCE, Wait};
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::Message;
use rdkafka::mocking::MockCluster;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use rdkafka::types::RDKafkaRespErr;

fn row(number: u32, partition: u32, late: bool) -> Row {
    Row { stream: "rows".to_owned(), late, partition, json: format!("{{\"x\":{number}}}") }
}

fn kafka(bootstrap: &str, prefix: &str) -> KafkaOutput {
    KafkaOutput::with_topics(bootstrap, prefix, PATIENCE)
}

fn record(value: &str) -> [(String, String); 1] {
    [("rows/site/a".to_owned(), value.to_owned())]
}

/// The first messages of a partition.
fn messages(bootstrap: &str, topic: &str, partition: i32, count: usize) -> Vec<String> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", bootstrap)
        .set("group.id", "test")
        .set("isolation.level", "read_committed")
        .create()
        .unwrap();
    let mut place = TopicPartitionList::new();
    place.add_partition_offset(topic, partition, Offset::Beginning).unwrap();
    consumer.assign(&place).unwrap();
    let mut found = Vec::new();
    let wait = Wait::until("messages come");
    while found.len() < count {
        wait.check(&found);
        if let Some(message) = consumer.poll(Duration::from_millis(100)) {
            let message = message.unwrap();
            found.push(String::from_utf8(message.payload().unwrap().to_vec()).unwrap());
        }
    }
    found
}

#[test]
fn rows_and_records_are_committed_together() {
    let cluster = MockCluster::new(1).unwrap();
    // These brokers make topics by themselves only.
    for (topic, partitions) in [("t-afterbay-edge-progress", 1), ("t-rows", 2), ("t-rows.late", 2)]
    {
        cluster.create_topic(topic, partitions, 1).unwrap();
    }
    let bootstrap = cluster.bootstrap_servers();
    let mut output = kafka(&bootstrap, "t-");
    assert!(output.recover().unwrap().is_empty());
    let rows = [row(1, 0, false), row(2, 1, false), row(3, 0, true), row(4, 0, false)];
    output.commit(&rows, &record("1")).unwrap();
    output.commit(&[row(5, 0, false)], &record("2")).unwrap();
    output.commit(&[], &record("3")).unwrap();
    let mut other = kafka(&bootstrap, "t-");
    assert_eq!(other.recover().unwrap().into_iter().collect::<Vec<_>>(), record("3"));
    // These brokers fence nobody.
    drop(output);
    other.commit(&[row(6, 0, false)], &record("4")).unwrap();
    let x = |number: u32| format!("{{\"x\":{number}}}");
    assert_eq!(messages(&bootstrap, "t-rows", 0, 4), [x(1), x(4), x(5), x(6)]);
    assert_eq!(messages(&bootstrap, "t-rows", 1, 1), [x(2)]);
    assert_eq!(messages(&bootstrap, "t-rows.late", 0, 1), [x(3)]);
    assert_eq!(other.recover().unwrap().into_iter().collect::<Vec<_>>(), record("4"));
}

/// The largest row that is said to be taken is taken; a larger one is not, and would come again for ever.
#[test]
fn the_largest_row_is_taken() {
    let cluster = MockCluster::new(1).unwrap();
    for topic in ["afterbay-edge-progress", "rows"] {
        cluster.create_topic(topic, 1, 1).unwrap();
    }
    let bootstrap = cluster.bootstrap_servers();
    let mut output = kafka(&bootstrap, "");
    output.recover().unwrap();
    let row = |bytes: usize| Row { json: "x".repeat(bytes), ..row(1, 0, false) };
    let most = output.row_bytes_max();
    output.commit(&[row(most)], &record("1")).unwrap();
    assert_eq!(messages(&bootstrap, "rows", 0, 1)[0].len(), most);
    let error = output.commit(&[row(most + 2000)], &record("2")).unwrap_err().to_string();
    assert!(error.contains("topic rows, partition 0"), "{error}");
}

/// Brokers are asked for topics that are not there; they would make them, with other settings than ours.
#[test]
fn brokers_make_no_topics_by_themselves() {
    let cluster = MockCluster::new(1).unwrap();
    let bootstrap = cluster.bootstrap_servers();
    let little = Duration::from_secs(2);
    let mut output = KafkaOutput::with_topics(&bootstrap, "", little);
    let error = output.recover().unwrap_err().to_string();
    assert!(error.contains("topic afterbay-edge-progress: "), "{error}");
    let refused = output.refuses("rows");
    assert!(matches!(&refused, Some(Refused::NotNow(why)) if why.contains("topic rows: ")));
    let consumer: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", &bootstrap).create().unwrap();
    let known = consumer.fetch_metadata(None, PATIENCE).unwrap();
    let names: Vec<&str> = known.topics().iter().map(|topic| topic.name()).collect();
    assert!(names.is_empty(), "{names:?}");
}

/// One stream that cannot be written, and the other ones go on.
#[test]
fn a_stream_is_refused_by_itself() {
    let cluster = MockCluster::new(1).unwrap();
    for topic in ["t-afterbay-edge-progress", "t-rows", "t-other"] {
        cluster.create_topic(topic, 1, 1).unwrap();
    }
    let denied = RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    let right = RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR;
    let mut output = kafka(&cluster.bootstrap_servers(), "t-");
    output.recover().unwrap();
    let own = output.refuses("afterbay-edge-progress");
    assert!(matches!(&own, Some(Refused::Wrong(why)) if why.contains("--stream")), "{own:?}");
    cluster.topic_error("t-rows", denied).unwrap();
    let refused = output.refuses("rows");
    assert!(matches!(&refused, Some(Refused::NotNow(why)) if why.contains("topic t-rows: ")));
    assert_eq!(output.refuses("other"), None);
    // Who commits it all the same is told which stream it is, also if it is a topic beside the stream's.
    let error = output.commit(&[row(1, 0, false)], &record("1")).unwrap_err();
    assert!(matches!(&error, GatewayError::Stream { stream, .. } if stream == "rows"), "{error}");
    cluster.topic_error("t-rows", right).unwrap();
    cluster.create_topic("t-rows.late", 1, 1).unwrap();
    cluster.topic_error("t-rows.late", denied).unwrap();
    output.recover().unwrap();
    assert_eq!(output.refuses("rows"), None);
    let error = output.commit(&[row(1, 0, true)], &record("1")).unwrap_err();
    assert!(matches!(&error, GatewayError::Stream { stream, .. } if stream == "rows"), "{error}");
    output.recover().unwrap();
    let refused = output.refuses("rows");
    assert!(matches!(&refused, Some(Refused::NotNow(why)) if why.contains("t-rows.late")));
    cluster.topic_error("t-rows.late", right).unwrap();
    assert_eq!(output.refuses("rows"), None);
    output.commit(&[row(1, 0, true)], &record("1")).unwrap();
}

#[test]
fn a_topic_of_other_partitions_is_refused() {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("a-afterbay-edge-progress", 2, 1).unwrap();
    let bootstrap = cluster.bootstrap_servers();
    let error = kafka(&bootstrap, "a-").recover().unwrap_err().to_string();
    assert!(
        error.contains("topic a-afterbay-edge-progress: it has 2 partitions, and one is needed"),
        "{error}"
    );
}

#[test]
fn a_broker_that_is_not_there_is_named() {
    let mut output = KafkaOutput::with_topics("127.0.0.1:1", "", Duration::from_secs(2));
    let error = output.recover().unwrap_err().to_string();
    assert!(error.contains("Kafka at 127.0.0.1:1"), "{error}");
}
