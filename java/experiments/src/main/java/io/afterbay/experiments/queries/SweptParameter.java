package io.afterbay.experiments.queries;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A parameter of the store that an experiment sweeps, with the option of the backend it is. */
enum SweptParameter {
    SPACE_AMPLIFICATION(
            "max-space-amplification",
            "max-space-amplification",
            "1.5",
            List.of("1.1", "1.25", "1.5", "2", "3")),
    REGROUP_BATCH(
            "regroup-batch",
            "internal.regroup-batch",
            "256k",
            List.of("4k", "16k", "64k", "256k", "1m")),
    HOT_TIER_PART(
            "hot-tier-part", "internal.hot-tier-part", "16", List.of("64", "32", "16", "8", "4")),
    READ_AHEAD_TIMERS(
            "read-ahead-timers",
            "internal.read-ahead-timers",
            "64",
            List.of("1", "4", "16", "64", "256")),
    READ_THREADS("read-threads", "file.read-threads", "8", List.of("0", "2", "8", "16"));

    private static final String PREFIX = "state.backend.afterbay.";

    private final String label;
    private final String option;
    private final String usual;
    private final List<String> sweep;

    SweptParameter(String label, String option, String usual, List<String> sweep) {
        this.label = label;
        this.option = option;
        this.usual = usual;
        this.sweep = sweep;
    }

    /** How users of the command call it. */
    String label() {
        return label;
    }

    /** The whole key of the option. */
    String key() {
        return PREFIX + option;
    }

    /** The value that users of the store get. */
    String usual() {
        return usual;
    }

    /** Those that are tried; the usual one is among them. */
    List<String> sweep() {
        return sweep;
    }

    /** As the values are written in Flink's configuration. */
    static String configured(String value) {
        return value.endsWith("k") || value.endsWith("m") ? value + "b" : value;
    }

    /** For picocli. */
    public static final class Converter implements ITypeConverter<SweptParameter> {
        @Override
        public SweptParameter convert(String text) {
            return Arrays.stream(SweptParameter.values())
                    .filter(one -> one.label.equals(text))
                    .findFirst()
                    .orElseThrow(
                            () ->
                                    new TypeConversionException(
                                            "'%s' is none; use of %s".formatted(text, all())));
        }

        private static String all() {
            return Arrays.stream(SweptParameter.values())
                    .map(SweptParameter::label)
                    .collect(Collectors.joining(", "));
        }
    }
}
