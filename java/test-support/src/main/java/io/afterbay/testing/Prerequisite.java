package io.afterbay.testing;

import java.util.function.Supplier;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/**
 * What a test needs of the machine beside a JDK. Whoever works on something else may lack it: then
 * the test is skipped, and says why. A build server, which has {@code CI} in its environment, may
 * not: there the test fails, so that no suite shrinks unnoticed.
 */
public final class Prerequisite {
    private static final boolean IS_BUILD_SERVER = System.getenv("CI") != null;

    private Prerequisite() {}

    /**
     * Goes on if it is there.
     *
     * @param missing what is missing, and what to install
     */
    public static void check(boolean isThere, Supplier<String> missing) {
        check(isThere, missing, IS_BUILD_SERVER);
    }

    static void check(boolean isThere, Supplier<String> missing, boolean isBuildServer) {
        if (!isThere && isBuildServer) {
            Assertions.fail("not skipped, since CI is set: " + missing.get());
        }
        Assumptions.assumeTrue(isThere, () -> "skipped: " + missing.get());
    }
}
