package io.afterbay.edge.lines;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.factories.FactoryUtil;

/**
 * Options of a table of a partition of a topic of Kafka's, with a row in each record and an end.
 * Its connector is in the module {@code edge-kafka}: no Kafka is in this one.
 */
public final class TopicOptions {
    public static final String CONNECTOR = "edge-topic";

    public static final ConfigOption<String> BOOTSTRAP =
            ConfigOptions.key("bootstrap")
                    .stringType()
                    .noDefaultValue()
                    .withDescription("HOST:PORT of a broker.");

    public static final ConfigOption<String> TOPIC =
            ConfigOptions.key("topic").stringType().noDefaultValue().withDescription("Its name.");

    public static final ConfigOption<Integer> PARTITION =
            ConfigOptions.key("partition").intType().noDefaultValue().withDescription("From 0.");

    public static final ConfigOption<Long> RECORDS =
            ConfigOptions.key("records")
                    .longType()
                    .noDefaultValue()
                    .withDescription("So many records there will be; behind them the table ends.");

    private TopicOptions() {}

    /** Of records of JSON. */
    public static Map<String, String> json(
            String bootstrap, String topic, int partition, long records) {
        Map<String, String> options = new HashMap<>();
        options.put(FactoryUtil.CONNECTOR.key(), CONNECTOR);
        options.put(FactoryUtil.FORMAT.key(), "json");
        options.put(BOOTSTRAP.key(), bootstrap);
        options.put(TOPIC.key(), topic);
        options.put(PARTITION.key(), String.valueOf(partition));
        options.put(RECORDS.key(), String.valueOf(records));
        return options;
    }
}
