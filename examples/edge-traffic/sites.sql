-- What the sites see: the reports of the city's cars, in the order of the trace, each at the district in which it was made.
-- A district is a quarter of the city from south to north, and a half of it from west to east; streets cross borders.
CREATE TABLE trace (
  time_s BIGINT,
  car STRING,
  street STRING,
  x_m DOUBLE,
  y_m DOUBLE,
  speed_mps DECIMAL(5, 1)
) WITH (
  'connector' = 'filesystem',
  'path' = '../traffic-jam/city-traffic.csv.gz',
  'format' = 'csv',
  'csv.ignore-parse-errors' = 'true' -- the header
);

-- The city is 2,724 m wide and 3,379 m high; what lies a little outside belongs to the nearest district.
SELECT
  'district-' || CAST(
    2 * GREATEST(0, LEAST(3, CAST(FLOOR(4 * y_m / 3379) AS INT))) + CASE WHEN x_m >= 1362 THEN 1 ELSE 0 END
    AS STRING) AS edge_site,
  time_s, car, street, x_m, y_m, CAST(speed_mps * 10 AS INT) AS speed_dmps
FROM trace
WHERE time_s IS NOT NULL;
