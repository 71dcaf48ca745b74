-- NEXMark q8: persons who registered and opened an auction in the same tumbling window of 20 s.
-- State: the rows of both sides of a window join (TUMBLE).
--
-- Flink 2.3, SQL client: afterbay-workloads-*-job.jar in lib/, then: sql-client.sh -f q8.sql

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

SELECT p.window_end, p.id AS person, a.id AS auction
FROM (SELECT * FROM TUMBLE(TABLE person, DESCRIPTOR(event_time), INTERVAL '20' SECOND)) AS p
JOIN (SELECT * FROM TUMBLE(TABLE auction, DESCRIPTOR(event_time), INTERVAL '20' SECOND)) AS a
    ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end;
