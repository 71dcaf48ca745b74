-- Per street and ten seconds: reports, the sum of their speeds and the largest one, in decimetres per second.
-- Every column of a result is an integer, so that no order of additions shows.
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

CREATE TABLE streets (
  street STRING,
  window_start TIMESTAMP(3),
  reports BIGINT,
  speed_sum_dmps BIGINT,
  speed_max_dmps INT
) WITH ('connector' = 'print');

INSERT INTO streets
SELECT street, window_start, COUNT(*), SUM(CAST(speed_dmps AS BIGINT)), MAX(speed_dmps)
FROM TABLE(TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY street, window_start, window_end;
