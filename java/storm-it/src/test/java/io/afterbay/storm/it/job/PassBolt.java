package io.afterbay.storm.it.job;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.jspecify.annotations.Nullable;

/** Hands words on. With a ledger it looks for poison. */
final class PassBolt extends BaseRichBolt {
    private static final long serialVersionUID = 1;

    private final @Nullable Ledger ledger;

    private transient @Nullable OutputCollector collector;

    PassBolt(@Nullable Ledger ledger) {
        this.ledger = ledger;
    }

    @Override
    public void prepare(
            Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        this.collector = collector;
    }

    @Override
    public void execute(Tuple input) {
        if (ledger != null) {
            try {
                ledger.meetPoison();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        collector.emit(input, input.getValues());
        collector.ack(input);
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields("word"));
    }
}
