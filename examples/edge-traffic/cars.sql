-- Per street and ten seconds: distinct cars. A set of cars is no value that a table carries, so only the columns that
-- are needed leave the sites; './afterbay edge plan' says so.
CREATE TABLE reports (
  time_s BIGINT,
  car STRING,
  street STRING,
  speed_dmps INT,
  ts AS TO_TIMESTAMP_LTZ(time_s * 1000, 3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = 'districts'
);

SELECT street, window_start, COUNT(DISTINCT car) AS cars
FROM TABLE(TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY street, window_start, window_end;
