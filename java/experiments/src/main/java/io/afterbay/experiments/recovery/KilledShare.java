package io.afterbay.experiments.recovery;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Which share of the tasks is in the TaskManager that is killed.
 *
 * @param percent from 1 to 50: one of so many as makes at least that share; 100: all
 */
record KilledShare(int percent) {
    static final KilledShare ALL = new KilledShare(100);

    /** More TaskManagers' worth of tasks than a small machine can run. */
    private static final int PERCENT_MIN = 2;

    private static final int PERCENT_MAX = 50;

    /**
     * Instances of the operator.
     *
     * @param ofAll so many if all of them are killed
     */
    int instances(int ofAll) {
        return equals(ALL) ? ofAll : ALL.percent / percent;
    }

    /** For picocli: {@code 6%}. */
    public static final class Converter implements ITypeConverter<KilledShare> {
        @Override
        public KilledShare convert(String text) {
            try {
                int percent = Integer.parseInt(text.replaceFirst("%$", ""));
                if (percent == ALL.percent || percent >= PERCENT_MIN && percent <= PERCENT_MAX) {
                    return new KilledShare(percent);
                }
            } catch (NumberFormatException e) {
                // It is none either way.
            }
            throw new TypeConversionException(
                    "'%s' is no share; use 2%% to 50%%, or 100%%".formatted(text));
        }
    }
}
