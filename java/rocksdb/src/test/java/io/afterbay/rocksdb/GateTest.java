package io.afterbay.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.maintenance.ConcurrencyKnee;
import io.afterbay.testing.Await;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.Env;
import org.rocksdb.Priority;

/** The gate and what may go wrong with it, with real databases and the process's real threads. */
class GateTest {
    private static final int THREADS = 3;
    private static final long LONG_NANOS = 100_000_000_000L;

    /** Of a hold that a test waits out; its thread has to look before it, or there is none. */
    private static final long SHORT_NANOS = 2_000_000_000L;

    private final Env env = Env.getDefault();
    @TempDir Path folder;

    @BeforeEach
    void threads() {
        env.setBackgroundThreads(THREADS, Priority.LOW);
    }

    @AfterEach
    void leavesNothing() {
        assertThat(Desync.metrics(env)).isNull();
        env.setBackgroundThreads(THREADS, Priority.LOW);
    }

    private static DesyncSettings gated(long deadlineNanos) {
        return new DesyncSettings(true, true, deadlineNanos, CompactionThreads.DEFAULT);
    }

    private DesyncInstance open(DesyncSettings settings) {
        return Desync.open(env, 0, settings);
    }

    private int threadsNow() {
        return env.getBackgroundThreads(Priority.LOW);
    }

    private DesyncMetrics metrics() {
        return Desync.metrics(env);
    }

    /** As a flush of a checkpoint that goes on and on. */
    private void hold(DesyncInstance instance) throws Exception {
        instance.coordinator().flushBegan(instance, true);
        Await.until("the gate closes", () -> threadsNow() == 0);
    }

    private static void endHold(DesyncInstance instance) {
        instance.coordinator().flushEnded(instance, false);
    }

    @Test
    void aCheckpointHoldsCompactionsForAWhile() throws Exception {
        try (DesyncInstance instance = open(gated(LONG_NANOS));
                Database database = new Database(folder.resolve("db"), instance)) {
            Await.until(
                    "the gate's thread sees a checkpoint before its burst is over",
                    () -> {
                        database.checkpoint();
                        return metrics().holds() > 0;
                    });
            Await.until("the compaction has run", () -> isCompacted(database));
            Await.until("the gate opens", () -> threadsNow() == THREADS);
            assertThat(metrics().holds()).isPositive();
            assertThat(metrics().heldNanos()).isPositive();
        }
    }

    /** However many files there are: as many are added as a compaction needs. */
    private static boolean isCompacted(Database database) throws Exception {
        if (database.filesInL0() > 0 && !database.isCompacting()) {
            database.checkpoint();
        }
        return database.filesInL0() == 0;
    }

    @Test
    void nothingIsCompactedWhileHeld() throws Exception {
        try (DesyncInstance instance = open(gated(LONG_NANOS));
                Database database = new Database(folder.resolve("db"), instance)) {
            hold(instance);
            for (int i = 0; i < database.trigger() + 1; i++) {
                database.checkpoint();
            }
            assertThat(metrics().compactionsBegan()).isZero();
            assertThat(metrics().compactionsQueued()).isEqualTo(1);
            instance.close(); // ends the flush that is not one
            Await.until("the compaction has run", () -> database.filesInL0() == 0);
        }
    }

    @Test
    void isClosedAgainAfterSomebodyReopenedIt() throws Exception {
        try (DesyncInstance instance = open(gated(LONG_NANOS))) {
            hold(instance);
            Database other =
                    new Database(folder.resolve("a"), o -> o.setMaxBackgroundJobs(8), o -> {});
            Await.until("it was reopened and closed", () -> metrics().reassertions() >= 1);
            Await.until("the gate is closed", () -> threadsNow() == 0);
            Database another =
                    new Database(folder.resolve("b"), o -> o.setIncreaseParallelism(5), o -> {});
            Await.until("it was reopened and closed", () -> metrics().reassertions() >= 2);
            Await.until("the gate is closed", () -> threadsNow() == 0);
            endHold(instance);
            Await.until("the most that they wanted", () -> threadsNow() == 6);
            other.close();
            another.close();
        }
    }

