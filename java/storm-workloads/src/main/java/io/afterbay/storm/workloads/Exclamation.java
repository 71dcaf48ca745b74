package io.afterbay.storm.workloads;

import io.afterbay.command.CommandFailure;
import io.afterbay.command.CommandLines;
import io.afterbay.command.ExitCode;
import io.afterbay.command.ProgressLine;
import io.afterbay.command.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.storm.utils.Utils;
import org.apache.storm.utils.VersionInfo;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code afterbay run exclamation}: the program. */
@Command(
        name = "afterbay run exclamation",
        description = {
            "Add exclamation marks to words on Storm, within the process, and see what one slow task does.",
            "",
            "Words come by a schedule and go through three bolts by shuffle grouping; each bolt sleeps"
                    + " for a word. Prints latency from when a word was due until it is acked, and how"
                    + " many words each task had. With --slow-task the first task of the first bolt is"
                    + " slower; --technique says what is done about it. More: docs/stragglers.md.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay run exclamation --slow-task 3x",
            "  ./afterbay run exclamation --slow-task 3x --technique balanced",
            "  ./afterbay run exclamation --slow-task 3x --technique replay",
            "  ./afterbay run exclamation --technique shared --workers 1 --rate 1500 --json report.json",
            "",
            "Exit codes: 0 done, 1 it failed or a word was not acked once, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
public final class Exclamation implements Callable<Integer> {
    private static final int TASKS_MAX = 64;
    private static final double RATE_MAX = 20_000;
    private static final int SECONDS_MAX = 3600;
    private static final double SERVICE_MS_MAX = 10_000;
    private static final double WARM_UP_S = 5;
    private static final double NANOS_PER_MS = 1e6;

    @Option(
            names = "--technique",
            paramLabel = "NAME",
            defaultValue = "none",
            description =
                    "none: Storm's load-aware shuffle. shared: the tasks of a bolt in one worker have one"
                            + " queue. balanced: senders give each task as much as it can take."
                            + " replay: the spout emits late words a second time, while queues and"
                            + " processors have room (default: ${DEFAULT-VALUE}).")
    private Technique technique = Technique.NONE;

    @Option(
            names = "--slow-task",
            paramLabel = "FACTOR",
            defaultValue = "1x",
            converter = Factor.class,
            description =
                    "The first task of the first bolt takes so many times as long, for example 3x"
                            + " (default: ${DEFAULT-VALUE}).")
    private double slowdown = 1;

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "600",
            description = "Words that are due in a second (default: ${DEFAULT-VALUE}).")
    private double rate;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "20",
            description =
                    "How long words are counted; 5 s before that are warm-up (default:"
                            + " ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
            names = "--service",
            paramLabel = "MS",
            defaultValue = "2.2",
            description =
                    "Mean milliseconds that a bolt sleeps for a word, exponentially distributed"
                            + " (default: ${DEFAULT-VALUE}).")
    private double serviceMs;

    @Option(
            names = "--tasks",
            paramLabel = "N",
            defaultValue = "5",
            description = "Tasks of each bolt (default: ${DEFAULT-VALUE}).")
    private int tasks;

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Workers of Storm, 1 to 5; they are threads of this process (default:"
                            + " ${DEFAULT-VALUE}).")
    private int workers;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Another one makes other times of sleep (default: ${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Write the report as JSON to this file.")
    private @Nullable Path json;

    @Option(names = "--verbose", description = "Show the log of Storm.")
    private boolean verbose;

    @Spec private @Nullable CommandSpec spec;

    private Exclamation() {}

    public static void main(String[] args) {
        // Threads of Storm do not end with it.
        Runtime.getRuntime().halt(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return CommandLines.of(new Exclamation()).setCaseInsensitiveEnumValuesAllowed(true);
    }

    /** {@code 3x}, or {@code 3}. */
    private static final class Factor implements ITypeConverter<Double> {
        private static final Pattern FORM = Pattern.compile("(\\d{1,3}(?:\\.\\d{1,3})?)x?");

        @Override
        public Double convert(String text) {
            Matcher matcher = FORM.matcher(text);
            if (!matcher.matches() || Double.parseDouble(matcher.group(1)) < 1) {
                throw new TypeConversionException(
                        "'" + text + "' is no factor of 1 or more; for example 3x");
            }
            return Double.parseDouble(matcher.group(1));
        }
    }

    @Override
    public Integer call() throws Exception {
        CommandLine command = CommandLines.commandOf(spec);
        check(command);
        System.setProperty("afterbay.log.storm", verbose ? "info" : "error");
        Path directory = Files.createTempDirectory("afterbay-storm-");
        // Where Storm makes its own.
        System.setProperty("java.io.tmpdir", directory.toString());
        Thread removal = new Thread(() -> remove(directory));
        Runtime.getRuntime().addShutdownHook(removal);
        try {
            ExclamationReport report = run(directory);
            ExclamationText.print(command.getOut(), report);
            if (json != null) {
                write(json, report);
            }
            return report.isRight() ? ExitCode.OK : ExitCode.FAILURE;
        } finally {
            Runtime.getRuntime().removeShutdownHook(removal);
            remove(directory);
        }
    }

    private void check(CommandLine command) {
        check(command, "--rate", rate, 1, RATE_MAX);
        check(command, "--seconds", seconds, 1, SECONDS_MAX);
        check(command, "--service", serviceMs, 0, SERVICE_MS_MAX);
        check(command, "--tasks", tasks, 1, TASKS_MAX);
        check(command, "--workers", workers, 1, EmbeddedStorm.WORKERS_MAX);
        if (json != null && (Files.isDirectory(json) || !isWritable(json))) {
            throw new ParameterException(
                    command, "--json %s cannot be written; choose another place".formatted(json));
        }
    }

    private static boolean isWritable(Path file) {
        Path parent = file.toAbsolutePath().getParent();
        return Files.exists(file)
                ? Files.isWritable(file)
                : parent != null && Files.isWritable(parent);
    }

    private static void check(
            CommandLine command, String option, double value, double min, double max) {
        if (!(value >= min && value <= max)) {
            throw new ParameterException(
                    command,
                    String.format(
                            Locale.ROOT, "%s: use a number from %,.0f to %,.0f", option, min, max));
        }
    }

    private ExclamationReport run(Path directory) throws Exception {
        ExclamationPlan plan = plan();
        ProgressLine line = new ProgressLine(System.err, Terminal.isStandardError());
        line.say("starting Storm " + VersionInfo.getVersion());
        try {
            return new ExclamationRun(plan)
                    .run(
                            directory,
                            measured -> {
                                if (line.isDue()) {
                                    line.show(progress(plan, measured));
                                }
                            });
        } finally {
            line.clear();
        }
    }

    private ExclamationPlan plan() {
        int warmUp = (int) (WARM_UP_S * rate);
        return new ExclamationPlan(
                "exclamation-" + UUID.randomUUID().toString().substring(0, 8),
                technique,
                rate,
                warmUp,
                warmUp + (int) (seconds * rate),
                tasks,
                workers,
                serviceMs,
                slowdown,
                seed);
    }

    private static String progress(ExclamationPlan plan, Measured measured) {
        int acked = measured.ackedWords();
        String latency =
                acked > plan.warmUpWords()
                        ? String.format(
                                Locale.ROOT,
                                "P99 %,.1f ms",
                                measured.latencies().getValueAtPercentile(99) / NANOS_PER_MS)
                        : "warm-up";
        return String.format(
                Locale.ROOT, "%,d of %,d words acked, %s", acked, plan.words(), latency);
    }

    private static void write(Path file, ExclamationReport report) throws CommandFailure {
        try {
            ExclamationText.write(file, report);
        } catch (IOException e) {
            throw new CommandFailure(
                    "--json %s cannot be written: %s; make room or choose another place"
                            .formatted(file, CommandFailure.reason(e)),
                    e);
        }
    }

    private static void remove(Path directory) {
        try {
            Utils.forceDelete(directory.toString());
        } catch (IOException e) {
            System.err.println("afterbay run exclamation: " + directory + " stays: " + e);
        }
    }
}
