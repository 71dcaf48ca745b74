package io.afterbay.flink.it.cluster;

import io.afterbay.testing.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A JVM in its own process that does not outlive this one.
 *
 * <p>Between the two stands a shell that reads from a pipe which only this process writes to. The
 * pipe ends when this process does, however it ends (kill -9 too), and the shell then kills the
 * JVM.
 */
final class JvmProcess implements AutoCloseable {
    private static final int TAIL_LINES = 60;
    private static final String GUARD =
            """
            log=$1; shift
            "$@" >>"$log" 2>&1 </dev/null &
            echo $!
            cat >/dev/null
            kill -9 $! 2>/dev/null
            wait
            """;

    private final String name;
    private final Path log;
    private final Process guard;
    private final ProcessHandle jvm;

    private JvmProcess(String name, Path log, Process guard, ProcessHandle jvm) {
        this.name = name;
        this.log = log;
        this.guard = guard;
        this.jvm = jvm;
    }

    /**
     * @param name for messages
     * @param command executable and arguments
     * @param log where standard output and standard error are appended
     */
    static JvmProcess start(String name, Path directory, List<String> command, Path log)
            throws IOException {
        List<String> guarded = new ArrayList<>(List.of("sh", "-c", GUARD, "guard", log.toString()));
        guarded.addAll(command);
        ProcessBuilder builder =
                new ProcessBuilder(guarded)
                        .directory(directory.toFile())
                        .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().put("MALLOC_ARENA_MAX", "2"); // docs/flink.md, 2
        Process guard = builder.start();
        BufferedReader out =
                new BufferedReader(
                        new InputStreamReader(guard.getInputStream(), StandardCharsets.US_ASCII));
        long pid = Long.parseLong(out.readLine());
        ProcessHandle jvm =
                ProcessHandle.of(pid)
                        .orElseThrow(() -> new IOException(name + " ended at once: see " + log));
        return new JvmProcess(name, log, guard, jvm);
    }

    boolean isAlive() {
        return jvm.isAlive();
    }

    long pid() {
        return jvm.pid();
    }

    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, String.valueOf(pid())).start().waitFor();
    }

    /** kill -9, as the kernel's out-of-memory killer does; returns when the process is gone. */
    void kill() throws InterruptedException {
        jvm.destroyForcibly();
        awaitEnd();
    }

    @Override
    public void close() {
        try {
            guard.getOutputStream().close();
            guard.waitFor(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
            jvm.destroyForcibly(); // unless the guard has done it
            awaitEnd();
        } catch (IOException e) {
            jvm.destroyForcibly();
        } catch (InterruptedException e) {
            jvm.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    private void awaitEnd() throws InterruptedException {
        try {
            jvm.onExit().get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException | java.util.concurrent.ExecutionException e) {
            throw new IllegalStateException("%s (pid %d) does not end".formatted(name, jvm.pid()));
        }
    }

    /** All of the log so far. */
    String log() throws IOException {
        return Files.readString(log);
    }

    /** The last lines of the log, headed by the process's name. */
    String tail() {
        try {
            List<String> lines = Files.readAllLines(log);
            List<String> last = lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size());
            return "---- %s (%s), %s%n%s%n"
                    .formatted(
                            name,
                            isAlive() ? "running" : "ended",
                            log,
                            String.join(System.lineSeparator(), last));
        } catch (IOException e) {
            return "---- %s: no log: %s%n".formatted(name, e);
        }
    }
}
