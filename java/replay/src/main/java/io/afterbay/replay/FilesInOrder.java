package io.afterbay.replay;

import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import org.apache.flink.api.connector.source.SourceSplit;
import org.jspecify.annotations.Nullable;

/**
 * The FileSplitAssigner.Provider of a replay: hands files out as they came into being, by the time
 * of their last change, then by path and place in the file. A live job that monitors its paths
 * meets them about so. Flink's own hands them out in no order, and then the first that is read
 * makes nearly all others late. Each reader's files are in order, so none of them is late by
 * another one.
 */
final class FilesInOrder implements InvocationHandler, Serializable {
    private static final long serialVersionUID = 1;

    private static final String ASSIGNER =
            "org.apache.flink.connector.file.src.assigners.FileSplitAssigner";

    private static final Comparator<Place> ORDER =
            Comparator.comparingLong(Place::changedMs)
                    .thenComparing(Place::path)
                    .thenComparingLong(Place::offset);

    private record Place(long changedMs, String path, long offset, SourceSplit split) {
        static Place of(SourceSplit split) throws ReflectiveOperationException {
            return new Place(
                    (long) ask(split, "fileModificationTime"),
                    ask(split, "path").toString(),
                    (long) ask(split, "offset"),
                    split);
        }

        private static Object ask(SourceSplit split, String question)
                throws ReflectiveOperationException {
            return split.getClass().getMethod(question).invoke(split);
        }
    }

    private FilesInOrder() {}

    /**
     * @param connector class loader of the connector
     */
    static Object provider(ClassLoader connector) throws ReplayRefusedException {
        try {
            return proxy(
                    Class.forName(ASSIGNER + "$Provider", false, connector), new FilesInOrder());
        } catch (ClassNotFoundException e) {
            throw new ReplayRefusedException(
                    "the connector for files of this job has no " + ASSIGNER, e);
        }
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler);
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
            throws Throwable {
        if (arguments != null && method.getName().equals("create")) {
            Assigner assigner = new Assigner();
            assigner.add((Collection<?>) arguments[0]);
            return proxy(method.getReturnType(), assigner);
        }
        return ProxyMethods.ofObject(this, proxy, method, arguments);
    }

    /** Of one enumerator. What comes back after a failure takes its place again. */
    private static final class Assigner implements InvocationHandler {
        private final PriorityQueue<Place> places = new PriorityQueue<>(ORDER);

        void add(Collection<?> splits) throws ReflectiveOperationException {
            for (Object split : splits) {
                places.add(Place.of((SourceSplit) split));
            }
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
                throws Throwable {
            switch (method.getName()) {
                case "getNext":
                    return Optional.ofNullable(places.poll()).map(Place::split);
                case "addSplits":
                    add(arguments == null ? List.of() : (Collection<?>) arguments[0]);
                    return null;
                case "remainingSplits":
                    return places.stream().sorted(ORDER).map(Place::split).toList();
                default:
                    return ProxyMethods.ofObject(this, proxy, method, arguments);
            }
        }
    }
}
