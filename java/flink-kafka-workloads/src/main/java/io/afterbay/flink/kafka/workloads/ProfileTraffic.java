package io.afterbay.flink.kafka.workloads;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.handover.Handover;
import io.afterbay.workloads.profiles.TrafficPlan;
import io.afterbay.workloads.profiles.TrafficReport;
import io.afterbay.workloads.run.EpochClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The process that sends profiles and meets titles for {@code ./afterbay bench replay}. Its
 * argument is the directory of its {@link Handover}. It is told what to do by lines on its standard
 * input, and answers each with a line:
 *
 * <pre>
 *   past            sends the past; answers with the times of its first record and behind its last,
 *                   in milliseconds
 *   burst N         sends N records as fast as it can; answers with how many a second had their
 *                   title read, from the first one sent to the last one read
 *   live            sends changes at the rate from now on
 *   arrived N       waits until titles of N live profiles have been read
 *   phase NAME      begins a part of the time; what is due before the first does not count
 *   lag GROUP       answers with how many profiles a group has not committed yet
 *   end GROUP       stops, waits until that of the live job has read all, compares the table, and
 *                   reports
 * </pre>
 */
public final class ProfileTraffic {
    private static final String DONE = "done";
    private static final long PAUSE_MS = 50;
    private static final long WAIT_S_MAX = 300;
    private static final double MICROS_PER_S = 1e6;

    private final TrafficPlan plan;
    private final Topic profiles;
    private final Topic titles;
    private final ProfileFeed feed;
    private final List<Begun> phases = new ArrayList<>();
    private @Nullable TitleReader reader;
    private @Nullable Thread sender;
    private long liveMicros;
    private volatile boolean stops;

    private record Begun(String name, long micros, long sent) {}

    private ProfileTraffic(TrafficPlan plan) throws Exception {
        this.plan = plan;
        profiles = new Topic(plan.bootstrap(), TrafficPlan.PROFILES);
        titles = new Topic(plan.bootstrap(), TrafficPlan.TITLES);
        profiles.create(plan.partitions());
        titles.create(plan.partitions());
        feed = new ProfileFeed(profiles, plan.changes());
    }

