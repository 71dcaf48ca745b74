package io.afterbay.kafka.workloads;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncMetrics;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.AppInfoParser;
import org.rocksdb.Env;
import org.rocksdb.Priority;

/**
 * Word count alone in a process, without feed, reader and broker, whose version may be another one.
 */
final class StreamsProcess implements Application, AutoCloseable {
    private static final long END_SECONDS_MAX = 120;
    private static final String RUNNING = "running";

    /**
     * What it says as it ends in peace; but for the threads, zeros without our listeners.
     *
     * @param kafka version of Kafka Streams
     * @param flushThreads of RocksDB in the process
     * @param compactionThreads the same; 0 while the gate holds them
     * @param most stores that compacted after one commit that flushed
     */
    record Figures(
            String kafka,
            int flushThreads,
            int compactionThreads,
            long flushes,
            long bursts,
            long compactions,
            int most,
            long holds,
            double heldMs,
            double delayMs) {
        private static Figures of(Env env) {
            String kafka = AppInfoParser.getVersion();
            int flushThreads = env.getBackgroundThreads(Priority.HIGH);
            int compactionThreads = env.getBackgroundThreads(Priority.LOW);
            DesyncMetrics counted = Desync.metrics(env);
            return counted == null
                    ? new Figures(kafka, flushThreads, compactionThreads, 0, 0, 0, 0, 0, 0, 0)
                    : new Figures(
                            kafka,
                            flushThreads,
                            compactionThreads,
                            counted.flushesBegan(),
                            counted.bursts(),
                            counted.compactionsBegan(),
                            counted.mostCompactionsOfBurst(),
                            counted.holds(),
                            counted.heldNanos() / 1e6,
                            counted.delayNanos() / 1e6);
        }
    }

    private final Process process;
    private final Path log;
    private final BufferedReader out;
    private volatile Duration cpu = Duration.ZERO;

    private StreamsProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
        this.out = process.inputReader(StandardCharsets.UTF_8);
    }

    /** The program. It ends when its standard input does, which a killed parent cannot forget. */
    public static void main(String[] args) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        WordCountPlan plan = mapper.readValue(args[0], WordCountPlan.class);
        try (WordCountStreams streams = WordCountStreams.start(plan, Path.of(args[1]))) {
            System.out.println(RUNNING);
            System.in.read();
            streams.throwIfFailed();
            System.out.println(mapper.writeValueAsString(Figures.of(Env.getDefault())));
        }
    }

    /**
     * Returns when it is running.
     *
     * @param log what it writes to standard error is appended there
     * @param flags of its JVM
     * @throws WordCountException if it does not start, with its last words
     */
    static StreamsProcess start(
            WordCountPlan plan, Path state, Path log, String classPath, List<String> flags)
            throws IOException, WordCountException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.addAll(
                List.of(
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                        "-cp",
                        classPath,
                        StreamsProcess.class.getName(),
                        new ObjectMapper().writeValueAsString(plan),
                        state.toString()));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putIfAbsent("MALLOC_ARENA_MAX", "2");
        StreamsProcess result =
                new StreamsProcess(
                        builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                                .start(),
                        log);
        if (!RUNNING.equals(result.out.readLine())) {
            result.close();
            throw result.ended();
        }
        return result;
    }

    private WordCountException ended() {
        return new WordCountException("the process of Kafka Streams has ended: " + lastWords());
    }

    private String lastWords() {
        try {
            return Files.readAllLines(log, StandardCharsets.ISO_8859_1).stream()
                    .filter(line -> !line.isBlank() && !line.startsWith("\t"))
                    .reduce((first, second) -> second)
                    .orElse("it said nothing");
        } catch (IOException e) {
            return "its log " + log + " cannot be read: " + e.getMessage();
        }
    }

    @Override
    public void throwIfFailed() throws WordCountException {
        if (!process.isAlive()) {
            throw ended();
        }
    }

    /** Processor time so far; stays what it was when the process has ended. */
    Duration cpu() {
        cpu = process.info().totalCpuDuration().orElse(cpu);
        return cpu;
    }

    /** kill -9; returns when it is gone. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) {
            throw new IllegalStateException("a killed process is still there: " + process.pid());
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Ends it in peace. */
    Figures end() throws IOException, WordCountException {
        process.getOutputStream().close();
        String said = out.readLine();
        if (said == null) {
            throw ended();
        }
        return new ObjectMapper().readValue(said, Figures.class);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
