package io.afterbay.doctor.reading;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import io.afterbay.doctor.TextLogs;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The forms in which people send logs: what collectors, tickets and editors make of them. */
class LogFormsTest {
    private static final int ROUNDS = 24;
    private static final int COMPACTIONS = ROUNDS / 4;

    @TempDir private Path directory;

    private record Form(String name, UnaryOperator<String> line) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Stream<Form> forms() {
        return Stream.of(
                new Form("as it is", line -> line),
                new Form("CRLF", line -> line + "\r"),
                new Form(
                        "prefix of a collector",
                        line -> "2026-11-23T03:00:00.1Z node-3 app[17]: " + line),
                new Form(
                        "prefix instead of the time",
                        line -> "[pod-3] stdout F " + line.substring(line.indexOf(" 140 ") + 5)),
                new Form("XML", line -> "<entry n=\"1\"><message>" + line + "</message></entry>"),
                new Form(
                        "XML with entities",
                        line -> "<message>" + line.replace("\"", "&quot;") + "</message>"),
                new Form("CDATA", line -> "<m><![CDATA[" + line + "]]></m>"),
                new Form(
                        "wrapped in JSON",
                        line ->
                                "{\"log\":\"%s\\n\",\"stream\":\"stderr\"}"
                                        .formatted(escaped(line))),
                new Form(
                        "wrapped in JSON twice",
                        line -> "{\"m\":\"{\\\"log\\\":\\\"" + escaped(escaped(line)) + "\\\"}\"}"),
                new Form("in quotes of CSV", line -> "7,\"" + line.replace("\"", "\"\"") + "\",x"));
    }

    private static String escaped(String line) {
        return new String(JsonStringEncoder.getInstance().quoteAsString(line));
    }

    /** The log of one instance. */
    private List<String> lines() throws IOException {
        Path folder = Files.createDirectories(directory.resolve("plain"));
        TextLogs.folders(folder, 1, ROUNDS);
        return Files.readAllLines(folder.resolve("shard-0/LOG"));
    }

    private Path database() throws IOException {
        return Files.createDirectories(directory.resolve("app/db"));
    }

    private LogReading.Logs read() {
        return LogReading.read(List.of(directory.resolve("app")), line -> {});
    }

    private static void assertWhole(LogReading.Logs logs) {
        assertThat(logs.tally().damagedLines()).isZero();
        assertThat(logs.tally().cutLines()).isZero();
        assertThat(logs.tally().startsWithoutEnd() + logs.tally().endsWithoutStart()).isZero();
        assertThat(logs.instances()).hasSize(1);
        InstanceLog log = logs.instances().get(0);
        assertThat(log.flushes().size()).isEqualTo(ROUNDS);
        assertThat(log.compactions().size()).isEqualTo(COMPACTIONS);
        assertThat(log.columnFamily("default").checkpointFlushes().size()).isEqualTo(ROUNDS);
        assertThat(log.columnFamily("default").filesPerCompaction()).hasValue(4);
    }

    @ParameterizedTest
    @MethodSource("forms")
    void eachIsRead(Form form) throws IOException {
        String text = lines().stream().map(form.line).collect(Collectors.joining("\n", "", "\n"));
        Files.writeString(database().resolve("LOG"), text);
        assertWhole(read());
    }

    @Test
    void rotatedAndPackedOnesAreRead() throws IOException {
        List<String> lines = lines();
        int third = lines.size() / 3;
        pack(database().resolve("LOG.old.1763866800000000.gz"), lines.subList(0, third));
        Files.write(
                database().resolve("LOG.old.1763866900000000"), lines.subList(third, 2 * third));
        Files.write(database().resolve("LOG"), lines.subList(2 * third, lines.size()));
        LogReading.Logs logs = read();
        assertThat(logs.tally().files()).isEqualTo(3);
        assertWhole(logs);
    }

    private static void pack(Path file, List<String> lines) throws IOException {
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write((String.join("\n", lines) + "\n").getBytes(UTF_8));
        }
    }

    /** As of a process that was killed, or of a disk that was full. */
    @Test
    void oneThatIsCutIsReadUpToTheCut() throws IOException {
        String text = String.join("\n", lines());
        Files.writeString(database().resolve("LOG"), text.substring(0, text.length() - 30));
        LogReading.Logs logs = read();
        assertThat(logs.tally().damagedLines()).isEqualTo(1);
        assertThat(logs.tally().startsWithoutEnd()).isEqualTo(1);
        assertThat(logs.instances().get(0).flushes().size()).isEqualTo(ROUNDS);
        assertThat(logs.instances().get(0).compactions().size()).isEqualTo(COMPACTIONS - 1);
    }
}
