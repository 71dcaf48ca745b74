package io.afterbay.cli.process;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.handover.Handover;
import java.nio.file.Path;

/** {@link Handover} in JSON. */
public final class JsonHandover {
    /** What follows from other properties is written, too, and not read. */
    private static final ObjectMapper MAPPER =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private JsonHandover() {}

    public static Handover in(Path directory) {
        return new Handover(directory, MAPPER::writeValue, MAPPER::readValue);
    }
}
