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
 * @param liveMs since when, at least, rows of the live job would have to count for that one to
 *     count: milliseconds since 1970; no matter if it repeats none
 */
record Provenance(String replay, String emission, long liveOffset, long liveMs) {
    static final String HEADER = "afterbay-replay";
    static final long NOT_LIVE = -1;

    private static final int PARTS = 4;

    OutputRow.Header header() {
        return new OutputRow.Header(
                HEADER,
                (replay + " " + emission + " " + liveOffset + " " + liveMs)
                        .getBytes(StandardCharsets.UTF_8));
    }

    /** Of a row of a replay's own. */
    static Provenance ofReplayed(String replay, String emission) {
        return new Provenance(replay, emission, NOT_LIVE, 0);
    }

    boolean isOfLive() {
        return liveOffset != NOT_LIVE;
    }

    /**
     * Null for a row of the live job.
     *
     * @throws MergeImpossibleException if nobody knows whose it is
     */
    static @Nullable Provenance of(OutputRow row) {
        for (OutputRow.Header header : row.headers()) {
            byte[] value = header.value();
            if (header.name().equals(HEADER) && value != null) {
                return parse(new String(value, StandardCharsets.UTF_8), row);
            }
        }
        return null;
    }

    private static Provenance parse(String text, OutputRow row) {
        String[] parts = text.split(" ", -1);
        try {
            if (parts.length == PARTS) {
                return new Provenance(
                        parts[0], parts[1], Long.parseLong(parts[2]), Long.parseLong(parts[3]));
            }
        } catch (NumberFormatException e) {
            // It is none of ours.
        }
        throw new MergeImpossibleException(
                "a row in topic '%s', partition %s, has a header %s that says '%s', which this version of replays does not know, so nothing tells whether the row is the live job's: use the version that wrote it, or begin behind it with a later --live-since"
                        .formatted(row.topic(), row.partition(), HEADER, text));
    }
}
