package io.afterbay.doctor.live;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.util.List;
import java.util.Map;

/** The counters of a running process for programs: an object for each coordinator. */
public final class LiveJson {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private LiveJson() {}

    /** {@code {"coordinators": [{"bean": ..., "values": {...}}]}}, and the end of a line. */
    public static String of(List<LiveCounters> all) {
        try {
            return MAPPER.writeValueAsString(Map.of("coordinators", all)) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("counters are numbers and truth values", e);
        }
    }
}
