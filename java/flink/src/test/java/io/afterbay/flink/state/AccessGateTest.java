package io.afterbay.flink.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.Await;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Frames of this class count as accesses, since it is in a package of the backend. */
class AccessGateTest {
    private static final Duration LONG = Duration.ofMinutes(5);

    private final CountDownLatch end = new CountDownLatch(1);
    private CompletableFuture<Void> owner = CompletableFuture.completedFuture(null);

    @AfterEach
    void endAccess() {
        end.countDown();
        owner.join();
    }

    /** A gate that another thread has passed, which stays in its access until the end. */
    private AccessGate occupied(Duration waitMax, Runnable atEnd) throws Exception {
        AccessGate[] gate = new AccessGate[1];
        CountDownLatch inside = new CountDownLatch(1);
        owner =
                inThread(
                        "task",
                        () -> {
                            gate[0] = new AccessGate(waitMax, Duration.ZERO);
                            access(gate[0], inside);
                            atEnd.run();
                        });
        inside.await();
        return gate[0];
    }

    private void access(AccessGate gate, CountDownLatch inside) {
        gate.pass();
        inside.countDown();
        await(end);
        passAgain(gate);
    }

    private static void passAgain(AccessGate gate) {
        gate.pass();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Not in an access, as far as the gate knows. */
    private static CompletableFuture<Void> inThread(String name, Runnable task) {
        return CompletableFuture.runAsync(task, run -> new Thread(run, name).start());
    }

    @Test
    void namesBothThreadsIfOneStaysInside() throws Exception {
        AccessGate gate = occupied(Duration.ofMillis(50), () -> {});
        assertThatThrownBy(inThread("runner", gate::pass)::join)
                .rootCause()
                .hasMessageContaining("thread 'task' has been in one access to the state")
                .hasMessageContaining("thread 'runner' waits for it");
    }

    @Test
    void whatIsTriedWaitsForNobody() throws Exception {
        AccessGate gate = occupied(LONG, () -> {});
        AtomicBoolean ran = new AtomicBoolean();
        assertThat(gate.tryRun(() -> ran.set(true))).isFalse();
        end.countDown();
        owner.join();
        assertThat(gate.tryRun(() -> ran.set(true))).isTrue();
        assertThat(ran).isTrue();
    }

    @Test
    void theOwnerFinishesAnAccessThatPassesAgain() throws Exception {
        AtomicBoolean finished = new AtomicBoolean();
        AccessGate gate = occupied(LONG, () -> finished.set(true));
        CompletableFuture<Void> other = waitingFor(gate, finished);
        end.countDown();
        other.join();
    }

    /** A second thread, which is at the gate, and passes once that is so. */
    private static CompletableFuture<Void> waitingFor(AccessGate gate, AtomicBoolean before)
            throws Exception {
        Thread[] runner = new Thread[1];
        CompletableFuture<Void> passed =
                inThread(
                        "runner",
                        () -> {
                            runner[0] = Thread.currentThread();
                            gate.pass();
                            assertThat(before).isTrue();
                        });
        Await.until(
                "a second thread at the gate",
                () -> runner[0] != null && isIn(runner[0], "awaitOwnerOutside"));
        return passed;
    }

    /** It needs memory of this backend for an access to another one, while a thread waits here. */
    @Test
    void theOwnerMayTryWhileAnotherThreadWaits() throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        AccessGate[] gate = new AccessGate[1];
        CountDownLatch ready = new CountDownLatch(1);
        owner =
                inThread(
                        "task",
                        () -> {
                            gate[0] = new AccessGate();
                            ready.countDown();
                            await(end);
                            tryUntilItRan(gate[0], ran);
                        });
        ready.await();
        CompletableFuture<Void> other = waitingFor(gate[0], ran);
        end.countDown();
        other.join();
    }

    private static void tryUntilItRan(AccessGate gate, AtomicBoolean ran) {
        while (!gate.tryRun(() -> ran.set(true))) {
            Thread.onSpinWait();
        }
    }

    /** Not even one who has just taken over, and would go on while others merely wait. */
    @Test
    void nobodyPassesDuringAQuery() throws Exception {
        CountDownLatch reads = new CountDownLatch(1);
        ExecutorService task = Executors.newSingleThreadExecutor();
        try {
            Thread thread = task.submit(Thread::currentThread).get();
            AccessGate gate = ofNobody();
            task.submit(gate::pass).get();
            owner = inThread("query", () -> query(gate, reads));
            reads.await();
            Future<?> pass = task.submit(gate::pass);
            Await.until("the task at the gate", () -> pass.isDone() || isIn(thread, "queue"));
            assertThat(pass.isDone()).isFalse();
            end.countDown();
            pass.get();
        } finally {
            task.shutdownNow();
        }
    }

    /** Of a thread that has ended; the test's own would be in an access all the time. */
    private static AccessGate ofNobody() {
        AccessGate[] gate = new AccessGate[1];
        inThread("opener", () -> gate[0] = new AccessGate(LONG, LONG)).join();
        return gate[0];
    }

    private void query(AccessGate gate, CountDownLatch reads) {
        try {
            gate.query(
                    () -> {
                        reads.countDown();
                        end.await();
                        return 1;
                    });
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isIn(Thread thread, String method) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals(method));
    }

    @Test
    void nobodyPassesAfterTheEnd() {
        AccessGate gate = new AccessGate();
        gate.end();
        assertThatThrownBy(gate::pass)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("disposed");
        assertThatThrownBy(() -> gate.query(() -> 1)).hasMessageContaining("disposed");
        assertThat(gate.tryRun(() -> {})).isFalse();
        gate.end();
    }
}
