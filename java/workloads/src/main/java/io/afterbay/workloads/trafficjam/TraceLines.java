package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.WorkloadException;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** The lines of all passes over a trace, from any line on. */
final class TraceLines implements AutoCloseable {
    private final TraceFile trace;
    private final int passes;
    private int pass;
    private long number;
    private @Nullable InputStream in;
    private @Nullable LineReader lines;

    TraceLines(TraceFile trace, int passes) {
        this.trace = trace;
        this.passes = passes;
    }

    /** Continues behind a line of a pass; line 0 is before the header. */
    void seek(int toPass, long toNumber, long toOffset) throws WorkloadException {
        pass = toPass;
        number = toNumber;
        if (pass < passes) {
            lines = open(toOffset);
        }
    }

    /** The next line, an end of pass, or null after the last pass. */
    @Nullable TraceLine next() throws WorkloadException {
        if (pass >= passes || lines == null) {
            return null;
        }
        String text = read(lines);
        if (number == 1) {
            trace.checkHeader(text);
            text = read(lines);
        }
        return text == null ? endPass() : TraceLine.of(pass, number, lines.offset(), text);
    }

    private TraceLine endPass() throws WorkloadException {
        TraceLine end = TraceLine.endOfPass(pass);
        close();
        seek(pass + 1, 0, 0);
        return end;
    }

    private LineReader open(long offset) throws WorkloadException {
        try {
            in = trace.open(offset);
            return new LineReader(in, offset);
        } catch (WorkloadException e) {
            throw e;
        } catch (IOException e) {
            throw trace.unreadable(e);
        }
    }

    private @Nullable String read(LineReader from) throws WorkloadException {
        try {
            String text = from.next();
            number++;
            return text;
        } catch (IOException e) {
            throw trace.broken(number, e);
        }
    }

    @Override
    public void close() throws WorkloadException {
        try {
            if (in != null && !trace.isStandardInput()) {
                in.close();
            }
        } catch (IOException e) {
            throw trace.unreadable(e);
        } finally {
            in = null;
            lines = null;
        }
    }
}
