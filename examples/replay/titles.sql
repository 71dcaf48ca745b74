-- Titles by dictionary @DICTIONARY@, from a topic of Kafka to a table in another: the job of run.sh as a script.
ADD JAR '@JAR@';

CREATE TEMPORARY FUNCTION standardize AS 'io.afterbay.workloads.profiles.StandardizeFunction';

CREATE TABLE profiles (
    `member` BIGINT,
    changed_us BIGINT,
    title STRING,
    changed AS TO_TIMESTAMP_LTZ(changed_us / 1000, 3),
    WATERMARK FOR changed AS changed
) WITH (
    'connector' = 'kafka',
    'topic' = 'profiles',
    'properties.bootstrap.servers' = '@BROKER@',
    'properties.group.id' = 'titles',
    'properties.auto.offset.reset' = 'earliest',
    'scan.startup.mode' = 'group-offsets',
    'key.format' = 'csv',
    'key.fields' = 'member',
    'value.format' = 'csv',
    'value.fields-include' = 'EXCEPT_KEY'
);

CREATE TABLE titles (
    `member` BIGINT PRIMARY KEY NOT ENFORCED,
    title STRING,
    dictionary INT,
    changed_us BIGINT
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'titles',
    'properties.bootstrap.servers' = '@BROKER@',
    'key.format' = 'csv',
    'value.format' = 'csv',
    'value.fields-include' = 'EXCEPT_KEY'
);

INSERT INTO titles
SELECT `member`, standardize(title, @DICTIONARY@), @DICTIONARY@, changed_us
FROM (
    SELECT *, ROW_NUMBER() OVER (PARTITION BY `member` ORDER BY changed DESC) AS place
    FROM profiles
)
WHERE place = 1;
