-- NEXMark q7, the part that SQL can say: for every tumbling window of 20 s and bidder, the highest price.
-- State: window aggregates (TUMBLE).
--
-- Flink 2.3, SQL client: afterbay-workloads-*-job.jar in lib/, then: sql-client.sh -f q7.sql

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
    'events' = '2000000',
    'active-keys' = '10000',
    'inter-event' = '100 micros',
    'seed' = '1'
);

SELECT window_end, bidder, MAX(price) AS price
FROM TUMBLE(TABLE bid, DESCRIPTOR(event_time), INTERVAL '20' SECOND)
GROUP BY window_start, window_end, bidder;
