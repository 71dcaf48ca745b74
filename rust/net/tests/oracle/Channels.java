import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/** Both ends of connections, as programs of Java have them. It says what each comes to, and then waits for its input's end. */
public final class Channels {
    private static final int BYTES = 20_000_000;
    private static final int TIMES = 64;
    private static final String BLOCKED = "blocked-call";

    private record Ends(SocketChannel asks, SocketChannel serves) {}

    private interface Blocks {
        Object run() throws IOException;
    }

    private static Ends connect() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(loopback, 0));
            SocketChannel asks = SocketChannel.open(listener.getLocalAddress());
            SocketChannel serves = listener.accept();
            // So often, that it is worth rings.
            for (int time = 0; time < TIMES; time++) {
                exchange(asks, serves);
                exchange(serves, asks);
            }
            return new Ends(asks, serves);
        }
    }

    private static void exchange(SocketChannel from, SocketChannel to) throws IOException {
        from.write(ByteBuffer.wrap(new byte[] {1}));
        to.read(ByteBuffer.allocate(1));
    }

    private static byte[] random(int bytes) {
        byte[] random = new byte[bytes];
        new Random(1).nextBytes(random);
        return random;
    }

    private static String sum(byte[] bytes, int length) {
        CRC32 sum = new CRC32();
        sum.update(bytes, 0, length);
        return length + " bytes, " + Long.toHexString(sum.getValue());
    }

    /** A thread with a selector echoes what another one with a selector sends and reads at once. */
    private static Ends selectors() throws Exception {
        Ends ends = connect();
        CompletableFuture<Void> echo = new CompletableFuture<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                echo(ends.serves());
                                echo.complete(null);
                            } catch (IOException | RuntimeException e) {
                                echo.completeExceptionally(e);
                            }
                        });
        thread.start();
        byte[] sent = random(BYTES);
        byte[] received = new byte[BYTES];
        ByteBuffer out = ByteBuffer.wrap(sent);
        ByteBuffer in = ByteBuffer.wrap(received);
        ends.asks().configureBlocking(false);
        try (Selector selector = Selector.open()) {
            SelectionKey key = ends.asks().register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            while (in.hasRemaining()) {
                selector.select();
                selector.selectedKeys().clear();
                if (key.isWritable()) {
                    ends.asks().write(out);
                    if (!out.hasRemaining()) {
                        key.interestOps(SelectionKey.OP_READ);
                    }
                }
                if (key.isReadable() && ends.asks().read(in) < 0) {
                    throw new IOException("ended after " + in.position());
                }
            }
        }
        echo.get();
        System.out.println("echoed " + sum(received, in.position()) + " " + Arrays.equals(sent, received));
        return ends;
    }

    /** With a direct buffer, as servers have it, until all has gone back. */
    private static void echo(SocketChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16);
        channel.configureBlocking(false);
        long back = 0;
        try (Selector selector = Selector.open()) {
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            while (back < BYTES) {
                selector.select();
                selector.selectedKeys().clear();
                if (key.isReadable() && channel.read(buffer) < 0) {
                    throw new IOException("ended after " + back);
                }
                buffer.flip();
                back += channel.write(buffer);
                buffer.compact();
                int reads = buffer.hasRemaining() ? SelectionKey.OP_READ : 0;
                key.interestOps(reads | (buffer.position() > 0 ? SelectionKey.OP_WRITE : 0));
            }
        }
    }

    private static void buffers() throws Exception {
        Ends ends = connect();
        byte[] sent = random(3_000);
        ByteBuffer[] parts = {
            ByteBuffer.wrap(sent, 0, 1_000), ByteBuffer.wrap(sent, 1_000, 0), ByteBuffer.wrap(sent, 1_000, 2_000)
        };
        System.out.println("gathered " + ends.asks().write(parts));
        ends.asks().shutdownOutput();
        byte[] received = new byte[4_000];
        ByteBuffer[] places = {ByteBuffer.wrap(received, 0, 500), ByteBuffer.wrap(received, 500, 3_500)};
        long all = 0;
        for (long read = 0; read >= 0; read = ends.serves().read(places)) {
            all += read;
        }
        System.out.println("scattered " + sum(received, (int) all));
        System.out.println(ends.serves().write(ByteBuffer.wrap(sent)) + " the other way");
        close(ends);
    }

    private static void streams() throws Exception {
        Ends ends = connect();
        Socket asks = ends.asks().socket();
        ends.asks().setOption(StandardSocketOptions.TCP_NODELAY, true);
        asks.setSoTimeout(20);
        InputStream in = asks.getInputStream();
        try {
            in.read();
        } catch (SocketTimeoutException e) {
            System.out.println("timed out");
        }
        OutputStream out = ends.serves().socket().getOutputStream();
        out.write(random(1_000));
        asks.setSoTimeout(0);
        System.out.println("read " + sum(in.readNBytes(1_000), 1_000) + ", " + in.available() + " more");
        close(ends);
    }

    /** A thread is in a call, and another one closes the channel, or interrupts it. */
    private static void closes() throws Exception {
        Ends ends = connect();
        blocked("channel, closed", () -> ends.asks().read(ByteBuffer.allocate(1)), ends.asks()::close, ends);
        Ends next = connect();
        InputStream in = next.asks().socket().getInputStream();
        blocked("stream, closed", in::read, next.asks().socket()::close, next);
        Ends last = connect();
        blocked("channel, interrupted", () -> last.asks().read(ByteBuffer.allocate(1)), null, last);
        Ends writes = connect();
        blocked(
                "writer, closed",
                () -> {
                    while (true) {
                        writes.asks().write(ByteBuffer.wrap(new byte[1 << 16]));
                    }
                },
                writes.asks()::close,
                null);
        writes.serves().close();
    }

    private static void socketCloses() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket listener = new ServerSocket(0, 1, loopback)) {
            Socket asks = new Socket(loopback, listener.getLocalPort());
            Socket serves = listener.accept();
            for (int time = 0; time < TIMES; time++) {
                serves.getOutputStream().write(time);
                asks.getInputStream().read();
            }
            blocked("socket, closed", () -> asks.getInputStream().read(), asks::close, null);
            System.out.println("the other end reads " + serves.getInputStream().read());
            serves.close();
        }
    }

    private interface Closing {
        void run() throws IOException;
    }

    private static void blocked(String what, Blocks call, Closing close, Ends ends) throws Exception {
        CompletableFuture<String> said = new CompletableFuture<>();
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                said.complete("returned " + call.run());
                            } catch (ClosedChannelException e) {
                                // Another of its kind if it was not in the call yet.
                                said.complete("closed");
                            } catch (IOException e) {
                                said.complete(e.getClass().getSimpleName());
                            }
                        },
                        BLOCKED);
        thread.start();
        while (!isAsleep()) {
            Thread.onSpinWait();
        }
        if (close == null) {
            thread.interrupt();
        } else {
            close.run();
        }
        System.out.println(what + ": " + said.get());
        if (ends != null) {
            System.out.println("the other end reads " + ends.serves().read(ByteBuffer.allocate(1)));
            ends.serves().close();
        }
    }

    /** Whether the kernel has put the thread to sleep, which has its name from Java. */
    private static boolean isAsleep() throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            for (Path task : tasks.toList()) {
                try {
                    String stat = Files.readString(task.resolve("stat"));
                    if (stat.contains("(" + BLOCKED + ") S")) {
                        return true;
                    }
                } catch (NoSuchFileException e) {
                    // It has ended.
                }
            }
            return false;
        }
    }

    private static void close(Ends ends) throws IOException {
        ends.asks().close();
        ends.serves().close();
    }

    public static void main(String[] args) throws Exception {
        buffers();
        streams();
        closes();
        socketCloses();
        Ends kept = selectors();
        System.out.println("end");
        System.in.read();
        close(kept);
    }
}
