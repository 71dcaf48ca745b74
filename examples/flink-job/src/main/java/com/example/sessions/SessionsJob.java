package com.example.sessions;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;

/**
 * Puts the clicks of a web site together to visits: the clicks of one visitor with less than a
 * given pause between them.
 *
 * <pre>
 *   clicks --> by visitor --> session windows --> visits --> print or nothing
 *                             list of clicks,
 *                             number of visits
 * </pre>
 */
public final class SessionsJob {
    private SessionsJob() {}

    public static void main(String[] args) throws Exception {
        Options options = Options.of(args);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        DataStream<Session> sessions =
                clicks(env, options)
                        .keyBy(click -> click.visitor)
                        .window(
                                EventTimeSessionWindows.withGap(
                                        Duration.ofMillis(options.gapMillis())))
                        .process(new ToSession())
                        .name("sessions")
                        .uid("sessions");
        if (options.print()) {
            sessions.print().name("print");
        } else {
            sessions.sinkTo(new DiscardingSink<>()).name("discard");
        }
        env.execute("sessions");
    }

    private static DataStream<Click> clicks(StreamExecutionEnvironment env, Options options) {
        DataGeneratorSource<Click> source =
                new DataGeneratorSource<>(
                        new Clicks(options.visitors(), options.seed()),
                        options.events(),
                        TypeInformation.of(Click.class));
        return env.fromSource(
                        source,
                        WatermarkStrategy.<Click>forMonotonousTimestamps()
                                .withTimestampAssigner((click, previous) -> click.timeMillis),
                        "clicks")
                .uid("clicks");
    }
}
