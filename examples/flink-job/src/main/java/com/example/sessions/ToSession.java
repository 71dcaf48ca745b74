package com.example.sessions;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** Turns the clicks of a finished session into one row and counts the visits of each visitor. */
class ToSession extends ProcessWindowFunction<Click, Session, Long, TimeWindow> {
    private static final ValueStateDescriptor<Long> VISITS =
            new ValueStateDescriptor<>("visits", Long.class);

    @Override
    public void process(
            Long visitor, Context context, Iterable<Click> clicks, Collector<Session> out)
            throws Exception {
        var visits = context.globalState().getState(VISITS);
        long visit = visits.value() == null ? 1 : visits.value() + 1;
        visits.update(visit);
        out.collect(session(visitor, visit, inOrder(clicks)));
    }

    private static List<Click> inOrder(Iterable<Click> clicks) {
        List<Click> sorted = new ArrayList<>();
        clicks.forEach(sorted::add);
        sorted.sort(Comparator.comparingLong(click -> click.timeMillis));
        return sorted;
    }

    private static Session session(long visitor, long visit, List<Click> clicks) {
        Session session = new Session();
        session.visitor = visitor;
        session.visit = visit;
        session.startMillis = clicks.get(0).timeMillis;
        session.endMillis = clicks.get(clicks.size() - 1).timeMillis;
        clicks.forEach(click -> session.pages.add(click.page));
        return session;
    }
}
