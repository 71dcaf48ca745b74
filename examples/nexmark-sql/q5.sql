-- NEXMark q5: for every sliding window of 20 s, each 10 s, the auctions with the most bids.
-- State: window aggregates (HOP), and a join of two windowed results.
--
-- Flink 2.3, SQL client: afterbay-workloads-*-job.jar in lib/, then: sql-client.sh -f q5.sql

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

CREATE VIEW bids_per_auction AS
SELECT window_start, window_end, auction, COUNT(*) AS bids
FROM HOP(TABLE bid, DESCRIPTOR(event_time), INTERVAL '10' SECOND, INTERVAL '20' SECOND)
GROUP BY window_start, window_end, auction;

CREATE VIEW most_bids AS
SELECT window_start, window_end, MAX(bids) AS bids
FROM bids_per_auction
GROUP BY window_start, window_end;

SELECT b.window_end, b.auction, b.bids
FROM bids_per_auction AS b
JOIN most_bids AS m
    ON b.window_start = m.window_start AND b.window_end = m.window_end AND b.bids = m.bids;
