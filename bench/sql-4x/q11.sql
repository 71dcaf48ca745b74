-- NEXMark q11: how many bids each bidder made in each session, which ends when the bidder pauses for more
-- than 10 minutes.
-- State: aggregates of windows that merge (SESSION).
-- As in examples/nexmark-sql, with so many bidders that it exceeds the memory of the experiment (bench sql).
--
-- Flink 2.3, SQL client: afterbay-workloads-*-job.jar in lib/, then: sql-client.sh -f q11.sql

CREATE TABLE bid (
    number     BIGINT,
    auction    BIGINT,
    bidder     BIGINT,
    price      BIGINT,
    extra      BYTES,
    event_time TIMESTAMP(3),
    WATERMARK FOR event_time AS SOURCE_WATERMARK()
) WITH (
    'connector' = 'nexmark',
    'kind' = 'bid',
    'events' = '3200000',
    'active-keys' = '3900000',
    'inter-event' = '100 micros',
    'seed' = '1'
);

SELECT window_start, window_end, bidder, COUNT(*) AS bids
FROM SESSION(
    TABLE bid PARTITION BY bidder, DESCRIPTOR(event_time), INTERVAL '10' MINUTE)
GROUP BY window_start, window_end, bidder;
