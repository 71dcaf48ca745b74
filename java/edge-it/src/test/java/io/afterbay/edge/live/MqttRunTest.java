package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.link.LinkShape;
import io.afterbay.edge.live.LiveOptions.Messages;
import io.afterbay.edge.live.LiveOptions.Victim;
import io.afterbay.edge.live.LiveOptions.WholeWay;
import io.afterbay.edge.mqtt.BrokerAddress;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.testing.LongForm;
import io.afterbay.testing.RustPrograms;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sites whose agents read messages of a mosquitto. */
@Timeout(900)
class MqttRunTest {
    private static final int LINES = 600;
    private static final Duration PLAY = Duration.ofSeconds(1);
    private static final LinkShape LINK = new LinkShape(2_000_000, Duration.ofMillis(10));
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");

    private static final String JOB =
            """
            CREATE TABLE r (seq BIGINT, room INT, ts TIMESTAMP(3),
              WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
              WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
            SELECT room, window_start, COUNT(*) AS c, SUM(seq) AS s
            FROM TABLE(TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '10' SECOND))
            GROUP BY room, window_start, window_end;
            """;

    private static @Nullable Path mosquitto;

    @TempDir Path directory;

    @BeforeAll
    static void program() {
        String fetched = RustPrograms.target().resolve("edge-programs").toString();
        mosquitto =
                Stream.concat(
                                Stream.of(System.getenv("PATH").split(File.pathSeparator)),
                                Stream.of("/usr/sbin", fetched))
                        .map(folder -> Path.of(folder, "mosquitto"))
                        .filter(Files::isExecutable)
                        .findFirst()
                        .orElse(null);
        // Not on every build server: .ci/optional.
        Assumptions.assumeTrue(
                mosquitto != null,
                "skipped: there is no mosquitto (rust/edge/tests/programs/fetch"
                        + " rust/target/edge-programs)");
    }

    private static Messages through(@Nullable BrokerAddress broker, boolean losesOne) {
        return new Messages(
                broker,
                broker == null ? mosquitto : null,
                "seq",
                null,
                null,
                Messages.USUAL_PATIENCE,
                losesOne);
    }

    private static Messages through(BrokerAddress broker, Duration patience) {
        return new Messages(broker, null, "seq", null, null, patience, false);
    }

    /** Something that is done while sites are played, until it is done. */
    private interface Meanwhile {
        boolean isDone() throws Exception;
    }

    private LiveOutcome run(Messages messages, Duration outage, @Nullable Victim kill)
            throws Exception {
        return run(messages, new LiveOptions(LINK, PLAY, outage, kill), () -> true);
    }

    private LiveOutcome play(Messages messages, Duration play, Meanwhile meanwhile)
            throws Exception {
        return run(messages, new LiveOptions(LINK, play, Duration.ZERO, null), meanwhile);
    }

    private LiveOutcome run(Messages messages, LiveOptions how, Meanwhile meanwhile)
            throws Exception {
        Map<String, Path> sites = new TreeMap<>();
        for (int site = 0; site < 2; site++) {
            List<String> lines = new ArrayList<>();
            for (int number = 0; number < LINES; number++) {
                LocalDateTime time = LocalDateTime.of(2026, 1, 1, 0, 0).plusSeconds(number);
                lines.add(
                        "{\"seq\": %d, \"room\": %d, \"ts\": \"%s\"}"
                                .formatted(
                                        number, room(messages, site, number), TIME.format(time)));
            }
            Path file = directory.resolve("site%d.in".formatted(site));
            sites.put("site" + site, Files.write(file, lines));
        }
        LiveOptions options =
                new LiveOptions(
                        how.link(),
                        how.play(),
                        how.outage(),
                        how.kill(),
                        WholeWay.STREAM,
                        messages);
        EdgeProgram program = new EdgeProgram(RustPrograms.path("afterbay-edge"));
        Path work = Files.createDirectory(directory.resolve("work"));
        AtomicBoolean done = new AtomicBoolean();
        Consumer<String> progress =
                what -> {
                    if (what.startsWith("job in halves: ") && what.contains(" over the link")) {
                        done.compareAndSet(false, !done.get() && isDone(meanwhile));
                    }
                };
        return new LiveRun(program, work, options, progress)
                .run(PlanMaker.plan("job", JOB).withLocal(local(messages)), sites);
    }

    /** At both sites, or of one of them if rows are to be final there. */
    private static int room(Messages messages, int site, int number) {
        return (site + number) % 3 + (messages.publish() == null ? 0 : 10 * site);
    }

    private static List<String> local(Messages messages) {
        return messages.publish() == null ? List.of() : List.of("room");
    }

