package io.afterbay.workloads.profiles;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/** Lets a profile pass that is not older than the last one of its member. */
public final class NewestProfile extends KeyedProcessFunction<Long, Profile, Profile> {
    private static final long serialVersionUID = 1;

    private transient @Nullable ValueState<Long> newestMicros;

    @Override
    public void open(OpenContext context) {
        newestMicros =
                getRuntimeContext().getState(new ValueStateDescriptor<>("newest", Types.LONG));
    }

    @Override
    public void processElement(Profile profile, Context context, Collector<Profile> out)
            throws Exception {
        ValueState<Long> state = newestMicros;
        if (state == null) {
            throw new IllegalStateException("not open");
        }
        Long last = state.value();
        if (last == null || profile.changedMicros() >= last) {
            state.update(profile.changedMicros());
            out.collect(profile);
        }
    }
}
