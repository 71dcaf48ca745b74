-- The three auctions with the most bids of every sliding window of 20 s, each 10 s; of two with the
-- same number of bids, the older one comes first.
-- State: window aggregates (HOP), and the best three rows of each window.
--
-- Flink 2.3, SQL client: afterbay-workloads-*-job.jar in lib/, then: sql-client.sh -f window-top-n.sql

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

SELECT window_end, place, auction, bids
FROM (
    SELECT *,
        ROW_NUMBER() OVER (
            PARTITION BY window_start, window_end ORDER BY bids DESC, auction ASC) AS place
    FROM (
        SELECT window_start, window_end, auction, COUNT(*) AS bids
        FROM HOP(TABLE bid, DESCRIPTOR(event_time), INTERVAL '10' SECOND, INTERVAL '20' SECOND)
        GROUP BY window_start, window_end, auction))
WHERE place <= 3;
