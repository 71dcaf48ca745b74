package io.afterbay.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** Counts the rows of each key, and says so at each tenth. */
final class EachTenth extends StatefulProcessor<Long, Long, String> {
    private static final long serialVersionUID = 1;

    private transient ValueState<Long> count;

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        count = getHandle().getValueState("count", Encoders.LONG(), TTLConfig.NONE());
    }

    @Override
    public Iterator<String> handleInputRows(Long key, Iterator<Long> rows, TimerValues timers) {
        long total = count.exists() ? count.get() : 0;
        List<String> out = new ArrayList<>();
        while (rows.hasNext()) {
            rows.next();
            if (++total % 10 == 0) {
                out.add(key + ":" + total);
            }
        }
        count.update(total);
        return CollectionConverters.asScala(out.iterator());
    }
}
