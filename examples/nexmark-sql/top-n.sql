-- The two highest bids of each auction so far; of two with the same price, the earlier one comes first. A
-- higher bid takes back a row that was emitted before.
-- State: the best rows of each auction (top-N).
--
-- Flink 2.3, SQL client: afterbay-workloads-*-job.jar in lib/, then: sql-client.sh -f top-n.sql

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

SELECT auction, place, price, bidder
FROM (
    SELECT auction, bidder, price,
        ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, number ASC) AS place
    FROM bid)
WHERE place <= 2;
