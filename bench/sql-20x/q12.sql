-- NEXMark q12 as a continuous query: how many bids each bidder has made so far. Every bid changes a row of the
-- result.
-- State: one aggregate for each bidder (GROUP BY without a window).
-- As in examples/nexmark-sql, with so many bidders that it exceeds the memory of the experiment (bench sql).
--
-- Flink 2.3, SQL client: afterbay-workloads-*-job.jar in lib/, then: sql-client.sh -f q12.sql

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
    'events' = '6625000',
    'active-keys' = '9750000',
    'inter-event' = '100 micros',
    'seed' = '1'
);

SELECT bidder, COUNT(*) AS bids
FROM bid
GROUP BY bidder;
