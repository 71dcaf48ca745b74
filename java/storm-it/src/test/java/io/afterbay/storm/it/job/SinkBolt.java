package io.afterbay.storm.it.job;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Tuple;
import org.jspecify.annotations.Nullable;

/** Writes words down before it acks them. */
final class SinkBolt extends BaseRichBolt {
    private static final long serialVersionUID = 1;

    private final Ledger ledger;

    private transient @Nullable OutputCollector collector;
    private transient @Nullable NumberLog sunk;

    SinkBolt(Ledger ledger) {
        this.ledger = ledger;
    }

    @Override
    public void prepare(
            Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        this.collector = collector;
        try {
            sunk = ledger.sunkLog(context.getThisTaskId());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void execute(Tuple input) {
        try {
            sunk.append(input.getInteger(0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        collector.ack(input);
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {}
}
