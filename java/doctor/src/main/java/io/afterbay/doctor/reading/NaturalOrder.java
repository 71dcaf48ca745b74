package io.afterbay.doctor.reading;

import java.util.Comparator;
import java.util.regex.Pattern;

/** Names with numbers in the order of the numbers: 2/16 before 10/16. */
public final class NaturalOrder {
    /** For names of any kind, and versions. */
    public static final Comparator<String> NAMES = Comparator.comparing(NaturalOrder::key);

    static final Comparator<InstanceLog> INSTANCES =
            Comparator.comparing((InstanceLog log) -> log.name().stage())
                    .thenComparing(log -> key(log.name().instance()))
                    .thenComparing(log -> log.name().key());

    private static final Pattern NUMBER = Pattern.compile("\\d+");

    private NaturalOrder() {}

    /** The name with each number at equal length. */
    private static String key(String name) {
        return NUMBER.matcher(name)
                .replaceAll(number -> "0".repeat(zeros(number.group())) + number.group());
    }

    private static int zeros(String number) {
        return Math.max(0, 20 - number.length());
    }
}
