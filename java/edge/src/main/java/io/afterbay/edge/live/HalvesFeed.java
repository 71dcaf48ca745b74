package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.lines.ResultsTableFactory;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.program.PlanCut;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The job in halves: an agent at each site, which reads a file or messages, and a gateway in front
 * of Flink.
 */
final class HalvesFeed implements CloudFeed {
    private final SitePrograms programs;
    private final PlanCut cut;
    private final LiveOptions options;
    private final GatewayOutput output;
    private final SupervisedProgram gateway;
    private @Nullable SiteMessages messages;
    private final Map<String, SupervisedProgram> agents = new LinkedHashMap<>();
    private boolean killed;

    /**
     * @param output of the gateway
     * @param directory for files of theirs
     */
    HalvesFeed(
            EdgeProgram program,
            PlanCut cut,
            GatewayOutput output,
            Collection<String> sites,
            Path seen,
            LinkTrouble links,
            LiveOptions options,
            Path directory)
            throws CommandFailure, IOException, InterruptedException {
        this.programs = new SitePrograms(program, sites, directory);
        this.cut = cut;
        this.options = options;
        this.output = output;
        LiveOptions.Messages through = options.messages();
        this.gateway = programs.startGateway(output.arguments());
        try {
            messages = through == null ? null : new SiteMessages(through, sites, directory);
            gateway.firstLine();
            for (String site : sites) {
                int port = links.open(site, () -> SitePrograms.port(gateway), options);
                agents.put(site, startAgent(site, seen, port));
            }
            if (messages != null) {
                messages.begin(agents, seen);
            }
        } catch (CommandFailure | IOException | InterruptedException e) {
            close();
            throw e;
        }
    }

    private SupervisedProgram startAgent(String site, Path seen, int port) throws IOException {
        List<String> arguments = new ArrayList<>(cut.localArguments());
        arguments.addAll(
                messages == null
                        ? List.of("--input", Play.file(seen, site).toString(), "--follow")
                        : messages.agentArguments(site));
        return programs.startAgent(site, cut.lower(), port, arguments);
    }

    @Override
    public String name() {
        return "job in halves";
    }

    @Override
    public PlanJson job(Path results) {
        return output.upper().withSinks(ResultsTableFactory.json(results));
    }

    @Override
    public boolean isReadAtEnd() {
        return output.isReadAtEnd();
    }

    @Override
    public boolean look(long sinceStartMs) throws CommandFailure, IOException {
        killInTime(sinceStartMs);
        if (gateway.look()) {
            throw new CommandFailure("the gateway has ended, and nobody has asked it to");
        }
        if (messages != null) {
            messages.look();
        }
        boolean all = true;
        for (SupervisedProgram agent : agents.values()) {
            all &= agent.look();
        }
        return all;
    }

    private void killInTime(long sinceStartMs) {
        LiveOptions.Victim victim = options.kill();
        if (victim != null && !killed && sinceStartMs >= options.play().toMillis() / 2) {
            (victim == LiveOptions.Victim.GATEWAY ? gateway : firstAgent()).kill();
            killed = true;
        }
    }

    private SupervisedProgram firstAgent() {
        return agents.values().iterator().next();
    }

    @Override
    public void finish() throws CommandFailure, IOException, InterruptedException {
        gateway.stop();
        output.end();
    }

    LiveOutcome.Agents usage() {
        long peakBytes = 0;
        Duration cpu = Duration.ZERO;
        int kills = 0;
        for (SupervisedProgram agent : agents.values()) {
            peakBytes = Math.max(peakBytes, agent.usage().peakBytes());
            cpu = cpu.plus(agent.usage().cpu());
            kills += agent.kills();
        }
        return new LiveOutcome.Agents(peakBytes, cpu, kills, gateway.kills());
    }

    /** What went through the sites' broker, when agents have ended; null if there is none. */
    LiveOutcome.@Nullable Messages messages() throws IOException {
        return messages == null ? null : messages.counts();
    }

    /**
     * What agents have published, beside what the gateway has, when both have ended; null if they
     * were not asked to.
     */
    LiveOutcome.@Nullable Published published()
            throws CommandFailure, IOException, InterruptedException {
        return messages == null ? null : messages.published(output.files());
    }

    @Override
    public void close() {
        agents.values().forEach(SupervisedProgram::close);
        gateway.close();
        if (messages != null) {
            messages.close();
        }
    }
}
