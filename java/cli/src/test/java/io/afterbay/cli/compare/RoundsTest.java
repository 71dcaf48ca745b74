package io.afterbay.cli.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.cli.engine.Backend;
import io.afterbay.cli.process.MachineLoad;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RoundsTest {
    private static final long IDLE = 0;
    private static final long TEN_MINUTES_OF_TICKS = 60_000;

    @TempDir Path directory;

    private final ByteArrayOutputStream messages = new ByteArrayOutputStream();
    private final List<String> ran = new ArrayList<>();
    private long stolenTicks;
    private Path stat = Path.of("");

    @BeforeEach
    void writeStat() throws IOException {
        stat = directory.resolve("stat");
        steal(IDLE);
    }

    /** As the kernel of a virtual machine tells that the host took time away. */
    private void steal(long ticks) throws IOException {
        stolenTicks += ticks;
        Files.writeString(stat, "cpu  0 0 0 0 0 0 0 %d 0 0%n".formatted(stolenTicks));
    }

    @Test
    void quietPairsRunOnce() throws Exception {
        Rounds rounds = run(IDLE, IDLE, IDLE, IDLE);
        assertThat(ran).containsExactly("afterbay 1", "hashmap 1", "afterbay 2", "hashmap 2");
        assertThat(rounds.otherCores()).hasValue(0);
    }

    @Test
    void aPairThatTheHostDisturbedRunsAgainAndDoesNotCount() throws Exception {
        Rounds rounds = run(IDLE, TEN_MINUTES_OF_TICKS, IDLE, IDLE, IDLE, IDLE);
        assertThat(ran)
                .containsExactly(
                        "afterbay 1",
                        "hashmap 1",
                        "afterbay 1",
                        "hashmap 1",
                        "afterbay 2",
                        "hashmap 2");
        assertThat(rounds.counted()).hasSize(4);
        assertThat(rounds.all()).as("rows to compare").hasSize(6);
        assertThat(rounds.otherCores()).hasValue(0);
        assertThat(messages.toString(StandardCharsets.UTF_8)).contains("pair 1 runs again");
    }

    @Test
    void aMachineThatStaysBusyEndsTheRepeatsAndIsTold() throws Exception {
        long busy = TEN_MINUTES_OF_TICKS;
        Rounds rounds = run(busy, busy, busy, busy, busy, busy, busy, busy);
        assertThat(ran).as("two pairs, and two repeats").hasSize(8);
        assertThat(rounds.counted()).hasSize(4);
        assertThat(rounds.otherCores().orElse(0)).isGreaterThan(MachineLoad.OTHER_CORES_MAX);
    }

    /** Two pairs of two backends, with that many ticks of other work in each run. */
    private Rounds run(long... otherTicks) throws Exception {
        CompareArguments arguments = new CompareArguments();
        new CommandLine(new Options(arguments))
                .parseArgs("--backends=afterbay,hashmap", "--pairs=2", "--latency=off");
        PrintStream out = new PrintStream(messages, true, StandardCharsets.UTF_8);
        Rounds rounds =
                new Rounds(
                        arguments.options(),
                        (assignment, listener) -> ran(assignment, otherTicks[ran.size()]),
                        new CompareProgress(out, false, arguments.options()),
                        new MachineLoad(stat));
        assertThat(rounds.run()).isTrue();
        return rounds;
    }

    private Optional<Findings> ran(Assignment assignment, long otherTicks) {
        try {
            steal(otherTicks);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        Backend backend = Backend.named(assignment.backend());
        ran.add(backend.label() + " " + assignment.pair());
        return Optional.of(Findings.none(backend, assignment.pair()));
    }

    /** Of the command line and of experiments. */
    @Test
    void whatIsUsualIsSaidTwice() {
        CompareArguments arguments = new CompareArguments();
        new CommandLine(new Options(arguments)).parseArgs();
        assertThat(arguments.options()).isEqualTo(CompareOptions.USUAL);
    }

    /** The options of a comparison alone. */
    @CommandLine.Command
    private static final class Options {
        @CommandLine.Mixin private final CompareArguments arguments;

        Options(CompareArguments arguments) {
            this.arguments = arguments;
        }
    }
}
