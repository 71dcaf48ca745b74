package io.afterbay.workloads.run;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * When the lines of an open loop are due: line {@code firstLine + i} at {@code startMicros + i /
 * rate}. A restart within a job keeps the schedule, so that the time of the failure shows in the
 * latencies; another job that starts from a savepoint begins a new one.
 *
 * @param job the job that the schedule belongs to
 * @param startMicros epoch time at which {@code firstLine} was due
 * @param firstLine lines taken before the schedule began
 */
public record Schedule(String job, long startMicros, long firstLine) {
    public static final Schedule NONE = new Schedule("", 0, 0);

    public boolean belongsTo(String otherJob) {
        return !job.isEmpty() && job.equals(otherJob);
    }

    /** When a line is due, in microseconds since the epoch. */
    public long dueMicros(long line, double linesPerSecond) {
        return startMicros + (long) ((line - firstLine) * 1e6 / linesPerSecond);
    }

    /** How many lines are due by then, in microseconds since the epoch. */
    public long dueLines(long micros, double linesPerSecond) {
        return Math.max(0, (long) ((micros - startMicros) * linesPerSecond / 1e6));
    }

    public void write(DataOutputStream out) throws IOException {
        out.writeUTF(job);
        out.writeLong(startMicros);
        out.writeLong(firstLine);
    }

    public static Schedule read(DataInputStream in) throws IOException {
        return new Schedule(in.readUTF(), in.readLong(), in.readLong());
    }
}
