package io.afterbay.cli.replay;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * What {@code --rate} says.
 *
 * @param perSecond records per second; the first ones if it is adaptive
 * @param isAdaptive whether the live job decides
 */
record RateChoice(double perSecond, boolean isAdaptive) {
    private static final String ADAPTIVE = "adaptive";

    /** What an adaptive rate never goes below: a replay that stands still does not end. */
    static final double ADAPTIVE_MIN = 10;

    /** For picocli. */
    static final class Converter implements ITypeConverter<RateChoice> {
        @Override
        public RateChoice convert(String text) {
            if (text.equals(ADAPTIVE)) {
                return new RateChoice(ADAPTIVE_MIN, true);
            }
            try {
                return new RateChoice(new Rate().convert(text), false);
            } catch (TypeConversionException e) {
                throw new TypeConversionException(e.getMessage() + ", or adaptive");
            }
        }
    }

    WantedRate wanted(boolean paused) {
        return new WantedRate(perSecond == Rate.MAX ? null : perSecond, paused, isAdaptive);
    }
}
