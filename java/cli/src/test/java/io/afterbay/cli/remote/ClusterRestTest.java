package io.afterbay.cli.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

/** What is said of clusters that cannot be used, by a server that answers as they would. */
class ClusterRestTest {
    private final HttpServer server;
    private final ClusterRest rest;
    private String answer = "";
    private int status = 200;

    ClusterRestTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(
                "/",
                exchange -> {
                    byte[] body = answer.getBytes(StandardCharsets.UTF_8);
                    exchange.sendResponseHeaders(status, body.length);
                    exchange.getResponseBody().write(body);
                    exchange.close();
                });
        server.start();
        rest = new ClusterRest(new ClusterAddress("localhost", server.getAddress().getPort()));
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private static String overview(String version, int free) {
        return "{\"slots-total\": 8, \"slots-available\": %d, \"flink-version\": \"%s\"}"
                .formatted(free, version);
    }

    @Test
    void aClusterOfTheRightVersionWithRoomWillDo() {
        answer = overview("2.3.0", 2);
        assertThatCode(() -> rest.check("2.3.0", 2)).doesNotThrowAnyException();
    }

    @Test
    void anotherVersionIsRefusedWithBoth() {
        answer = overview("1.20.1", 2);
        assertThatThrownBy(() -> rest.check("2.3.0", 2))
                .isInstanceOf(ClusterException.class)
                .hasMessageContaining("is Flink 1.20.1")
                .hasMessageContaining("Flink 2.3.0 only");
    }

    @Test
    void tooFewSlotsAreCounted() {
        answer = overview("2.3.0", 1);
        assertThatThrownBy(() -> rest.check("2.3.0", 4))
                .hasMessageContaining("1 free slots of 8")
                .hasMessageContaining("--parallelism 4");
    }

    @ParameterizedTest
    @ValueSource(strings = {"<html>hello</html>", "{}", ""})
    void otherServersAreNoCluster(String page) {
        answer = page;
        assertThatThrownBy(() -> rest.check("2.3.0", 1))
                .hasMessageContaining("is no Flink cluster");
    }

    @Test
    void anErrorNamesThePathAndTheStatus() {
        status = 404;
        assertThatThrownBy(() -> rest.check("2.3.0", 1))
                .hasMessageContaining("/overview")
                .hasMessageContaining("404");
    }

    @Test
    void aPortWhereNobodyListensIsNamed() throws IOException {
        try (Socket deaf = new Socket()) { // nobody else can have its port meanwhile
            deaf.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            int port = deaf.getLocalPort();
            ClusterRest nobody = new ClusterRest(new ClusterAddress("localhost", port));
            assertThatThrownBy(() -> nobody.check("2.3.0", 1))
                    .hasMessageContaining("no Flink cluster answers at localhost:" + port)
                    .hasMessageContaining("connection refused");
        }
    }

    @Test
    void optionsOfTheClusterAreFoundByKey() throws Exception {
        answer = "[{\"key\": \"a\", \"value\": \"1\"}, {\"key\": \"b\", \"value\": \"2 s\"}]";
        assertThat(rest.option("b")).hasValue("2 s");
        assertThat(rest.option("c")).isEmpty();
    }

    @Test
    void addressesAreHostAndPort() {
        ClusterAddress.Converter converter = new ClusterAddress.Converter();
        assertThat(converter.convert("jm.example.org:8081"))
                .isEqualTo(new ClusterAddress("jm.example.org", 8081));
        assertThat(converter.convert("http://[::1]:80/")).hasToString("[::1]:80");
        for (String wrong : new String[] {"localhost", "a:b", "a:99999", "ftp://a:1", ":1"}) {
            assertThatThrownBy(() -> converter.convert(wrong))
                    .as(wrong)
                    .isInstanceOf(TypeConversionException.class)
                    .hasMessageContaining("for example localhost:8081");
        }
    }
}
