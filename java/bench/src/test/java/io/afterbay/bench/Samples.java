package io.afterbay.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Comparisons as they could have come out, from a seed: what the reports are tried with. The
 * figures are invented.
 */
final class Samples {
    private static final int PAIRS = 5;
    private static final int LATENCY_MS = 40_000;
    private static final double RATE_PER_S = 120_000;
    private static final double[] PERCENTS = {
        1, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.9, 99.95, 99.99
    };

    private Samples() {}

    /** What a backend is like. Times in milliseconds, sizes in MB. */
    private record Character(
            String backend,
            double eventsPerS,
            double cpuUsPerEvent,
            double p50Ms,
            double stallMs,
            double rssMb,
            double diskMb) {}

    private static final Character AFTERBAY =
            new Character("afterbay", 412_000, 3.1, 4, 40, 1480, 610);
    private static final Character HEAP_TIMERS =
            new Character("rocksdb-heap-timers", 229_000, 5.2, 9, 4200, 1530, 980);
    private static final Character ROCKSDB =
            new Character("rocksdb", 141_000, 8.8, 14, 6100, 1510, 1130);
    private static final Character HASHMAP =
            new Character("hashmap", 395_000, 3.3, 3, 900, 3900, 820);

    /** Afterbay wins. */
    static Comparison good() {
        return nexmark(PAIRS, true, List.of(AFTERBAY, HEAP_TIMERS, ROCKSDB, HASHMAP), Map.of());
    }

    /**
     * Afterbay is behind one, and not clearly ahead of another; results come every second, when
     * windows fire.
     */
    static Comparison behind() {
        Character slower = new Character("afterbay", 221_000, 5.4, 12, 5200, 1480, 610);
        Comparison all =
                nexmark(PAIRS, true, List.of(slower, HEAP_TIMERS, ROCKSDB, HASHMAP), Map.of());
        return with(all, all.timelines().stream().map(Samples::everySecond).toList());
    }

    private static Comparison with(Comparison comparison, List<Timeline> timelines) {
        return new Comparison(
                comparison.target(),
                comparison.command(),
                comparison.environment(),
                comparison.latencySource(),
                comparison.ratePerS(),
                comparison.runs(),
                comparison.ratios(),
                comparison.outputsEqual(),
                timelines);
    }

    private static Timeline everySecond(Timeline timeline) {
        List<Double> latency = new ArrayList<>(timeline.latencyMaxMs());
        for (int window = 0; window < latency.size(); window++) {
            if (window * timeline.windowMs() % 1000 >= 100) {
                latency.set(window, null);
            }
        }
        return new Timeline(
                timeline.backend(),
                timeline.pair(),
                timeline.windowMs(),
                latency,
                timeline.events(),
                timeline.checkpoints(),
                timeline.samples(),
                timeline.percentiles());
    }

    /** HashMap ran out of memory, and one run of RocksDB failed. */
    static Comparison outOfMemory() {
        Map<String, String> failures =
                Map.of(
                        "hashmap", "out of memory: Java heap space; the state needs more than 768m",
                        "rocksdb 3", "killed after 600 s without progress");
        return nexmark(PAIRS, true, List.of(AFTERBAY, HEAP_TIMERS, ROCKSDB, HASHMAP), failures);
    }

    /** The runs do not agree on the rows. */
    static Comparison outputsDiffer() {
        return nexmark(PAIRS, false, List.of(AFTERBAY, HEAP_TIMERS, ROCKSDB, HASHMAP), Map.of());
    }

    /** One pair of two backends: what {@code --quick} gives. */
    static Comparison quick() {
        return nexmark(1, true, List.of(AFTERBAY, HEAP_TIMERS), Map.of());
    }

    /** No run finished. */
    static Comparison allFailed() {
        String reason = "the job did not start: no main class in </script><!-- job.jar";
        return nexmark(
                1, null, List.of(AFTERBAY, ROCKSDB), Map.of("afterbay", reason, "rocksdb", reason));
    }

