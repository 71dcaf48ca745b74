-- Auctions that were opened within 10 s after their seller registered.
-- State: maps from time to rows of both sides, emptied by timers (interval join).
--
-- Flink 2.3, SQL client: afterbay-workloads-*-job.jar in lib/, then: sql-client.sh -f interval-join.sql

CREATE TABLE person (
    id         BIGINT,
    profile    BIGINT,
    event_time TIMESTAMP(3),
    WATERMARK FOR event_time AS SOURCE_WATERMARK()
) WITH (
    'connector' = 'nexmark',
    'kind' = 'person',
    'events' = '2000000',
    'active-keys' = '10000',
    'inter-event' = '100 micros',
    'seed' = '1'
);

CREATE TABLE auction (
    id         BIGINT,
    seller     BIGINT,
    event_time TIMESTAMP(3),
    WATERMARK FOR event_time AS SOURCE_WATERMARK()
) WITH (
    'connector' = 'nexmark',
    'kind' = 'auction',
    'events' = '2000000',
    'active-keys' = '10000',
    'inter-event' = '100 micros',
    'seed' = '1'
);

SELECT p.id AS person, a.id AS auction, p.event_time AS registered, a.event_time AS opened
FROM person AS p
JOIN auction AS a
    ON p.id = a.seller
    AND a.event_time BETWEEN p.event_time AND p.event_time + INTERVAL '10' SECOND;
