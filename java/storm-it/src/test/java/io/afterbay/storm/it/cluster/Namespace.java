package io.afterbay.storm.it.cluster;

import io.afterbay.testing.Prerequisite;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Network and processes of their own for what a test starts. Ports are no other program's, and when
 * the first process in there ends, however it does, the kernel kills all the others.
 */
final class Namespace {
    /** With root's rights, or with a user namespace as anybody. */
    private static final List<List<String>> WAYS =
            List.of(
                    List.of("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"),
                    List.of(
                            "unshare",
                            "--map-root-user",
                            "--net",
                            "--pid",
                            "--fork",
                            "--kill-child",
                            "--mount-proc"));

    /** The loopback is down in a new network. Not every machine has iproute2. */
    private static final String LOOPBACK =
            """
            { ip link set lo up || ifconfig lo up || perl -e '
                socket(my $s, 2, 2, 0) or exit 1;
                my $up = pack("a16sx22", "lo", 1);
                ioctl($s, 0x8914, $up) or exit 1'; } 2>/dev/null || {
                echo "no way to bring the loopback up: ip, ifconfig or perl" >&2; exit 1; }
            """;

    private final List<String> way;

    private Namespace(List<String> way) {
        this.way = way;
    }

    /** Skips the test if this machine does not let us. */
    static Namespace prerequisite() throws IOException, InterruptedException {
        StringBuilder refusals = new StringBuilder();
        for (List<String> way : WAYS) {
            String refusal = refusal(new Namespace(way).command("exec ps -p 1"));
            if (refusal.isEmpty()) {
                return new Namespace(way);
            }
            refusals.append("; ").append(String.join(" ", way)).append(": ").append(refusal);
        }
        Prerequisite.check(
                false,
                () ->
                        "namespaces for network and processes are forbidden here, or unshare or ps is missing (Debian: apt-get install util-linux procps)"
                                + refusals);
        throw new AssertionError("was skipped");
    }

    /** Empty, or what was said. */
    private static String refusal(List<String> command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            return e.getMessage();
        }
        String said =
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        return process.waitFor() == 0 ? "" : said;
    }

    /**
     * What runs a script of {@code sh} in there, as its first process.
     *
     * @param arguments of the script
     */
    List<String> command(String script, String... arguments) {
        List<String> command = new ArrayList<>(way);
        command.addAll(List.of("sh", "-c", LOOPBACK + script, "sh"));
        command.addAll(List.of(arguments));
        return command;
    }
}
