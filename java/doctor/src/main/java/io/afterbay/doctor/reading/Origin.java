package io.afterbay.doctor.reading;

/**
 * Where an instance belongs: instances of one origin flush by the same checkpoints or commits, and
 * share processors.
 *
 * @param job of Flink, the beginning of its number; the application of Kafka Streams; empty for
 *     others
 * @param worker the folder of the process, or its name; empty for others
 */
public record Origin(String job, String worker) {
    /** That of databases of which no more is known. */
    public static final Origin UNKNOWN = new Origin("", "");

    /** As in {@code job 0123abcd}. */
    public String label() {
        return job.isEmpty() ? "other databases" : "job " + job;
    }
}
