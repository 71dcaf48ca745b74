package io.afterbay.doctor.reading;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** One JSON object after {@code EVENT_LOG_v1}: the fields that matter here. */
final class Event {
    private static final JsonFactory JSON = new JsonFactory();
    private static final String LEVEL_0 = "files_L0";

    long timeMicros = -1;
    int job = -1;
    String kind = "";
    @Nullable String columnFamily;
    String flushReason = "";
    String compactionReason = "";
    long compactionMicros = -1;
    int level0Files;

    private Event() {}

    /**
     * Reads an event.
     *
     * @return null if it is not whole, or no event
     */
    static @Nullable Event parse(byte[] line, int from, int length) {
        try (JsonParser parser = JSON.createParser(line, from, length)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return null;
            }
            Event event = new Event();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                event.read(parser);
            }
            boolean isWhole = parser.currentToken() == JsonToken.END_OBJECT;
            return isWhole && event.timeMicros >= 0 && event.job >= 0 ? event : null;
        } catch (IOException e) {
            return null; // damaged; the reader counts it
        }
    }

    /**
     * Whether a compaction began because level 0 had so many files: {@code
     * GetCompactionReasonString} in RocksDB's db/compaction/compaction_job.cc; old versions log no
     * reason. One that somebody has asked for takes as many as there are.
     */
    boolean isForLevel0() {
        return compactionReason.isEmpty()
                || compactionReason.equals("LevelL0FilesNum")
                || compactionReason.startsWith("Universal");
    }

    private void read(JsonParser parser) throws IOException {
        String name = parser.currentName();
        parser.nextToken();
        switch (name) {
            case "time_micros" -> timeMicros = parser.getLongValue();
            case "job" -> job = parser.getIntValue();
            case "event" -> kind = parser.getText();
            case "cf_name" -> columnFamily = parser.getText();
            case "compaction_reason" -> compactionReason = parser.getText();
            case "flush_reason" -> flushReason = parser.getText();
            case "compaction_time_micros" -> compactionMicros = parser.getLongValue();
            case LEVEL_0 -> level0Files = elements(parser);
            default -> parser.skipChildren();
        }
    }

    private static int elements(JsonParser parser) throws IOException {
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (parser.currentToken() == null) {
                throw new IOException("the array has no end");
            }
            count++;
        }
        return count;
    }
}
