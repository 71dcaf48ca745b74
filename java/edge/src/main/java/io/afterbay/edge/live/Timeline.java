package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.program.PlanCut;
import io.afterbay.edge.program.SiteItem;
import io.afterbay.edge.program.SiteItem.SiteRow;
import io.afterbay.edge.program.SiteItem.SiteWatermark;
import io.afterbay.edge.program.SiteStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * When each line of each site happens, as the job itself sees it: at the watermark that the site
 * has behind the line. So a line that is late happens when it came, and the age of a result does
 * not count the delay that the job's watermark allows for.
 *
 * @param lines of each site, those that are not blank: ms from the beginning
 * @param firstMs the watermark at the beginning
 * @param spanMs from there to the last one
 * @param isEventTime false if sites make no watermarks: then lines are spread evenly
 */
record Timeline(Map<String, long[]> lines, long firstMs, long spanMs, boolean isEventTime) {
    private static final long EVEN_SPAN_MS = 60_000;

    /**
     * @param times the plan of a job that has a row, and the watermark, for each line; null if
     *     there is none
     * @param inputs what each site sees, by name
     */
    static Timeline of(
            EdgeProgram program, @Nullable PlanJson times, Map<String, Path> inputs, Path directory)
            throws CommandFailure, IOException, InterruptedException {
        if (times == null) {
            return evenly(inputs);
        }
        PlanCut cut = program.cut(times, directory);
        if (!cut.sitesMakeWatermarks()) {
            return evenly(inputs);
        }
        Map<String, long[]> watermarks = new LinkedHashMap<>();
        for (Map.Entry<String, Path> input : inputs.entrySet()) {
            Path rows = directory.resolve("times.ndjson");
            program.exec(cut, input.getKey(), input.getValue(), rows);
            long[] found = watermarks(rows);
            if (found.length != count(input.getValue())) {
                return evenly(inputs); // lines that are skipped
            }
            watermarks.put(input.getKey(), found);
        }
        return byWatermark(watermarks);
    }

    private static long[] watermarks(Path rows) throws IOException {
        LongStream.Builder all = LongStream.builder();
        try (SiteStream stream = SiteStream.open(rows)) {
            long watermark = Long.MIN_VALUE;
            boolean pending = false;
            for (SiteItem item = stream.next(); item != null; item = stream.next()) {
                if (item instanceof SiteWatermark next && next.millis() != Long.MAX_VALUE) {
                    watermark = next.millis();
                } else if (pending) {
                    all.add(watermark);
                    pending = false;
                }
                pending |= item instanceof SiteRow;
            }
            if (pending) {
                all.add(watermark);
            }
        }
        return all.build().toArray();
    }

    private static Timeline byWatermark(Map<String, long[]> watermarks) {
        long first =
                watermarks.values().stream()
                        .flatMapToLong(Arrays::stream)
                        .filter(watermark -> watermark != Long.MIN_VALUE)
                        .min()
                        .orElse(0);
        long last = watermarks.values().stream().flatMapToLong(Arrays::stream).max().orElse(first);
        for (long[] lines : watermarks.values()) {
            for (int i = 0; i < lines.length; i++) {
                lines[i] = Math.max(0, Math.max(lines[i], first) - first);
            }
        }
        return new Timeline(watermarks, first, Math.max(1, last - first), true);
    }

    private static Timeline evenly(Map<String, Path> inputs) throws IOException {
        Map<String, long[]> lines = new LinkedHashMap<>();
        for (Map.Entry<String, Path> input : inputs.entrySet()) {
            int count = count(input.getValue());
            lines.put(
                    input.getKey(),
                    LongStream.range(0, count).map(i -> EVEN_SPAN_MS * i / count).toArray());
        }
        return new Timeline(lines, 0, EVEN_SPAN_MS, false);
    }

    private static int count(Path input) throws IOException {
        int count = 0;
        try (BufferedReader lines = Files.newBufferedReader(input)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                count += line.isBlank() ? 0 : 1;
            }
        }
        return count;
    }

    /** How many times as fast as life it is played in that time. */
    double speed(Duration play) {
        return (double) spanMs / Math.max(1, play.toMillis());
    }

    long count() {
        return lines.values().stream().mapToLong(times -> times.length).sum();
    }
}
