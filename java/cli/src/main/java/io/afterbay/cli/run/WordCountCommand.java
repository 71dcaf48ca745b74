package io.afterbay.cli.run;

import static java.util.Map.entry;

import io.afterbay.command.CommandLines;
import io.afterbay.command.OutputFiles;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code afterbay run word-count}: checks the options; {@link WordCountRun} does the rest. */
@Command(
        name = "word-count",
        description = {
            "Count words with Kafka Streams, exactly once, on a Kafka broker within the process.",
            "",
            "Words come by a schedule; each makes one result, its new count. Prints throughput,"
                    + " latency from when a word was due to when a consumer of committed results"
                    + " reads its count, and the most frequent words; and checks every count. The"
                    + " latency has at least half of commit.interval.ms in it, 100 ms unless it is"
                    + " set.",
            ""
        },
        sortOptions = false,
        usageHelpWidth = 100,
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  ./afterbay run word-count",
            "  ./afterbay run word-count --rate 20000 --words 600000 --json report.json",
            "  ./afterbay run word-count --no-desync -D processing.guarantee=at_least_once",
            "  ./afterbay run word-count --bootstrap localhost:9092 --partitions 16",
            "",
            "Exit codes: 0 done, 1 it failed or a count is wrong, 2 wrong options,",
            "130 Ctrl-C, 143 SIGTERM."
        })
public final class WordCountCommand implements Callable<Integer> {
    private static final long WORDS_MAX = 1_000_000_000;
    private static final int VOCABULARY_MAX = 10_000_000;
    private static final int PARTITIONS_MAX = 256;
    private static final int THREADS_MAX = 128;
    private static final double RATE_MIN = 0.1;
    private static final double SKEW_MAX = 10;
    private static final Pattern HOST_AND_PORT = Pattern.compile("\\S+:\\d{1,5}");

    /** Keys that the command decides, with what to do instead. */
    private static final Map<String, String> DECIDED =
            Map.ofEntries(
                    entry("application.id", "each run has a name of its own"),
                    entry("bootstrap.servers", "use --bootstrap instead"),
                    entry("state.dir", "use --work-dir instead"),
                    entry("num.stream.threads", "use --threads instead"),
                    entry(
                            "rocksdb.config.setter",
                            "use --no-desync, or -D afterbay.desync.config.setter"));

    @Option(
            names = "--words",
            paramLabel = "N",
            defaultValue = "100000",
            description = "How many words come (default: ${DEFAULT-VALUE}).")
    private long words;

    @Option(
            names = "--rate",
            paramLabel = "N",
            defaultValue = "5000",
            description = "How many are due in a second (default: ${DEFAULT-VALUE}).")
    private double rate;

    @Option(
            names = "--vocabulary",
            paramLabel = "N",
            defaultValue = "10000",
            description = "How many different words there are (default: ${DEFAULT-VALUE}).")
    private int vocabulary;

    @Option(
            names = "--skew",
            paramLabel = "S",
            defaultValue = "1.0",
            description =
                    "The word of rank r is as frequent as 1 / r^S; 0 for equally frequent words"
                            + " (default: ${DEFAULT-VALUE}).")
    private double skew;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Another one makes other words (default: ${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--partitions",
            paramLabel = "N",
            defaultValue = "8",
            description = "Partitions of each topic; each has a store (default: ${DEFAULT-VALUE}).")
    private int partitions;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description =
                    "Threads of Kafka Streams (default: the processors of this machine, at most"
                            + " 8).")
    private int threads = Math.min(8, Runtime.getRuntime().availableProcessors());

    @Option(
            names = "--desync",
            negatable = true,
            defaultValue = "true",
            fallbackValue = "true",
            description =
                    "Whether DesyncRocksDBConfigSetter spreads the compactions of the stores; its"
                            + " other options go by -D afterbay.desync.* (default: on).")
    private boolean desync;

    @Option(
            names = "--bootstrap",
            paramLabel = "HOST:PORT",
            description =
                    "Use this Kafka broker. Topics afterbay-word-count-* are created there, and"
                            + " deleted at the end.")
    private @Nullable String bootstrap;

    @Option(
            names = "-D",
            paramLabel = "KEY=VALUE",
            description =
                    "A setting of Kafka Streams, for example -D commit.interval.ms=1000; may be"
                            + " given several times.")
    private final Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Write the report as JSON to this file (fields: docs/run.md).")
    private @Nullable Path json;

    @Option(
            names = "--work-dir",
            paramLabel = "DIR",
            description =
                    "Where the stores and the embedded broker have their files, in a directory that"
                            + " is removed at the end (default: TMPDIR or /tmp).")
    private @Nullable Path workDirectory;

    @Option(names = "--verbose", description = "Show the log of Kafka.")
    private boolean verbose;

    @Spec private @Nullable CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        check();
        new OutputFiles().check("--json", json);
        return new WordCountRun(workDirectory, verbose, json).run(plan());
    }

    private void check() {
        check("--words", words, 1, WORDS_MAX);
        check("--vocabulary", vocabulary, 1, VOCABULARY_MAX);
        check("--partitions", partitions, 1, PARTITIONS_MAX);
        check("--threads", threads, 1, THREADS_MAX);
        if (!(rate >= RATE_MIN) || rate > WORDS_MAX) {
            throw bad("--rate %s: use a number from 0.1 to 1e9".formatted(rate));
        }
        if (!(skew >= 0) || skew > SKEW_MAX) {
            throw bad("--skew %s: use a number from 0 to 10".formatted(skew));
        }
        if (bootstrap != null && !HOST_AND_PORT.matcher(bootstrap).matches()) {
            throw bad(
                    "--bootstrap '%s' is no HOST:PORT, for example localhost:9092"
                            .formatted(bootstrap));
        }
        settings.keySet().stream()
                .filter(DECIDED::containsKey)
                .findFirst()
                .ifPresent(
                        key -> {
                            throw bad("-D " + key + ": " + DECIDED.get(key));
                        });
    }

    private void check(String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw bad("%s %d: use a number from %d to %d".formatted(option, value, min, max));
        }
    }

    /** A run with these options, under a name that no other run has. */
    public WordCountPlan plan() {
        return new WordCountPlan(
                bootstrap,
                "afterbay-word-count-" + UUID.randomUUID().toString().substring(0, 8),
                words,
                rate,
                vocabulary,
                skew,
                seed,
                partitions,
                threads,
                desync,
                settings);
    }

    private ParameterException bad(String message) {
        CommandLine command = CommandLines.commandOf(spec);
        return new ParameterException(command, message);
    }
}