    /**
     * A job of the user: events in blocks, latency markers, no percentiles, nothing known of the
     * rows.
     */
    static Comparison foreignJob() {
        Random random = new Random(7);
        List<Run> runs =
                IntStream.rangeClosed(1, 3)
                        .boxed()
                        .flatMap(
                                pair ->
                                        Stream.of(AFTERBAY, HEAP_TIMERS, HASHMAP)
                                                .map(one -> marked(one, pair, random)))
                        .toList();
        List<Timeline> timelines =
                Stream.of(AFTERBAY, HEAP_TIMERS, HASHMAP)
                        .map(one -> withoutPercentiles(timeline(one, 2, random)))
                        .toList();
        return new Comparison(
                "fraud.jar --class com.example.FraudJob -- --input /data/card payments.csv",
                "./afterbay compare fraud.jar --class com.example.FraudJob --duration 60s -- --input '/data/card payments.csv'",
                environment("page-cached"),
                "markers",
                null,
                runs,
                Ratios.of(runs),
                null,
                timelines);
    }

    private static Comparison nexmark(
            int pairs, Boolean equal, List<Character> backends, Map<String, String> failures) {
        Random random = new Random(42);
        List<Run> runs =
                IntStream.rangeClosed(1, pairs)
                        .boxed()
                        .flatMap(
                                pair ->
                                        backends.stream()
                                                .map(one -> run(one, pair, failures, random)))
                        .toList();
        List<Timeline> timelines =
                backends.stream()
                        .filter(one -> !failures.containsKey(one.backend))
                        .map(one -> timeline(one, (pairs + 1) / 2, random))
                        .toList();
        return new Comparison(
                "nexmark --query q7",
                "./afterbay compare nexmark --query q7 --pairs " + pairs,
                environment("cgroup 2 GB"),
                "results",
                RATE_PER_S,
                runs,
                Ratios.of(runs),
                equal,
                timelines);
    }

    private static Map<String, String> environment(String limit) {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("date", "2026-11-21 09:00 UTC");
        environment.put("versions", "Afterbay 0.1.0, Flink 2.3.0, Java 17.0.15");
        environment.put("machine", "Linux 6.1, 2 processors, 8 GB");
        environment.put(Comparison.LIMIT, limit);
        environment.put("memory", "2 GB: heap 768 MB, state 768 MB, network 64 MB, JVM 448 MB");
        environment.put("load average", "0.12 before, 1.87 after");
        return environment;
    }

    private static Run run(Character one, int pair, Map<String, String> failures, Random random) {
        String failure = failures.getOrDefault(one.backend, failures.get(one.backend + " " + pair));
        if (failure != null) {
            return RunBuilder.run(one.backend, pair)
                    .with(Figure.PEAK_RSS_MB, one.rssMb)
                    .failed(failure)
                    .build();
        }
        return closedLoop(one, pair, random)
                .with(Figure.P50_MS, one.p50Ms)
                .with(Figure.P90_MS, latency(one, 90))
                .with(Figure.P95_MS, latency(one, 95))
                .with(Figure.P99_MS, latency(one, 99))
                .with(Figure.P999_MS, latency(one, 99.9) * noise(random, 0.1))
                .with(Figure.MAX_MS, one.stallMs * noise(random, 0.1))
                .with(Figure.LONGEST_PAUSE_MS, one.stallMs * 0.9 * noise(random, 0.1))
                .build();
    }

    private static Run marked(Character one, int pair, Random random) {
        return closedLoop(one, pair, random)
                .with(Figure.P50_MS, one.p50Ms)
                .with(Figure.P99_MS, latency(one, 99))
                .build();
    }

