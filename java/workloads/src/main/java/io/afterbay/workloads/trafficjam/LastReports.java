package io.afterbay.workloads.trafficjam;

import java.util.Arrays;
import java.util.Objects;
import java.util.SplittableRandom;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * First stage, by car: keeps the car's last report with some ballast, as ShadowSync's application
 * does, and passes the report on. The state is read and written with every report, and what is read
 * is checked against what must have been written: a backend that mixes up its state fails the job.
 */
public final class LastReports extends KeyedProcessFunction<String, Report, Report> {
    private static final long serialVersionUID = 1;
    private static final byte[] NO_PAYLOAD = {};

    /** The state of a car. */
    public record Car(Report lastReport, byte[] payload) {}

    private final int payloadBytes;
    private transient @Nullable ValueState<Car> cars;

    public LastReports(int payloadBytes) {
        this.payloadBytes = payloadBytes;
    }

    @Override
    public void open(OpenContext context) {
        cars = getRuntimeContext().getState(new ValueStateDescriptor<>("car", Car.class));
    }

    @Override
    public void processElement(Report report, Context context, Collector<Report> out)
            throws Exception {
        ValueState<Car> state = Objects.requireNonNull(cars);
        Car before = state.value();
        if (before != null) {
            check(before, context.getCurrentKey());
        }
        state.update(new Car(report, payload(report)));
        out.collect(report);
    }

    private void check(Car car, String key) {
        Report last = car.lastReport();
        if (!last.car().equals(key) || !Arrays.equals(car.payload(), payload(last))) {
            throw new IllegalStateException(
                    "the state of car "
                            + key
                            + " is wrong: it holds "
                            + last
                            + "; the state backend returned what was never written");
        }
    }

    /**
     * Ballast that does not compress, differs from report to report, and follows from the report.
     */
    private byte[] payload(Report report) {
        if (payloadBytes == 0) {
            return NO_PAYLOAD;
        }
        byte[] payload = new byte[payloadBytes];
        long seed = 31 * (31 * report.timeS() + report.speedDms()) + report.car().hashCode();
        new SplittableRandom(seed).nextBytes(payload);
        return payload;
    }
}
