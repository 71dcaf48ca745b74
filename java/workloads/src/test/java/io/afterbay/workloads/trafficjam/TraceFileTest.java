package io.afterbay.workloads.trafficjam;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.workloads.run.WorkloadException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceFileTest {
    private static final String ROWS = "0,a,s,0,0,1.0\n1,b,s,0,0,2.0\nbad\n2,c,s,0,0,3.0\n";
    private static final String TRACE = ReportParser.HEADER + "\n" + ROWS;

    @TempDir private Path directory;

    @Test
    void readingResumesBehindAnyLineOfAnyPassPlainOrCompressed() throws Exception {
        resumes(write("plain.csv", TRACE.getBytes(StandardCharsets.UTF_8)));
        // Recognised by its content: the name does not say that it is compressed.
        resumes(write("compressed.csv", gzip(TRACE)));
    }

    private static void resumes(TraceFile trace) throws Exception {
        List<TraceLine> all = read(trace, TraceSplit.start());
        assertThat(all).hasSize(10);
        for (int i = 0; i < all.size(); i++) {
            TraceLine last = all.get(i);
            TraceProgress progress = new TraceProgress(TraceSplit.start());
            for (TraceLine line : all.subList(0, i + 1)) {
                if (line.isEndOfPass()) {
                    progress.endPass();
                } else {
                    progress.take(line);
                }
            }
            assertThat(read(trace, progress.toSplit()))
                    .as("behind %s", last)
                    .isEqualTo(all.subList(i + 1, all.size()));
        }
    }

    private static List<TraceLine> read(TraceFile trace, TraceSplit from) throws Exception {
        List<TraceLine> lines = new ArrayList<>();
        try (TraceLines source = new TraceLines(trace, 2)) {
            source.seek(from.pass(), from.lineNumber(), from.offset());
            for (TraceLine line = source.next(); line != null; line = source.next()) {
                lines.add(line);
            }
        }
        return lines;
    }

    @Test
    void aDamagedFileIsNamedWithTheLastGoodLine() throws Exception {
        byte[] whole = gzip(TRACE.repeat(20_000).replace("\n" + ReportParser.HEADER, ""));
        TraceFile trace = write("cut.csv.gz", Arrays.copyOf(whole, whole.length / 2));
        assertThatThrownBy(() -> read(trace, TraceSplit.start()))
                .isInstanceOf(WorkloadException.class)
                .hasMessageContainingAll("cut.csv.gz", "beyond line", "copy it again");
    }

    @Test
    void headersMayComeFromOtherSystems() throws Exception {
        for (String header :
                List.of(ReportParser.HEADER + "\r\n", "\uFEFF" + ReportParser.HEADER)) {
            TraceFile trace = write("t.csv", header.getBytes(StandardCharsets.UTF_8));
            assertThatCode(trace::check).doesNotThrowAnyException();
        }
    }

    @Test
    void whatIsNoTraceIsRefusedByName() throws Exception {
        refused(write("empty.csv", new byte[0]), "empty.csv is empty", "first line must be");
        refused(
                write("other.csv", "a,b\n1,2\n".getBytes(StandardCharsets.UTF_8)),
                "other.csv, line 1",
                "but found \"a,b\"");
        refused(new TraceFile(directory.toString()), "is a directory");
        refused(new TraceFile(directory.resolve("none").toString()), "no such file");
        refused(write("torn.gz", Arrays.copyOf(gzip(TRACE), 12)), "torn.gz cannot be read");
    }

    private static void refused(TraceFile trace, String... parts) {
        assertThatThrownBy(trace::check)
                .isInstanceOf(WorkloadException.class)
                .hasMessageContainingAll(parts);
    }

    private TraceFile write(String name, byte[] bytes) throws IOException {
        return new TraceFile(Files.write(directory.resolve(name), bytes).toString());
    }

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }
}