    private static RunBuilder closedLoop(Character one, int pair, Random random) {
        double speed = noise(random, 0.06);
        return RunBuilder.run(one.backend, pair)
                .with(Figure.EVENTS_PER_S, one.eventsPerS * speed)
                .with(Figure.CPU_US_PER_EVENT, one.cpuUsPerEvent / Math.sqrt(speed))
                .with(Figure.TASK_CPU_US_PER_EVENT, one.cpuUsPerEvent * 0.7)
                .with(Figure.BACKGROUND_CPU_US_PER_EVENT, one.cpuUsPerEvent * 0.2)
                .with(Figure.STORE_WRITE_CPU_US_PER_EVENT, one.cpuUsPerEvent * 0.3)
                .with(Figure.STORE_READ_CPU_US_PER_EVENT, one.cpuUsPerEvent * 0.1)
                .with(Figure.PEAK_RSS_MB, one.rssMb * noise(random, 0.02))
                .with(Figure.DISK_MB, one.diskMb * noise(random, 0.02))
                .with(Figure.WRITTEN_MB, one.diskMb * 4 * noise(random, 0.05))
                .with(Figure.GC_MS, one.backend.equals("hashmap") ? 5400 : 240);
    }

    private static double noise(Random random, double size) {
        return 1 + size * (2 * random.nextDouble() - 1);
    }

    private static Timeline timeline(Character one, int pair, Random random) {
        int windowMs = 50;
        List<Double> latency = new ArrayList<>();
        List<Long> events = new ArrayList<>();
        for (int atMs = 0; atMs < LATENCY_MS; atMs += windowMs) {
            double sinceStall = atMs % 10_000;
            boolean stalled = atMs >= 10_000 && sinceStall < one.stallMs;
            double tail = Math.max(0, one.stallMs - sinceStall) * (atMs >= 10_000 ? 1 : 0);
            double usual = one.p50Ms * (1 + random.nextDouble());
            latency.add(stalled && random.nextInt(3) > 0 ? null : Math.max(usual, tail));
            events.add(stalled ? 0 : Math.round(RATE_PER_S / 20 * noise(random, 0.03)));
        }
        return new Timeline(
                one.backend,
                pair,
                windowMs,
                latency,
                events,
                checkpoints(one),
                samples(one, random),
                percentiles(one));
    }

    private static Timeline withoutPercentiles(Timeline timeline) {
        return new Timeline(
                timeline.backend(),
                timeline.pair(),
                timeline.windowMs(),
                List.of(),
                inBlocks(timeline.events()),
                timeline.checkpoints(),
                timeline.samples(),
                List.of());
    }

    /** As from a source that hands over what it has read every 200 ms. */
    private static List<Long> inBlocks(List<Long> events) {
        List<Long> blocks = new ArrayList<>();
        long block = 0;
        for (int window = 0; window < events.size(); window++) {
            block += events.get(window);
            boolean handsOver = window % 4 == 3;
            blocks.add(handsOver ? block : 0);
            block = handsOver ? 0 : block;
        }
        return blocks;
    }

    private static List<Timeline.Checkpoint> checkpoints(Character one) {
        return IntStream.of(9_900, 19_900, 29_900)
                .mapToObj(
                        atMs ->
                                new Timeline.Checkpoint(
                                        atMs, 200 + one.stallMs / 2, one.diskMb / 2))
                .toList();
    }

    private static List<Timeline.Sample> samples(Character one, Random random) {
        return IntStream.iterate(0, atMs -> atMs < LATENCY_MS, atMs -> atMs + 250)
                .mapToObj(
                        atMs -> {
                            double grown = 1 - Math.exp(-atMs / 8000.0);
                            double sawtooth = 0.8 + 0.2 * (atMs % 7000) / 7000;
                            return new Timeline.Sample(
                                    atMs,
                                    one.rssMb * (0.6 + 0.4 * grown) * noise(random, 0.01),
                                    one.diskMb * grown * sawtooth);
                        })
                .toList();
    }

    private static List<Timeline.Percentile> percentiles(Character one) {
        return Arrays.stream(PERCENTS)
                .mapToObj(percent -> new Timeline.Percentile(percent, latency(one, percent)))
                .toList();
    }

    /** A body around the median, and a tail that ends at the stall. */
    private static double latency(Character one, double percent) {
        double nines = -Math.log10(1 - percent / 100);
        double body = one.p50Ms * Math.pow(1.9, nines - 0.3);
        return Math.min(one.stallMs, body + one.stallMs * Math.pow(nines / 4, 6));
    }
}
