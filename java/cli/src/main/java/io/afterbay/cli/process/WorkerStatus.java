package io.afterbay.cli.process;

import io.afterbay.cli.measure.Phase;
import java.util.Optional;

/**
 * How far a worker of a comparison is.
 *
 * @param phase see {@link Phase}
 * @param events that have entered the job
 * @param of how many, or Long.MAX_VALUE without an end
 * @param rows that came out; after the last event, they still move
 */
public record WorkerStatus(String phase, long events, long of, long rows) {
    public static final WorkerStatus STARTING = new WorkerStatus("starting", 0, Long.MAX_VALUE, 0);

    private static final String SEPARATOR = "\t";

    /** As the worker writes it to its standard output. */
    public String line() {
        return phase + SEPARATOR + events + SEPARATOR + of + SEPARATOR + rows;
    }

    /** Nothing for lines that others wrote. */
    static Optional<WorkerStatus> parse(String line) {
        String[] parts = line.split(SEPARATOR, -1);
        try {
            return parts.length == 4
                    ? Optional.of(
                            new WorkerStatus(
                                    parts[0],
                                    Long.parseLong(parts[1]),
                                    Long.parseLong(parts[2]),
                                    Long.parseLong(parts[3])))
                    : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }
}
