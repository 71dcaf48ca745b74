package io.afterbay.kafka.workloads;

import java.nio.file.Path;

/**
 * {@link EmbeddedKafka} alone in a process, for applications whose clients are another version's.
 * Its argument is the directory of the broker. It says HOST:PORT in a line, and ends when its
 * standard input does, which a killed parent cannot forget.
 */
public final class BrokerProcess {
    private BrokerProcess() {}

    public static void main(String[] args) throws Exception {
        try (EmbeddedKafka kafka = EmbeddedKafka.start(Path.of(args[0]))) {
            System.out.println(kafka.bootstrap());
            System.in.read();
        }
        // Nothing is left that a hook or a thread could be waited for.
        Runtime.getRuntime().halt(0);
    }
}
