package io.afterbay.cli.engine;

import io.afterbay.cli.process.Signals;
import io.afterbay.cli.process.SystemExit;
import io.afterbay.cli.process.WorkDirectory;
import io.afterbay.cli.process.WorkerJvm;
import io.afterbay.command.CommandFailure;
import io.afterbay.command.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Starts a worker, with the heap that {@code --memory} leaves it. */
public final class WorkerLauncher {
    /** What Flink's own launcher opens on JDK 17. */
    private static final List<String> OPENED_PACKAGES =
            List.of(
                    "java.base/java.lang",
                    "java.base/java.nio",
                    "java.base/java.util",
                    "java.base/java.util.concurrent",
                    "java.base/sun.net.util");

    /** Samples tell inlined methods apart. It costs some memory of the compiler, and no time. */
    private static final List<String> PROFILER_FLAGS =
            List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints");

    /** Direct buffers of libraries, beyond Flink's network and the state. */
    private static final long OTHER_DIRECT_MIB = 64;

    /** What to say about a worker with the exit code {@link ExitCode#KILLED}. */
    static final String KILLED =
            "the worker was killed (SIGKILL), by the kernel if the machine ran out of memory; use"
                    + " less --memory or close other programs";

    private final Class<?> program;
    private final EngineSettings engine;
    private final MemorySplit memory;
    private final Map<String, String> environment;
    private final AtomicInteger signalled = new AtomicInteger();

    /** One that has the memory of its engine. */
    public WorkerLauncher(Class<?> program, EngineSettings engine) {
        this(program, engine, engine.memory(), Map.of());
    }

    /**
     * @param program the worker's main class
     * @param memory of its process
     * @param environment variables beside those of this process
     */
    public WorkerLauncher(
            Class<?> program,
            EngineSettings engine,
            MemorySplit memory,
            Map<String, String> environment) {
        this.program = program;
        this.engine = engine;
        this.memory = memory;
        this.environment = environment;
    }

    /** What happens before a worker starts. */
    @FunctionalInterface
    public interface Preparation {
        /**
         * @param directory of the worker, for its plan
         * @param worker how it is started; may be changed
         */
        void prepare(Path directory, ProcessBuilder worker) throws IOException;
    }

    /**
     * Runs it to its end, with the terminal; returns the exit code of the command.
     *
     * @param parent where its working directory is made; null for the system's
     */
    public int run(@Nullable Path parent, Preparation preparation)
            throws CommandFailure, InterruptedException {
        Path directory = WorkDirectory.create(parent);
        try {
            ProcessBuilder builder = builder(directory).inheritIO();
            preparation.prepare(directory, builder);
            Process worker = start(builder);
            int code = waitFor(worker);
            return SystemExit.decided(directory) ? ofProgram(code) : exitCode(code);
        } catch (IOException e) {
            throw new CommandFailure("cannot start the worker: " + CommandFailure.reason(e), e);
        } finally {
            WorkDirectory.remove(directory);
        }
    }

    /**
     * The terminal sends Ctrl-C to both processes; a kill of this one alone is passed on. The
     * worker takes several signals at once for one.
     */
    private Process start(ProcessBuilder builder) throws IOException {
        Process worker = builder.start();
        Signals.handle(
                code -> {
                    signalled.compareAndSet(0, code);
                    worker.destroy();
                });
        return worker;
    }

    /** What starts a worker in its own working directory. */
    public ProcessBuilder builder(Path directory) throws CommandFailure {
        return builder(directory, List.of(WorkDirectory.workerFlag(directory)), List.of());
    }

    /**
     * The same with arguments, in a directory that several workers have.
     *
     * @param directory for temporary files
     * @param flags more of them for the JVM
     */
    public ProcessBuilder builder(Path directory, List<String> flags, List<String> args)
            throws CommandFailure {
        ProcessBuilder builder = new ProcessBuilder(command(directory, flags, args));
        // glibc keeps what is freed per arena and opens one per thread: beyond --memory, that is.
        builder.environment().putIfAbsent("MALLOC_ARENA_MAX", "2");
        builder.environment().putAll(environment);
        return builder;
    }

    private List<String> command(Path directory, List<String> flags, List<String> args)
            throws CommandFailure {
        List<String> ours = new ArrayList<>(memoryFlags());
        ours.addAll(PROFILER_FLAGS);
        OPENED_PACKAGES.forEach(name -> ours.add("--add-opens=" + name + "=ALL-UNNAMED"));
        ours.addAll(flags);
        List<String> command = WorkerJvm.command(ours);
        command.add("-Djava.io.tmpdir=" + directory);
        command.addAll(properties());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(program.getName());
        command.addAll(args);
        return command;
    }

    private List<String> memoryFlags() {
        long directMib =
                OTHER_DIRECT_MIB
                        + memory.network().mebibytes()
                        + (engine.backend().usesDirectMemory() ? memory.state().mebibytes() : 0);
        return List.of(
                "-Xmx" + memory.heap().mebibytes() + "m",
                "-Xms" + memory.heap().mebibytes() + "m",
                "-XX:MaxDirectMemorySize=" + directMib + "m",
                "-XX:+UseG1GC",
                "-XX:+ExitOnOutOfMemoryError",
                "-Xshare:auto");
    }

    private List<String> properties() {
        List<String> properties = new ArrayList<>();
        properties.add("-Dfile.encoding=UTF-8");
        String home = System.getProperty("afterbay.home");
        if (home != null) {
            properties.add("-Dafterbay.home=" + home);
        }
        if (engine.verbose()) {
            properties.add("-Dafterbay.log.engine=INFO");
            properties.add("-Dafterbay.log.own=INFO");
            properties.add("-Dafterbay.log.frames=full");
        }
        return properties;
    }

    private static int ofProgram(int code) throws CommandFailure {
        if (code == ExitCode.ENGINE_FATAL) {
            return unexpected(code);
        }
        if (code != ExitCode.OK) {
            throw new CommandFailure("the program called System.exit(" + code + ")");
        }
        return code;
    }

    private int exitCode(int code) throws CommandFailure {
        switch (code) {
            case ExitCode.INTERRUPTED, ExitCode.TERMINATED:
                return signalled.get() == 0 ? code : signalled.get();
            case ExitCode.JVM_OUT_OF_MEMORY:
                throw new CommandFailure(outOfHeap());
            case ExitCode.KILLED:
                throw new CommandFailure(KILLED);
            default:
                return code <= ExitCode.USAGE ? code : unexpected(code);
        }
    }

    private static int waitFor(Process worker) throws InterruptedException {
        while (!worker.waitFor(1, TimeUnit.HOURS)) {
            // A job may run for days.
        }
        return worker.exitValue();
    }

    /** What to say about a worker with the exit code {@link ExitCode#JVM_OUT_OF_MEMORY}. */
    String outOfHeap() {
        return "the worker ran out of heap (%s of the --memory %s); %s"
                .formatted(memory.heap(), memory.total(), moreMemory());
    }

    private String moreMemory() {
        return engine.backend().isOffHeap()
                ? "give it more --memory"
                : "give it more --memory, or choose a --backend that keeps state off the heap";
    }

    private static int unexpected(int code) throws CommandFailure {
        throw new CommandFailure(
                "the worker ended with code " + code + "; run again with --verbose for its log");
    }
}
