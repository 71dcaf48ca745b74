package io.afterbay.flink.contract;

import io.afterbay.flink.state.StoreFactory;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Set;

/** Real stores with one fault each, of the kinds that a state backend could plausibly have. */
enum BrokenStores implements StoreFactory {
    /** Every 3rd value that is put is lost. */
    LOSES_PUTS {
        @Override
        Object shape(Object real) {
            return dropping(real, Set.of("put"), 3, null);
        }
    },
    /** Every 3rd element that is appended to a list is lost. */
    LOSES_ELEMENTS {
        @Override
        Object shape(Object real) {
            return dropping(real, Set.of("append"), 3, null);
        }
    },
    /** Reading a list removes it: FlowKV's fetch-and-remove. */
    READ_REMOVES {
        @Override
        Object shape(Object real) {
            return intercepted(
                    real,
                    (proxy, method, args) -> {
                        Object result = call(real, method, args);
                        if (method.getName().equals("get")
                                && real instanceof io.afterbay.store.ListStore lists) {
                            lists.clear((io.afterbay.store.StateKey) args[0]);
                        }
                        return result;
                    });
        }
    },
    /** Merging two lists forgets the source. */
    FORGETS_MERGED {
        @Override
        Object shape(Object real) {
            return dropping(real, Set.of("merge"), 1, null);
        }
    },
    /** Every 2nd timer is lost. */
    LOSES_TIMERS {
        @Override
        Object shape(Object real) {
            return dropping(real, Set.of("add"), 2, true);
        }
    },
    /** A removed value comes back. */
    KEEPS_REMOVED {
        @Override
        Object shape(Object real) {
            return dropping(real, Set.of("remove"), 1, true);
        }
    },
    /** A snapshot shows the content of the snapshot before it. */
    STALE_SNAPSHOTS {
        @Override
        public StateStore open(StoreOptions options) {
            StateStore real = StateStores.open(options);
            StoreSnapshot[] before = {real.snapshot()};
            return (StateStore)
                    intercepted(
                            real,
                            (proxy, method, args) -> {
                                if (method.getName().equals("snapshot")) {
                                    StoreSnapshot stale = before[0];
                                    before[0] = real.snapshot();
                                    return stale;
                                }
                                if (method.getName().equals("close")) {
                                    before[0].close();
                                }
                                return call(real, method, args);
                            });
        }
    };

    private static final Set<String> SHAPES = Set.of("values", "lists", "maps", "triggers");

    @Override
    public StateStore open(StoreOptions options) {
        StateStore real = StateStores.open(options);
        return (StateStore)
                intercepted(
                        real,
                        (proxy, method, args) -> {
                            Object result = call(real, method, args);
                            return SHAPES.contains(method.getName()) ? shape(result) : result;
                        });
    }

    /** The same values, lists, map or triggers, with the fault. */
    Object shape(Object real) {
        return real;
    }

    /** Answers every n-th call of the methods itself instead of passing it on. */
    private static Object dropping(Object real, Set<String> methods, int every, Object answer) {
        int[] calls = {0};
        return intercepted(
                real,
                (proxy, method, args) -> {
                    if (methods.contains(method.getName()) && ++calls[0] % every == 0) {
                        return answer;
                    }
                    return call(real, method, args);
                });
    }

    private static Object intercepted(Object real, InvocationHandler handler) {
        return Proxy.newProxyInstance(
                BrokenStores.class.getClassLoader(), real.getClass().getInterfaces(), handler);
    }

    private static Object call(Object real, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(real, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
