package io.afterbay.flink.incremental;

import io.afterbay.flink.state.StoreFactory;
import io.afterbay.store.ImageFiles;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreSnapshot;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/** Stores that say of their triggers what a test wants. */
final class TriggersSay implements StoreFactory {
    private static final long serialVersionUID = 1;
    private static volatile boolean hasSaid;

    @SuppressWarnings("serial") // it is not serialised
    private final Consumer<StoreSnapshot.Places> places;

    private TriggersSay(Consumer<StoreSnapshot.Places> places) {
        this.places = places;
    }

    static TriggersSay thatTheyNeed(Consumer<StoreSnapshot.Places> places) {
        hasSaid = false;
        return new TriggersSay(places);
    }

    static boolean hasSaid() {
        return hasSaid;
    }

    @Override
    public StateStore open(StoreOptions options) {
        return StateStores.open(options);
    }

    @Override
    public StateStore open(StoreOptions options, InputStream index, ImageFiles files) {
        return proxy(StateStore.class, StateStores.open(options, index, files));
    }

    private <T> T proxy(Class<T> type, T to) {
        return type.cast(
                Proxy.newProxyInstance(
                        TriggersSay.class.getClassLoader(),
                        new Class<?>[] {type},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("upcoming")) {
                                places.accept((StoreSnapshot.Places) arguments[1]);
                                hasSaid = true;
                                return null;
                            }
                            try {
                                Object result = method.invoke(to, arguments);
                                return result instanceof StoreSnapshot snapshot
                                        ? proxy(StoreSnapshot.class, snapshot)
                                        : result;
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        }));
    }
}