    /** Why the gate has to look again. */
    @Test
    void openingADatabaseReopensThePool() throws Exception {
        env.setBackgroundThreads(0, Priority.LOW);
        try (Database unused =
                new Database(folder.resolve("a"), o -> o.setMaxBackgroundJobs(8), o -> {})) {
            assertThat(threadsNow()).isEqualTo(6);
        }
    }

    @Test
    void checkpointsNearTheSlowdownOpenTheGate() throws Exception {
        try (DesyncInstance holder = open(gated(LONG_NANOS));
                DesyncInstance instance = open(gated(LONG_NANOS));
                Database database = new Database(folder.resolve("db"), instance, o -> slowAt(o))) {
            hold(holder);
            CompletableFuture<Void> checkpoints =
                    Calls.start(
                            () -> {
                                for (int i = 0; i < 12; i++) {
                                    database.checkpoint();
                                }
                                return null;
                            });
            try {
                Calls.end(checkpoints);
            } finally {
                holder.close();
                awaitInAnyCase(checkpoints);
            }
            assertThat(metrics().holdsEndedByGuard()).isPositive();
        }
    }

    /** A database must not be closed under a call, or else the process ends. */
    private static void awaitInAnyCase(CompletableFuture<Void> call) throws Exception {
        call.handle((nothing, error) -> null).get(Await.DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private static void slowAt(ColumnFamilyOptions options) {
        options.setLevel0SlowdownWritesTrigger(8);
    }

    /** Why there is a guard: the checkpoint waits for the pool, and would for ever. */
    @Test
    void withoutTheGuardACheckpointNearTheSlowdownWaitsForThePool() throws Exception {
        try (Database database = new Database(folder.resolve("db"), o -> {}, o -> slowAt(o))) {
            env.setBackgroundThreads(0, Priority.LOW);
            CompletableFuture<Void> checkpoints =
                    Calls.start(
                            () -> {
                                for (int i = 0; i < 12; i++) {
                                    database.checkpoint();
                                }
                                return null;
                            });
            try {
                Await.until("L0 is one below the slowdown", () -> database.filesInL0() == 7);
                assertThat(checkpoints)
                        .failsWithin(1, TimeUnit.SECONDS)
                        .withThrowableOfType(TimeoutException.class);
            } finally {
                env.setBackgroundThreads(THREADS, Priority.LOW);
                awaitInAnyCase(checkpoints);
            }
            Calls.end(checkpoints);
        }
    }

    @Test
    void opensAtTheDeadline() throws Exception {
        try (DesyncInstance instance = open(gated(SHORT_NANOS))) {
            instance.coordinator().flushBegan(instance, true);
            Await.until("the hold ends", () -> metrics().holdsEndedByDeadline() == 1);
            Await.until("the gate opens", () -> threadsNow() == THREADS);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void opensWhenItsThreadDies(boolean failsOnce) throws Exception {
        FaultyPool pool = new FaultyPool(Pools.of(env).compactions());
        try (DesyncInstance instance = Desync.open(env, 0, gated(LONG_NANOS), pool.asPools());
                Database database = new Database(folder.resolve("db"), instance)) {
            hold(instance);
            pool.failsOnce = failsOnce;
            pool.error = new StackOverflowError("injected");
            Await.until("the gate opens", () -> threadsNow() == THREADS);
            Await.until("the failure is told", () -> metrics().hasFailed());
            for (int i = 0; i < database.trigger(); i++) {
                database.checkpoint();
            }
            Await.until("compactions go on", () -> database.filesInL0() == 0);
            assertThat(metrics().isHolding()).isFalse();
        }
    }

    @Test
    void opensWhenItsThreadIsStuck() throws Exception {
        FaultyPool pool = new FaultyPool(Pools.of(env).compactions());
        try (DesyncInstance instance = Desync.open(env, 0, gated(SHORT_NANOS), pool.asPools())) {
            pool.sticksWhenClosed = true;
            hold(instance);
            Await.until("the thread is stuck", () -> pool.waiting);
            try {
                TimeUnit.NANOSECONDS.sleep(SHORT_NANOS + Coordinator.GRACE_NANOS);
                assertThat(threadsNow()).isZero();
                instance.coordinator().compactionBegan(instance); // any event
                assertThat(threadsNow()).isEqualTo(THREADS);
            } finally {
                pool.stuck.countDown();
            }
        }
    }

    /** Fails, or waits, when the thread looks at the pool. */
    private static final class FaultyPool implements BackgroundThreads {
        private final BackgroundThreads pool;
        volatile boolean failsOnce;
        volatile Error error;
        final CountDownLatch stuck = new CountDownLatch(1);
        volatile boolean sticksWhenClosed;
        volatile boolean waiting;

        private Pools asPools() {
            return new Pools(this, Pools.of(Env.getDefault()).flushes());
        }

        FaultyPool(BackgroundThreads pool) {
            this.pool = pool;
        }

        @Override
        public int count() {
            Error toThrow = error;
            if (toThrow != null) {
                error = failsOnce ? null : toThrow;
                throw toThrow;
            }
            if (sticksWhenClosed && pool.count() == 0) {
                waiting = true;
                awaitUninterruptibly();
            }
            return pool.count();
        }

        private void awaitUninterruptibly() {
            try {
                stuck.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void setCount(int threads) {
            pool.setCount(threads);
        }

        @Override
        public int queued() {
            return pool.queued();
        }
    }

    @Test
    void jobsShareTheGateAndTheLastOneGivesThreadsBack() throws Exception {
        DesyncInstance first = open(gated(LONG_NANOS));
        DesyncInstance second = open(DesyncSettings.defaults());
        assertThat(second.coordinator()).isSameAs(first.coordinator());
        assertThat(metrics().instances()).isEqualTo(2);
        hold(second);
        first.close();
        first.close();
        assertThat(threadsNow()).isZero();
        assertThat(metrics().instances()).isEqualTo(1);
        second.close();
        assertThat(threadsNow()).isEqualTo(THREADS);
        try (DesyncInstance next = open(DesyncSettings.defaults())) {
            assertThat(next.coordinator()).isNotSameAs(first.coordinator());
        }
    }

    /** As two jobs with the classes in their own jars have. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void twoCoordinatorsLeaveThePoolOpen(boolean firstOpensFirst) throws Exception {
        try (Coordinator first = Coordinator.start(gated(LONG_NANOS), Pools.of(env));
                Coordinator second = Coordinator.start(gated(LONG_NANOS), Pools.of(env));
                DesyncInstance one = new DesyncInstance(first, true, 0);
                DesyncInstance two = new DesyncInstance(second, true, 0)) {
            hold(one);
            second.flushBegan(two, true);
            Await.until("both hold", () -> second.metrics().isHolding());
            endHold(firstOpensFirst ? one : two);
            Coordinator ended = firstOpensFirst ? first : second;
            Await.until("one has opened", () -> !ended.metrics().isHolding());
            Await.until("the other one holds", () -> threadsNow() == 0);
            endHold(firstOpensFirst ? two : one);
            Await.until("all is open", () -> threadsNow() == THREADS);
        }
        assertThat(threadsNow()).isEqualTo(THREADS);
    }

    @Test
    void closesWhileHeld() throws Exception {
        DesyncInstance holder = open(gated(LONG_NANOS));
        DesyncInstance instance = open(gated(LONG_NANOS));
        Database database = new Database(folder.resolve("db"), instance);
        hold(holder);
        for (int i = 0; i < database.trigger() + 1; i++) {
            database.checkpoint();
        }
        assertThat(metrics().compactionsQueued()).isEqualTo(1);
        Calls.end(
                Calls.start(
                        () -> {
                            database.close();
                            instance.close();
                            return null;
                        }));
        assertThat(threadsNow()).isZero();
        holder.close();
        assertThat(threadsNow()).isEqualTo(THREADS);
    }

    @Test
    void keepsToAFixedNumberAndGivesBackTheMostThatOthersWanted() throws Exception {
        DesyncSettings settings =
                new DesyncSettings(true, false, 3_000_000_000L, CompactionThreads.of(2));
        try (DesyncInstance instance = open(settings)) {
            Await.until("the number is set", () -> threadsNow() == 2);
            new Database(folder.resolve("a"), o -> o.setMaxBackgroundJobs(8), o -> {}).close();
            instance.coordinator().nearSlowdown(instance, false); // any event
            Await.until("the number is set again", () -> threadsNow() == 2);
        }
        assertThat(threadsNow()).isEqualTo(6);
    }

    @Test
    void flushesHaveTheirOwnThreadsAndGiveThemBack() throws Exception {
        env.setBackgroundThreads(1, Priority.HIGH);
        DesyncSettings settings =
                new DesyncSettings(
                        false,
                        false,
                        3_000_000_000L,
                        CompactionThreads.DEFAULT,
                        DesyncSettings.ESTIMATED,
                        3);
        try (DesyncInstance instance = open(settings)) {
            Await.until("the number is set", () -> flushThreadsNow() == 3);
            env.setBackgroundThreads(1, Priority.HIGH); // as Kafka Streams does for each store
            instance.coordinator().nearSlowdown(instance, false); // any event
            Await.until("the number is set again", () -> flushThreadsNow() == 3);
            assertThat(threadsNow()).isEqualTo(THREADS);
        }
        assertThat(flushThreadsNow()).isEqualTo(1);
    }

    private int flushThreadsNow() {
        return env.getBackgroundThreads(Priority.HIGH);
    }

    @Test
    void takesAsManyAsProcessorsWhileThereIsNoKnee() throws Exception {
        DesyncSettings settings =
                new DesyncSettings(
                        true, false, 3_000_000_000L, CompactionThreads.auto(new TimerLateness()));
        int processors = Runtime.getRuntime().availableProcessors();
        try (DesyncInstance instance = open(settings)) {
            Await.until("the number is set", () -> threadsNow() == processors);
            assertThat(instance.processMetrics().kneeThreads()).isZero();
        }
        assertThat(threadsNow()).isEqualTo(THREADS);
    }

    /** Latency is flat up to four compactions at once, and steep from there on. */
    @Test
    void setsTheKnee() throws Exception {
        LatencySource latency = () -> 300 + 150L * Math.max(0, compactionsNow() - 4);
        DesyncSettings settings =
                new DesyncSettings(true, false, 3_000_000_000L, CompactionThreads.auto(latency));
        try (DesyncInstance instance = open(settings)) {
            Await.until(
                    "a knee",
                    () -> {
                        compactUpTo(8, instance.coordinator(), instance);
                        return metrics().kneeThreads() > 0;
                    });
            int knee = metrics().kneeThreads();
            assertThat(knee).as("near 4, which a busy machine may blur").isBetween(2, 6);
            Await.until("the knee is set", () -> threadsNow() == knee);
            instance.coordinator().nearSlowdown(instance, true);
            int processors = Runtime.getRuntime().availableProcessors();
            Await.until("it is lifted", () -> threadsNow() == Math.max(knee, processors));
        }
    }

    private int compactionsNow() {
        DesyncMetrics now = metrics();
        return now == null ? 0 : now.compactions(); // the sampler may look before and after
    }

    private static void compactUpTo(int most, Coordinator coordinator, DesyncInstance instance)
            throws InterruptedException {
        for (int running = 1; running <= most; running++) {
            coordinator.compactionBegan(instance);
            TimeUnit.NANOSECONDS.sleep(ConcurrencyKnee.WINDOW_NANOS);
        }
        for (int running = most; running > 0; running--) {
            coordinator.compactionEnded(instance, false);
        }
    }
}
