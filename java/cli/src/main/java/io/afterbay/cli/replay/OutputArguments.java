package io.afterbay.cli.replay;

import io.afterbay.cli.job.RunRules;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** Where the rows of a replay of somebody else's job go. */
final class OutputArguments {
    /** How a replay and the live job get along. */
    enum Mode {
        BESIDE,
        BLOCKING;

        static final class Converter implements ITypeConverter<Mode> {
            @Override
            public Mode convert(String text) {
                return switch (text) {
                    case "beside" -> BESIDE;
                    case "blocking" -> BLOCKING;
                    default ->
                            throw new TypeConversionException(
                                    "'%s' is no mode; use beside or blocking".formatted(text));
                };
            }
        }
    }

    @Option(
            names = "--own-output",
            description =
                    "The job's sinks are not those of the live job: without it, or --mode beside, a"
                            + " job whose sinks write to the outside is refused.")
    private boolean ownOutput;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            converter = Mode.Converter.class,
            description =
                    "beside: the sinks are those of the live job. Rows that it has written, or"
                            + " writes meanwhile, win over replayed rows of their key. For sinks to"
                            + " Kafka with keys, and upsert-kafka tables. blocking: the live job (--live,"
                            + " at --on) is stopped with a savepoint, and started from it again when"
                            + " the replay has ended.")
    private @Nullable Mode mode;

    @Option(
            names = "--live-since",
            paramLabel = "T",
            converter = Moment.class,
            description =
                    "With --mode beside: rows in the output since this time are right and win, older"
                            + " ones are replaced (default: that of --to).")
    private @Nullable Instant liveSince;

    @Option(
            names = "--resolver",
            paramLabel = "CLASS",
            description =
                    "With --mode beside: which of two rows of a key wins. live: that of the live job;"
                            + " timestamp: the one with the newer timestamp in Kafka; or a class of the"
                            + " job's jar that implements io.afterbay.replay.merge.Resolver (default: the"
                            + " one that the jar offers as a service, or live).")
    private @Nullable String resolver;

    RunRules rules() {
        return new RunRules(
                0,
                ownOutput || mode != null
                        ? null
                        : "--own-output; or let its rows be merged with those of the live job by --mode beside");
    }

    boolean isBlocking() {
        return mode == Mode.BLOCKING;
    }

    /** Null if the rows of the replay are not merged with others. */
    ReplayPlan.@Nullable Merge merge(CommandLine command) {
        if (mode != Mode.BESIDE && (liveSince != null || resolver != null)) {
            throw new ParameterException(
                    command, "--live-since and --resolver are for --mode beside: add it");
        }
        if (mode != null && ownOutput) {
            throw new ParameterException(
                    command,
                    "--own-output says that nobody else writes to the sinks, and --mode that the live job does: use one of them");
        }
        return mode != Mode.BESIDE
                ? null
                : new ReplayPlan.Merge(
                        liveSince == null ? null : liveSince.toEpochMilli(), resolver);
    }
}
