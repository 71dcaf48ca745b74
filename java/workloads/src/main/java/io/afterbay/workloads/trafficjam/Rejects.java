package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.ReplayableFile;
import io.afterbay.workloads.run.WorkloadException;
import java.io.Closeable;
import org.jspecify.annotations.Nullable;

/**
 * The file of rejected lines: {@code line,reason,text}, where the text is the line as it was read
 * and may hold commas itself. Without a file name nothing is written.
 */
final class Rejects implements Closeable {
    static final String HEADER = "line,reason,text";

    private final @Nullable String name;
    private @Nullable ReplayableFile file;

    Rejects(@Nullable String name) {
        this.name = name;
    }

    /** Opens the file at a checkpoint's length; 0 starts anew. */
    void open(long length) throws WorkloadException {
        if (name != null) {
            file =
                    length == 0
                            ? ReplayableFile.create(name, HEADER)
                            : ReplayableFile.resume(name, length);
        }
    }

    void write(TraceLine line) throws WorkloadException {
        if (file != null) {
            String reason = line.report() == null ? line.problem() : "late";
            file.write(line.number() + "," + reason + "," + line.text());
        }
    }

    /** Puts everything so far on disk. */
    void sync() throws WorkloadException {
        if (file != null) {
            file.sync();
        }
    }

    /** Bytes written; 0 without a file. */
    long length() {
        return file == null ? 0 : file.length();
    }

    @Override
    public void close() throws WorkloadException {
        if (file != null) {
            file.close();
            file = null;
        }
    }
}
