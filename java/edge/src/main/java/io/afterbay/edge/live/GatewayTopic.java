package io.afterbay.edge.live;

import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.program.PlanCut;
import java.nio.file.Path;
import java.util.List;

/** A topic of the user's broker, which Flink reads when all sites have sent everything. */
final class GatewayTopic implements GatewayOutput {
    private final PlanCut cut;
    private final RunTopics topics;

    /**
     * @param cut whose table is the topic
     */
    GatewayTopic(PlanCut cut, RunTopics topics) {
        this.cut = cut;
        this.topics = topics;
    }

    @Override
    public List<String> arguments() {
        return topics.gatewayArguments();
    }

    @Override
    public PlanJson upper() {
        return cut.upper();
    }

    /** Kafka's source ends where the topic does when it starts. */
    @Override
    public boolean isReadAtEnd() {
        return true;
    }

    @Override
    public void end() {}

    @Override
    public List<Path> files() {
        return List.of();
    }
}
