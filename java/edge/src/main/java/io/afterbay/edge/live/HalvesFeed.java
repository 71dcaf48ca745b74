package io.afterbay.edge.live;

import io.afterbay.command.CommandFailure;
import io.afterbay.edge.lines.GrowingFile;
import io.afterbay.edge.lines.LinesTableFactory;
import io.afterbay.edge.lines.ResultsTableFactory;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.program.EdgeProgram;
import io.afterbay.edge.program.PlanCut;
import java.io.IOException;
import java.nio.file.Files;
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
    private final Collection<String> sites;
    private final LiveOptions options;
    private final Path output;
    private final SupervisedProgram gateway;
    private @Nullable SiteMessages messages;
    private final Map<String, SupervisedProgram> agents = new LinkedHashMap<>();
    private boolean killed;

    HalvesFeed(
            EdgeProgram program,
            PlanCut cut,
            Collection<String> sites,
            Path seen,
            LinkTrouble links,
            LiveOptions options,
            Path directory)
            throws CommandFailure, IOException, InterruptedException {
        this.programs = new SitePrograms(program, sites, directory);
        this.cut = cut;
        this.sites = sites;
        this.options = options;
        this.output = directory.resolve("output");
        LiveOptions.Messages through = options.messages();
        this.gateway = startGateway();
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

    private SupervisedProgram startGateway() throws IOException {
        return programs.startGateway(
                List.of(
                        "--output",
                        output.toString(),
                        "--partitions",
                        cut.sitesMakeWatermarks() ? "1" : "each"));
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
        List<Map<String, String>> places = new ArrayList<>();
        for (int partition = 0; partition < partitions(); partition++) {
            Path file = partition(partition);
            places.add(
                    LinesTableFactory.json(
                            new GrowingFile(file, Path.of(withoutEnding(file) + ".committed"))));
        }
        return cut.upper()
                .withPartitions(cut.table(), places)
                .withSinks(ResultsTableFactory.json(results));
    }

    private int partitions() {
        return cut.sitesMakeWatermarks() ? 1 : sites.size();
    }

    private Path partition(int number) {
        return output.resolve(cut.table()).resolve("%05d.ndjson".formatted(number));
    }

    private static String withoutEnding(Path file) {
        String path = file.toString();
        return path.substring(0, path.lastIndexOf('.'));
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

    /** When the gateway has ended, all of its files counts. */
    @Override
    public void finish() throws CommandFailure, IOException, InterruptedException {
        gateway.stop();
        for (int partition = 0; partition < partitions(); partition++) {
            Path file = partition(partition);
            Files.createDirectories(file.getParent());
            Files.createFile(GrowingFile.endOf(file));
        }
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
        List<Path> files = new ArrayList<>();
        for (int partition = 0; partition < partitions(); partition++) {
            files.add(partition(partition));
        }
        return messages == null ? null : messages.published(files);
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
