package io.afterbay.edge.live;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

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
        return new Messages(broker, broker == null ? mosquitto : null, "seq", null, losesOne);
    }

    private LiveOutcome run(Messages messages, Duration outage, @Nullable Victim kill)
            throws Exception {
        Map<String, Path> sites = new TreeMap<>();
        for (int site = 0; site < 2; site++) {
            List<String> lines = new ArrayList<>();
            for (int number = 0; number < LINES; number++) {
                LocalDateTime time = LocalDateTime.of(2026, 1, 1, 0, 0).plusSeconds(number);
                lines.add(
                        "{\"seq\": %d, \"room\": %d, \"ts\": \"%s\"}"
                                .formatted(number, (site + number) % 3, TIME.format(time)));
            }
            Path file = directory.resolve("site%d.in".formatted(site));
            sites.put("site" + site, Files.write(file, lines));
        }
        LiveOptions options = new LiveOptions(LINK, PLAY, outage, kill, WholeWay.STREAM, messages);
        EdgeProgram program = new EdgeProgram(RustPrograms.path("afterbay-edge"));
        Path work = Files.createDirectory(directory.resolve("work"));
        return new LiveRun(program, work, options, progress -> {})
                .run(PlanMaker.plan("job", JOB), sites);
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
