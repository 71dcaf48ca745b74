package io.afterbay.flink.correctness;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreSnapshot;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.BiFunction;

/** Stores whose snapshots say of every list that it is 3 GB long. */
final class LongLists {
    private static final long CLAIMED_BYTES = 3L << 30;

    private LongLists() {}

    static StateStore around(StateStore real) {
        return wrap(
                StateStore.class,
                real,
                (method, result) ->
                        result instanceof StoreSnapshot snapshot ? snapshot(snapshot) : result);
    }

    private static StoreSnapshot snapshot(StoreSnapshot real) {
        return wrap(
                StoreSnapshot.class,
                real,
                (method, result) -> result instanceof EntryCursor cursor ? cursor(cursor) : result);
    }

    private static EntryCursor cursor(EntryCursor real) {
        return wrap(
                EntryCursor.class,
                real,
                (method, result) ->
                        result instanceof ListReader list
                                ? wrap(ListReader.class, list, LongLists::longer)
                                : result);
    }

    private static Object longer(String method, Object result) {
        return method.equals("bytes") ? (Object) CLAIMED_BYTES : result;
    }

    private static <T> T wrap(Class<T> type, T real, BiFunction<String, Object, Object> change) {
        return type.cast(
                Proxy.newProxyInstance(
                        LongLists.class.getClassLoader(),
                        new Class<?>[] {type},
                        (proxy, method, args) -> {
                            try {
                                return change.apply(method.getName(), method.invoke(real, args));
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        }));
    }
}
