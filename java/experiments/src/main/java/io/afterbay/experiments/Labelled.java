package io.afterbay.experiments;

import java.util.Arrays;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A choice of an option. */
public interface Labelled {
    /** How users of the command call it. */
    String label();

    /**
     * The choice of that label.
     *
     * @throws IllegalArgumentException saying which there are
     */
    static <E extends Enum<E> & Labelled> E named(Class<E> type, String label) {
        return Arrays.stream(type.getEnumConstants())
                .filter(one -> one.label().equals(label))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "'%s' is none; use one of %s"
                                                .formatted(label, labels(type))));
    }

    private static <E extends Enum<E> & Labelled> String labels(Class<E> type) {
        return Arrays.stream(type.getEnumConstants())
                .map(Labelled::label)
                .collect(Collectors.joining(", "));
    }

    /** For picocli, which wants a class for each. */
    public abstract class Converter<E extends Enum<E> & Labelled> implements ITypeConverter<E> {
        private final Class<E> type;

        public Converter(Class<E> type) {
            this.type = type;
        }

        @Override
        public E convert(String text) {
            try {
                return named(type, text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }
}
