package io.afterbay.storm.workloads;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Where this process listens for TCP connections, as Linux says in {@code /proc}. */
final class Listeners {
    private static final Path SELF = Path.of("/proc/self");
    private static final String LISTENS = "0A";
    private static final int WORD = 4;

    // Columns of the kernel's tables.
    private static final int LOCAL = 1;
    private static final int STATE = 3;
    private static final int INODE = 9;

    private Listeners() {}

    static boolean areKnown() {
        return Files.isReadable(SELF.resolve("net/tcp"));
    }

    static Set<InetSocketAddress> ofThisProcess() throws IOException {
        Set<String> sockets = sockets();
        Set<InetSocketAddress> all = new HashSet<>();
        for (String table : List.of("net/tcp", "net/tcp6")) {
            Path file = SELF.resolve(table);
            for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
                String[] columns = line.strip().split(" +");
                if (columns[STATE].equals(LISTENS)
                        && sockets.contains("socket:[" + columns[INODE] + "]")) {
                    all.add(address(columns[LOCAL]));
                }
            }
        }
        return all;
    }

    /** What its descriptors are; one may be closed meanwhile. */
    private static Set<String> sockets() throws IOException {
        Set<String> all = new HashSet<>();
        try (Stream<Path> descriptors = Files.list(SELF.resolve("fd"))) {
            for (Path descriptor : descriptors.toList()) {
                if (Files.isSymbolicLink(descriptor)) {
                    all.add(target(descriptor));
                }
            }
        }
        return all;
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "";
        }
    }

    /** {@code 0100007F:1F90}: words of four bytes, the last byte first, and a port. */
    private static InetSocketAddress address(String text) throws IOException {
        int colon = text.indexOf(':');
        byte[] printed = HexFormat.of().parseHex(text.substring(0, colon));
        byte[] bytes = new byte[printed.length];
        for (int i = 0; i < bytes.length; i++) {
            int word = i / WORD * WORD;
            bytes[i] = printed[word + WORD - 1 - (i - word)];
        }
        return new InetSocketAddress(
                InetAddress.getByAddress(bytes), Integer.parseInt(text.substring(colon + 1), 16));
    }
}
