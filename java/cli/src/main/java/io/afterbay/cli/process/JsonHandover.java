package io.afterbay.cli.process;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.handover.Handover;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** {@link Handover} in JSON, and single files of the same kind. */
public final class JsonHandover {
    /** What follows from other properties is written, too, and not read. */
    private static final ObjectMapper MAPPER =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private JsonHandover() {}

    public static Handover in(Path directory) {
        return new Handover(directory, MAPPER::writeValue, MAPPER::readValue);
    }

    public static <T> T read(Path file, Class<T> type) throws IOException {
        return MAPPER.readValue(file.toFile(), type);
    }

    /** As a whole: who reads it meanwhile finds the old content or the new one. */
    public static void write(Path file, Object content) throws IOException {
        Path next = Files.createTempFile(file.getParent(), file.getFileName().toString(), ".next");
        MAPPER.writeValue(next.toFile(), content);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }
}
