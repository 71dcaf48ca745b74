package io.afterbay.spark.workloads;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * How this process learns what to do and tells what it found out: by {@code plan.json} and {@code
 * trial.json} in a directory, and by lines of its standard output that say how far it is: phase,
 * records that came, records in all and rows, with tabs. When its standard input ends, whoever
 * started it is gone; then it removes the directory, and ends. The same as for programs with Kafka,
 * which has other libraries.
 */
final class Handover {
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

    static void say(String phase, long come, long all, long rows) {
        System.out.println(phase + "\t" + come + "\t" + all + "\t" + rows);
        System.out.flush();
    }

    /** As a whole, since this process may be killed at any time. */
    void trial(Object report) throws IOException {
        Path next = directory.resolve("trial.json.next");
        mapper.writeValue(next.toFile(), report);
        Files.move(next, directory.resolve("trial.json"), StandardCopyOption.ATOMIC_MOVE);
    }
}
