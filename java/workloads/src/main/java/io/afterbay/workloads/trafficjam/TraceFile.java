package io.afterbay.workloads.trafficjam;

import io.afterbay.workloads.run.WorkloadException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** Where a trace comes from: a file, plain or gzip, or standard input. */
public final class TraceFile {
    /** The name of standard input. */
    public static final String STANDARD_INPUT = "-";

    private static final int GZIP_MAGIC_1 = 0x1f;
    private static final int GZIP_MAGIC_2 = 0x8b;

    private final String name;

    public TraceFile(String name) {
        this.name = name;
    }

    /** As users see it in messages. */
    public String displayName() {
        return isStandardInput() ? "standard input" : name;
    }

    public boolean isStandardInput() {
        return name.equals(STANDARD_INPUT);
    }

    /** Whether the input can be read again from the middle; pipes and standard input cannot. */
    public boolean isReplayable() {
        return !isStandardInput() && Files.isRegularFile(Path.of(name));
    }

    /** Whether this is a named pipe or a device rather than a file. */
    public boolean isPipe() {
        return !isStandardInput()
                && Files.exists(Path.of(name))
                && !Files.isRegularFile(Path.of(name))
                && !Files.isDirectory(Path.of(name));
    }

    /**
     * Fails with a message for the user if the trace is not one. Input that cannot be read twice is
     * left alone; the job checks it when it gets there.
     */
    public void check() throws WorkloadException {
        if (isStandardInput()) {
            return;
        }
        Path path = Path.of(name);
        if (Files.isDirectory(path)) {
            throw new WorkloadException(
                    name + " is a directory; name a trace file in it, plain or .gz");
        }
        if (isReplayable() || !Files.exists(path)) {
            checkHeader();
        }
    }

    private void checkHeader() throws WorkloadException {
        try (InputStream in = open(0)) {
            checkHeader(new LineReader(in, 0).next());
        } catch (WorkloadException e) {
            throw e;
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /** Fails unless this is the first line of a trace. */
    void checkHeader(@Nullable String line) throws WorkloadException {
        if (line == null) {
            throw new WorkloadException(
                    displayName() + " is empty; its first line must be " + ReportParser.HEADER);
        }
        if (!withoutByteOrderMark(line).strip().equals(ReportParser.HEADER)) {
            throw new WorkloadException(
                    "%s, line 1: expected the header %s but found \"%s\""
                            .formatted(displayName(), ReportParser.HEADER, excerpt(line)));
        }
    }

    /** How many lines it has behind its header; reads it as a whole. */
    public long lines() throws WorkloadException {
        try (InputStream in = open(0)) {
            LineReader reader = new LineReader(in, 0);
            checkHeader(reader.next());
            long lines = 0;
            while (reader.next() != null) {
                lines++;
            }
            return lines;
        } catch (WorkloadException e) {
            throw e;
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    /** Bytes of the trace, decompressed, from an offset on. */
    InputStream open(long offset) throws IOException {
        if (isStandardInput()) {
            return decompressed(System.in);
        }
        return isGzip() || !isReplayable() ? openAndSkip(offset) : openAt(offset);
    }

    private boolean isGzip() throws IOException {
        if (!isReplayable()) {
            return false;
        }
        try (InputStream in = Files.newInputStream(Path.of(name))) {
            return in.read() == GZIP_MAGIC_1 && in.read() == GZIP_MAGIC_2;
        }
    }

    private InputStream openAndSkip(long offset) throws IOException {
        InputStream in = Files.newInputStream(Path.of(name));
        try {
            InputStream trace = decompressed(in);
            trace.skipNBytes(offset);
            return trace;
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    private InputStream openAt(long offset) throws IOException {
        SeekableByteChannel channel = Files.newByteChannel(Path.of(name));
        if (channel.size() < offset) {
            channel.close();
            throw new WorkloadException(
                    "%s was %d bytes long or more and is shorter now; put the file back"
                                    .formatted(name, offset)
                            + " and start again");
        }
        return Channels.newInputStream(channel.position(offset));
    }

    private static InputStream decompressed(InputStream raw) throws IOException {
        BufferedInputStream in = new BufferedInputStream(raw, 1 << 16);
        in.mark(2);
        boolean gzip = in.read() == GZIP_MAGIC_1 && in.read() == GZIP_MAGIC_2;
        in.reset();
        return gzip ? new GZIPInputStream(in, 1 << 16) : in;
    }

    /** The message for a trace that cannot be opened or read. */
    WorkloadException unreadable(IOException e) {
        if (e instanceof NoSuchFileException) {
            return new WorkloadException(
                    name + ": no such file; give a trace with --input FILE, or - to read a pipe",
                    e);
        }
        if (e instanceof AccessDeniedException) {
            return new WorkloadException(
                    name + ": permission denied; make it readable for this user", e);
        }
        return new WorkloadException(
                displayName() + " cannot be read: " + WorkloadException.reason(e), e);
    }

    /** The message for a trace that breaks off, for example a half-copied gzip file. */
    WorkloadException broken(long lineNumber, IOException e) {
        return new WorkloadException(
                "%s cannot be read beyond line %d: %s; the file is damaged, copy it again"
                        .formatted(displayName(), lineNumber, WorkloadException.reason(e)),
                e);
    }

    private static String withoutByteOrderMark(String line) {
        return line.startsWith("\uFEFF") ? line.substring(1) : line;
    }

    private static String excerpt(String line) {
        String printable = line.replaceAll("[^\\x20-\\x7e]", "?");
        return printable.length() <= 60 ? printable : printable.substring(0, 60) + "...";
    }
}
