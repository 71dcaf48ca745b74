package io.afterbay.cli.replay;

import io.afterbay.cli.remote.ClusterException;
import io.afterbay.cli.replay.RateTimeline.Entry;
import io.afterbay.cli.replay.live.AdaptiveRate;
import io.afterbay.cli.replay.live.LiveBudget;
import io.afterbay.cli.replay.live.LiveJob;
import io.afterbay.cli.replay.live.LiveMetrics;
import io.afterbay.cli.replay.live.LiveSample;
import io.afterbay.command.CommandFailure;
import io.afterbay.replay.ReplayProgress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the live job decide how fast a replay is: measures it before the replay begins, and in a
 * thread of its own from then on. What it decides is in the replay's directory, where others see
 * it; as long as a rate was asked for that is not adaptive, or the replay is paused, it does
 * nothing.
 */
final class AdaptiveReplay implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AdaptiveReplay.class);

    /** Of what the live job reads, for the beginning. */
    private static final double FIRST_SHARE = 0.1;

    private static final long MEASURE_MS = 30_000;
    private static final int SAMPLES_MIN = 5;
    private static final int SAMPLES_MAX = 10;

    /** Samples without any figure of latency or lag before there are none at all. */
    private static final int SILENT_MAX = 6;

    private final ReplayDirectory directory;
    private final LiveMetrics metrics;
    private final AdaptiveRate rates;
    private final Thread thread = new Thread(this::run, "adaptive rate of the replay");
    private volatile boolean isClosed;
    private String lastKind = "";

    private AdaptiveReplay(ReplayDirectory directory, LiveMetrics metrics, AdaptiveRate rates) {
        this.directory = directory;
        this.metrics = metrics;
        this.rates = rates;
        thread.setDaemon(true);
    }

    /**
     * Measures the live job, unless that was done before the replay was interrupted, and begins.
     *
     * @throws CommandFailure if nothing tells how the live job is
     */
    static AdaptiveReplay start(ReplayDirectory directory, LiveJob live)
            throws CommandFailure, InterruptedException {
        LiveMetrics metrics = live.metrics();
        LiveBudget known = directory.budget().orElse(null);
        double last = directory.rate().rate();
        double start = last == Rate.MAX ? RateChoice.ADAPTIVE_MIN : last / 2;
        if (known == null) {
            List<LiveSample> before = measure(directory, metrics);
            known = LiveBudget.of(before);
            directory.budget(known);
            start = first(before);
        }
        AdaptiveRate rates =
                new AdaptiveRate(known, start, RateChoice.ADAPTIVE_MIN, metrics.samplesOfMemory());
        AdaptiveReplay adaptive = new AdaptiveReplay(directory, metrics, rates);
        adaptive.decided("the first: the live job's budget is " + known, null);
        adaptive.thread.start();
        return adaptive;
    }

    private static double first(List<LiveSample> before) {
        Double perSecond = before.get(before.size() - 1).perSecond();
        return perSecond == null ? 0 : FIRST_SHARE * perSecond;
    }

    private static List<LiveSample> measure(ReplayDirectory directory, LiveMetrics metrics)
            throws CommandFailure, InterruptedException {
        long intervalMs = metrics.interval().toMillis();
        int count = (int) Math.max(SAMPLES_MIN, Math.min(SAMPLES_MAX, MEASURE_MS / intervalMs));
        System.err.printf(
                "measuring the live job for some %d s before the replay begins%n",
                count * intervalMs / 1000);
        List<LiveSample> samples = new ArrayList<>();
        for (int silent = 0; samples.size() < count && !directory.isCancelWanted(); ) {
            LiveSample sample = ask(metrics).orElse(null);
            if (sample != null && sample.saysSomething()) {
                samples.add(sample);
            } else if (++silent > SILENT_MAX) {
                throw new CommandFailure(
                        "--rate adaptive: the live job shows neither latencies nor a lag of its sources, so nothing tells whether it is well; set metrics.latency.interval (for example 200 ms) in its cluster's configuration, or give a --rate in records per second");
            }
            Thread.sleep(intervalMs);
        }
        if (samples.isEmpty()) {
            throw new CommandFailure("cancelled while the live job was measured");
        }
        return samples;
    }

    private static Optional<LiveSample> ask(LiveMetrics metrics)
            throws CommandFailure, InterruptedException {
        try {
            return metrics.sample();
        } catch (ClusterException e) {
            throw new CommandFailure("--live: " + CommandFailure.reason(e), e);
        }
    }

    private void run() {
        try {
            while (!isClosed) {
                Thread.sleep(metrics.interval().toMillis());
                step();
            }
        } catch (InterruptedException e) {
            // It is closed.
        }
    }

    /** What fails now may work the next time; meanwhile nothing is known of the live job. */
    private void step() throws InterruptedException {
        try {
            WantedRate wanted = directory.rate();
            ReplayProgress progress = directory.progress().orElse(null);
            if (!wanted.adaptive() || wanted.paused() || progress == null || progress.hasEnded()) {
                return;
            }
            Optional<AdaptiveRate.Decision> decision = next(progress.recordsPerSecond());
            if (decision.isPresent()) {
                decided(decision.get().reason(), decision.get().live());
            }
        } catch (CommandFailure | RuntimeException e) {
            LOG.warn("the adaptive rate of a replay stays as it is", e);
        }
    }

    private Optional<AdaptiveRate.Decision> next(double used) throws InterruptedException {
        try {
            LiveSample sample = metrics.sample().orElse(null);
            return sample == null ? rates.unknown(metrics.absence()) : rates.next(sample, used);
        } catch (ClusterException e) {
            return rates.unknown("the live job cannot be asked: " + CommandFailure.reason(e));
        }
    }

    private void decided(String reason, @Nullable LiveSample live) throws CommandFailure {
        double before = directory.rate().rate();
        String kind = reason.substring(0, reason.indexOf(':') + 1);
        if (rates.rate() == before && kind.equals(lastKind)) {
            return;
        }
        lastKind = kind;
        double perSecond = directory.progress().map(ReplayProgress::recordsPerSecond).orElse(0.0);
        if (directory.adapt(rates.rate())) {
            directory.timelineEntry(Entry.now(rates.rate(), reason, perSecond, live));
        }
    }

    @Override
    public void close() throws InterruptedException {
        isClosed = true;
        thread.interrupt();
        thread.join();
    }
}
