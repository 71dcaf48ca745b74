-- The first bid of each bidder.
-- State: one row for each bidder (deduplication that keeps the first row by event time).
-- As in examples/nexmark-sql, with so many bidders that it exceeds the memory of the experiment (bench sql).
--
-- Flink 2.3, SQL client: afterbay-workloads-*-job.jar in lib/, then: sql-client.sh -f deduplication.sql

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

SELECT bidder, auction, price, event_time
FROM (
    SELECT bidder, auction, price, event_time,
        ROW_NUMBER() OVER (PARTITION BY bidder ORDER BY event_time ASC) AS place
    FROM bid)
WHERE place = 1;
