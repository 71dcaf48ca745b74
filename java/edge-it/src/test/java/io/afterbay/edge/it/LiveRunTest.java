package io.afterbay.edge.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.edge.it.Reports.Disorder;
import io.afterbay.edge.link.LinkShape;
import io.afterbay.edge.live.LiveOptions;
import io.afterbay.edge.live.LiveOptions.Victim;
import io.afterbay.edge.live.LiveOutcome;
import io.afterbay.edge.live.LiveRun;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.run.WorkFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Real programs at the sites, a real gateway, and links that are slow and break. */
@Timeout(900)
class LiveRunTest {
    private static final int SITES = 3;
    private static final int REPORTS = 3_000;
    private static final Duration PLAY = Duration.ofSeconds(1);
    private static final LinkShape LINK = new LinkShape(2_000_000, Duration.ofMillis(10));

    private static final String TUMBLE =
            """
            SELECT room, window_start, window_end, COUNT(*) AS c, SUM(n) AS s, MAX(big) AS m
            FROM TABLE(TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '10' SECOND))
            GROUP BY room, window_start, window_end
            """;

    private static LiveOutcome run(Disorder disorder, LiveOptions options) throws Exception {
        return run(Reports.random(5, REPORTS, SITES, disorder), List.of(), options);
    }

    private static LiveOutcome run(Reports reports, List<String> local, LiveOptions options)
            throws Exception {
        try (WorkFiles work = new WorkFiles()) {
            LiveRun live = new LiveRun(Programs.edge(), work.directory(), options, progress -> {});
            return live.run(
                    PlanMaker.plan("job", Reports.TABLE + TUMBLE).withLocal(local),
                    reports.write(work.directory(), SITES));
        }
    }

    private static void assertEqual(LiveOutcome outcome) {
        assertThat(outcome.difference()).isNull();
        assertThat(outcome.rows().size()).isGreaterThan(200);
        assertThat(outcome.lines()).isEqualTo(REPORTS);
        assertThat(outcome.sent()).isEqualTo("partial");
        assertThat(outcome.halves().bytesUp()).isPositive();
        assertThat(outcome.whole().bytesUp()).isPositive();
        assertThat(outcome.halves().ages()).isNotNull();
        assertThat(outcome.whole().ages()).isNotNull();
        assertThat(outcome.agents().cpu()).isPositive();
    }

    @Test
    void anAgentIsKilledWhileTheLinksAreDown() throws Exception {
        LiveOutcome outcome =
                run(
                        Disorder.WITHIN_DELAY,
                        new LiveOptions(LINK, PLAY, Duration.ofSeconds(2), Victim.AGENT));
        assertEqual(outcome);
        assertThat(outcome.agents().agentKills()).isEqualTo(1);
        assertThat(outcome.agents().gatewayKills()).isZero();
        // What happened when the links went down was not there before they were up again.
        assertThat(outcome.halves().ages().maxMs()).isGreaterThan(1_500);
        assertThat(outcome.whole().ages().maxMs()).isGreaterThan(1_500);
    }

    @Test
    void theGatewayIsKilled() throws Exception {
        LiveOutcome outcome =
                run(
                        Disorder.WITHIN_DELAY,
                        new LiveOptions(LINK, PLAY, Duration.ZERO, Victim.GATEWAY));
        assertEqual(outcome);
        assertThat(outcome.agents().gatewayKills()).isEqualTo(1);
        assertThat(outcome.agents().agentKills()).isZero();
    }

    /** Agents keep windows that are open, and send their results. */
    @Test
    void roomsOfOneSiteAreFinalThere() throws Exception {
        LiveOutcome outcome =
                run(
                        Reports.random(6, REPORTS, SITES, Disorder.WITHIN_DELAY).withRooms(true),
                        List.of("room"),
                        new LiveOptions(LINK, PLAY, Duration.ZERO, Victim.AGENT));
        assertThat(outcome.difference()).isNull();
        assertThat(outcome.rows().size()).isGreaterThan(200);
        assertThat(outcome.sent()).isEqualTo("final");
        assertThat(outcome.agents().agentKills()).isEqualTo(1);
    }

    /** Flink makes the watermark of each, from a partition of its own. */
    @Test
    void sitesThatMakeNoWatermarkHaveAPartitionEach() throws Exception {
        String job =
                """
                CREATE TABLE r (k STRING, t STRING, ts AS TO_TIMESTAMP(t), WATERMARK FOR ts AS ts)
                  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
                SELECT k, COUNT(*) AS c
                FROM TABLE(TUMBLE(TABLE r, DESCRIPTOR(ts), INTERVAL '10' SECOND))
                GROUP BY k, window_start, window_end;
                """;
        try (WorkFiles work = new WorkFiles()) {
            Map<String, Path> sites = new TreeMap<>();
            for (String site : List.of("a", "b")) {
                List<String> lines = new ArrayList<>();
                for (int second = 10; second < 60; second++) {
                    lines.add(
                            "{\"k\": \"%s\", \"t\": \"2026-01-01 00:00:%d\"}"
                                    .formatted(site, second));
                }
                Path file = work.directory().resolve(site + ".in");
                sites.put(site, Files.write(file, lines));
            }
            LiveOptions options =
                    new LiveOptions(LINK, Duration.ofMillis(500), Duration.ZERO, null);
            LiveOutcome outcome =
                    new LiveRun(Programs.edge(), work.directory(), options, progress -> {})
                            .run(PlanMaker.plan("job", job), sites);
            assertThat(outcome.difference()).isNull();
            assertThat(outcome.rows().size()).isEqualTo(10);
            assertThat(outcome.sent()).isEqualTo("raw");
            assertThat(outcome.speed()).isNull();
            assertThat(outcome.halves().ages()).isNull();
        }
    }
}
