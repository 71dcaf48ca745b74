package io.afterbay.edge.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.afterbay.command.CommandFailure;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.junit.jupiter.api.Test;

/** What answers at the address of a cluster. */
class FlinkClusterTest {
    /** With something that answers everything so. */
    private static void check(String answer) throws Exception {
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        byte[] content = answer.getBytes(StandardCharsets.UTF_8);
        server.createContext(
                "/",
                exchange -> {
                    exchange.sendResponseHeaders(200, content.length);
                    exchange.getResponseBody().write(content);
                    exchange.close();
                });
        server.start();
        try {
            new FlinkCluster("127.0.0.1", server.getAddress().getPort()).check();
        } finally {
            server.stop(0);
        }
    }

    @Test
    void onlyAClusterOfTheVersionOfPlansIsTaken() throws Exception {
        String version = EnvironmentInformation.getVersion();
        check("{\"flink-version\": \"%s\"}".formatted(version));
        assertThatThrownBy(() -> check("{\"flink-version\": \"1.20.3\"}"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContainingAll("--on 127.0.0.1:", "is Flink 1.20.3", version);
        for (String other : new String[] {"<html>hello</html>", "{}"}) {
            assertThatThrownBy(() -> check(other))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContainingAll("--on 127.0.0.1:", "no Flink cluster", "JobManager");
        }
    }

    @Test
    void whereNothingAnswersIsNamed() {
        assertThatThrownBy(() -> new FlinkCluster("127.0.0.1", 1).check())
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("--on 127.0.0.1:1: no Flink cluster answers there");
    }

    @Test
    void addressesAreHostAndPort() {
        assertThat(FlinkCluster.parse("http://flink:8081/")).hasToString("flink:8081");
        for (String wrong : new String[] {"flink", "flink:99999", "https://flink:8081", ":8081"}) {
            assertThatThrownBy(() -> FlinkCluster.parse(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'%s' is no HOST:PORT".formatted(wrong));
        }
    }
}
