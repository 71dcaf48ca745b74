package io.afterbay.storm.workloads;

import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Tests on real Storm in this process, which is started once for all tests of a class. */
abstract class EmbeddedStormSuite {
    @TempDir private static Path directory;
    private static @Nullable EmbeddedStorm storm;

    @BeforeAll
    static void start() throws Exception {
        storm = new EmbeddedStorm(directory);
    }

    @AfterAll
    static void end() throws Exception {
        storm().close();
    }

    static EmbeddedStorm storm() {
        return Objects.requireNonNull(storm);
    }
}
