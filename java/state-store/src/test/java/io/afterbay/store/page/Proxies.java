package io.afterbay.store.page;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.UnaryOperator;

/** Objects that pass calls on, and something of their own is done behind each. */
final class Proxies {
    private Proxies() {}

    /**
     * @param after gets what a call has returned, and returns it or another
     */
    static <T> T of(Class<T> type, T to, UnaryOperator<Object> after) {
        return type.cast(
                Proxy.newProxyInstance(
                        Proxies.class.getClassLoader(),
                        new Class<?>[] {type},
                        (proxy, method, arguments) -> {
                            try {
                                return after.apply(method.invoke(to, arguments));
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        }));
    }
}
