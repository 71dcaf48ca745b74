package io.afterbay.kafka.workloads;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.workloads.wordcount.WordCountPlan;
import io.afterbay.workloads.wordcount.WordCountReport;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;

/**
 * The process that runs word count for {@code ./afterbay run word-count}: its command has the
 * libraries of Flink, and Flink's RocksDB has the same classes as Kafka's.
 *
 * <p>Finds {@code plan.json} in the directory that is its argument and leaves {@code trial.json}
 * there. Lines of its standard output say how far it is: phase, words sent, words in all and
 * results read, with tabs. When its standard input ends, whoever started it is gone; then it
 * removes the directory, and ends.
 */
public final class WordCountWorker {
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int KILLED = 137;

    /** Of the process $0 and the directory $1. */
    private static final String KILL_AND_REMOVE =
            "kill -9 \"$0\"; for i in 1 2 3 4 5; do rm -rf -- \"$1\"; sleep 0.2; done";

    private final ObjectMapper mapper = new ObjectMapper();
    private final Path directory;
    private String lastPhase = "";
    private long lastNanos;

    private WordCountWorker(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        dieWithParent(directory);
        new WordCountWorker(directory).work();
        // Nothing is left that a hook or a thread could be waited for.
        Runtime.getRuntime().halt(0);
    }

    private static void dieWithParent(Path directory) {
        Thread watch =
                new Thread(
                        () -> {
                            try {
                                System.in.transferTo(OutputStream.nullOutputStream());
                                abandon(directory);
                            } catch (IOException e) {
                                // The directory stays, which lies where temporary files do.
                            }
                            Runtime.getRuntime().halt(KILLED);
                        },
                        "parent watch");
        watch.setDaemon(true);
        watch.start();
    }

    /** Leaves the removal to a shell: until this process has ended, it makes new files. */
    private static void abandon(Path directory) throws IOException {
        String pid = String.valueOf(ProcessHandle.current().pid());
        new ProcessBuilder("sh", "-c", KILL_AND_REMOVE, pid, directory.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private void work() throws IOException, InterruptedException {
        WordCountPlan plan =
                mapper.readValue(directory.resolve("plan.json").toFile(), WordCountPlan.class);
        WordCountRun run =
                new WordCountRun(
                        plan,
                        directory,
                        (phase, sent, results) -> say(phase, sent, plan.words(), results));
        write(run.run());
    }

    private void say(String phase, long sent, long words, long results) {
        long now = System.nanoTime();
        if (!phase.equals(lastPhase) || now - lastNanos >= TICK_NANOS) {
            lastPhase = phase;
            lastNanos = now;
            System.out.println(phase + "\t" + sent + "\t" + words + "\t" + results);
            System.out.flush();
        }
    }

    /** As a whole, since this process may be killed at any time. */
    private void write(WordCountReport report) throws IOException {
        Path next = directory.resolve("trial.json.next");
        mapper.writeValue(next.toFile(), report);
        Files.move(next, directory.resolve("trial.json"), StandardCopyOption.ATOMIC_MOVE);
    }
}
