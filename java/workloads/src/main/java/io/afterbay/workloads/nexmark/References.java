package io.afterbay.workloads.nexmark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The right answers. Events come in the order of event time, so a window is complete as soon as an
 * event lies behind it; rows leave then, and memory holds open windows only.
 */
final class References {
    private static final int EMIT_EVERY = 100;

    private References() {}

    static void hottestAuctions(NexmarkOptions options, Consumer<Answer> rows) {
        long slide = options.windows().slideMillis();
        OpenWindows<Map<Long, Long>> open =
                new OpenWindows<>(HashMap::new, (end, counts) -> hottest(end, counts, rows));
        bids(
                options,
                (bid, millis) -> {
                    long firstEnd = Math.floorDiv(millis, slide) * slide + slide;
                    open.advance(millis);
                    open.at(firstEnd).merge(bid.auction(), 1L, Long::sum);
                    open.at(firstEnd + slide).merge(bid.auction(), 1L, Long::sum);
                });
        open.close();
    }

    private static void hottest(long end, Map<Long, Long> counts, Consumer<Answer> rows) {
        long most = Collections.max(counts.values());
        counts.forEach(
                (auction, bids) -> {
                    if (bids == most) {
                        rows.accept(new Answer(end - 1, end, auction, bids));
                    }
                });
    }

    static void highestBids(NexmarkOptions options, Consumer<Answer> rows) {
        OpenWindows<Map<Long, Bid>> open =
                new OpenWindows<>(
                        HashMap::new,
                        (end, highest) ->
                                highest.forEach(
                                        (bidder, bid) ->
                                                rows.accept(
                                                        new Answer(
                                                                end - 1,
                                                                end,
                                                                bidder,
                                                                bid.price(),
                                                                bid.auction()))));
        bids(
                options,
                (bid, millis) -> {
                    open.advance(millis);
                    open.at(windowEnd(millis, options)).merge(bid.bidder(), bid, higher());
                });
        open.close();
    }

    private static BinaryOperator<Bid> higher() {
        return (a, b) -> a.beats(b) ? a : b;
    }

    static void newSellers(NexmarkOptions options, Consumer<Answer> rows) {
        record Window(Set<Long> persons, List<Auction> auctions) {}
        OpenWindows<Window> open =
                new OpenWindows<>(
                        () -> new Window(new HashSet<>(), new ArrayList<>()),
                        (end, window) ->
                                window.auctions().stream()
                                        .filter(a -> window.persons().contains(a.seller()))
                                        .map(a -> new Answer(end - 1, end, a.seller(), a.id()))
                                        .forEach(rows));
        events(
                options,
                (event, millis) -> {
                    open.advance(millis);
                    Window window = open.at(windowEnd(millis, options));
                    if (event instanceof Person person) {
                        window.persons().add(person.id());
                    } else if (event instanceof Auction auction) {
                        window.auctions().add(auction);
                    }
                });
        open.close();
    }

    static void sessionCounts(NexmarkOptions options, Consumer<Answer> rows) {
        class Count implements Columns {
            private long bids;

            @Override
            public void add(Bid bid) {
                bids++;
            }

            @Override
            public long[] values() {
                return new long[] {bids};
            }
        }
        sessions(options, rows, Count::new);
    }

    static void sessionMedians(NexmarkOptions options, Consumer<Answer> rows) {
        class Prices implements Columns {
            private final List<Long> prices = new ArrayList<>();

            @Override
            public void add(Bid bid) {
                prices.add(bid.price());
            }

            @Override
            public long[] values() {
                Collections.sort(prices);
                return new long[] {prices.get((prices.size() - 1) / 2)};
            }
        }
        sessions(options, rows, Prices::new);
    }

    static void highestBidsOfSessions(NexmarkOptions options, Consumer<Answer> rows) {
        class Highest implements Columns {
            private long price;
            private long auction;

            @Override
            public void add(Bid bid) {
                // Bids come in order: of the same price, the first one stays.
                if (bid.price() > price) {
                    price = bid.price();
                    auction = bid.auction();
                }
            }

            @Override
            public long[] values() {
                return new long[] {price, auction};
            }
        }
        sessions(options, rows, Highest::new);
    }

    private static void sessions(
            NexmarkOptions options, Consumer<Answer> rows, Supplier<Columns> columns) {
        long gap = options.windows().sessionGapMillis();
        Map<Long, Session> open = new HashMap<>();
        bids(
                options,
                (bid, millis) -> {
                    Session session = open.get(bid.bidder());
                    if (session == null || millis - session.last > gap) {
                        if (session != null) {
                            rows.accept(session.answer(bid.bidder(), gap));
                        }
                        session = new Session(millis, columns.get());
                        open.put(bid.bidder(), session);
                    }
                    session.last = millis;
                    session.columns.add(bid);
                });
        open.forEach((bidder, session) -> rows.accept(session.answer(bidder, gap)));
    }

    /** What a session keeps of its bids, and makes of it. */
    private interface Columns {
        void add(Bid bid);

        long[] values();
    }

    private static final class Session {
        private final long first;
        private final Columns columns;
        private long last;

        Session(long millis, Columns columns) {
            this.first = millis;
            this.columns = columns;
        }

        Answer answer(long bidder, long gap) {
            long end = last + gap;
            long[] own = columns.values();
            long[] all = new long[own.length + 3];
            all[0] = first;
            all[1] = end;
            all[2] = bidder;
            System.arraycopy(own, 0, all, 3, own.length);
            return new Answer(end - 1, all);
        }
    }

    static void everyHundredth(NexmarkOptions options, Consumer<Answer> rows) {
        Map<Long, Long> counts = new HashMap<>();
        bids(
                options,
                (bid, millis) -> {
                    long count = counts.merge(bid.bidder(), 1L, Long::sum);
                    if (count % EMIT_EVERY == 0) {
                        rows.accept(new Answer(millis, bid.bidder(), count));
                    }
                });
    }

    private static long windowEnd(long millis, NexmarkOptions options) {
        long length = options.windows().lengthMillis();
        return Math.floorDiv(millis, length) * length + length;
    }

    private interface At<T> {
        void event(T event, long millis);
    }

    private static void bids(NexmarkOptions options, At<Bid> consumer) {
        events(
                options,
                (event, millis) -> {
                    if (event instanceof Bid bid) {
                        consumer.event(bid, millis);
                    }
                });
    }

    private static void events(NexmarkOptions options, At<Event> consumer) {
        Generator generator = options.generator();
        for (long number = 0; number < options.events(); number++) {
            consumer.event(generator.event(number), generator.timeMillis(number));
        }
    }

    /** Windows that an event may still fall into, by their ends. */
    private static final class OpenWindows<W> {
        private interface Made<W> {
            W make();
        }

        private interface Ended<W> {
            void end(long end, W window);
        }

        private final TreeMap<Long, W> byEnd = new TreeMap<>();
        private final Made<W> made;
        private final Ended<W> ended;

        OpenWindows(Made<W> made, Ended<W> ended) {
            this.made = made;
            this.ended = ended;
        }

        W at(long end) {
            return byEnd.computeIfAbsent(end, ignored -> made.make());
        }

        void advance(long millis) {
            while (!byEnd.isEmpty() && byEnd.firstKey() <= millis) {
                var first = byEnd.pollFirstEntry();
                ended.end(first.getKey(), first.getValue());
            }
        }

        void close() {
            advance(Long.MAX_VALUE);
        }
    }
}
