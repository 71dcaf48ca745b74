package io.afterbay.cli.replay;

import io.afterbay.workloads.run.Rates;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Records per second, or {@code max} for as fast as possible. */
final class Rate implements ITypeConverter<Double> {
    static final double MAX = Double.POSITIVE_INFINITY;

    @Override
    public Double convert(String text) {
        if (text.equals("max")) {
            return MAX;
        }
        try {
            double rate = Double.parseDouble(text);
            if (rate > 0 && Rates.isValid(rate)) {
                return rate;
            }
        } catch (NumberFormatException e) {
            // It is none.
        }
        throw new TypeConversionException(
                "'%s' is no rate; use records per second, for example 5000, or max"
                        .formatted(text));
    }

    static String text(double rate) {
        return rate == MAX ? "max" : "%,.0f records/s".formatted(rate);
    }
}
