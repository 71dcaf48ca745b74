package io.afterbay.handover;

import java.util.Optional;

/**
 * How far a process is. It says so on its standard output, to the one that has started it.
 *
 * @param phase what it does
 * @param events that have entered the job
 * @param of how many, or Long.MAX_VALUE without an end
 * @param rows that came out; after the last event, they still move
 */
public record WorkerStatus(String phase, long events, long of, long rows) {
    public static final WorkerStatus STARTING = new WorkerStatus("starting", 0, Long.MAX_VALUE, 0);

    private static final String SEPARATOR = "\t";

    /** Writes it to the standard output of this process. */
    public void say() {
        System.out.println(line());
        System.out.flush();
    }

    /** As it is written. */
    public String line() {
        return phase + SEPARATOR + events + SEPARATOR + of + SEPARATOR + rows;
    }

    /** Nothing for lines that others wrote. */
    public static Optional<WorkerStatus> parse(String line) {
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
