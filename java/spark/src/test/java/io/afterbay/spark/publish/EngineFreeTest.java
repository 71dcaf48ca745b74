package io.afterbay.spark.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The package could serve another engine: its classes name none. */
class EngineFreeTest {
    @Test
    void namesNoEngine() throws Exception {
        Path classes = Path.of(Publisher.class.getResource("Publisher.class").toURI()).getParent();
        try (Stream<Path> files = Files.list(classes)) {
            List<Path> all = files.filter(f -> f.toString().endsWith(".class")).toList();
            assertThat(all).hasSizeGreaterThan(8);
            for (Path file : all) {
                String constants = Files.readString(file, StandardCharsets.ISO_8859_1);
                assertThat(constants).as(file.toString()).doesNotContain("org/apache/", "scala/");
            }
        }
    }
}
