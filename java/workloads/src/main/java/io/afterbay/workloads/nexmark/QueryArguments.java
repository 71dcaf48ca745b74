package io.afterbay.workloads.nexmark;

import io.afterbay.command.Durations;
import io.afterbay.workloads.nexmark.NexmarkOptions.Windows;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options that say what a query computes on which events. */
public class QueryArguments {
    private static final long MAX_KEYS = 1_000_000_000_000L;
    private static final long MAX_INTER_EVENT_MICROS = 60_000_000;
    private static final long MAX_WINDOW_MILLIS = Duration.ofDays(365).toMillis();

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = "--query",
            required = true,
            paramLabel = "Q",
            converter = QueryConverter.class,
            description =
                    "One of q5, q5-append, q7, q7-session, q8, q11, q11-median, q12 (what they"
                            + " compute: examples/nexmark-sql/README.md).")
    private Query query = Query.Q5;

    @Option(
            names = "--events",
            paramLabel = "N",
            defaultValue = "2000000",
            description =
                    "Events of the stream: of 50, 46 bids, 3 auctions and 1 person (default:"
                            + " ${DEFAULT-VALUE}).")
    private long events;

    @Option(
            names = "--window",
            paramLabel = "D",
            converter = Durations.class,
            defaultValue = "20s",
            description =
                    "Length of windows in event time; sliding windows slide by half of it (default:"
                            + " ${DEFAULT-VALUE}).")
    private Duration window = Duration.ZERO;

    @Option(
            names = "--session-gap",
            paramLabel = "D",
            converter = Durations.class,
            defaultValue = "2s",
            description =
                    "A longer pause of a bidder in event time ends a session (default:"
                            + " ${DEFAULT-VALUE}).")
    private Duration sessionGap = Duration.ZERO;

    @Option(
            names = "--active-keys",
            paramLabel = "N",
            defaultValue = "10000",
            description =
                    "Persons, and auctions, that are active at a time (default: ${DEFAULT-VALUE}).")
    private long activeKeys;

    @Option(
            names = "--inter-event",
            paramLabel = "MICROS",
            defaultValue = "100",
            description =
                    "Event time between two events in microseconds (default: ${DEFAULT-VALUE}, so"
                            + " 10,000 events are one second).")
    private long interEventMicros;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of the stream (default: ${DEFAULT-VALUE}).")
    private long seed;

    /**
     * The checked query, as fast as possible and without output; bad values are a {@link
     * ParameterException}.
     */
    public final NexmarkOptions query(String run) {
        check("--active-keys", activeKeys, 1, MAX_KEYS);
        check("--inter-event", interEventMicros, 1, MAX_INTER_EVENT_MICROS);
        check("--window in ms", window.toMillis(), 2, MAX_WINDOW_MILLIS);
        check("--session-gap in ms", sessionGap.toMillis(), 1, MAX_WINDOW_MILLIS);
        if (window.toMillis() % 2 != 0) {
            throw bad("--window: use an even number of milliseconds; it slides by half of it");
        }
        Generator generator = new Generator(seed, interEventMicros, activeKeys);
        check("--events", events, 1, generator.eventsMax());
        return new NexmarkOptions(
                query,
                events,
                generator,
                new Windows(window.toMillis(), sessionGap.toMillis()),
                0,
                null,
                run);
    }

    private void check(String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw bad("%s %d: use a number from %d to %d".formatted(option, value, min, max));
        }
    }

    final ParameterException bad(String message) {
        if (spec == null) {
            throw new IllegalArgumentException(message);
        }
        return new ParameterException(spec.commandLine(), message);
    }

    /** For picocli. */
    static final class QueryConverter implements ITypeConverter<Query> {
        @Override
        public Query convert(String text) {
            return Query.named(text)
                    .orElseThrow(
                            () ->
                                    new TypeConversionException(
                                            "'" + text + "' is none; use one of " + Query.names()));
        }
    }
}