    public static void main(String[] args) throws Exception {
        // Who waits for titles that nobody reads, or sends, is to hear of it at once.
        Thread.setDefaultUncaughtExceptionHandler(
                (thread, failure) -> {
                    failure.printStackTrace();
                    Runtime.getRuntime().halt(1);
                });
        ObjectMapper mapper = new ObjectMapper();
        Handover handover = new Handover(Path.of(args[0]), mapper::writeValue, mapper::readValue);
        ProfileTraffic traffic = new ProfileTraffic(handover.plan(TrafficPlan.class));
        say(DONE);
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("end ")) {
                    handover.trial(traffic.report(line.split(" ")[1]));
                    say(DONE);
                    break;
                }
                say((DONE + " " + traffic.obey(line.split(" "))).strip());
            }
        }
        // Nothing is left that a hook or a thread could be waited for.
        Runtime.getRuntime().halt(0);
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private String obey(String[] words) throws Exception {
        return switch (words[0]) {
            case "past" -> past();
            case "burst" -> burst(Long.parseLong(words[1]));
            case "live" -> live();
            case "arrived" -> awaitArrived(Long.parseLong(words[1]));
            case "phase" -> phase(words[1]);
            case "lag" -> Long.toString(profiles.lag(words[1]));
            default -> throw new IOException("it does not know '" + words[0] + "'");
        };
    }

    private String past() throws Exception {
        long fromMs = System.currentTimeMillis();
        feed.past(plan.past());
        profiles.commitEnd(plan.group());
        Thread.sleep(2); // the time behind the last record is not that of one
        return fromMs + " " + System.currentTimeMillis();
    }

    private String burst(long records) throws Exception {
        TitleReader before = reader();
        long startMicros = EpochClock.micros();
        long known = before.arrived();
        before.countFrom(startMicros);
        feed.past(records);
        profiles.awaitNoLag(plan.group(), WAIT_S_MAX);
        awaitQuiet(before, known);
        return Long.toString((long) (records * MICROS_PER_S / (before.lastMicros() - startMicros)));
    }

    /** Members may have changed their profiles twice meanwhile: nobody knows how many rows come. */
    private static void awaitQuiet(TitleReader reader, long known) throws InterruptedException {
        long last = known;
        do {
            last = reader.arrived();
            Thread.sleep(10 * PAUSE_MS);
        } while (reader.arrived() > last);
    }

    private TitleReader reader() {
        TitleReader known = reader;
        if (known == null) {
            known = new TitleReader(titles);
            reader = known;
        }
        return known;
    }

    private String live() {
        liveMicros = EpochClock.micros();
        reader().countFrom(liveMicros);
        Thread thread = new Thread(() -> feed.changes(() -> stops, plan.ratePerS()), "profiles");
        thread.setDaemon(true);
        thread.start();
        sender = thread;
        return "";
    }

    private String awaitArrived(long count) throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_S_MAX);
        while (reader().arrived() < count) {
            if (System.nanoTime() > deadlineNanos) {
                throw new IOException("the live job makes no titles");
            }
            Thread.sleep(PAUSE_MS);
        }
        return "";
    }

    private String phase(String name) {
        phases.add(new Begun(name, EpochClock.micros(), feed.sent()));
        return "";
    }

    private TrafficReport report(String group) throws Exception {
        stops = true;
        Thread thread = sender;
        if (thread != null) {
            thread.join();
        }
        phase("");
        profiles.awaitNoLag(group, WAIT_S_MAX);
        TitleReader titlesRead = reader();
        titlesRead.close();
        TitlesCheck check = TitlesCheck.of(profiles, titles, 2);
        return new TrafficReport(
                null,
                phasesOf(titlesRead),
                secondsOf(titlesRead),
                check.members(),
                check.wrong(),
                titlesRead.stale(),
                check.examples(),
                ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis());
    }

    private long second(long micros) {
        return (long) ((micros - liveMicros) / MICROS_PER_S);
    }

    private List<TrafficReport.Phase> phasesOf(TitleReader read) {
        List<TrafficReport.Phase> all = new ArrayList<>();
        for (int number = 0; number + 1 < phases.size(); number++) {
            Begun begun = phases.get(number);
            Begun next = phases.get(number + 1);
            double seconds = (next.micros - begun.micros) / MICROS_PER_S;
            Histogram latencies = read.of(second(begun.micros), second(next.micros));
            all.add(
                    new TrafficReport.Phase(
                            begun.name,
                            seconds,
                            (next.sent - begun.sent) / seconds,
                            latencies.getTotalCount(),
                            ms(latencies, 50),
                            ms(latencies, 90),
                            ms(latencies, 99),
                            ms(latencies, 99.9),
                            ms(latencies, 100)));
        }
        return all;
    }

    private static @Nullable Double ms(Histogram micros, double percent) {
        return micros.getTotalCount() == 0 ? null : micros.getValueAtPercentile(percent) / 1e3;
    }

    private List<TrafficReport.Second> secondsOf(TitleReader read) {
        List<TrafficReport.Second> all = new ArrayList<>();
        for (Map.Entry<Long, Histogram> one : read.bySecond().entrySet()) {
            Histogram latencies = one.getValue();
            all.add(
                    new TrafficReport.Second(
                            Math.toIntExact(one.getKey()),
                            phaseOf(one.getKey()),
                            latencies.getTotalCount(),
                            latencies.getValueAtPercentile(50) / 1e3,
                            latencies.getValueAtPercentile(99) / 1e3,
                            latencies.getMaxValue() / 1e3));
        }
        return all;
    }

    private String phaseOf(long second) {
        String phase = "";
        for (Begun begun : phases) {
            if (second(begun.micros) <= second) {
                phase = begun.name;
            }
        }
        return phase;
    }
}
