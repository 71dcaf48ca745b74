package io.afterbay.kafka.workloads;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.afterbay.handover.Abandonment;
import io.afterbay.handover.Handover;
import io.afterbay.workloads.wordcount.OpenLoopPlan;
import java.nio.file.Path;

/**
 * The process that runs word count at a rate for {@code ./afterbay bench desync}: broker, feed and
 * reader, with Kafka Streams in a process of its own. Its argument is the directory of its {@link
 * Handover}.
 */
public final class OpenLoopWorker {
    private OpenLoopWorker() {}

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        Abandonment.withInput(directory);
        ObjectMapper mapper = new ObjectMapper();
        Handover handover = new Handover(directory, mapper::writeValue, mapper::readValue);
        StatusTicker status = new StatusTicker();
        OpenLoopPlan plan = handover.plan(OpenLoopPlan.class);
        OpenLoopRun run =
                new OpenLoopRun(
                        plan,
                        directory,
                        (phase, sent, results) -> status.say(phase, sent, Long.MAX_VALUE, results));
        handover.trial(run.run());
        // Nothing is left that a hook or a thread could be waited for.
        Runtime.getRuntime().halt(0);
    }
}
