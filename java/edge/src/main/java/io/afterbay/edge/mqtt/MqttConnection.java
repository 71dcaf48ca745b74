package io.afterbay.edge.mqtt;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.PushbackInputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A connection to a broker that publishes with QoS 1 (MQTT 3.1.1), and has no session; or one that
 * reads, and has a session.
 *
 * <pre>
 *   CONNECT     0x10  length  "MQTT" 4  clean session or not  keep alive (none)  client id
 *   CONNACK     0x20  2       session present  code
 *   PUBLISH     0x32  length  topic  packet id u16  payload
 *   PUBACK      0x40  2       packet id u16
 *   SUBSCRIBE   0x82  length  packet id u16  (topic  QoS)...
 *   SUBACK      0x90  length  packet id u16  (QoS or 0x80)...
 *   DISCONNECT  0xE0  0
 * </pre>
 *
 * A broker may acknowledge messages in another order than theirs. For one thread.
 */
final class MqttConnection implements AutoCloseable {
    private static final int CONNECT = 0x10;
    private static final int CONNACK = 0x20;
    private static final int PUBLISH_ONCE_AT_LEAST = 0x32;
    private static final int PUBLISH = 0x30;
    private static final int RETAINED = 0x01;
    private static final int QOS = 0x06;
    private static final int PUBACK = 0x40;
    private static final int SUBSCRIBE = 0x82;
    private static final int SUBACK = 0x90;
    private static final int DISCONNECT = 0xE0;

    private static final int LEVEL = 4; // 3.1.1
    private static final int CLEAN_SESSION = 0x02;
    private static final int PACKET_IDS = 0xFFFF; // from 1 on

    /** A broker that is silent for so long while somebody waits for it hangs. */
    private static final int PATIENCE_MS = Math.toIntExact(Duration.ofSeconds(60).toMillis());

    private final Socket socket;
    private final PushbackInputStream in;
    private final DataOutputStream out;
    private final Map<Integer, byte[]> unacknowledged = new LinkedHashMap<>();
    private int lastId;

