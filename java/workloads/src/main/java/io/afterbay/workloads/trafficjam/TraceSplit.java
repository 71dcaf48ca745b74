package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.Schedule;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * The whole input as Flink's unit of assignment, with the position behind the last line that left
 * the source and everything that was decided about the lines before it.
 *
 * @param pass times through the trace that are complete
 * @param lineNumber last line of this pass that was taken, 0 before the header
 * @param offset decompressed bytes up to and including it
 * @param lines lines taken in all passes, without headers
 * @param minTimeS smallest time accepted in the first pass
 * @param maxTimeS largest time seen, shifted by pass
 * @param periodS by how much each pass is later than the one before; 0 during the first
 * @param accepted reports that went on into the job
 * @param late lines of the file rejected as late
 * @param malformed lines of the file rejected as malformed
 * @param rejectsBytes length of the rejects file
 * @param schedule where the schedule of an open loop began
 */
record TraceSplit(
        int pass,
        long lineNumber,
        long offset,
        long lines,
        long minTimeS,
        long maxTimeS,
        long periodS,
        long accepted,
        long late,
        long malformed,
        long rejectsBytes,
        Schedule schedule)
        implements SourceSplit {

    static final String ID = "trace";

    /** No time was seen yet. */
    static final long NO_TIME = -1;

    static TraceSplit start() {
        return new TraceSplit(0, 0, 0, 0, NO_TIME, NO_TIME, 0, 0, 0, 0, 0, Schedule.NONE);
    }

    TraceSplit scheduled(Schedule newSchedule) {
        return new TraceSplit(
                pass,
                lineNumber,
                offset,
                lines,
                minTimeS,
                maxTimeS,
                periodS,
                accepted,
                late,
                malformed,
                rejectsBytes,
                newSchedule);
    }

    @Override
    public String splitId() {
        return ID;
    }

    void write(DataOutputStream out) throws IOException {
        out.writeInt(pass);
        out.writeLong(lineNumber);
        out.writeLong(offset);
        out.writeLong(lines);
        out.writeLong(minTimeS);
        out.writeLong(maxTimeS);
        out.writeLong(periodS);
        out.writeLong(accepted);
        out.writeLong(late);
        out.writeLong(malformed);
        out.writeLong(rejectsBytes);
        schedule.write(out);
    }

    static TraceSplit read(DataInputStream in) throws IOException {
        return new TraceSplit(
                in.readInt(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                in.readLong(),
                Schedule.read(in));
    }
}
