package io.afterbay.kafka.workloads;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;

/**
 * How a process learns what to do and tells what it found out: by {@code plan.json} and {@code
 * trial.json} in a directory, and by lines of its standard output that say how far it is: phase,
 * words sent, words in all and results read, with tabs. When its standard input ends, whoever
 * started it is gone; then it removes the directory, and ends.
 */
final class Handover {
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int KILLED = 137;

    /**
     * Of the process $0 and the directory $1. A killed process may still be in a system call for
     * seconds, and makes files until it is gone; a minute is for one that nobody buries.
     */
    private static final String KILL_AND_REMOVE =
            "kill -9 \"$0\"; i=0; while kill -0 \"$0\" 2>/dev/null && [ $i -lt 300 ];"
                    + " do rm -rf -- \"$1\"; sleep 0.2; i=$((i+1)); done; rm -rf -- \"$1\"";

    private final ObjectMapper mapper = new ObjectMapper();
    private final Path directory;
    private String lastPhase = "";
    private long lastNanos;

    Handover(Path directory) {
        this.directory = directory;
    }

    void dieWithParent() {
        Thread watch =
                new Thread(
                        () -> {
                            try {
                                System.in.transferTo(OutputStream.nullOutputStream());
                                abandon();
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
    private void abandon() throws IOException {
        String pid = String.valueOf(ProcessHandle.current().pid());
        new ProcessBuilder("sh", "-c", KILL_AND_REMOVE, pid, directory.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    <P> P plan(Class<P> type) throws IOException {
        return mapper.readValue(directory.resolve("plan.json").toFile(), type);
    }

    /** Now and then, and whenever the phase is another one. */
    void say(String phase, long sent, long words, long results) {
        long now = System.nanoTime();
        if (!phase.equals(lastPhase) || now - lastNanos >= TICK_NANOS) {
            lastPhase = phase;
            lastNanos = now;
            System.out.println(phase + "\t" + sent + "\t" + words + "\t" + results);
            System.out.flush();
        }
    }

    /** As a whole, since this process may be killed at any time. */
    void trial(Object report) throws IOException {
        Path next = directory.resolve("trial.json.next");
        mapper.writeValue(next.toFile(), report);
        Files.move(next, directory.resolve("trial.json"), StandardCopyOption.ATOMIC_MOVE);
    }
}
