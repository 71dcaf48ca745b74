package io.afterbay.cli.process;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.handover.Handover;
import java.nio.file.Path;

/** {@link Handover} in JSON. */
public final class JsonHandover {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private JsonHandover() {}

    public static Handover in(Path directory) {
        return new Handover(directory, MAPPER::writeValue, MAPPER::readValue);
    }
}
