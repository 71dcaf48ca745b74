package io.afterbay.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.QueryProcess.Mode;
import io.afterbay.testing.Await;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Kills executors and drivers of several queries with -9, each when the batch of one of them is at
 * a certain {@link Moment}. The batches of the others are wherever they are. Counts all of them.
 */
final class Kills {
    /** A query that has begun nothing for so long waits for input. */
    private static final long IDLE_MILLIS = 500;

    /** From input to offsets is longer. */
    private static final int PLANNING_MILLIS = 40;

    private static final int FEED_MILLIS = 100;
    private static final int LOOK_MILLIS = 2;
    private static final int LOOKS = 250;

    private final Map<QueryKind, Subject> subjects;
    private final Random random;
    private final Queue<Hit> next = new ArrayDeque<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private final long began = System.nanoTime();
    private long lastFedMillis;
    private int kills;

    Kills(Map<QueryKind, Subject> subjects, Random random) {
        this.subjects = subjects;
        this.random = random;
    }

    List<Subject> subjects() {
        return List.copyOf(subjects.values());
    }

    /** Half of the queries in each, and each in the other with the next start. */
    Map<QueryKind, Mode> modes(int start) {
        Map<QueryKind, Mode> modes = new EnumMap<>(QueryKind.class);
        int i = start;
        for (QueryKind kind : subjects.keySet()) {
            modes.put(kind, i++ % 2 == 0 ? Mode.STRICT : Mode.PIPELINED);
        }
        return modes;
    }

    /** How many so far. */
    int count() {
        return kills;
    }

    /**
     * Kills executors until it is the driver's turn, then the driver; or until there have been so
     * many kills. Each has its mode and moment: after {@link Hit#all} of them, it begins again.
     */
    void kill(Application application, Map<QueryKind, Mode> modes, int countMax) throws Exception {
        awaitBatches(application, subjects());
        boolean isDriverDead = false;
        while (!isDriverDead && kills < countMax) {
            Hit hit = next();
            Subject target = target(modes, hit.mode());
            kill(application, modes, hit, target);
            kills++;
            isDriverDead = hit.victim() == Hit.Victim.DRIVER;
            if (!isDriverDead) {
                awaitBatches(application, List.of(target));
            }
        }
    }

    private Hit next() {
        if (next.isEmpty()) {
            next.addAll(Hit.all(random));
        }
        return next.remove();
    }

    private Subject target(Map<QueryKind, Mode> modes, Mode mode) {
        List<Subject> those = subjects().stream().filter(s -> modes.get(s.kind) == mode).toList();
        return those.get(random.nextInt(those.size()));
    }

    private void kill(Application application, Map<QueryKind, Mode> modes, Hit hit, Subject target)
            throws Exception {
        while (application.executors().isEmpty()) {
            pause(application);
        }
        try {
            await(application, target, hit.moment());
            for (Subject subject : subjects()) {
                Moment now = subject == target ? hit.moment() : subject.moment();
                count(new Hit(modes.get(subject.kind), now, hit.victim()));
            }
            switch (hit.victim()) {
                case DRIVER -> application.killDriver();
                case EXECUTOR -> assertThat(application.killExecutor(random)).isTrue();
            }
        } finally {
            target.holdState(false);
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
        System.out.printf("%4d s: killed, %s; %s%n", seconds, hit, target.state());
    }

    private void count(Hit hit) {
        counts.merge(hit.toString(), 1, Integer::sum);
    }

    /** Until each of these has one more in its sink than now. */
    private void awaitBatches(Application application, List<Subject> those) throws Exception {
        Map<QueryKind, Long> before = new EnumMap<>(QueryKind.class);
        for (Subject subject : those) {
            before.put(subject.kind, subject.sink.last());
        }
        for (Subject subject : those) {
            Await.until(
                    () -> "a batch more of " + subject.state(),
                    () -> {
                        feedAll();
                        pause(application);
                        return subject.sink.last() != before.get(subject.kind);
                    });
        }
    }

    /**
     * As long as there is one batch after the other: some moments last for milliseconds, and on a
     * busy machine many of them pass unseen.
     */
    private void await(Application application, Subject target, Moment moment) throws Exception {
        boolean[] isThere = {false};
        while (!isThere[0]) {
            String before = target.state();
            long batch = target.last("offsets");
            Await.until(
                    () -> moment + ", or another batch, of " + before + "; now " + target.state(),
                    () -> {
                        assertThat(application.isAlive()).isTrue();
                        isThere[0] = isSoonThere(target, moment);
                        return isThere[0] || target.last("offsets") != batch;
                    });
        }
    }

    /** Looks often: some moments last for milliseconds. */
    private boolean isSoonThere(Subject target, Moment moment) throws Exception {
        for (int look = 0; look < LOOKS; look++) {
            if (isThere(target, moment)) {
                return true;
            }
            Thread.sleep(LOOK_MILLIS);
        }
        return false;
    }

    private boolean isThere(Subject target, Moment moment) throws Exception {
        return switch (moment) {
            case BEFORE_OFFSETS -> isBeforeOffsets(target);
            case STATE_WAITS -> doesStateWait(target);
            case COMMITTED -> isCommitted(target);
            default -> isAt(target, moment);
        };
    }

    private boolean isAt(Subject target, Moment moment) throws Exception {
        feedAll();
        return target.moment() == moment;
    }

    /** Lets it wait for input, gives it some, and looks whether it plans now. */
    private boolean isBeforeOffsets(Subject target) throws Exception {
        long batch = target.last("offsets");
        Thread.sleep(IDLE_MILLIS);
        if (target.moment() != Moment.BEFORE_OFFSETS || target.last("offsets") != batch) {
            return false;
        }
        target.input.add(1);
        Thread.sleep(random.nextInt(PLANNING_MILLIS));
        return target.last("offsets") == batch;
    }

    /**
     * Has its state wait until it was killed. By itself it does so for milliseconds, and not at all
     * where the tasks of a batch take longer than its storage. Of a batch that has begun to
     * publish, the rest may go: nothing would come behind it.
     */
    private boolean doesStateWait(Subject target) throws Exception {
        feedAll();
        boolean wasHeld = target.isStateHeld();
        Moment now = target.moment();
        boolean mayGo = now == Moment.PUBLISHING;
        if (wasHeld == mayGo) {
            target.holdState(!mayGo);
        }
        return wasHeld && now == Moment.STATE_WAITS;
    }

    /** Watches the commit of a batch appear. */
    private boolean isCommitted(Subject target) throws Exception {
        feedAll();
        long commit = target.last("commits");
        Thread.sleep(LOOK_MILLIS);
        return target.last("commits") == commit + 1 && target.last("offsets") == commit + 1;
    }

    private void feedAll() throws Exception {
        long now = System.currentTimeMillis();
        if (now - lastFedMillis > FEED_MILLIS) {
            lastFedMillis = now;
            for (Subject subject : subjects()) {
                subject.feed();
            }
        }
    }

    private static void pause(Application application) throws Exception {
        assertThat(application.isAlive()).isTrue();
        Thread.sleep(FEED_MILLIS);
    }

    /** Fails if one was left out: a moment of a mode, for drivers or for executors. */
    void checkAllMoments() {
        List<String> all = Hit.all(random).stream().map(Hit::toString).toList();
        assertThat(counts.keySet()).containsAll(all);
    }

    /** How often a batch was at which moment when which process was killed. */
    @Override
    public String toString() {
        return counts.toString();
    }
}
