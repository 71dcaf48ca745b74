package io.afterbay.edge.it;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Random reports of sensors in the order in which they arrive, each at a site.
 *
 * @param rows all of them
 */
record Reports(List<Report> rows) {
    /** Of the table below. */
    static final long DELAY_MS = 2_000;

    static final String TABLE =
            """
            CREATE TABLE reports (
              room INT,
              name STRING,
              storey INT NOT NULL,
              n INT,
              big BIGINT,
              x DOUBLE,
              price DECIMAL(10, 2),
              huge DECIMAL(38, 0),
              ok BOOLEAN,
              moment TIMESTAMP(3),
              ts TIMESTAMP(3),
              WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
            ) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = 'file:///reports');
            """;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS").withZone(ZoneOffset.UTC);
    private static final long START_MS = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();
    private static final double[] NUMBERS = {
        Double.NaN,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY,
        -0.0,
        0.0,
        Double.MIN_VALUE,
        Double.MAX_VALUE,
        1e19,
        -2.5
    };
    private static final String[] NAMES = {
        "", "a", " 12", "-7", "Ab", "abc", "äöü", "a%b_c", " x ", "日本"
    };

    record Report(int site, String line) {}

    /** What is unusual about reports. */
    enum Disorder {
        /** None is late. */
        WITHIN_DELAY,
        /** Some are late by so much that they are late wherever one looks. */
        HOPELESS,
        /** Late by anything. */
        ANY
    }

    static Reports random(long seed, int count, int sites, Disorder disorder) {
        Random random = new Random(seed);
        List<Report> rows = new ArrayList<>();
        long now = START_MS + 120_000;
        for (int i = 0; i < count; i++) {
            now += random.nextInt(400);
            long time = now - random.nextInt((int) DELAY_MS);
            // At first nothing is late anywhere: a site that has just begun has no watermark.
            if (disorder != Disorder.WITHIN_DELAY && i > count / 10 && random.nextInt(12) == 0) {
                time -= disorder == Disorder.ANY ? random.nextInt(40_000) : 90_000;
            }
            rows.add(new Report(random.nextInt(sites), line(random, time).toString()));
        }
        return new Reports(rows);
    }

    /** None is late, and numbers are at their limits or none. */
    static Reports unusual(long seed, int count) {
        Random random = new Random(seed);
        List<Report> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ObjectNode line = line(random, START_MS + 1_000L * i);
            if (random.nextBoolean()) {
                line.put("x", NUMBERS[random.nextInt(NUMBERS.length)]);
            }
            if (random.nextInt(4) == 0) {
                line.put("n", random.nextBoolean() ? Integer.MIN_VALUE : Integer.MAX_VALUE);
            }
            if (isPresent(random)) {
                line.put("moment", TIME.format(Instant.ofEpochMilli(moment(random))));
            }
            if (random.nextInt(4) == 0) {
                line.put("big", random.nextBoolean() ? Long.MIN_VALUE : Long.MAX_VALUE);
            }
            rows.add(new Report(0, line.toString()));
        }
        return new Reports(rows);
    }

    /** Often around 1970, where a division rounds to the other side, or the end of a February. */
    private static long moment(Random random) {
        return switch (random.nextInt(3)) {
            case 0 -> random.nextLong(-200_000_000, 200_000_000);
            case 1 -> {
                int year = 1_600 + 100 * random.nextInt(80) + 4 * random.nextInt(2);
                yield Instant.parse("%04d-03-01T00:00:00Z".formatted(year)).toEpochMilli()
                        - random.nextInt(2 * 86_400_000);
            }
            default -> random.nextLong(-12_000_000_000_000L, 250_000_000_000_000L);
        };
    }

    private static ObjectNode line(Random random, long time) {
        ObjectNode line = JSON.createObjectNode();
        if (isPresent(random)) {
            line.put("room", random.nextInt(5) - 2);
        }
        if (isPresent(random)) {
            line.put("name", NAMES[random.nextInt(NAMES.length)]);
        }
        line.put("storey", random.nextInt(3));
        if (isPresent(random)) {
            line.put("n", random.nextInt(20) == 0 ? random.nextInt() : random.nextInt(200) - 100);
        }
        if (isPresent(random)) {
            line.put("big", random.nextInt(20) == 0 ? random.nextLong() : random.nextInt() * 7L);
        }
        if (isPresent(random)) {
            line.put("x", Math.rint(random.nextGaussian() * 1e6) / 1e3);
        }
        if (isPresent(random)) {
            line.put("price", (random.nextInt(2_000_000) - 1_000_000) / 100.0);
        }
        if (isPresent(random)) {
            line.put("ok", random.nextBoolean());
        }
        return line.put("ts", TIME.format(Instant.ofEpochMilli(time)));
    }

    /** The same, and each has a room: one of five that are at its site alone, or at all of them. */
    Reports withRooms(boolean isOfOneSite) {
        List<Report> withRooms = new ArrayList<>();
        for (Report report : rows) {
            int room = withRooms.size() % 5 + (isOfOneSite ? 10 * report.site() : 0);
            try {
                ObjectNode line = (ObjectNode) JSON.readTree(report.line());
                withRooms.add(new Report(report.site(), line.put("room", room).toString()));
            } catch (JsonProcessingException e) {
                throw new UncheckedIOException(e);
            }
        }
        return new Reports(withRooms);
    }

    /** Those of one site, as if there was no other. */
    Reports of(int site) {
        return new Reports(
                rows.stream()
                        .filter(report -> report.site() == site)
                        .map(report -> new Report(0, report.line()))
                        .toList());
    }

    private static boolean isPresent(Random random) {
        return random.nextInt(8) != 0;
    }

    /** All of them in one file, as the whole job reads them. */
    Path write(Path file) throws IOException {
        return Files.write(file, rows.stream().map(Report::line).toList());
    }

    /** Those of each site, for a number of sites; one may have none. */
    Map<String, Path> write(Path directory, int sites) throws IOException {
        Map<String, Path> files = new LinkedHashMap<>();
        for (int site = 0; site < sites; site++) {
            int wanted = site;
            files.put(
                    "site" + site,
                    Files.write(
                            directory.resolve("reports-" + site + ".ndjson"),
                            rows.stream()
                                    .filter(report -> report.site() == wanted)
                                    .map(Report::line)
                                    .toList()));
        }
        return files;
    }
}
