package io.afterbay.cli.replay;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.afterbay.cli.replay.live.LiveSample;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The rates that a replay had, and why: a file with a line of JSON for each change, of which the
 * newest {@value #KEPT} stay at least. Several processes may add to it.
 */
final class RateTimeline {
    static final int KEPT = 1000;

    /** What another version has written beside is not read. */
    private static final ObjectMapper MAPPER =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private final Path file;

    RateTimeline(Path file) {
        this.file = file;
    }

    /**
     * A change.
     *
     * @param at in ISO 8601
     * @param rate in records per second; null for no bound
     * @param recordsPerSecond that the replay had until then
     * @param live what was known of the live job; null if nothing, or if it was not asked
     */
    record Entry(
            String at,
            @Nullable Double rate,
            String reason,
            double recordsPerSecond,
            @Nullable LiveSample live) {
        static Entry now(
                double rate, String reason, double recordsPerSecond, @Nullable LiveSample live) {
            return new Entry(
                    Instant.now().truncatedTo(ChronoUnit.MILLIS).toString(),
                    rate == Rate.MAX ? null : rate,
                    reason,
                    recordsPerSecond,
                    live);
        }

        private void json(ObjectNode node) {
            node.put("at", at);
            node.put("rate", rate);
            node.put("reason", reason);
            node.put("records_per_s", recordsPerSecond);
            if (live != null) {
                node.put("live_p99_ms", live.p99Ms());
                node.put("live_lag_records", live.lagRecords());
                node.put("live_lag_ms", live.lagMs());
            }
        }
    }

    void add(Entry entry) throws IOException {
        List<String> lines = lines();
        if (lines.size() >= 2 * KEPT) {
            Path next = file.resolveSibling(file.getFileName() + ".next");
            Files.write(next, lines.subList(lines.size() - KEPT, lines.size()));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        }
        Files.writeString(
                file,
                MAPPER.writeValueAsString(entry) + "\n",
                StandardCharsets.UTF_8,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private List<String> lines() throws IOException {
        try {
            String text = Files.readString(file, StandardCharsets.UTF_8);
            // One that is being written has no end yet.
            return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
        } catch (NoSuchFileException e) {
            return List.of();
        }
    }

    /** Oldest first. */
    List<Entry> entries() throws IOException {
        List<Entry> entries = new ArrayList<>();
        for (String line : lines()) {
            entries.add(MAPPER.readValue(line, Entry.class));
        }
        return entries;
    }

    static Optional<Entry> newest(List<Entry> entries) {
        return entries.isEmpty() ? Optional.empty() : Optional.of(entries.get(entries.size() - 1));
    }

    static void json(List<Entry> entries, ArrayNode node) {
        entries.forEach(entry -> entry.json(node.addObject()));
    }
}
