package io.afterbay.storm.it.cluster;

import io.afterbay.storm.it.job.Ledger;
import io.afterbay.storm.it.job.Technique;
import io.afterbay.storm.it.job.WordTopology;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.apache.storm.StormSubmitter;
import org.apache.storm.generated.KillOptions;
import org.apache.storm.utils.NimbusClient;
import org.apache.storm.utils.Utils;

/**
 * The program of the cluster's user, who is in the cluster's network. It does what lines of its
 * standard input say, and answers each with {@code done} or with what went wrong.
 *
 * <pre>
 *   leader                            whether a Nimbus is said to lead
 *   submit NAME TECHNIQUE DIRECTORY
 *   activate NAME                     changes nothing; only a Nimbus that leads does it
 *   kill NAME
 * </pre>
 *
 * At the end of its input it ends, and so does all in the namespace.
 */
public final class ClusterClient {
    static final String DONE = "done";

    private final Map<String, Object> conf = Utils.readStormConfig();

    private ClusterClient() {}

    public static void main(String[] args) throws IOException {
        ClusterClient client = new ClusterClient();
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(client.answer(line.split(" ", 4)));
        }
        Runtime.getRuntime().halt(0);
    }

    private String answer(String[] words) {
        try {
            switch (words[0]) {
                case "leader" -> onNimbus(nimbus -> nimbus.getClient().getLeader());
                case "submit" -> submit(words[1], Technique.valueOf(words[2]), Path.of(words[3]));
                case "activate" -> onNimbus(nimbus -> nimbus.getClient().activate(words[1]));
                case "kill" -> onNimbus(nimbus -> kill(nimbus, words[1]));
                default -> throw new IllegalArgumentException(words[0]);
            }
            return DONE;
        } catch (Exception e) {
            return e.toString().replace('\n', ' ');
        }
    }

    private interface Request {
        void send(NimbusClient nimbus) throws Exception;
    }

    private void onNimbus(Request request) throws Exception {
        try (NimbusClient nimbus = NimbusClient.Builder.withConf(conf).build()) {
            request.send(nimbus);
        }
    }

    private static void submit(String name, Technique technique, Path directory) throws Exception {
        Map<String, Object> conf = WordTopology.conf(technique);
        StormSubmitter.submitTopology(
                name, conf, WordTopology.of(new Ledger(directory), technique, conf));
    }

    private static void kill(NimbusClient nimbus, String name) throws Exception {
        KillOptions now = new KillOptions();
        now.set_wait_secs(0);
        nimbus.getClient().killTopologyWithOpts(name, now);
    }
}
