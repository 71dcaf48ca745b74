package io.afterbay.bench;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A comparison for programs. Names are those of the records' components in snake case, with the
 * unit last; what was not measured is null; numbers are rounded to four significant digits, but not
 * beyond the unit.
 */
public final class ComparisonJson {
    /** For all JSON of this package. */
    static final JsonMapper MAPPER =
            JsonMapper.builder()
                    .addModule(rounding())
                    .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
                    .build();

    private ComparisonJson() {}

    public static void write(Path file, Comparison comparison) throws IOException {
        Files.writeString(file, render(comparison));
    }

    /** Several lines, each with its end. */
    public static String render(Comparison comparison) throws JsonProcessingException {
        return MAPPER.writer(SerializationFeature.INDENT_OUTPUT).writeValueAsString(comparison)
                + "\n";
    }

    /** In one line. */
    static String line(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("records of figures are always JSON", e);
        }
    }

    private static SimpleModule rounding() {
        return new SimpleModule()
                .addSerializer(Double.class, new Rounded())
                .addSerializer(double.class, new Rounded());
    }

    private static final class Rounded extends StdSerializer<Double> {
        private static final MathContext SIGNIFICANT = new MathContext(4, RoundingMode.HALF_UP);

        Rounded() {
            super(Double.class);
        }

        @Override
        public void serialize(Double value, JsonGenerator json, SerializerProvider provider)
                throws IOException {
            if (value.isNaN() || value.isInfinite()) {
                json.writeNull();
            } else {
                json.writeNumber(rounded(BigDecimal.valueOf(value)));
            }
        }

        private static BigDecimal rounded(BigDecimal value) {
            BigDecimal whole = value.setScale(0, RoundingMode.HALF_UP);
            BigDecimal result =
                    whole.precision() >= SIGNIFICANT.getPrecision()
                            ? whole
                            : value.round(SIGNIFICANT);
            BigDecimal stripped = result.stripTrailingZeros();
            return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
        }
    }
}
