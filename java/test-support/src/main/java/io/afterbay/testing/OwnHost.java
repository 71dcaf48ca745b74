package io.afterbay.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.condition.OS;

/**
 * An address of this machine that nobody else has: a port that is free there stays so until the
 * program that is told to use it takes it, also when that program is started again.
 */
public final class OwnHost {
    private OwnHost() {}

    /** That of this process. */
    public static String address() {
        if (OS.current() != OS.LINUX) {
            return "localhost"; // others have no more addresses until somebody adds them
        }
        long pid = ProcessHandle.current().pid();
        return "127.%d.%d.%d".formatted(64 + (pid >> 16), pid >> 8 & 255, pid & 255);
    }

    /** A port that is free at the address. */
    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(address()))) {
            return socket.getLocalPort();
        }
    }
}
