package io.afterbay.edge.mqtt;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A connection to a broker that publishes with QoS 1 (MQTT 3.1.1), and has no session.
 *
 * <pre>
 *   CONNECT     0x10  length  "MQTT" 4  clean session  keep alive (none)  client id
 *   CONNACK     0x20  2       session present  code
 *   PUBLISH     0x32  length  topic  packet id u16  payload
 *   PUBACK      0x40  2       packet id u16
 *   DISCONNECT  0xE0  0
 * </pre>
 *
 * For one thread.
 */
final class MqttConnection implements AutoCloseable {
    private static final int CONNECT = 0x10;
    private static final int CONNACK = 0x20;
    private static final int PUBLISH_ONCE_AT_LEAST = 0x32;
    private static final int PUBACK = 0x40;
    private static final int DISCONNECT = 0xE0;

    private static final int LEVEL = 4; // 3.1.1
    private static final int CLEAN_SESSION = 0x02;
    private static final int PACKET_IDS = 0xFFFF;

    /** A broker that is silent for so long while somebody waits for it hangs. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final BrokerAddress broker;
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private int sent;

    private MqttConnection(BrokerAddress broker, Socket socket) throws IOException {
        this.broker = broker;
        this.socket = socket;
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        this.out =
                new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 1 << 16));
    }

    /**
     * Connects, and ends the session that the broker may have of this client.
     *
     * @throws Refused if the broker does not want this client
     */
    static MqttConnection open(BrokerAddress broker, String clientId) throws IOException {
        Socket socket = new Socket();
        try {
            int patienceMs = Math.toIntExact(PATIENCE.toMillis());
            socket.connect(new InetSocketAddress(broker.host(), broker.port()), patienceMs);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(patienceMs);
            MqttConnection connection = new MqttConnection(broker, socket);
            connection.connect(clientId);
            return connection;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** A broker does not want a client; trying again is of no use. */
    static final class Refused extends IOException {
        private static final long serialVersionUID = 1;

        Refused(BrokerAddress broker, int code) {
            super("the broker %s refuses a client without user, code %d".formatted(broker, code));
        }
    }

    private void connect(String clientId) throws IOException {
        byte[] id = clientId.getBytes(StandardCharsets.UTF_8);
        out.writeByte(CONNECT);
        writeLength(2 + 4 + 1 + 1 + 2 + 2 + id.length);
        writeText("MQTT".getBytes(StandardCharsets.UTF_8));
        out.writeByte(LEVEL);
        out.writeByte(CLEAN_SESSION);
        out.writeShort(0);
        writeText(id);
        out.flush();
        int code = answer(CONNACK) & 0xFF;
        if (code != 0) {
            throw new Refused(broker, code);
        }
    }

    /** Writes a message into a buffer; {@link #flush} sends it. */
    void publish(byte[] topic, byte[] payload) throws IOException {
        out.writeByte(PUBLISH_ONCE_AT_LEAST);
        writeLength(2 + topic.length + 2 + payload.length);
        writeText(topic);
        out.writeShort(sent % PACKET_IDS + 1);
        out.write(payload);
        sent++;
    }

    void flush() throws IOException {
        out.flush();
    }

    /** Whether {@link #takeAcknowledgement} need not wait. */
    boolean hasAcknowledgement() throws IOException {
        return in.available() >= 4;
    }

    /** Takes the acknowledgement of the next message, in their order, and waits for it. */
    void takeAcknowledgement() throws IOException {
        answer(PUBACK);
    }

    /** Says that it goes. */
    void disconnect() throws IOException {
        out.writeByte(DISCONNECT);
        out.writeByte(0);
        out.flush();
    }

    /** The two bytes of an answer. */
    private int answer(int expected) throws IOException {
        int type = in.readUnsignedByte();
        int length = in.readUnsignedByte();
        if (type != expected || length != 2) {
            throw new IOException(
                    "%s: is no broker of MQTT 3.1.1: it has sent a packet 0x%02x of %d bytes"
                            .formatted(broker, type, length));
        }
        return in.readUnsignedShort();
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
