package io.afterbay.edge.mqtt;

import io.afterbay.testing.Await;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A broker that answers what a test tells it to, when it tells it to. */
public final class ScriptedBroker implements AutoCloseable {
    /** JUnit cannot interrupt who waits at a socket. */
    private static final int PATIENCE_MS = Math.toIntExact(Await.DEADLINE.toMillis());

    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

    public ScriptedBroker() throws IOException {
        server.setSoTimeout(PATIENCE_MS);
    }

    public BrokerAddress address() {
        return new BrokerAddress("127.0.0.1", server.getLocalPort());
    }

    /** The next connection, before anything is read or said. */
    public Client accept() throws IOException {
        return new Client(server.accept());
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    /** A message with QoS 1. */
    record Message(String topic, int id, String payload) {}

    /** One connection. */
    public static final class Client implements AutoCloseable {
        private final Socket socket;
        private final DataInputStream in;
        private final OutputStream out;

        private Client(Socket socket) throws IOException {
            this.socket = socket;
            this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            this.out = socket.getOutputStream();
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(PATIENCE_MS);
        }

        /** Reads a CONNECT of 3.1.1 without session, keep alive and user; returns the client id. */
        public String connect() throws IOException {
            expect(0x10);
            int length = in.readUnsignedByte();
            byte[] head = in.readNBytes(10);
            byte[] wanted = {0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0};
            String id = in.readUTF();
            if (!Arrays.equals(head, wanted) || length != 12 + id.length()) {
                throw new AssertionError("not the CONNECT that is wanted: " + id);
            }
            return id;
        }

        public void say(int... bytes) throws IOException {
            for (int one : bytes) {
                // Each in a packet of TCP of its own.
                out.write(one);
            }
        }

        /** Lets it in. */
        public Client welcome() throws IOException {
            connect();
            say(0x20, 2, 0, 0);
            return this;
        }

        Message message() throws IOException {
            expect(0x32);
            int length = length();
            String topic = in.readUTF();
            int id = in.readUnsignedShort();
            byte[] payload = in.readNBytes(length - 4 - topic.length());
            return new Message(topic, id, new String(payload, StandardCharsets.UTF_8));
        }

        private int length() throws IOException {
            int length = 0;
            for (int shift = 0; ; shift += 7) {
                int one = in.readUnsignedByte();
                length |= (one & 0x7F) << shift;
                if (one < 0x80) {
                    return length;
                }
            }
        }

        void acknowledge(int id) throws IOException {
            out.write(new byte[] {0x40, 2, (byte) (id >> 8), (byte) id});
        }

        /** Reads a DISCONNECT. */
        public void end() throws IOException {
            expect(0xE0);
            expect(0);
        }

        private void expect(int wanted) throws IOException {
            int one = in.readUnsignedByte();
            if (one != wanted) {
                throw new AssertionError("0x%02x, not 0x%02x".formatted(one, wanted));
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
