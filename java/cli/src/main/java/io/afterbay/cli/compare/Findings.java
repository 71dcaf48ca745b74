package io.afterbay.cli.compare;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.bench.Run;
import io.afterbay.bench.Timeline;
import io.afterbay.cli.engine.Backend;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a worker of a comparison has found out so far; handed over as a file in its working
 * directory, after each phase.
 *
 * @param timeline of the open loop, or null before its end
 * @param rows what came out of each finished phase that was counted, for comparison with others
 */
record Findings(Run run, @Nullable Timeline timeline, Map<String, String> rows) {
    private static final String FILE = "findings.json";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Replaces the file as a whole, since the worker may be killed at any time. */
    void write(Path directory) throws IOException {
        Path next = directory.resolve(FILE + ".next");
        MAPPER.writeValue(next.toFile(), this);
        Files.move(next, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    }

    static Optional<Findings> read(Path directory) {
        try {
            return Optional.of(MAPPER.readValue(directory.resolve(FILE).toFile(), Findings.class));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Of a worker that died before it wrote any. */
    static Findings none(Backend backend, int pair) {
        return new Findings(Run.none(backend.label(), pair), null, Map.of());
    }

    /** The same figures of a run that failed; the first reason is the cause. */
    Findings failed(String reason) {
        return run.finished() ? new Findings(run.failed(reason), timeline, rows) : this;
    }
}
