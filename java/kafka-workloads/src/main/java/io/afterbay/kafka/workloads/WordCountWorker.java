package io.afterbay.kafka.workloads;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.handover.Abandonment;
import io.afterbay.handover.Handover;
import io.afterbay.workloads.wordcount.WordCountPlan;
import java.nio.file.Path;

/**
 * The process that runs word count for {@code ./afterbay run word-count}: its command has the
 * libraries of Flink, and Flink's RocksDB has the same classes as Kafka's. Its argument is the
 * directory of its {@link Handover}.
 */
public final class WordCountWorker {
    private WordCountWorker() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        Abandonment.withInput(directory);
        ObjectMapper mapper = new ObjectMapper();
        Handover handover = new Handover(directory, mapper::writeValue, mapper::readValue);
        StatusTicker status = new StatusTicker();
        WordCountPlan plan = handover.plan(WordCountPlan.class);
        WordCountRun run =
                new WordCountRun(
                        plan,
                        directory,
                        (phase, sent, results) -> status.say(phase, sent, plan.words(), results));
        handover.trial(run.run());
        // Nothing is left that a hook or a thread could be waited for.
        Runtime.getRuntime().halt(0);
    }
}
