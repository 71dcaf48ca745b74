package io.afterbay.edge.raw;

import io.afterbay.edge.lines.GrowingFile;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.InflaterInputStream;

/**
 * Takes the files of {@link LineShipper}s, each to a file of its own.
 *
 * <pre>
 *   site's name      ──>
 *                    <──  bytes that are there already, u64
 *   zlib: the rest   ──>
 *                    <──  one byte: all of it is there
 * </pre>
 *
 * Threads of its own; for any number of threads.
 */
public final class LineReceiver implements AutoCloseable {
    private final ServerSocket server;
    private final Path directory;
    private final Map<String, Site> sites = new ConcurrentHashMap<>();

    private LineReceiver(ServerSocket server, Path directory) {
        this.server = server;
        this.directory = directory;
    }

    /** Listens on the loopback interface. */
    public static LineReceiver open(Path directory) throws IOException {
        ServerSocket server = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        LineReceiver receiver = new LineReceiver(server, directory);
        LineShipper.daemon("receiver", receiver::accept).start();
        return receiver;
    }

    public int port() {
        return server.getLocalPort();
    }

    /** Where the lines of a site go; a {@link GrowingFile}. */
    public Path file(String site) {
        return directory.resolve(site + ".ndjson");
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                LineShipper.daemon("receiver", () -> take(socket)).start();
            } catch (IOException e) {
                // Closed.
            }
        }
    }

    private void take(Socket socket) {
        try (socket) {
            String name = new DataInputStream(socket.getInputStream()).readUTF();
            sites.computeIfAbsent(name, key -> new Site(file(key))).take(socket);
        } catch (IOException e) {
            // The site comes again.
        }
    }

    /** One connection at a time: the last one that came. */
    private static final class Site {
        private final Path file;
        private Socket newest = new Socket();

        Site(Path file) {
            this.file = file;
        }

        void take(Socket socket) throws IOException {
            replace(socket);
            synchronized (this) {
                receive(socket);
            }
        }

        private void replace(Socket socket) throws IOException {
            Socket before;
            synchronized (file) {
                before = newest;
                newest = socket;
            }
            before.close();
        }

        private void receive(Socket socket) throws IOException {
            DataOutputStream answers = new DataOutputStream(socket.getOutputStream());
            answers.writeLong(Files.exists(file) ? Files.size(file) : 0);
            try (OutputStream out =
                    Files.newOutputStream(
                            file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
                new InflaterInputStream(socket.getInputStream()).transferTo(out);
            }
            Path end = GrowingFile.endOf(file);
            if (!Files.exists(end)) {
                Files.createFile(end);
            }
            answers.writeByte(1);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Site site : sites.values()) {
            site.replace(new Socket());
        }
    }
}
