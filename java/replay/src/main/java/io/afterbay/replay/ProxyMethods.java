package io.afterbay.replay;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** What a proxy answers to the methods of Object. */
final class ProxyMethods {
    private ProxyMethods() {}

    static @Nullable Object ofObject(
            InvocationHandler handler, Object proxy, Method method, Object @Nullable [] arguments)
            throws Throwable {
        if (method.getName().equals("equals") && arguments != null) {
            return proxy == arguments[0];
        }
        try {
            return method.invoke(handler, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
