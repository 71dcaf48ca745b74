package io.afterbay.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class OwnHostTest {
    private static ServerSocket bind(String address, int port) throws IOException {
        return new ServerSocket(port, 1, InetAddress.getByName(address));
    }

    /** What others have at theirs is not in the way. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void aPortIsFreeThereWhateverOthersHaveAtTheirs() throws Exception {
        try (ServerSocket others = bind("127.0.0.1", 0);
                ServerSocket own = bind(OwnHost.address(), others.getLocalPort())) {
            assertThatThrownBy(() -> bind(OwnHost.address(), own.getLocalPort()))
                    .as("control")
                    .isInstanceOf(BindException.class);
        }
    }

    @Test
    void aFreePortCanBeTaken() throws Exception {
        int port = OwnHost.freePort();
        try (ServerSocket own = bind(OwnHost.address(), port)) {
            assertThat(own.getLocalPort()).isEqualTo(port);
        }
    }
}
