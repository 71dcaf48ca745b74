package io.afterbay.workloads.nexmark;

import java.time.Duration;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.functions.windowing.ProcessAllWindowFunction;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.GlobalWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.triggers.CountTrigger;
import org.apache.flink.streaming.api.windowing.windows.GlobalWindow;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** The queries as Flink jobs. Names and identifiers are stable, so savepoints stay usable. */
final class Plans {
    private static final long EMIT_EVERY = 100;

    private Plans() {}

    static DataStream<Answer> q5(DataStream<Event> events, NexmarkOptions options) {
        return named(
                bidsPerAuction(events, options)
                        .windowAll(TumblingEventTimeWindows.of(slide(options)))
                        .aggregate(
                                new MostBids(),
                                new LeadersOfWindow(),
                                CompactType.LEADERS,
                                CompactType.LEADERS,
                                CompactType.ANSWER),
                "most");
    }

    static DataStream<Answer> q5Append(DataStream<Event> events, NexmarkOptions options) {
        return named(
                bidsPerAuction(events, options)
                        .windowAll(TumblingEventTimeWindows.of(slide(options)))
                        .process(new LeadersOfList(), CompactType.ANSWER),
                "most");
    }

    /**
     * One row per auction and sliding window. Its timestamp is the last millisecond of the window,
     * which lies in the last slide of it and of no other: tumbling windows of that length gather
     * the rows of one sliding window.
     */
    private static DataStream<Answer> bidsPerAuction(
            DataStream<Event> events, NexmarkOptions options) {
        Duration length = Duration.ofMillis(options.windows().lengthMillis());
        return named(
                bids(events)
                        .keyBy(Bid::auction, Types.LONG)
                        .window(SlidingEventTimeWindows.of(length, slide(options)))
                        .aggregate(
                                new Count(),
                                new CountOfWindow(),
                                Types.LONG,
                                Types.LONG,
                                CompactType.ANSWER),
                "bids per auction");
    }

    static DataStream<Answer> q7(DataStream<Event> events, NexmarkOptions options) {
        return named(
                byBidder(events)
                        .window(tumbling(options))
                        .process(new HighestBid(false), CompactType.ANSWER),
                "highest bid");
    }

    static DataStream<Answer> q7Session(DataStream<Event> events, NexmarkOptions options) {
        return named(
                byBidder(events)
                        .window(session(options))
                        .process(new HighestBid(true), CompactType.ANSWER),
                "highest bid");
    }

    static DataStream<Answer> q8(DataStream<Event> events, NexmarkOptions options) {
        DataStream<Person> persons = only(events, Person.class, CompactType.PERSON);
        DataStream<Auction> auctions = only(events, Auction.class, CompactType.AUCTION);
        long length = options.windows().lengthMillis();
        SingleOutputStreamOperator<Answer> joined =
                (SingleOutputStreamOperator<Answer>)
                        persons.join(auctions)
                                .where(Person::id, Types.LONG)
                                .equalTo(Auction::seller, Types.LONG)
                                .window(tumbling(options))
                                .apply(
                                        (JoinFunction<Person, Auction, Answer>)
                                                (person, auction) ->
                                                        newSeller(
                                                                person,
                                                                auction,
                                                                options.generator(),
                                                                length),
                                        CompactType.ANSWER);
        return named(joined, "new sellers");
    }

    /** The join does not tell its window; it is that of the person. */
    private static Answer newSeller(
            Person person, Auction auction, Generator generator, long length) {
        long millis = generator.timeMillis(person.number());
        long end = Math.floorDiv(millis, length) * length + length;
        return new Answer(end - 1, end, person.id(), auction.id());
    }

    static DataStream<Answer> q11(DataStream<Event> events, NexmarkOptions options) {
        return named(
                byBidder(events)
                        .window(session(options))
                        .aggregate(
                                new Count(),
                                new CountOfSession(),
                                Types.LONG,
                                Types.LONG,
                                CompactType.ANSWER),
                "bids per session");
    }

    static DataStream<Answer> q11Median(DataStream<Event> events, NexmarkOptions options) {
        return named(
                byBidder(events)
                        .window(session(options))
                        .process(new MedianPrice(), CompactType.ANSWER),
                "median price");
    }

    static DataStream<Answer> q12(DataStream<Event> events, NexmarkOptions options) {
        return named(
                byBidder(events)
                        .window(GlobalWindows.create())
                        .trigger(CountTrigger.of(EMIT_EVERY))
                        .aggregate(
                                new Count(),
                                new CountSoFar(),
                                Types.LONG,
                                Types.LONG,
                                CompactType.ANSWER),
                "bids so far");
    }

    private static Duration slide(NexmarkOptions options) {
        return Duration.ofMillis(options.windows().slideMillis());
    }

    private static TumblingEventTimeWindows tumbling(NexmarkOptions options) {
        return TumblingEventTimeWindows.of(Duration.ofMillis(options.windows().lengthMillis()));
    }

    private static EventTimeSessionWindows session(NexmarkOptions options) {
        return EventTimeSessionWindows.withGap(
                Duration.ofMillis(options.windows().sessionGapMillis()));
    }

    private static KeyedStream<Bid, Long> byBidder(DataStream<Event> events) {
        return bids(events).keyBy(Bid::bidder, Types.LONG);
    }

    private static DataStream<Bid> bids(DataStream<Event> events) {
        return only(events, Bid.class, CompactType.BID);
    }

