package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.storm.messaging.IConnection;
import org.apache.storm.messaging.TaskMessage;
import org.apache.storm.messaging.netty.BackPressureStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LocalTransportTest {
    private static final int PORT = 1024;
    private static final int OTHER_PORT = 1025;

    private final String topology = "topology-" + UUID.randomUUID();
    private final List<TaskMessage> received = new ArrayList<>();
    private volatile BackPressureStatus known = status(List.of(), List.of());

    private static BackPressureStatus status(List<Integer> full, List<Integer> room) {
        return new BackPressureStatus("worker", full, room);
    }

    /** A worker's end, as Storm makes it: each worker has a transport of its own. */
    private IConnection bind(int port) {
        return new LocalTransport().bind(topology, port, received::addAll, () -> known);
    }

    private IConnection connect(int port, AtomicBoolean[] isFull) {
        return new LocalTransport().connect(topology, "localhost", port, isFull);
    }

    /** As Storm does: it changes what is known, and then tells it. */
    private void tell(IConnection worker, BackPressureStatus status) {
        known = status;
        worker.sendBackPressureStatus(status);
    }

    private static AtomicBoolean[] noneFull() {
        return Stream.generate(AtomicBoolean::new).limit(4).toArray(AtomicBoolean[]::new);
    }

    private static List<Boolean> values(AtomicBoolean[] isFull) {
        return Arrays.stream(isFull).map(AtomicBoolean::get).toList();
    }

    @Test
    void thoseThatSendToAWorkerHearWhichOfItsTasksAreFull() {
        AtomicBoolean[] one = noneFull();
        AtomicBoolean[] two = noneFull();
        AtomicBoolean[] elsewhere = noneFull();
        try (IConnection early = connect(PORT, one);
                IConnection worker = bind(PORT);
                IConnection late = connect(PORT, two);
                IConnection other = connect(OTHER_PORT, elsewhere)) {
            tell(worker, status(List.of(1, 3), List.of()));
            assertThat(values(one)).containsExactly(false, true, false, true);
            assertThat(values(two)).isEqualTo(values(one));
            tell(worker, status(List.of(), List.of(1)));
            assertThat(values(one)).containsExactly(false, false, false, true);
            assertThat(values(elsewhere)).containsOnly(false);
            late.close();
            tell(worker, status(List.of(0), List.of(3)));
            assertThat(values(one)).containsExactly(true, false, false, false);
            assertThat(values(two)).containsExactly(false, false, false, true);
        }
    }

    @Test
    void whoBeginsToSendHearsWhatIsFullAlready() {
        known = status(List.of(2), List.of());
        AtomicBoolean[] isFull = noneFull();
        try (IConnection worker = bind(PORT);
                IConnection sender = connect(PORT, isFull)) {
            assertThat(values(isFull)).containsExactly(false, false, true, false);
        }
    }

    /**
     * Room is told while somebody who begins to send is about to hear that the task is full: what
     * is told last stays.
     */
    @Test
    void whatIsToldMeanwhileIsNotOverwrittenByOlderStatus() throws Exception {
        AtomicBoolean[] isFull = noneFull();
        CountDownLatch asked = new CountDownLatch(1);
        AtomicReference<@Nullable Thread> teller = new AtomicReference<>();
        Supplier<Object> slow =
                () -> {
                    BackPressureStatus now = known;
                    if (Thread.currentThread().getName().equals("begins")) {
                        asked.countDown();
                        awaitThatItWaitsOrEnds(teller);
                    }
                    return now;
                };
        known = status(List.of(2), List.of());
        try (IConnection worker =
                new LocalTransport().bind(topology, PORT, received::addAll, slow)) {
            AtomicReference<@Nullable IConnection> sender = new AtomicReference<>();
            Thread begins = new Thread(() -> sender.set(connect(PORT, isFull)), "begins");
            begins.start();
            asked.await();
            Thread tells = new Thread(() -> tell(worker, status(List.of(), List.of(2))), "tells");
            tells.start();
            teller.set(tells);
            begins.join();
            tells.join();
            assertThat(values(isFull)).containsOnly(false);
            Objects.requireNonNull(sender.get()).close();
        }
    }

    private static void awaitThatItWaitsOrEnds(AtomicReference<@Nullable Thread> thread) {
        while (thread.get() == null
                || !EnumSet.of(Thread.State.BLOCKED, Thread.State.TERMINATED)
                        .contains(Objects.requireNonNull(thread.get()).getState())) {
            Thread.onSpinWait();
        }
    }

    /** What a call is made with may be older than what is known. */
    @Test
    void whatIsKnownIsToldAndNotWhatWas() {
        AtomicBoolean[] isFull = noneFull();
        try (IConnection worker = bind(PORT);
                IConnection sender = connect(PORT, isFull)) {
            known = status(List.of(), List.of(2));
            worker.sendBackPressureStatus(status(List.of(2), List.of()));
            assertThat(values(isFull)).containsOnly(false);
        }
    }

    @Test
    void nobodyWaitsForAWorkerThatIsGoneAndItsSuccessorIsHeard() {
        AtomicBoolean[] isFull = noneFull();
        try (IConnection sender = connect(PORT, isFull)) {
            try (IConnection worker = bind(PORT)) {
                tell(worker, status(List.of(2), List.of()));
                assertThat(values(isFull)).containsExactly(false, false, true, false);
            }
            assertThat(values(isFull)).containsOnly(false);
            known = status(List.of(1), List.of(2));
            try (IConnection worker = bind(PORT)) {
                assertThat(values(isFull)).containsExactly(false, true, false, false);
            }
        }
        assertThat(LocalTransport.knows(topology)).isFalse();
    }

    @Test
    void aSuccessorMayBeThereBeforeItsPredecessorIsGone() {
        AtomicBoolean[] isFull = noneFull();
        IConnection predecessor = bind(PORT);
        try (IConnection successor = bind(PORT);
                IConnection sender = connect(PORT, isFull)) {
            tell(successor, status(List.of(2), List.of()));
            predecessor.close();
            assertThat(values(isFull)).containsExactly(false, false, true, false);
        }
        assertThat(LocalTransport.knows(topology)).isFalse();
    }

    @Test
    void workersAreForgottenWithTheLastThatUsesThem() {
        IConnection worker = bind(PORT);
        IConnection sender = connect(PORT, noneFull());
        sender.close();
        assertThat(LocalTransport.knows(topology)).isTrue();
        worker.close();
        assertThat(LocalTransport.knows(topology)).isFalse();
    }

    @Test
    void messagesAndLoadsGoThrough() {
        try (IConnection worker = bind(PORT);
                IConnection sender = connect(PORT, noneFull())) {
            byte[] text = "tuple".getBytes(StandardCharsets.UTF_8);
            sender.send(List.of(new TaskMessage(3, text)).iterator());
            assertThat(received).extracting(TaskMessage::task).containsExactly(3);
            assertThat(received.get(0).message()).isEqualTo(text);
            worker.sendLoadMetrics(Map.of(3, 0.5));
            assertThat(sender.getLoad(List.of(3)).get(3).getBoltLoad()).isEqualTo(0.5);
            assertThat(sender.getPort()).isEqualTo(PORT);
        }
    }
}
