package io.afterbay.cli.compare;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.cli.engine.Backend;
import java.io.IOException;
import java.nio.file.Path;

/**
 * What a worker of a comparison is to do, beyond the command line; a file in its working directory.
 *
 * @param backend see {@link Backend#named}
 * @param pair number of the round; 0 is not counted
 * @param warmUpMs how long the job runs before anything is counted
 * @param ratePerS of the open loop, or 0 for no open loop
 * @param latencyMs how long the open loop is counted
 */
record Assignment(String backend, int pair, long warmUpMs, double ratePerS, long latencyMs) {
    private static final String FILE = "assignment.json";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    void write(Path directory) throws IOException {
        MAPPER.writeValue(directory.resolve(FILE).toFile(), this);
    }

    static Assignment read(Path directory) throws IOException {
        return MAPPER.readValue(directory.resolve(FILE).toFile(), Assignment.class);
    }
}
