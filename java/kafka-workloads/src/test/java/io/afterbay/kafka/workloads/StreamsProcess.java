package io.afterbay.kafka.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.AppInfoParser;
import org.rocksdb.Env;

/** Word count alone in a process, without feed, reader and broker; to be killed. */
final class StreamsProcess implements AutoCloseable {
    private static final long END_SECONDS_MAX = 30;

    /** What it says as it ends in peace. */
    record Figures(String kafka, long flushes, long bursts, long compactions, int most) {}

    private final Process process;
    private final BufferedReader out;

    private StreamsProcess(Process process) {
        this.process = process;
        this.out = process.inputReader(StandardCharsets.UTF_8);
    }

    /** The program. It ends when its standard input does, which a killed parent cannot forget. */
    public static void main(String[] args) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        WordCountPlan plan = mapper.readValue(args[0], WordCountPlan.class);
        try (WordCountStreams streams = WordCountStreams.start(plan, Path.of(args[1]))) {
            System.out.println("running");
            System.in.read();
            streams.throwIfFailed();
            DesyncMetrics metrics = Desync.metrics(Env.getDefault());
            System.out.println(
                    mapper.writeValueAsString(
                            new Figures(
                                    AppInfoParser.getVersion(),
                                    metrics.flushesBegan(),
                                    metrics.bursts(),
                                    metrics.compactionsBegan(),
                                    metrics.mostCompactionsOfBurst())));
        }
    }

    /** Returns when it is running. */
    static StreamsProcess start(WordCountPlan plan, Path state, Path log, List<Path> classPath)
            throws IOException {
        List<String> command =
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                        "-cp",
                        classPath.stream()
                                .map(Path::toString)
                                .collect(Collectors.joining(File.pathSeparator)),
                        StreamsProcess.class.getName(),
                        new ObjectMapper().writeValueAsString(plan),
                        state.toString());
        StreamsProcess result =
                new StreamsProcess(
                        new ProcessBuilder(command)
                                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                                .start());
        String said = result.out.readLine();
        if (!"running".equals(said)) {
            result.close();
            throw new AssertionError("word count does not start: " + Files.readString(log));
        }
        return result;
    }

    /** The one of this process. */
    static List<Path> classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(Path::of)
                .toList();
    }

    /** The same with the version of Kafka Streams before 4.3, and no broker. */
    static List<Path> classPathBefore43() throws IOException {
        List<Path> result = new ArrayList<>();
        Path before = Path.of(System.getProperty("afterbay.kafka.before.lib"));
        try (Stream<Path> jars = Files.list(before)) {
            jars.forEach(result::add);
        }
        assertThat(result).as("libraries in " + before).hasSize(2);
        classPath().stream()
                .filter(path -> !path.toString().contains("org/apache/kafka/"))
                .forEach(result::add);
        return result;
    }

    /** kill -9. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        assertThat(process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)).isTrue();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    Figures end() throws IOException {
        process.getOutputStream().close();
        return new ObjectMapper().readValue(out.readLine(), Figures.class);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
