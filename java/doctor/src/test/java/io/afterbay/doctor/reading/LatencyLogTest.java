package io.afterbay.doctor.reading;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LatencyLogTest {
    private static final long START = 1_763_866_800_000_000L;

    @TempDir Path directory;
    private Path file;

    @BeforeEach
    void name() {
        file = directory.resolve("latency");
    }

    private LatencyLog read(String text) throws IOException {
        return LatencyLog.read(Files.writeString(file, text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1763866800.000,10\n1763866800.050,20.5\n1763866800.100,15\n",
                "time_s,latency_ms\n1763866800.000,10\n1763866800.05,20.5\n\n1763866800.1,15",
                "1763866800000,10\n1763866800050,20.5\n1763866800100,15\n",
                "1763866800000000,10\n1763866800050000,20.5\n1763866800100000,15\n",
                "2025-11-23T03:00:00Z,10\n2025-11-23T03:00:00.05Z,20.5\n2025-11-23T03:00:00.1Z,15",
            })
    void readsCsvWithAnyTime(String text) throws IOException {
        LatencyLog log = read(text);
        assertThat(log.size()).isEqualTo(3);
        assertThat(log.start(0)).isEqualTo(START);
        assertThat(log.start(1)).isBetween(START + 49_999, START + 50_001);
        assertThat(log.millis(1)).isEqualTo(20.5);
        assertThat(log.windowMicros()).isBetween(49_999L, 50_001L);
    }

    @Test
    void findsTheWindowOfATime() throws IOException {
        LatencyLog log = read("1763866800,10\n1763866801,20\n1763866802,15\n");
        assertThat(log.windowAt(0)).isZero();
        assertThat(log.windowAt(START)).isZero();
        assertThat(log.windowAt(START + 999_999)).isZero();
        assertThat(log.windowAt(START + 1_000_000)).isEqualTo(1);
        assertThat(log.windowAt(START + 9_000_000)).isEqualTo(3);
    }

    @Test
    void readsIntervalLogsOfHdrHistogram() throws IOException {
        try (PrintStream out = new PrintStream(Files.newOutputStream(file))) {
            HistogramLogWriter writer = new HistogramLogWriter(out);
            writer.outputLogFormatVersion();
            writer.outputStartTime(START / 1000);
            writer.outputLegend();
            for (int window = 0; window < 3; window++) {
                Histogram histogram = new Histogram(3);
                histogram.recordValue(1_000_000);
                histogram.recordValue((window + 1) * 10_000_000L);
                histogram.setStartTimeStamp(START / 1000 + window * 50L);
                histogram.setEndTimeStamp(START / 1000 + window * 50L + 50);
                writer.outputIntervalHistogram(histogram);
            }
        }
        LatencyLog log = LatencyLog.read(file);
        assertThat(log.size()).isEqualTo(3);
        assertThat(log.start(2)).isEqualTo(START + 100_000);
        assertThat(log.millis(2)).isBetween(30.0, 30.1);
        assertThat(log.windowMicros()).isEqualTo(50_000);
        String whole = Files.readString(file);
        LatencyLog cut = read(whole.substring(0, whole.length() - 20));
        assertThat(cut.size()).isEqualTo(2);
        assertThat(cut.damagedLines()).isEqualTo(1);
    }

    @Test
    void readsProcessorsAndQueue() throws IOException {
        LatencyLog log =
                read(
                        "time_ms,p50,p99,max,cpu,queue\n1763866800000,1,5,9,0.5,120\n1763866800050,1,6,8,,0\n");
        assertThat(log.millis(0)).isEqualTo(9);
        assertThat(log.what()).isEqualTo("worst");
        assertThat(log.hasCpu()).isTrue();
        assertThat(log.cpu(0)).isEqualTo(0.5);
        assertThat(log.cpu(1)).isNaN();
        assertThat(log.hasQueue()).isTrue();
        assertThat(log.queue(0)).isEqualTo(120);
    }

    @ParameterizedTest
    @CsvSource({
        "'time,p50,p99',2,P99",
        "'time,p99.9_ms,p95',1,P99.9",
        "'time,queue,latency_ms',2,worst"
    })
    void saysWhichLatencyItIs(String header, int column, String what) throws IOException {
        LatencyLog log = read(header + "\n1763866800,1,2,3\n1763866801,1,2,3\n");
        assertThat(log.millis(0)).isEqualTo(column);
        assertThat(log.what()).isEqualTo(what);
        assertThat(log.hasCpu()).isFalse();
    }

    @Test
    void readsPackedFiles() throws IOException {
        Path packed = directory.resolve("latency.csv.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
            out.write("1763866800,10\n1763866801,20\n".getBytes(UTF_8));
        }
        assertThat(LatencyLog.read(packed).size()).isEqualTo(2);
    }

    @Test
    void damagedLinesAreCounted() throws IOException {
        LatencyLog log =
                read("time,latency,cpu\n1,10,0.5\n2,NaN,0.5\n3,10,98\n\ufffd\n4,20,0.5\n5,1");
        assertThat(log.size()).isEqualTo(3);
        assertThat(log.damagedLines()).isEqualTo(3);
    }

    /** One time that is too late takes all behind it away, which must be seen. */
    @Test
    void linesOfATimeThatHasBeenAreCountedAsDamaged() throws IOException {
        LatencyLog log = read("1,10\n2,10\n900,10\n3,10\n4,10\n");
        assertThat(log.size()).isEqualTo(3);
        assertThat(log.damagedLines()).isEqualTo(2);
        assertThatThrownBy(() -> read("900,10\n1,10\n2,10\n"))
                .hasMessageContaining("line 2 '1,10'")
                .hasMessageContaining("later than the line before");
    }

    /** Taken for milliseconds, it would be a thousand times as long. */
    @ParameterizedTest
    @ValueSource(strings = {"time_us,max_us", "time,latency_s"})
    void latenciesInOtherUnitsAreRefused(String header) {
        assertThatThrownBy(() -> read(header + "\n1,5\n2,6\n"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(header, "latency_ms");
    }

    @Test
    void headersWithoutLatencyAreRefused() {
        assertThatThrownBy(() -> read("time,cpu\n1,0.5\n2,0.5\n"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("time,cpu", "latency_ms");
    }

    @Test
    void otherFilesAreRefusedWithTheFormThatIsRight() {
        assertThatThrownBy(() -> read("1763866800,10\nyesterday,20\n"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("line 2")
                .hasMessageContaining("yesterday")
                .hasMessageContaining("for example 1763866800.050,12.5");
        assertThatThrownBy(() -> read(""))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("interval log of HdrHistogram");
    }
}
