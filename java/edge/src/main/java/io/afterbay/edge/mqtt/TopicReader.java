package io.afterbay.edge.mqtt;

import io.afterbay.command.CommandFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads what is published on a topic, with QoS 1, from when it has subscribed; what was retained
 * before is not counted. When the connection is lost, it connects again: the broker keeps its
 * session.
 *
 * <p>A thread of its own; for any number of threads.
 */
public final class TopicReader implements AutoCloseable {
    private static final int LOOK_MS = 200;
    private static final long POLL_MS = 10;

    /** How long something more may be under way, if what has come is not all. */
    private static final Duration SILENCE = Duration.ofSeconds(30);

    private final BrokerAddress broker;
    private final String clientId;
    private final String topic;
    private final String endTopic;
    private final Map<String, Integer> messages = new HashMap<>();
    private final Thread thread;
    private volatile boolean subscribed;
    private volatile boolean ended;
    private volatile boolean closed;
    private volatile long newestNs = System.nanoTime();
    private volatile @Nullable IOException trouble;
    private volatile boolean isRefused;

    private TopicReader(BrokerAddress broker, String clientId, String topic, String endTopic) {
        this.broker = broker;
        this.clientId = clientId;
        this.topic = topic;
        this.endTopic = endTopic;
        this.thread = new Thread(this::run, "reader " + topic);
        this.thread.setDaemon(true);
        this.thread.start();
    }

    /**
     * Subscribes, and waits until the broker has granted it.
     *
     * @param clientId of nobody else at this broker
     * @param endTopic where {@link #end} says that nothing more comes
     * @throws IOException why it does not read
     */
    public static TopicReader start(
            BrokerAddress broker, String clientId, String topic, String endTopic, Duration patience)
            throws IOException, InterruptedException {
        TopicReader reader = new TopicReader(broker, clientId, topic, endTopic);
        try {
            reader.await(() -> reader.subscribed, patience);
            return reader;
        } catch (IOException | InterruptedException e) {
            reader.close();
            throw e;
        }
    }

    private void await(BooleanSupplier condition, Duration patience)
            throws IOException, InterruptedException {
        long beganNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            IOException reason = trouble;
            boolean isLate = System.nanoTime() - beganNs > patience.toNanos();
            if (isRefused || isLate) {
                String why = reason == null ? "it is silent" : CommandFailure.reason(reason);
                throw new IOException(
                        isRefused ? why : "for %d s: %s".formatted(patience.toSeconds(), why));
            }
            Thread.sleep(POLL_MS);
        }
    }

    private void run() {
        while (!closed) {
            try (MqttConnection connection = MqttConnection.resume(broker, clientId)) {
                read(connection);
            } catch (MqttConnection.Refused e) {
                trouble = e;
                isRefused = true;
                return;
            } catch (IOException e) {
                trouble = e;
                pause();
            }
        }
    }

    private void pause() {
        try {
            Thread.sleep(LOOK_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            closed = true;
        }
    }

    private void read(MqttConnection connection) throws IOException {
        List<byte[]> topics =
                List.of(
                        topic.getBytes(StandardCharsets.UTF_8),
                        endTopic.getBytes(StandardCharsets.UTF_8));
        for (MqttConnection.Message message : connection.subscribe(topics)) {
            take(connection, message);
        }
        subscribed = true;
        while (!closed) {
            if (connection.awaitAnswer(LOOK_MS)) {
                take(connection, connection.takeMessage());
            }
        }
    }

    private void take(MqttConnection connection, MqttConnection.Message message)
            throws IOException {
        if (message.topic().equals(endTopic)) {
            ended = true;
        } else if (!message.isRetained()) {
            String text = new String(message.payload(), StandardCharsets.UTF_8);
            synchronized (messages) {
                messages.merge(text, 1, Integer::sum);
            }
            newestNs = System.nanoTime();
        }
        connection.acknowledge(message);
    }

    /**
     * Says that nothing more is published, and waits for what is under way: from one client to
     * another, rows may be behind the message that says that they are all.
     *
     * @param patience for the broker
     * @param isAll whether these are all, by how often each has come; if they never are, it returns
     *     when nothing has come for half a minute
     * @return how often each message has come
     * @throws IOException if the broker is gone
     */
    public Map<String, Integer> end(Duration patience, Predicate<Map<String, Integer>> isAll)
            throws IOException, InterruptedException {
        sayEnd(patience);
        await(() -> ended, patience);
        long endedNs = System.nanoTime();
        while (true) {
            Map<String, Integer> found = found();
            long silentNs = System.nanoTime() - Math.max(newestNs, endedNs);
            if (isAll.test(found) || silentNs > SILENCE.toNanos()) {
                return found;
            }
            Thread.sleep(LOOK_MS);
        }
    }

    private Map<String, Integer> found() {
        synchronized (messages) {
            return new HashMap<>(messages);
        }
    }

    private void sayEnd(Duration patience) throws IOException, InterruptedException {
        long beganNs = System.nanoTime();
        while (true) {
            try (MqttConnection connection = MqttConnection.open(broker, clientId + "-end")) {
                connection.publish(endTopic.getBytes(StandardCharsets.UTF_8), new byte[0]);
                connection.flush();
                connection.takeAcknowledgement();
                connection.disconnect();
                return;
            } catch (MqttConnection.Refused e) {
                throw e;
            } catch (IOException e) {
                if (System.nanoTime() - beganNs > patience.toNanos()) {
                    throw e;
                }
                Thread.sleep(LOOK_MS);
            }
        }
    }

    /** Has the broker forget its session, too. */
    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join();
            LinePublisher.forget(broker, clientId);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            // Without the broker there is nobody who could forget.
        }
    }
}
