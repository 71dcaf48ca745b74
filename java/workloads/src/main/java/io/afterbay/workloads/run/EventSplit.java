package io.afterbay.workloads.run;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * The whole stream as Flink's unit of assignment.
 *
 * @param next the first event that has not left the source
 * @param schedule where the schedule of an open loop began
 */
public record EventSplit(long next, Schedule schedule) implements SourceSplit {
    /** Before the first event. */
    public static EventSplit start() {
        return new EventSplit(0, Schedule.NONE);
    }

    @Override
    public String splitId() {
        return "events";
    }

    public void write(DataOutputStream out) throws IOException {
        out.writeLong(next);
        schedule.write(out);
    }

    public static EventSplit read(DataInputStream in) throws IOException {
        return new EventSplit(in.readLong(), Schedule.read(in));
    }
}
