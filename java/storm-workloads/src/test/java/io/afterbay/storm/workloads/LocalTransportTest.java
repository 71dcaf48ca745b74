package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.storm.messaging.IConnection;
import org.apache.storm.messaging.TaskMessage;
import org.apache.storm.messaging.netty.BackPressureStatus;
import org.junit.jupiter.api.Test;

class LocalTransportTest {
    private static final int PORT = 1024;
    private static final int OTHER_PORT = 1025;

    private final String topology = "topology-" + UUID.randomUUID();
    private final List<TaskMessage> received = new ArrayList<>();
    private BackPressureStatus known = status(List.of(), List.of());

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
            worker.sendBackPressureStatus(status(List.of(1, 3), List.of()));
            assertThat(values(one)).containsExactly(false, true, false, true);
            assertThat(values(two)).isEqualTo(values(one));
            worker.sendBackPressureStatus(status(List.of(), List.of(1)));
            assertThat(values(one)).containsExactly(false, false, false, true);
            assertThat(values(elsewhere)).containsOnly(false);
            late.close();
            worker.sendBackPressureStatus(status(List.of(0), List.of(3)));
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