    /** Runs in the source's task: what a query does not need is not sent. */
    private static <T extends Event> DataStream<T> only(
            DataStream<Event> events, Class<T> kind, TypeInformation<T> type) {
        return events.<T>flatMap(
                        (event, out) -> {
                            if (kind.isInstance(event)) {
                                out.collect(kind.cast(event));
                            }
                        },
                        type)
                .name(kind.getSimpleName())
                .setParallelism(1);
    }

    private static DataStream<Answer> named(
            SingleOutputStreamOperator<Answer> operator, String name) {
        return operator.name(name).uid(name.replace(' ', '-'));
    }

    /** Counts; the accumulator is the result. */
    private static final class Count implements AggregateFunction<Bid, Long, Long> {
        @Override
        public Long createAccumulator() {
            return 0L;
        }

        @Override
        public Long add(Bid bid, Long count) {
            return count + 1;
        }

        @Override
        public Long getResult(Long count) {
            return count;
        }

        @Override
        public Long merge(Long a, Long b) {
            return a + b;
        }
    }

    private static final class CountOfWindow
            extends ProcessWindowFunction<Long, Answer, Long, TimeWindow> {
        @Override
        public void process(
                Long auction, Context context, Iterable<Long> counts, Collector<Answer> out) {
            TimeWindow window = context.window();
            for (long count : counts) {
                out.collect(new Answer(window.maxTimestamp(), window.getEnd(), auction, count));
            }
        }
    }

    private static final class CountOfSession
            extends ProcessWindowFunction<Long, Answer, Long, TimeWindow> {
        @Override
        public void process(
                Long bidder, Context context, Iterable<Long> counts, Collector<Answer> out) {
            TimeWindow window = context.window();
            for (long count : counts) {
                out.collect(
                        new Answer(
                                window.maxTimestamp(),
                                window.getStart(),
                                window.getEnd(),
                                bidder,
                                count));
            }
        }
    }

    /** The window knows no time; the watermark is at most some events older than the bid. */
    private static final class CountSoFar
            extends ProcessWindowFunction<Long, Answer, Long, GlobalWindow> {
        @Override
        public void process(
                Long bidder, Context context, Iterable<Long> counts, Collector<Answer> out) {
            for (long count : counts) {
                out.collect(new Answer(context.currentWatermark(), bidder, count));
            }
        }
    }

    /** Folds rows of auction and count into the auctions with the most. */
    private static final class MostBids implements AggregateFunction<Answer, Leaders, Leaders> {
        @Override
        public Leaders createAccumulator() {
            return Leaders.NONE;
        }

        @Override
        public Leaders add(Answer row, Leaders leaders) {
            return withRow(leaders, row);
        }

        @Override
        public Leaders getResult(Leaders leaders) {
            return leaders;
        }

        @Override
        public Leaders merge(Leaders a, Leaders b) {
            return a.with(b);
        }
    }

    private static Leaders withRow(Leaders leaders, Answer row) {
        return leaders.with(row.values()[1], row.values()[2]);
    }

    private static final class LeadersOfWindow
            extends ProcessAllWindowFunction<Leaders, Answer, TimeWindow> {
        @Override
        public void process(Context context, Iterable<Leaders> folded, Collector<Answer> out) {
            folded.forEach(leaders -> emit(leaders, context.window(), out));
        }
    }

    private static final class LeadersOfList
            extends ProcessAllWindowFunction<Answer, Answer, TimeWindow> {
        @Override
        public void process(Context context, Iterable<Answer> rows, Collector<Answer> out) {
            Leaders leaders = Leaders.NONE;
            for (Answer row : rows) {
                leaders = withRow(leaders, row);
            }
            emit(leaders, context.window(), out);
        }
    }

    private static void emit(Leaders leaders, TimeWindow window, Collector<Answer> out) {
        for (long auction : leaders.auctions()) {
            out.collect(
                    new Answer(window.maxTimestamp(), window.getEnd(), auction, leaders.bids()));
        }
    }

    private static final class HighestBid
            extends ProcessWindowFunction<Bid, Answer, Long, TimeWindow> {
        private final boolean withStart;

        HighestBid(boolean withStart) {
            this.withStart = withStart;
        }

        @Override
        public void process(
                Long bidder, Context context, Iterable<Bid> bids, Collector<Answer> out) {
            Bid highest = null;
            for (Bid bid : bids) {
                highest = highest == null || bid.beats(highest) ? bid : highest;
            }
            if (highest != null) {
                out.collect(answer(context.window(), highest));
            }
        }

        private Answer answer(TimeWindow window, Bid bid) {
            long time = window.maxTimestamp();
            long end = window.getEnd();
            return withStart
                    ? new Answer(
                            time, window.getStart(), end, bid.bidder(), bid.price(), bid.auction())
                    : new Answer(time, end, bid.bidder(), bid.price(), bid.auction());
        }
    }

    private static final class MedianPrice
            extends ProcessWindowFunction<Bid, Answer, Long, TimeWindow> {
        @Override
        public void process(
                Long bidder, Context context, Iterable<Bid> bids, Collector<Answer> out) {
            Median median = new Median();
            bids.forEach(bid -> median.add(bid.price()));
            TimeWindow window = context.window();
            out.collect(
                    new Answer(
                            window.maxTimestamp(),
                            window.getStart(),
                            window.getEnd(),
                            bidder,
                            median.get()));
        }
    }
}
