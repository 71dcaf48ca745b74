package io.afterbay.cli.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkerJvmTest {
    @Test
    void theUsersOptionsComeLast() {
        List<String> command =
                WorkerJvm.command(List.of("-Xmx1g", "-XX:+UseG1GC"), List.of("-Xss2m"));

        assertThat(command.get(0)).endsWith("java");
        assertThat(command).endsWith("-Xmx1g", "-XX:+UseG1GC", "-Xss2m");
    }

    @Test
    void theUsersCollectorReplacesOurs() {
        List<String> command =
                WorkerJvm.command(List.of("-Xmx1g", "-XX:+UseG1GC"), List.of("-XX:+UseZGC"));

        assertThat(command).contains("-Xmx1g", "-XX:+UseZGC").doesNotContain("-XX:+UseG1GC");
    }

    @Test
    void optionsWithWhichNoJvmStartsAreNamed() throws Exception {
        WorkerJvm.check(List.of("-Xss2m"));
        assertThatThrownBy(() -> WorkerJvm.check(List.of("-Xss2m", "-XX:Nonsense")))
                .isInstanceOf(CommandFailure.class)
                .hasMessageStartingWith("no JVM starts with AFTERBAY_JAVA_OPTS, which is")
                .hasMessageContaining("'-Xss2m -XX:Nonsense': Unrecognized VM option 'Nonsense'");
    }

    @Test
    void optionsHaveSpacesBetweenThem() {
        assertThat(WorkerJvm.words(" -Xss2m  -XX:+UseZGC "))
                .containsExactly("-Xss2m", "-XX:+UseZGC");
        assertThat(WorkerJvm.words("")).isEmpty();
        assertThat(WorkerJvm.words(null)).isEmpty();
    }
}
