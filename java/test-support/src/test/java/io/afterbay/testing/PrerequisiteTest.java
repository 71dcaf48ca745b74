package io.afterbay.testing;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

class PrerequisiteTest {
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatIsThereIsNoProblem(boolean isBuildServer) {
        assertThatCode(() -> Prerequisite.check(true, () -> "no pip", isBuildServer))
                .doesNotThrowAnyException();
    }

    @Test
    void whatIsMissingSkipsATest() {
        assertThatThrownBy(() -> Prerequisite.check(false, () -> "no pip", false))
                .isInstanceOf(TestAbortedException.class)
                .hasMessageContaining("skipped: no pip");
    }

    @Test
    void whatIsMissingOnABuildServerFailsATest() {
        assertThatThrownBy(() -> Prerequisite.check(false, () -> "no pip", true))
                .isInstanceOf(AssertionFailedError.class)
                .hasMessageContaining("CI is set: no pip");
    }
}
