package io.afterbay.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** The beginning of the example's trace, for tests that need not see all of a city. */
public final class CityTrace {
    private static final Path WHOLE = Path.of("../../examples/traffic-jam/city-traffic.csv.gz");

    private CityTrace() {}

    /**
     * Writes the header and the first reports to a file.
     *
     * @param reports at most; the trace has 770,513
     */
    public static Path first(int reports, Path file) throws IOException {
        try (BufferedReader trace =
                new BufferedReader(
                        new InputStreamReader(
                                new GZIPInputStream(Files.newInputStream(WHOLE)),
                                StandardCharsets.UTF_8))) {
            return Files.write(file, trace.lines().limit(1L + reports).toList());
        }
    }
}
