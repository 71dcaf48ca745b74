package io.afterbay.kafka.workloads;

import java.nio.file.Path;
import java.util.List;
import java.util.StringJoiner;
import java.util.stream.Stream;

/**
 * {@link EmbeddedKafka} alone in a process, for applications whose clients are another version's.
 * Its arguments are the directory of the broker, and the ports of relays, if there are any. It says
 * HOST:PORT in a line, with the port of each relay's entrance behind it, and ends when its standard
 * input does, which a killed parent cannot forget.
 */
public final class BrokerProcess {
    private BrokerProcess() {}

    public static void main(String[] args) throws Exception {
        List<Integer> relays = Stream.of(args).skip(1).map(Integer::valueOf).toList();
        try (EmbeddedKafka kafka = EmbeddedKafka.start(Path.of(args[0]), relays)) {
            StringJoiner places = new StringJoiner(" ").add(kafka.bootstrap());
            kafka.entrances().forEach(port -> places.add(String.valueOf(port)));
            System.out.println(places);
            System.in.read();
        }
        // Nothing is left that a hook or a thread could be waited for.
        Runtime.getRuntime().halt(0);
    }
}
