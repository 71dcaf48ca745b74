package io.afterbay.edge.live;

import io.afterbay.edge.lines.GrowingFile;
import io.afterbay.edge.lines.LinesTableFactory;
import io.afterbay.edge.lines.ResultsTableFactory;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.raw.LineReceiver;
import io.afterbay.edge.raw.LineShipper;
import io.afterbay.edge.run.RunnableJob;
import io.afterbay.edge.run.Tables;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The whole job: sites send all that they see, compressed, and Flink reads it as partitions of a
 * topic, each with a watermark of its own.
 */
final class WholeFeed implements CloudFeed {
    private final RunnableJob job;
    private final Collection<String> sites;
    private final LineReceiver receiver;
    private final List<LineShipper> shippers = new ArrayList<>();

    WholeFeed(
            RunnableJob job,
            Collection<String> sites,
            Path seen,
            LinkTrouble links,
            LiveOptions options,
            Path directory)
            throws IOException {
        this.job = job;
        this.sites = sites;
        this.receiver = LineReceiver.open(directory);
        for (String site : sites) {
            int port = links.open(site, receiver::port, options);
            shippers.add(LineShipper.start(site, Play.file(seen, site), port));
        }
    }

    @Override
    public String name() {
        return "whole job";
    }

    @Override
    public PlanJson job(Path results) {
        List<Map<String, String>> places = new ArrayList<>();
        for (String site : sites) {
            GrowingFile file = new GrowingFile(receiver.file(site), null);
            places.add(Tables.withFormatOf(job.source(), LinesTableFactory.json(file)));
        }
        return job.plan()
                .withPartitions(job.source().name(), places)
                .withSinks(ResultsTableFactory.json(results));
    }

    @Override
    public boolean look(long sinceStartMs) {
        return shippers.stream().allMatch(LineShipper::isDone);
    }

    /** The receiver has told it, site by site. */
    @Override
    public void finish() {}

    @Override
    public void close() throws IOException {
        for (LineShipper shipper : shippers) {
            shipper.close();
        }
        receiver.close();
    }
}
