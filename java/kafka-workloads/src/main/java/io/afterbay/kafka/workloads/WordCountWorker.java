package io.afterbay.kafka.workloads;

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
        Handover handover = new Handover(directory);
        handover.dieWithParent();
        WordCountPlan plan = handover.plan(WordCountPlan.class);
        WordCountRun run =
                new WordCountRun(
                        plan,
                        directory,
                        (phase, sent, results) -> handover.say(phase, sent, plan.words(), results));
        handover.trial(run.run());
        // Nothing is left that a hook or a thread could be waited for.
        Runtime.getRuntime().halt(0);
    }
}