    private MqttConnection(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new PushbackInputStream(new BufferedInputStream(socket.getInputStream()));
        this.out =
                new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 1 << 16));
    }

    /**
     * Connects, and ends the session that the broker may have of this client.
     *
     * @throws Refused if the broker does not want this client, or is none
     */
    static MqttConnection open(BrokerAddress broker, String clientId) throws IOException {
        return open(broker, clientId, CLEAN_SESSION);
    }

    /**
     * Connects, and goes on with the session that the broker may have of this client, which it
     * keeps when the connection is lost.
     *
     * @throws Refused if the broker does not want this client, or is none
     */
    static MqttConnection resume(BrokerAddress broker, String clientId) throws IOException {
        return open(broker, clientId, 0);
    }

    private static MqttConnection open(BrokerAddress broker, String clientId, int session)
            throws IOException {
        InetSocketAddress address = new InetSocketAddress(broker.host(), broker.port());
        if (address.isUnresolved()) {
            throw new UnknownHostException("there is no host " + broker.host());
        }
        Socket socket = new Socket();
        try {
            socket.connect(address, PATIENCE_MS);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(PATIENCE_MS);
            MqttConnection connection = new MqttConnection(socket);
            connection.connect(clientId, session);
            return connection;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** A broker does not want a client, or does not speak as brokers do: trying again is no use. */
    static final class Refused extends IOException {
        private static final long serialVersionUID = 1;

        private Refused(String message) {
            super(message);
        }
    }

    private void connect(String clientId, int session) throws IOException {
        byte[] id = clientId.getBytes(StandardCharsets.UTF_8);
        out.writeByte(CONNECT);
        writeLength(2 + 4 + 1 + 1 + 2 + 2 + id.length);
        writeText("MQTT".getBytes(StandardCharsets.UTF_8));
        out.writeByte(LEVEL);
        out.writeByte(session);
        out.writeShort(0);
        writeText(id);
        out.flush();
        checkCode(answer(CONNACK) & 0xFF, clientId);
    }

    private static void checkCode(int code, String clientId) throws IOException {
        switch (code) {
            case 0 -> {}
            case 1 -> throw new Refused("the broker does not take clients of MQTT 3.1.1");
            case 2 -> throw new Refused("the broker does not take the client id " + clientId);
            case 3 -> throw new IOException("the broker says that it is not available now");
            case 4, 5 ->
                    throw new Refused(
                            "the broker wants a user; give one that takes clients without users");
            default -> throw new Refused("the broker refuses its client, with code " + code);
        }
    }

    /** Writes a message into a buffer; {@link #flush} sends it. */
    void publish(byte[] topic, byte[] payload) throws IOException {
        int id = freeId();
        unacknowledged.put(id, payload);
        out.writeByte(PUBLISH_ONCE_AT_LEAST);
        writeLength(2 + topic.length + 2 + payload.length);
        writeText(topic);
        out.writeShort(id);
        out.write(payload);
    }

    private int freeId() {
        do {
            lastId = lastId % PACKET_IDS + 1;
        } while (unacknowledged.containsKey(lastId));
        return lastId;
    }

    void flush() throws IOException {
        out.flush();
    }

    /** Payloads that the broker may have or not, as they were published. */
    List<byte[]> unacknowledged() {
        return new ArrayList<>(unacknowledged.values());
    }

    /** How many {@link #unacknowledged} has. */
    int underWay() {
        return unacknowledged.size();
    }

    /** Whether an answer has begun to come. */
    boolean hasAnswer() throws IOException {
        return in.available() > 0;
    }

    /**
     * As {@link #hasAnswer}, and waits for it.
     *
     * @param ms at most, from 1 on
     * @throws IOException also if the broker has closed the connection
     */
    boolean awaitAnswer(int ms) throws IOException {
        socket.setSoTimeout(ms);
        try {
            in.unread(read());
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } finally {
            socket.setSoTimeout(PATIENCE_MS);
        }
    }

    /** Takes an acknowledgement, and waits for it. */
    void takeAcknowledgement() throws IOException {
        int id = answer(PUBACK);
        if (unacknowledged.remove(id) == null) {
            throw new Refused(
                    "the broker acknowledges packet %d, which is not there".formatted(id));
        }
    }

    /**
     * Asks for the messages of topics, and waits until the broker has granted them. Messages may
     * come before that, of a session; they are in what is returned.
     *
     * @throws Refused if the broker does not, or only with QoS 0
     */
    List<Message> subscribe(List<byte[]> topics) throws IOException {
        out.writeByte(SUBSCRIBE);
        writeLength(2 + topics.stream().mapToInt(topic -> 2 + topic.length + 1).sum());
        out.writeShort(freeId());
        for (byte[] topic : topics) {
            writeText(topic);
            out.writeByte(1);
        }
        out.flush();
        List<Message> messages = new ArrayList<>();
        for (int type = read(); type != SUBACK; type = read()) {
            messages.add(message(type));
        }
        byte[] granted = bytes(length());
        for (int i = 0; i < topics.size(); i++) {
            if (granted.length != 2 + topics.size() || granted[2 + i] != 1) {
                throw new Refused(
                        "the broker does not grant the topic %s with QoS 1"
                                .formatted(new String(topics.get(i), StandardCharsets.UTF_8)));
            }
        }
        return messages;
    }

    /**
     * What somebody has published.
     *
     * @param id to acknowledge it by; 0 if it has QoS 0
     * @param isRetained whether it was there before anybody asked for it
     */
    record Message(String topic, byte[] payload, int id, boolean isRetained) {}

    /** The next message, of which {@link #awaitAnswer} has said that it has begun to come. */
    Message takeMessage() throws IOException {
        return message(read());
    }

    private Message message(int type) throws IOException {
        if ((type & 0xF0) != PUBLISH) {
            throw new Refused("the broker sends a packet 0x%02x, not a message".formatted(type));
        }
        int length = length();
        byte[] topic = bytes(read() << 8 | read());
        boolean hasId = (type & QOS) != 0;
        int id = hasId ? read() << 8 | read() : 0;
        byte[] payload = bytes(length - 2 - topic.length - (hasId ? 2 : 0));
        return new Message(
                new String(topic, StandardCharsets.UTF_8), payload, id, (type & RETAINED) != 0);
    }

    /** Says that a message need not come again. */
    void acknowledge(Message message) throws IOException {
        if (message.id != 0) {
            out.writeByte(PUBACK);
            out.writeByte(2);
            out.writeShort(message.id);
            out.flush();
        }
    }

    private int length() throws IOException {
        int length = 0;
        for (int shift = 0; ; shift += 7) {
            int one = read();
            length |= (one & 0x7F) << shift;
            if (one < 0x80) {
                return length;
            }
        }
    }

    private byte[] bytes(int count) throws IOException {
        byte[] bytes = count < 0 ? new byte[0] : in.readNBytes(count);
        if (bytes.length != count) {
            throw new EOFException("the other side has closed the connection within a message");
        }
        return bytes;
    }

    /** Says that it goes. */
    void disconnect() throws IOException {
        out.writeByte(DISCONNECT);
        out.writeByte(0);
        out.flush();
    }

    /** The two bytes of an answer. */
    private int answer(int expected) throws IOException {
        int type = read();
        int length = read();
        if (type != expected || length != 2) {
            throw new Refused(
                    "there is no broker of MQTT 3.1.1: packet 0x%02x of %d bytes, not 0x%02x of 2"
                            .formatted(type, length, expected));
        }
        return read() << 8 | read();
    }

    private int read() throws IOException {
        int one = in.read();
        if (one < 0) {
            throw new EOFException(
                    "the other side has closed the connection; a broker of MQTT 3.1.1 without TLS"
                            + " is needed");
        }
        return one;
    }

    private void writeText(byte[] text) throws IOException {
        out.writeShort(text.length);
        out.write(text);
    }

    /** Seven bits in each byte, the lowest first. */
    private void writeLength(int length) throws IOException {
        int rest = length;
        while (rest > 0x7F) {
            out.writeByte(rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        out.writeByte(rest);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
