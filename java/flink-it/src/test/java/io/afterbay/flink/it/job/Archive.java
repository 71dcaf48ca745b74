package io.afterbay.flink.it.job;

import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Large state that lives as long as the job: each posting reads and writes one of its customer's
 * {@link Pages}. When the input ends, every byte of it goes into the output.
 */
final class Archive extends KeyedProcessFunction<Integer, Posting, String> {
    private static final long serialVersionUID = 1;

    /** Passed by the last watermark only. */
    private static final long END_OF_INPUT = Long.MAX_VALUE - 1;

    private final Pages layout;
    private transient MapState<Integer, byte[]> pages;

    Archive(Pages layout) {
        this.layout = layout;
    }

    @Override
    public void open(OpenContext context) {
        pages =
                getRuntimeContext()
                        .getMapState(
                                new MapStateDescriptor<>(
                                        "pages",
                                        Types.INT,
                                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    }

    @Override
    public void processElement(Posting posting, Context context, Collector<String> out)
            throws Exception {
        int page = layout.page(posting);
        byte[] content = pages.get(page);
        if (content == null) {
            content = layout.empty(posting.customer, page);
        }
        Pages.add(posting, content);
        pages.put(page, content);
        context.timerService().registerEventTimeTimer(END_OF_INPUT);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
            throws Exception {
        int count = 0;
        long digest = 0;
        for (Map.Entry<Integer, byte[]> page : pages.entries()) {
            count++;
            digest += Pages.digest(page.getKey(), page.getValue());
        }
        out.collect(Pages.line(context.getCurrentKey(), count, digest));
    }
}
