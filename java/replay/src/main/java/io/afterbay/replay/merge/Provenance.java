package io.afterbay.replay.merge;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What a replay writes beside each of its rows, in a header: the rows of the live job have none.
 *
 * @param replay its identifier, and that of the sink: two sinks of a job may write to one topic
 * @param emission names the row among all that replays ever write
 * @param liveOffset if it repeats a row of the live job, where that was; {@link #NOT_LIVE}
 *     otherwise
 */
record Provenance(String replay, String emission, long liveOffset) {
    static final String HEADER = "afterbay-replay";
    static final long NOT_LIVE = -1;

    OutputRow.Header header() {
        return new OutputRow.Header(
                HEADER,
                (replay + " " + emission + " " + liveOffset).getBytes(StandardCharsets.UTF_8));
    }

    /** Null for a row of the live job. */
    static @Nullable Provenance of(OutputRow row) {
        for (OutputRow.Header header : row.headers()) {
            byte[] value = header.value();
            if (header.name().equals(HEADER) && value != null) {
                return parse(new String(value, StandardCharsets.UTF_8));
            }
        }
        return null;
    }

    private static Provenance parse(String text) {
        String[] parts = text.split(" ", -1);
        if (parts.length != 3) {
            throw new IllegalArgumentException(
                    "header %s says '%s': another version of replays wrote it"
                            .formatted(HEADER, text));
        }
        return new Provenance(parts[0], parts[1], Long.parseLong(parts[2]));
    }
}
