package io.afterbay.edge.live;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.command.CommandFailure;
import io.afterbay.edge.program.EdgeProgram;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * A gateway and the agents of its sites, as processes that know each other by keys. Each goes on
 * when it is killed.
 */
final class SitePrograms {
    private static final String SERVER = "localhost";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final EdgeProgram program;
    private final Path directory;
    private final Path keys;
    private final Path certificate;
    private final Path serverKey;

    /**
     * Makes their keys.
     *
     * @param directory for these, for the agents' data, and for what all of them say
     */
    SitePrograms(EdgeProgram program, Collection<String> sites, Path directory)
            throws CommandFailure, IOException, InterruptedException {
        this.program = program;
        this.directory = directory;
        keys = Files.createDirectories(directory.resolve("keys"));
        certificate = directory.resolve("server.pem");
        serverKey = directory.resolve("server-key.pem");
        Path said = directory.resolve("keys.txt");
        List<String> pair = new ArrayList<>(List.of("certificate", "--name", SERVER));
        pair.addAll(List.of("--cert", certificate.toString(), "--key", serverKey.toString()));
        program.run(said, pair);
        for (String site : sites) {
            program.run(said, List.of("key", "create", site, "--out", key(site)));
        }
    }

    private String key(String site) {
        return keys.resolve(site + ".key").toString();
    }

    /**
     * Starts the gateway.
     *
     * @param output arguments that say where it writes
     */
    SupervisedProgram startGateway(List<String> output) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("gateway", "--while-stdin-open"));
        arguments.addAll(List.of("--listen", "127.0.0.1:0", "--admin", "none"));
        arguments.addAll(List.of("--tls-cert", certificate.toString()));
        arguments.addAll(List.of("--tls-key", serverKey.toString(), "--keys", keys.toString()));
        arguments.addAll(output);
        return SupervisedProgram.restarted("gateway", program.command(arguments), directory);
    }

    /** Where the gateway listens. Each of its processes has another port. */
    static int port(SupervisedProgram gateway) throws IOException {
        String said = gateway.lineSoFar();
        if (said == null) {
            throw new ConnectException("the gateway does not say yet where it listens");
        }
        String address = JSON.readTree(said).path("listen").asText();
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /**
     * Starts a site's agent.
     *
     * @param lower what it runs
     * @param port of the gateway, or of a link to it
     * @param input arguments that say what it reads
     */
    SupervisedProgram startAgent(String site, Path lower, int port, List<String> input)
            throws IOException {
        List<String> arguments = new ArrayList<>(List.of("agent", "--while-stdin-open"));
        arguments.addAll(List.of("--site", site, "--plan", lower.toString()));
        arguments.addAll(List.of("--data", directory.resolve("data-" + site).toString()));
        arguments.addAll(List.of("--gateway", "127.0.0.1:" + port, "--tls-server-name", SERVER));
        arguments.addAll(List.of("--tls-roots", certificate.toString(), "--key-file", key(site)));
        arguments.addAll(input);
        return SupervisedProgram.restarted("agent-" + site, program.command(arguments), directory);
    }
}