    private static boolean isDone(Meanwhile meanwhile) {
        try {
            return meanwhile.isDone();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void assertEqual(LiveOutcome outcome) {
        assertThat(outcome.difference()).isNull();
        assertThat(outcome.rows().size()).isEqualTo(3 * LINES / 10);
    }

    /**
     * What was not acknowledged comes again, and what was in the log is left out then. The broker
     * is there already, as if others used it.
     */
    @Test
    void anAgentIsKilledWhileTheLinksAreDown() throws Exception {
        Path folder = Files.createDirectory(directory.resolve("own"));
        try (Mosquitto own = Mosquitto.start(mosquitto, folder)) {
            LiveOutcome outcome = run(through(own.address(), false), PLAY, Victim.AGENT);
            assertEqual(outcome);
            assertThat(outcome.agents().agentKills()).isEqualTo(1);
            assertThat(outcome.messages().published()).isEqualTo(2 * LINES);
            assertThat(outcome.messages().broker()).isEqualTo(own.address().toString());
            own.look();
        }
    }

    /** The control: a message that nobody has published is missed, and each other one counted. */
    @Test
    void aMessageThatIsLostShows() throws Exception {
        LiveOutcome outcome = run(through(null, true), Duration.ZERO, null);
        assertThat(outcome.difference()).isNotNull();
        assertThat(outcome.halves().ages()).isNotNull();
        int count = 2 * LINES - 1;
        assertThat(outcome.messages())
                .isEqualTo(new LiveOutcome.Messages("mosquitto", count, count, 0, 0, 0));
    }

    /** An agent that is killed may publish rows once more, and loses none. */
    @Test
    void finalRowsAreAlsoPublished() throws Exception {
        Messages messages =
                new Messages(
                        null,
                        mosquitto,
                        "seq",
                        null,
                        "rooms/final",
                        Messages.USUAL_PATIENCE,
                        false);
        LiveOutcome outcome = run(messages, Duration.ZERO, Victim.AGENT);
        assertThat(outcome.difference()).isNull();
        assertThat(outcome.sent()).isEqualTo("final");
        assertThat(outcome.agents().agentKills()).isEqualTo(1);
        int rows = 2 * 3 * LINES / 10;
        assertThat(outcome.rows().size()).isEqualTo(rows);
        LiveOutcome.Published published = outcome.published();
        assertThat(published.difference()).isNull();
        assertThat(published.rows()).isEqualTo(rows);
        assertThat(outcome.isEqual()).isTrue();
    }

    /** What it has not acknowledged is published again, and what agents have not, it has kept. */
    @Test
    void aBrokerThatComesBackLosesNothing() throws Exception {
        Path folder = Files.createDirectory(directory.resolve("own"));
        try (OwnBroker own = new OwnBroker(mosquitto, folder)) {
            Messages messages = through(own.address(), false);
            LiveOutcome outcome =
                    play(
                            messages,
                            Duration.ofSeconds(3),
                            () -> {
                                own.stop();
                                own.start();
                                return true;
                            });
            assertEqual(outcome);
            assertThat(own.said("New client connected")).isGreaterThanOrEqualTo(4);
            assertThat(outcome.messages().published()).isEqualTo(2 * LINES);
        }
    }

    @Test
    void aBrokerThatIsGoneWhileMessagesArePublishedEndsTheRun() throws Exception {
        Path folder = Files.createDirectory(directory.resolve("own"));
        try (OwnBroker own = new OwnBroker(mosquitto, folder)) {
            Messages messages = through(own.address(), Duration.ofSeconds(1));
            Meanwhile kill =
                    () -> {
                        own.kill();
                        return true;
                    };
            assertThatThrownBy(() -> play(messages, Duration.ofMinutes(2), kill))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("--mqtt: " + own.address() + ": the broker has taken")
                    .hasMessageContaining("Start the broker, and run again");
        }
    }

    /** Everything is published, and nothing read: one that is killed has not written it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBrokerThatIsGoneWithMessagesEndsTheRun(boolean comesBack) throws Exception {
        Path folder = Files.createDirectory(directory.resolve("own"));
        try (OwnBroker own = new OwnBroker(mosquitto, folder)) {
            List<ProcessHandle> stopped = new ArrayList<>();
            Meanwhile kill =
                    () -> {
                        if (stopped.isEmpty()) {
                            stopped.addAll(agents());
                            signal("STOP", stopped);
                        }
                        if (own.said("-sensor disconnected") < 2) {
                            return false;
                        }
                        own.kill();
                        if (comesBack) {
                            own.start();
                        }
                        signal("CONT", stopped);
                        return true;
                    };
            Messages messages = through(own.address(), Duration.ofSeconds(1));
            assertThatThrownBy(() -> play(messages, PLAY, kill))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("--mqtt " + own.address() + ": agent-site")
                    .hasMessageContaining("of which 600 were published and acknowledged")
                    .hasMessageContaining(comesBack ? "it has lost them" : "Start the broker");
            assertThat(stopped).hasSize(2);
        }
    }

    private List<ProcessHandle> agents() {
        return ProcessHandle.current()
                .descendants()
                .filter(
                        process -> {
                            String command = process.info().commandLine().orElse("");
                            return command.contains(directory.toString())
                                    && command.contains("afterbay-edge agent ");
                        })
                .toList();
    }

    private static void signal(String name, List<ProcessHandle> processes) throws Exception {
        List<String> command = new ArrayList<>(List.of("kill", "-" + name));
        processes.forEach(process -> command.add(Long.toString(process.pid())));
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }

    /** Each half of this is in a test above. */
    @LongForm
    @Test
    void messagesAreTheRowsThatLinesAre() throws Exception {
        LiveOutcome outcome = run(through(null, false), Duration.ZERO, null);
        assertEqual(outcome);
        assertThat(outcome.messages())
                .isEqualTo(new LiveOutcome.Messages("mosquitto", 2 * LINES, 2 * LINES, 0, 0, 0));
    }
}
