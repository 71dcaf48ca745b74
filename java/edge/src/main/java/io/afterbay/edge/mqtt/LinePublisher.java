package io.afterbay.edge.mqtt;

import io.afterbay.edge.lines.GrowingFile;
import io.afterbay.edge.lines.LineTail;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Publishes a file that grows, each line as a message with QoS 1, and a message on another topic
 * when everything is acknowledged and nothing more comes. What is not acknowledged when the
 * connection is lost is published again on the next one: the broker may have it twice then.
 *
 * <p>A thread of its own; for any number of threads.
 */
public final class LinePublisher implements AutoCloseable {
    /** Messages that the broker may have without having acknowledged them. */
    private static final int WINDOW = 500;

    private static final long POLL_MS = 10;
    private static final long RETRY_MS = 200;
    private static final long NONE = -1;

    private final Topics topics;
    private final Path file;
    private final BrokerAddress broker;
    private final String clientId;
    private final long leftOut;
    private final Thread thread;
    private final Queue<byte[]> unacknowledged = new ArrayDeque<>();
    private volatile long published;
    private volatile boolean closed;
    private volatile @Nullable IOException failure;
    private long lines;

    /**
     * Where lines go, and where it is said that there are no more.
     *
     * @param end another one than {@code lines}
     */
    public record Topics(String lines, String end) {}

    private LinePublisher(
            Path file, BrokerAddress broker, String clientId, Topics topics, long leftOut) {
        this.file = file;
        this.broker = broker;
        this.clientId = clientId;
        this.topics = topics;
        this.leftOut = leftOut;
        this.thread = new Thread(this::run, "publisher " + topics.lines());
        this.thread.setDaemon(true);
    }

    /**
     * Begins to publish.
     *
     * @param file a {@link GrowingFile}; it need not be there yet
     * @param clientId of nobody else at this broker
     */
    public static LinePublisher start(
            Path file, BrokerAddress broker, String clientId, Topics topics) {
        return startWithout(NONE, file, broker, clientId, topics);
    }

    /**
     * For a control: as {@link #start}, without one of the lines, which nobody hears of.
     *
     * @param line its number, from 0
     */
    public static LinePublisher startWithout(
            long line, Path file, BrokerAddress broker, String clientId, Topics topics) {
        LinePublisher publisher = new LinePublisher(file, broker, clientId, topics, line);
        publisher.thread.start();
        return publisher;
    }

    /** Lines that the broker has acknowledged. */
    public long published() {
        return published;
    }

    /**
     * @throws IOException why the broker will never have everything
     */
    public void check() throws IOException {
        IOException reason = failure;
        if (reason != null) {
            throw reason;
        }
    }

    private void run() {
        try (LineTail tail = new LineTail(new GrowingFile(file, null))) {
            while (!closed && !tryToPublish(tail)) {
                Thread.sleep(RETRY_MS);
            }
        } catch (IOException e) {
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** False if the connection was lost. */
    private boolean tryToPublish(LineTail tail) throws IOException, InterruptedException {
        try (MqttConnection connection = MqttConnection.open(broker, clientId)) {
            publishAgain(connection);
            byte[] topic = topics.lines().getBytes(StandardCharsets.UTF_8);
            while (!tail.isEnded() || !unacknowledged.isEmpty()) {
                if (closed) {
                    return true;
                }
                publishSome(connection, topic, tail);
                takeSome(connection, tail.isEnded());
            }
            connection.publish(topics.end().getBytes(StandardCharsets.UTF_8), new byte[0]);
            connection.flush();
            connection.takeAcknowledgement();
            connection.disconnect();
            return true;
        } catch (MqttConnection.Refused e) {
            throw e;
        } catch (IOException e) {
            return false;
        }
    }

    private void publishAgain(MqttConnection connection) throws IOException {
        List<byte[]> again = new ArrayList<>(unacknowledged);
        for (byte[] line : again) {
            connection.publish(topics.lines().getBytes(StandardCharsets.UTF_8), line);
        }
        connection.flush();
    }

    private void publishSome(MqttConnection connection, byte[] topic, LineTail tail)
            throws IOException {
        while (unacknowledged.size() < WINDOW) {
            byte[] line = tail.next();
            if (line == null) {
                break;
            }
            if (lines++ != leftOut) {
                unacknowledged.add(line);
                connection.publish(topic, line);
            }
        }
        connection.flush();
    }

    /** Waits for one if nothing else is to be done. */
    private void takeSome(MqttConnection connection, boolean isAll)
            throws IOException, InterruptedException {
        boolean waits = unacknowledged.size() >= WINDOW || isAll && !unacknowledged.isEmpty();
        boolean took = false;
        while (!unacknowledged.isEmpty() && (connection.hasAcknowledgement() || waits)) {
            connection.takeAcknowledgement();
            unacknowledged.remove();
            published++;
            waits = false;
            took = true;
        }
        if (!took) {
            Thread.sleep(POLL_MS);
        }
    }

    /** Has a broker forget the session of a client that does not come again. */
    public static void forget(BrokerAddress broker, String clientId) throws IOException {
        try (MqttConnection connection = MqttConnection.open(broker, clientId)) {
            connection.disconnect();
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }
}
